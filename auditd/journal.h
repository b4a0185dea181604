/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - the log: one chain of records, numbered from 1, in the file audit.log and in closed
 * segments (segments.h).
 *
 * An added record is readable, and counts as written, only after it is settled as durable.  Until
 * then it is in memory: in the part being written or in the part being filled.
 *
 * All functions belong to one thread, except journal_write(), which may run in another.
 */
#pragma once

#include "common/journal/chain.h"

enum {
	JOURNAL_STEP = 128,      /* records per index entry */
	JOURNAL_SHOWN = 1 << 16, /* records that the start shows */
};

/*
 * Before the jail.  Walks the open segment, and calls each() for the newest JOURNAL_SHOWN links,
 * oldest first.  Copies a torn tail of *torn bytes to audit.torn and cuts it off.  Refuses a
 * damaged file; the error says what to do.
 */
int journal_open(int state, void (*each)(const struct chain_link *), uint64_t *torn, struct err *);
void journal_close(void);

/* Adds to the part being filled.  Returns the record's number, or 0 with *e. */
uint64_t journal_add(const void *record, size_t size, struct err *);
/* Bytes that wait for journal_write(). */
size_t journal_filled(void);
/* The number of the last record added, and of the last durable one. */
uint64_t journal_last(void);
uint64_t journal_durable(void);
/* The last durable record, and the last one added, with their seals. */
const struct chain_end *journal_end(void);
const struct chain_end *journal_tip(void);

/* The segment that the next record goes to: its bytes, when its first record was added, and whether
 * it has none. */
uint64_t journal_size(void);
uint64_t journal_opened_ms(void);
bool journal_is_empty(void);
/* Can a new segment begin?  The one before must be in the file first. */
bool journal_can_cut(void);
/* The next record begins a new segment. */
void journal_cut(void);

/* In any thread, one call at a time: writes what was added to one segment and waits until it is
 * durable, in a file that still has a name.  *wrote: the state of the disk is unknown if it fails.
 */
int journal_write(bool *wrote, struct err *);
/* Marks everything written so far as durable. */
void journal_settle(void);
/* While no journal_write() runs: discards every record that is not settled, in memory and in the
 * file. */
int journal_undo(struct err *);

/* The range of removed records that has this durable one; false: it was not removed. */
bool journal_removed(uint64_t number, uint64_t *first, uint64_t *last);
/*
 * Returns a run of at most JOURNAL_STEP durable links that includes record `number`, which was not
 * removed, and its size.  The memory is valid until the next call.  NULL with *e.
 */
const uint8_t *journal_read(uint64_t number, size_t *size, struct err *);
/* The seal of a durable record, which was not removed, or is the last of a removed range. */
int journal_seal(uint64_t number, uint8_t seal[HASH_BYTES], struct err *);
