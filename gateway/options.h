/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the gateway's settings. */
#pragma once

#include "common/settings.h"

struct options {
	char *transport, *toolsets, *instructions;
	uint64_t result_bytes, error_bytes, kept_bytes;
	uint64_t max_message_bytes, max_output_bytes, max_in_flight, call_timeout_ms, eof_grace_ms;
	uint64_t lease; /* 0: none; it cannot be stdin */
	bool describe;
};

extern struct options options;
extern const struct setting options_table[];
