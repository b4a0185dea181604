/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.h - records in an append-only file, each sealed to the one before it by SHA-256.
 *
 * A link of the chain, numbers little-endian:
 *
 *	 0   4  "CLR1"
 *	 4   4  n, the bytes of the record
 *	 8   8  number of the record, from 1, without gaps
 *	16   8  when it was added, milliseconds since 1970
 *	24   8  records up to this number were durable when it was added
 *	32  32  seal of the record before; zeros before the first
 *	64   n  the record
 *	64+n 32 seal: SHA-256 over all of the above
 *
 * A crash leaves whole links and perhaps a torn tail that nobody was told is durable; a later link
 * that claims the bad one was durable tells damage from such a tail.  Zeros behind the last link
 * are room that a writer made ahead.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/hash.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CHAIN_RECORD_MAX = 16 << 10,
	CHAIN_LINK_MAX = CHAIN_RECORD_MAX + 64 + HASH_BYTES,
	CHAIN_TAIL_MAX = 64 << 20, /* what is longer was not left by one unfinished write */
};

/* What the next link is tied to. */
struct chain_end {
	uint64_t number;
	uint8_t seal[HASH_BYTES];
};

/* A link as it lies in memory; points into that. */
struct chain_link {
	uint64_t number, time_ms, durable;
	const uint8_t *previous, *seal, *record;
	size_t size; /* of the record */
};

/* Links ready to be written, in one piece. */
struct chain_buffer {
	uint8_t *data;
	size_t size, room;
};

/* Puts a link for the record behind what the buffer holds and moves *end to it. */
int chain_add(struct chain_buffer *, struct chain_end *, uint64_t durable, const void *record,
    size_t size, struct err *);
void chain_buffer_clear(struct chain_buffer *);

/* The link at the start of data, by its own seal.  Its bytes; 0: cut short; -1: not a link. */
ssize_t chain_parse(const uint8_t *data, size_t size, struct chain_link *);
/* Does it follow that end? */
bool chain_follows(const struct chain_end *, const struct chain_link *);

struct chain_walk {
	int fd;
	bool from_middle; /* the first link may follow one that is not in this file */
	int (*each)(void *self, const struct chain_link *, uint64_t offset, struct err *);
	void *self;
	/* Found: */
	struct chain_end end;
	uint64_t offset; /* behind the last whole link */
	uint64_t tail;   /* bytes from there to the last one that is not zero */
};

/* From the start to the end or a torn tail.  -1: damage before that, a failed read, or each() said
 * so. */
int chain_walk(struct chain_walk *, struct err *);
/* Cuts off tail and room; a copy of the tail is kept in the file `kept` of the folder. */
int chain_cut(const struct chain_walk *, int folder, const char *kept, struct err *);
