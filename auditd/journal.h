/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - the file audit.log: one chain of records from number 1 on.
 *
 * What is added becomes readable and counts as written only when it is settled as durable; until
 * then it lies in memory, in the part being written and the part being filled.
 */
#pragma once

#include "common/chain.h"

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

/* The part that was filled becomes the one to be written, which must have been settled. */
void journal_turn(void);
/* In any thread: writes that part and waits until it is durable; *synced: it came to that. */
int journal_write(bool *wrote, struct err *);
/* What journal_turn() gave is durable.  Or it is not: all that was added since the last durable
 * record is forgotten, and cut off the file. */
void journal_settle(void);
int journal_undo(struct err *);

/*
 * A run of at most JOURNAL_STEP durable links with record `number` among them, *size bytes, in
 * memory of the journal's until the next call.  NULL with *e.
 */
const uint8_t *journal_read(uint64_t number, size_t *size, struct err *);
