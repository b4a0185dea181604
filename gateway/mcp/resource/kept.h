/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - whole texts that a result showed only a part of, for a while, as resources.
 *
 * The ids are random and a text is given to nobody but the principal and name space it was kept
 * for.  All texts together are bounded by the setting kept_bytes; the oldest go first, those of who
 * has half of them before others'.
 */
#pragma once

#include "gateway/transport/client.h"

#define KEPT_URI "sandbox://outputs/"

enum {
	KEPT_URI_MAX = 128,
	KEPT_PIECE = 40000, /* bytes of a piece that is asked for by its offset */
};

/* A reference to text, a JSON string; the URI it can be read at from now on.  -1: it is larger than
 * all that may be kept. */
int kept_put(const struct account *, const char *name, json_t *text, char uri[KEPT_URI_MAX]);
/* The text, a new reference; NULL: there is none, not any more, or it is somebody else's. */
json_t *kept_get(const struct account *, const char *id, const char *name);
/* From that byte on, at most KEPT_PIECE bytes, whole characters; "" behind its end. */
json_t *kept_piece(const json_t *text, size_t offset);
