/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - a worker process, which checks one text at a time.
 *
 * CPython parses one text at a time per process, whatever the number of threads.  It takes seconds
 * for some texts of a megabyte and cannot be interrupted.  It therefore runs in separate processes.
 * They are forked before the jail, because a jailed process cannot fork, and each enters the jail
 * itself.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

struct worker;

/* A message that workers handle. */
struct checker {
	enum msg_id message;
	/* The caller clears both messages, also after an error. */
	int (*check)(void *request, void *reply, struct err *);
};

struct worker_plan {
	const struct checker *checkers; /* ends with a row of zeros */
	/* In the new process, before it reads anything: opens the parsers, then enters the jail. */
	int (*settle)(struct err *);
};

/* In open(): forks a worker that is not ready yet; NULL with *e. */
struct worker *worker_fork(const struct worker_plan *, struct err *);
/* Waits until it is ready for its first text, or returns the error of its start. */
int worker_meet(struct worker *, struct err *);
/*
 * After the loop exists. done: called once for each request; reply is NULL with *e if the check
 * failed; the reply is cleared afterwards. died: called at most once, before done() for the
 * current request.
 */
int worker_watch(struct worker *, void (*done)(void *self, void *reply, const struct err *),
    void (*died)(void *self), void *self, struct err *);
/* Gives a request, a message with a checker, to an idle worker; it is empty afterwards. */
int worker_give(struct worker *, enum msg_id, void *request, struct err *);
/* Releases the worker: it ends when it is idle, or with this process. */
void worker_free(struct worker *);
