/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - whole texts that a result showed only a part of, as resources.
 *
 * They are kept, for a while, by the executor that is the principal's own of several, so that any
 * gateway can read them.
 */
#pragma once

#include "gateway/mcp/method.h"

#define OUTPUT_URI "sandbox://outputs/"

enum {
	OUTPUT_URI_MAX = 128,
	OUTPUT_PIECE = 40000, /* bytes of a piece that is asked for by its offset */
};

/* Hands a text, a JSON string, to the executor; the URI it can be read at.  -1: nobody is there to
 * keep it, or it is too long. */
int output_keep(
    const struct account *, const char *name, const json_t *text, char uri[OUTPUT_URI_MAX]);
/* resources/read of one; variables: output_id, name and maybe offset. */
json_t *output_read(const struct request *, const json_t *variables);
