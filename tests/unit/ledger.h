/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.h - an audit log in a directory of the test, open in the journal and as a file. */
#pragma once

#include "common/crypto/checkpoint.h"
#include "common/journal/chain.h"
#include "common/table/schema.h"

extern int ledger_directory;
const char *ledger_path(void); /* of the directory */

/* Setup and teardown of each test: an empty log, open. */
int ledger_set_up(void **state);
int ledger_tear_down(void **state);
void ledger_remove_segments(void);

/* Calls journal_open(), and checks that it shows each link once, in order, up to the last. */
int ledger_open(uint64_t *torn, struct err *);
/* Closes and opens the log: it must have so many records, after so many bytes of a torn tail
 * were cut. */
void ledger_reopen(uint64_t records, uint64_t torn_bytes);

void ledger_add(uint64_t number);
void ledger_commit(void);
/* As often as it takes, for records of two segments. */
void ledger_commit_all(void);
/* Writes records first to last, each durable before the next. */
void ledger_write(uint64_t first, uint64_t last);

/* Loads the file without the preallocated space after its last record; and stores the bytes of a
 * test. */
struct blob ledger_load(void);
void ledger_store(const void *data, size_t size);
/* The offset of record n; for the last plus one, the end of the records. */
size_t ledger_place(const struct blob *, uint64_t n);
/* The torn bytes after the last whole record; zeros at the end do not count. */
uint64_t ledger_torn(const struct blob *, size_t from, size_t to);
/* Signs like auditd, with the key of the directory. */
void ledger_sign(const struct checkpoint *, char text[CHECKPOINT_TEXT]);
/* Adds an event to the journal, as in auditd/record.h. */
void ledger_add_event(const char *daemon, struct audit_event *);
