/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - messages to msgpack maps and back, driven by schema.def.
 *
 * Encoding and decoding apply the same rules, so a build accepts everything that another build with
 * the same tables sends. TEXT and PAGE are UTF-8 without zero bytes; convert raw bytes (the output
 * of a program) with utf8_mend() first. Of ANY only the size is checked. After decoding, an absent
 * list has items NULL; an empty list has not.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

enum {
	WIRE_MAX_BLOBS = 1024,    /* frames after a body */
	WIRE_MAX_BODY = 64 << 20, /* bytes of a body */
	WIRE_MAX_FIELDS = 64,     /* fields of a message */
};

/* A message on the bus: a msgpack map, and the raw frames that it refers to by number. */
struct packed {
	struct blob body;
	struct blob *blobs;
	size_t count;
};

/*
 * Packs *msg. Its PAGE, BLOB and ANY fields are taken: they move into out->blobs and are empty in
 * *msg afterwards. The caller owns *out, also after an error; then *out is empty and *msg is
 * unchanged. invalid_argument, limit_exceeded: *msg exceeds the schema's bounds.
 */
int wire_encode(enum msg_id, void *msg, struct packed *out, struct err *);

/*
 * Reads a message into the zeroed *msg, which the caller clears. Strict: an unknown key, a key
 * twice, a missing key, a wrong type, a value out of bounds, text that is not UTF-8 or has a zero
 * byte, a blob not referred to exactly once, or bytes after the map are refused. The body is not
 * changed; blobs that are taken become empty in the source. After an error *msg is zeroed. Texts
 * name the field by its path: "files[2].filename".
 */
int wire_decode(enum msg_id, const struct packed *, void *msg, struct err *);

/* Formats one line for a log: names and numbers; only the length of texts, pages and blobs. */
void wire_describe(enum msg_id, const void *msg, char *line, size_t size);

/* Upper bounds of such a message: the size of any part, body or blob; the number of blobs. */
struct wire_bounds {
	uint64_t part, blobs;
};
struct wire_bounds wire_bounds(enum msg_id);
/* Makes them those of that message, too. */
void wire_widen(struct wire_bounds *, enum msg_id);

void packed_clear(struct packed *);

/* Stores the body and all frames in one buffer, for a file.  wire_raise() is strict: it returns
 * invalid_argument for any other data.  The caller owns *bytes and *packed. */
int wire_flatten(const struct packed *, struct blob *bytes, struct err *);
int wire_raise(const struct blob *bytes, struct packed *, struct err *);
