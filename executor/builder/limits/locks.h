/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.h - counts the file locks (fcntl(2), F_SETLK) that the programs of boxes hold.
 *
 * Locks are kernel memory that no cgroup counts and no rlimit bounds: 200 bytes each, and a
 * program takes 100,000 a second.  So the box with the most locks is killed when all boxes
 * together hold too many.
 */
#pragma once

#include "executor/builder/host.h"

struct locks_owner {
	pid_t first; /* all descendants of this process belong to the box */
	uint32_t box;
};

struct locks_most {
	uint32_t box; /* 0: none */
	uint32_t locks;
	pid_t first;
};

/* Returns the box (ids below ORDER_MAX_LIVING) with the most locks in the part of proc's list
 * that is read.  None if all boxes have few locks, or if the list cannot be read. */
struct locks_most locks_count(int proc, const struct locks_owner *owners, size_t n);
/* Counts in a process of its own, because the kernel blocks the reader for some 8 ms.  Starts
 * none while one runs, and none more often than needed.  A box that has too many locks is
 * killed: `over`, `locks`. */
void locks_look(const struct host *);
