/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use.h - resource usage of a box or file helper, for answers about the end of a run.
 *
 * A session's box runs many statements.  Each is charged with the usage since the previous one, so
 * the work of a thread between two statements is charged to the next.
 */
#pragma once

#include "executor/builder/limits/cgroup.h"

#include <sys/resource.h>

struct use {
	bool over;      /* it exceeded its memory limit, */
	uint32_t locks; /* because of this number of file locks, if not 0 */
	bool late;      /* it exceeded its limit of processor time */
	/* without a cgroup: peak memory; processor time of ended processes, and of all */
	uint64_t held, used_us, spent_us;
	uint64_t told_us, told_refused; /* reported in earlier answers */
};

/* Adds the usage of an ended process, where there is no cgroup. */
void use_add(struct use *, const struct rusage *);
/* Writes the usage since the last use_take() to the answer.  The cgroup may be NULL. */
void use_note(const struct use *, const struct cgroup *, struct answer *);
/* The same; counts from now on. */
void use_take(struct use *, const struct cgroup *, struct answer *);
