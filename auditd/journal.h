/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - the file audit.log: one chain of records, numbered from 1.
 *
 * An added record is readable, and counts as written, only after it is settled as durable.  Until
 * then it is in memory: in the part being written or in the part being filled.
 *
 * All functions belong to one thread, except journal_write(), which may run in another.
 */
#pragma once

#include "common/journal/chain.h"

enum { JOURNAL_STEP = 128 }; /* records per index entry */

/*
 * Before the jail.  Walks the whole chain and calls each() for each link.  Copies a torn tail of
 * *torn bytes to audit.torn and cuts it off.  Refuses a damaged file; the error says what to do.
 */
int journal_open(int state, void (*each)(const struct chain_link *), uint64_t *torn, struct err *);
void journal_close(void);

/* Adds to the part being filled.  Returns the record's number, or 0 with *e. */
uint64_t journal_add(const void *record, size_t size, struct err *);
/* Bytes in the part being filled. */
size_t journal_filled(void);
/* The number of the last record added, and of the last durable one. */
uint64_t journal_last(void);
uint64_t journal_durable(void);
/* The last durable record, with its seal. */
const struct chain_end *journal_end(void);

/* In any thread, one call at a time: writes everything added so far and waits until it is durable,
 * in a file that still has a name.  *wrote: it came as far as the fdatasync. */
int journal_write(bool *wrote, struct err *);
/* Marks everything written so far as durable. */
void journal_settle(void);
/* While no journal_write() runs: discards every record that is not settled, in memory and in the
 * file. */
int journal_undo(struct err *);

/*
 * Returns a run of at most JOURNAL_STEP durable links that includes record `number`, and its size.
 * The memory belongs to the journal and is valid until the next call.  NULL with *e.
 */
const uint8_t *journal_read(uint64_t number, size_t *size, struct err *);
/* The seal of a durable record. */
int journal_seal(uint64_t number, uint8_t seal[HASH_BYTES], struct err *);
