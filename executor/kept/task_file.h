/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_file.h - tasks on the disk: <state>/tasks/<owner>/<id>.run and <id>.end.
 *
 * <owner> is the start of a hash of this executor's instance and of the owner.
 *
 * .run exists from the beginning.  It is locked while the process that runs the task lives and the
 * task has not ended.  .end appears atomically when the task ends, and is valid once the lock is
 * released.  Both survive a crash of any daemon, and, once they are synced, a crash of the
 * machine.
 */
#pragma once

#include "common/base/blob.h"
#include "common/base/err.h"
#include "common/base/owner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TASK_FILE_ID = 33, /* 32 hexadecimal digits and a zero byte */
};

/* The directory for all tasks; -1: there is none, and nothing is kept. */
void task_file_open(int directory);

/* Returns a descriptor, to be held open while the task runs. */
int task_file_begin(const struct owner *, const char *id, const struct blob *task, struct err *);
/* Syncs the file that task_file_begin() made, and its directory; may take long; in any thread. */
int task_file_sync(const struct owner *, const char *id, struct err *);
/* Stores and syncs the end; may take long; in any thread. */
int task_file_end(const struct owner *, const char *id, const struct blob *task, struct err *);
/* Removes a task whose id no client knows. */
void task_file_drop(const struct owner *, const char *id);
/* Reads what was stored last; not_found: no such task, or it is too old.  *lost: it has no end,
 * and no process runs it. */
int task_file_read(const struct owner *, const char *id, int64_t ttl_ms, struct blob *task,
    bool *lost, struct err *);
/* The number of tasks of that owner, and their total size. */
void task_file_usage(const struct owner *, size_t *count, uint64_t *bytes);
/* Removes the tasks that began more than age_ms ago and do not run. */
void task_file_sweep(int64_t age_ms);
