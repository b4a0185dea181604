/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - whole texts that a result shows only a part of.
 *
 * They are kept, for a while, by the executor that is the principal's own of several, so that any
 * gateway can read them (output.h).
 */
#pragma once

#include "gateway/transport/client.h"

#define KEEP_URI "sandbox://outputs/"

enum {
	KEEP_URI_MAX = 128,
};

/* Hands a text, a JSON string, to the executor; the URI it can be read at.  -1: nobody is there to
 * keep it, or it is too long. */
int keep_text(const struct account *, const char *name, const json_t *text, char uri[KEEP_URI_MAX]);
