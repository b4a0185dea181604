/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - boxes made ahead of the calls, for a run or for a session: an empty workspace, a box on
 * it, and an interpreter that waits there.
 *
 * A courtesy to those who call: what the pool does not have, or what died in it, is made when it is
 * wanted.  What is taken never comes back.
 */
#pragma once

#include "executor/run/limits.h"
#include "executor/sandbox/home.h"

/* In open(): the builder's arguments for the runtimes of the settings, and for the zygotes. */
int pool_arguments(struct texts *, struct err *);
/* Which zygote the code of a profile is run in; 0: it is started from its file. */
uint32_t pool_zygote(unsigned language, const char *profile);

/* In start() and stop(). */
void pool_start(void);
void pool_stop(void);

/* false: make both.  Else they are the caller's, and home_run() has a program waiting. */
bool pool_take(enum home_kind, unsigned language, uint32_t zygote, const struct limits *,
    struct workspace **, struct home **);

/* For who found none, and waits for one that is in the making. */
struct pool_wait {
	/* Once; home NULL: none comes, make both. */
	void (*come)(void *self, struct workspace *, struct home *);
	void *self;

	/* pool.c's own. */
	struct line *line; /* NULL: it does not wait */
	struct pool_wait *next;
};

/* false: fewer are in the making than are waited for, so make both. */
bool pool_wait(
    enum home_kind, unsigned language, uint32_t zygote, const struct limits *, struct pool_wait *);
/* It waits no more, if it did. */
void pool_leave(struct pool_wait *);
/* A call was answered: a good moment to make what was taken. */
void pool_refill(void);

struct pool_counts {
	uint64_t waiting, making; /* now */
	uint64_t taken, missed;   /* since the start */
};
const struct pool_counts *pool_counts(void);
