/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.h - an audit log in a directory of the test, open in the journal and as a file. */
#pragma once

#include "common/crypto/checkpoint.h"
#include "common/journal/chain.h"
#include "common/table/schema.h"

extern int ledger_directory;
const char *ledger_path(void); /* of the directory */

/* Around each test: an empty log, open. */
int ledger_set_up(void **state);
int ledger_tear_down(void **state);

/* journal_open(), which must show each link once, in order. */
int ledger_open(uint64_t *torn, struct err *);
/* Closed and opened: holds so many records, after so many bytes of a torn tail were cut. */
void ledger_reopen(uint64_t records, uint64_t torn_bytes);

void ledger_add(uint64_t number);
void ledger_commit(void);
/* Records first to last, each durable before the next. */
void ledger_write(uint64_t first, uint64_t last);

/* The file, without the room behind its last record; and with what a test makes of it. */
struct blob ledger_load(void);
void ledger_store(const void *data, size_t size);
/* Where record n starts; the last plus one is its end. */
size_t ledger_place(const struct blob *, uint64_t n);
/* Of what stands behind the last whole record: zeros at its end are not counted as torn. */
uint64_t ledger_torn(const struct blob *, size_t from, size_t to);
/* As auditd would, with the key of the directory. */
void ledger_sign(const struct checkpoint *, char text[CHECKPOINT_TEXT]);
/* An event added to the journal, as auditd/record.h says. */
void ledger_add_event(const char *daemon, struct audit_event *);
