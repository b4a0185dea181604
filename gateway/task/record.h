/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - what is kept of tasks: <state>/tasks/<owner>/<id>.run and <id>.end.
 *
 * .run is there from the beginning, and locked until the task has ended or the gateway that runs it
 * has; .end appears whole, when the task ends, and counts once the lock is given up.  Both survive
 * a crash of any daemon, and that of the machine once they are synced.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RECORD_OWNER = 33, /* a name made of whose it is, with its zero byte */
	RECORD_ID = 38,    /* "task_", 32 digits, zero byte */
};

/* The folder that all of it is below; -1: none, then nothing is ever kept. */
void record_open(int folder);

/* The name of the folder of a principal in a name space, which may be NULL. */
void record_owner(const char *principal, const char *namespace, char owner[RECORD_OWNER]);
void record_id(char id[RECORD_ID]);
bool record_is_id(const char *id);

/* A descriptor to hold open while the task runs. */
int record_begin(const char *owner, const char *id, const json_t *task, struct err *);
/* Until what record_begin() made is on the disk, with its name; may take long, in any thread. */
int record_sync(const char *owner, const char *id, struct err *);
/* Until that JSON is on the disk as the end; likewise. */
int record_end(const char *owner, const char *id, const char *task, struct err *);
/* What was kept last, a new reference; NULL: nothing.  *lost: it had no end, and nobody runs it. */
json_t *record_read(const char *owner, const char *id, bool *lost);
/* How many there are of that owner, and their bytes. */
void record_usage(const char *owner, size_t *count, uint64_t *bytes);
/* Removes those that began longer ago than that and do not run. */
void record_sweep(int64_t age_ms);
