/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - the file audit.log: one chain of records from number 1 on.
 *
 * What is added becomes readable and counts as written only when it is settled as durable; until
 * then it lies in memory, in the part being written and the part being filled.
 *
 * All of it belongs to one thread, but journal_write(), which may be called in another.
 */
#pragma once

#include "common/journal/chain.h"

enum { JOURNAL_STEP = 128 }; /* records from one entry of the index to the next */

/*
 * Before the jail.  Walks the whole chain and shows each link to each().  A torn tail is kept in
 * audit.torn and cut: *torn bytes.  Refuses a damaged file, saying what to do.
 */
int journal_open(int state, void (*each)(const struct chain_link *), uint64_t *torn, struct err *);
void journal_close(void);

/* Adds to the part being filled; the record's number.  0 with *e. */
uint64_t journal_add(const void *record, size_t size, struct err *);
/* Bytes in the part being filled. */
size_t journal_filled(void);
/* The number of the last record added, and of the last durable one. */
uint64_t journal_last(void);
uint64_t journal_durable(void);
/* The last durable one, with its seal. */
const struct chain_end *journal_end(void);

/* In any thread, one at a time: takes all that was added so far, writes it and waits until it is
 * durable, in a file that has a name still.  *wrote: it came to the waiting. */
int journal_write(bool *wrote, struct err *);
/* What has been written so far counts as durable. */
void journal_settle(void);
/* No journal_write() is under way: what was added and is not settled is forgotten, and cut off the
 * file. */
int journal_undo(struct err *);

/*
 * A run of at most JOURNAL_STEP durable links with record `number` among them, *size bytes, in
 * memory of the journal's until the next call.  NULL with *e.
 */
const uint8_t *journal_read(uint64_t number, size_t *size, struct err *);
/* The seal of a durable record. */
int journal_seal(uint64_t number, uint8_t seal[HASH_BYTES], struct err *);
