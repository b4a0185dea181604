/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the gateway's settings. */
#pragma once

#include "common/table/settings.h"

struct options {
	char *transport, *toolsets, *instructions;
	uint64_t result_bytes, error_bytes, kept_bytes;
	uint64_t max_message_bytes, max_output_bytes, max_in_flight, call_timeout_ms, eof_grace_ms;
	uint64_t lease; /* 0: none; it cannot be stdin */
	uint64_t page_size, elicit_timeout_ms, task_after_ms, task_ttl_ms, max_tasks, task_bytes;
	char *seal_key;
	bool confirm_destructive;
	bool describe;
	/* Over HTTP. */
	char *listen, *public_url, *allowed_hosts, *allowed_origins, *tls_certificate, *tls_key;
	char *link_key;
	uint64_t max_connections, max_connections_per_address, max_header_bytes;
	uint64_t header_timeout_ms, idle_timeout_ms, stall_timeout_ms, min_bytes_per_s;
	uint64_t keep_alive_ms, max_stream_bytes, max_bodies_bytes;
	uint64_t session_ttl_ms, max_http_sessions, replay_bytes;
	uint64_t rate_per_s, rate_burst, link_ttl_s;
};

extern struct options options;
extern const struct setting options_table[];
