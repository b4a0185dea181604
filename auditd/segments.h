/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segments.h - the closed files of the log, each with a range of its records.
 *
 * The open one is the journal's (journal.h).  Every segment but the first begins with a record
 * whose detail is a signed checkpoint of all records before it, so that removed segments stay
 * named.
 */
#pragma once

#include "common/crypto/checkpoint.h"
#include "common/journal/chain.h"

enum { SEGMENTS_STEP = 128 }; /* records that are read at once, at most */

struct segment {
	uint64_t first, last; /* its records */
	uint64_t size, closed_ms;
	uint8_t previous[HASH_BYTES]; /* seal of the record before the first, */
	uint8_t seal[HASH_BYTES];     /* and of the last */
};

/*
 * Does the first link of a segment state, signed, the end of the records before it?  -1: not_found:
 * another key signed it; denied: it does not.
 */
int segments_stated(const struct chain_link *, const uint8_t public[CHECKPOINT_PUBLIC],
    struct checkpoint *, struct err *);
/* The same for a segment that does not follow *end, which is the end of what is left before it. */
int segments_explain(const struct chain_link *, const struct chain_end *end, struct err *);

/* Reads the first and the last link of each closed segment, and checks that they follow each other,
 * or state what was removed between them. */
int segments_open(int state, struct err *);
void segments_close(void);

size_t segments_count(void);
/* In order; NULL: there are not as many. */
const struct segment *segments_at(size_t);
/* The one with that record; NULL: none. Notices if its file was removed. */
const struct segment *segments_find(uint64_t number);
/* One was closed. */
int segments_add(const struct segment *, struct err *);
/* Removes the file of the oldest one. */
int segments_remove_first(struct err *);

/* As journal_read(), for a record of that segment. */
const uint8_t *segments_read(const struct segment *, uint64_t number, size_t *size, struct err *);
