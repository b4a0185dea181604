/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.h - how many locks of files (fcntl(2), F_SETLK) the programs of boxes hold.
 *
 * They are memory of the kernel that no cgroup counts and no rlimit bounds, 200 bytes each, and a
 * program takes 100,000 a second: so whoever has most is ended when all have more than are worth
 * it.
 */
#pragma once

#include "executor/builder/life.h"

struct locks_owner {
	pid_t first; /* all that come from this process are of the box */
	uint32_t box;
};

struct locks_most {
	uint32_t box; /* 0: none */
	uint32_t locks;
	pid_t first;
};

/* Of the boxes below ORDER_MAX_LIVING, who has most in proc's list, as far as it is read.  None
 * where all have few, or the list cannot be read. */
struct locks_most locks_count(int proc, const struct locks_owner *owners, size_t n);
/* Looks in a process of its own, for the kernel lets whoever asks wait some 8 ms: not while one
 * does, and not more often than is needed.  A box that has too many is killed: `over`, `locks`. */
void locks_look(const struct host *);
