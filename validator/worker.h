/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - a process that checks, one text at a time.
 *
 * CPython parses one text at a time in a process, whatever threads that has, takes seconds for some
 * texts of a megabyte, and cannot be interrupted.  So it has processes of its own; they are made
 * before the jail, for nobody in it can make one, and each enters it by itself.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

struct worker;

struct worker_plan {
	uint64_t max_code_bytes;
	/* In the new process, before anything is read there: the parsers, then the jail. */
	int (*settle)(struct err *);
};

/* In open(): one that is on its way; NULL with *e. */
struct worker *worker_fork(const struct worker_plan *, struct err *);
/* Waits until it is ready for its first text, or says why it never will be. */
int worker_meet(struct worker *, struct err *);
/* With the loop there.  done: once for each text, report NULL with *e if it could not be checked;
 * the report is cleared afterwards.  died: at most once, and then done() for the text it had. */
int worker_watch(struct worker *,
    void (*done)(void *self, struct validation_report *, const struct err *),
    void (*died)(void *self), void *self, struct err *);
/* To one that has none under way; the request is empty then. */
int worker_give(struct worker *, struct validate_code *, struct err *);
/* Lets go of it: it ends when it has nothing to do, or with this process. */
void worker_free(struct worker *);
