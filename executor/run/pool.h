/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - boxes made ahead of calls, for a run or for a session: an empty workspace, a box on it,
 * and an interpreter that waits in the box, or a checker of code.
 *
 * The pool only saves time: a box that it does not have, or that died in it, is made on demand.  A
 * box that was taken never returns to the pool.
 */
#pragma once

#include "executor/run/limits.h"
#include "executor/sandbox/sandbox.h"

/* Numbers of zygotes. */
enum {
	POOL_BASIC = 1,
	POOL_SCIENCE,
	POOL_NAMED = POOL_SCIENCE, /* added to the number of an environment, from 1 */
	/* Added to a language: no zygote, but a prepared checker of it in a box of Node, of kind
	 * SANDBOX_SESSION.  It gets its work as a statement. */
	POOL_CHECKER = 1 << 16,
};

/* In open(): appends the builder's arguments for the configured runtimes and for the zygotes. */
int pool_arguments(struct texts *, struct err *);
/* The zygote that runs code of this profile in this environment; 0: the interpreter is started from
 * its file. */
uint32_t pool_zygote(unsigned language, const char *profile, uint64_t environment);

/* In start() and stop(). */
void pool_start(void);
void pool_stop(void);

/* true: both are the caller's, and sandbox_run() finds a waiting program.  false: make both. */
bool pool_take(enum sandbox_kind, unsigned language, uint32_t zygote, const struct limits *,
    struct workspace **, struct sandbox **);

/* A caller that found no box and waits for one that is being made. */
struct pool_wait {
	/* Called once; sandbox NULL: no box comes, make both. */
	void (*come)(void *self, struct workspace *, struct sandbox *);
	void *self;

	/* pool.c's own. */
	struct line *line; /* NULL: it does not wait */
	struct pool_wait *next;
};

/* false: all boxes that are being made have a waiting caller already, so make both. */
bool pool_wait(enum sandbox_kind, unsigned language, uint32_t zygote, const struct limits *,
    struct pool_wait *);
/* Stops waiting; does nothing if it does not wait. */
void pool_leave(struct pool_wait *);
/* A call was answered: replaces the boxes that were taken. */
void pool_refill(void);

struct pool_counts {
	uint64_t waiting, making; /* now */
	uint64_t taken, missed;   /* since the start */
};
const struct pool_counts *pool_counts(void);
