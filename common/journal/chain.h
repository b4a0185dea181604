/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.h - records in an append-only file, each chained to the previous one by SHA-256.
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
 * A crash leaves whole links and perhaps a torn tail, which was never acknowledged as durable. If a
 * later link states that the bad link was durable, the file is damaged, not torn. Zeros after the
 * last link are preallocated space.
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
	CHAIN_TAIL_MAX = 64 << 20, /* a longer tail cannot come from one unfinished write */
};

/* The end of a chain, which the next link refers to. */
struct chain_end {
	uint64_t number;
	uint8_t seal[HASH_BYTES];
};

/* A parsed link; points into the data. */
struct chain_link {
	uint64_t number, time_ms, durable;
	const uint8_t *previous, *seal, *record;
	size_t size; /* of the record */
};

/* Links to be written with one write. */
struct chain_buffer {
	uint8_t *data;
	size_t size, room;
};

/* Appends a link for the record to the buffer and advances *end. */
int chain_add(struct chain_buffer *, struct chain_end *, uint64_t durable, const void *record,
    size_t size, struct err *);
void chain_buffer_clear(struct chain_buffer *);

/* Parses the link at the start of data and checks its seal. Returns its size; 0: incomplete; -1:
 * not a link. */
ssize_t chain_parse(const uint8_t *data, size_t size, struct chain_link *);
/* Does the link follow that end? */
bool chain_follows(const struct chain_end *, const struct chain_link *);

struct chain_walk {
	int fd;
	bool from_middle;        /* the first link may refer to any one outside this file, */
	struct chain_end before; /* otherwise it follows this one */
	int (*each)(void *self, const struct chain_link *, uint64_t offset, struct err *);
	void *self;
	/* Results: */
	struct chain_end end;
	uint64_t offset; /* end of the last whole link */
	uint64_t tail;   /* bytes from there to the last non-zero byte */
};

/* Walks from the start to the end or a torn tail. -1: damage before that, a failed read, or an
 * error from each(). */
int chain_walk(struct chain_walk *, struct err *);
/* Truncates the tail and the preallocated space. Stores a copy of the tail in the file `kept` of
 * the directory. */
int chain_cut(const struct chain_walk *, int directory, const char *kept, struct err *);
