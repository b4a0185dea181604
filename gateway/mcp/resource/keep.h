/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - keeps the full texts of which a result shows only a part.
 *
 * Of several executors, the one assigned to the principal keeps them for a while, so that any
 * gateway can read them (output.h).
 */
#pragma once

#include "gateway/transport/client.h"

#define KEEP_URI "sandbox://outputs/"

enum {
	KEEP_URI_MAX = 128,
};

/* Sends a text, a JSON string, to the executor.  uri receives the URI to read it at.  -1: no
 * executor is available, or the text is too long. */
int keep_text(const struct account *, const char *name, const json_t *text, char uri[KEEP_URI_MAX]);
