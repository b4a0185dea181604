/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_file.h - tasks on the disk: <state>/tasks/<owner>/<id>.run and <id>.end.
 *
 * .run exists from the beginning, and is locked while the process that runs the task lives and the
 * task has not ended.  .end appears whole when the task ends, and counts once the lock is given up.
 * Both survive a crash of any daemon, and a crash of the machine once they are synced.
 */
#pragma once

#include "common/bus/bus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TASK_FILE_OWNER = 33, /* made of instance, principal and namespace; with its zero byte */
	TASK_FILE_ID = 33,    /* 32 hexadecimal digits, zero byte */
};

/* The directory that all of it is below; -1: none, then nothing is kept. */
void task_file_open(int directory);
/* The name of the directory of the principal and namespace of the call. */
void task_file_owner(const struct call *, char owner[TASK_FILE_OWNER]);

/* A descriptor to hold open while the task runs. */
int task_file_begin(const char *owner, const char *id, const struct blob *task, struct err *);
/* Syncs what task_file_begin() made, and its name; may take long, in any thread. */
int task_file_sync(const char *owner, const char *id, struct err *);
/* Stores and syncs the end; likewise. */
int task_file_end(const char *owner, const char *id, const struct blob *task, struct err *);
/* Removes a task that nobody knows of. */
void task_file_drop(const char *owner, const char *id);
/* What was stored last; not_found: no such task, or it began longer ago.  *lost: it has no end, and
 * no process runs it. */
int task_file_read(
    const char *owner, const char *id, int64_t ttl_ms, struct blob *task, bool *lost, struct err *);
/* The number of tasks of that owner, and their bytes. */
void task_file_usage(const char *owner, size_t *count, uint64_t *bytes);
/* Removes the tasks that began longer ago and do not run. */
void task_file_sweep(int64_t age_ms);
