/* SPDX-License-Identifier: Apache-2.0 */
/* segmented.h - an audit log in segments of a few records; the test's clock is wrapped. */
#pragma once

#include "common/crypto/checkpoint.h"
#include "common/table/schema.h"

#include <stdbool.h>

enum {
	SEGMENT = 2000, /* bytes */
	RECORDS = 30,   /* which need more than two segments */
	DAY_MS = 86400000,
};

extern uint64_t segmented_later_ms; /* added to the time */

int segmented_set_up(void **state);
int segmented_tear_down(void **state);

/* Adds an event of auditd, as auditd does. */
void segmented_record(void);
/* Writes what was added; -1 with *e. */
int segmented_commit(struct err *e);
/* Adds and writes that many events. */
void segmented_write_records(int count);

/* The content of a record, which must be there. */
void segmented_read_entry(uint64_t number, struct audit_entry *entry);
bool segmented_is_event(uint64_t number, enum event event);

/* The verdict of --verify on a file of the directory; "": on the directory. since: NULL: none. */
int segmented_verify_since(const char *name, const char *since);
int segmented_verify_all(void);
/* A checkpoint that ends with that record. */
void segmented_sign(uint64_t number, char text[CHECKPOINT_TEXT]);
