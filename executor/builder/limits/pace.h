/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace.h - bounds how many seccomp programs are freed at once.
 *
 * When a process ends that has its own seccomp program, the kernel frees that program in a work
 * item.  On Linux 6.18 more than 1,024 such items at once can block each other permanently.  Then
 * no process of the host can load or free a program again.  So boxes end at a bounded rate.  The
 * number of living programs is bounded too, so that even the end of the builder, which ends all of
 * them together, stays below that number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PACE_MOST = 256, /* programs freed in any interval of */
	PACE_US = 100000,
	PACE_LIVING = 1000, /* processes at once that have their own program */
};

/* Initialized with zeros: nothing has ended yet. */
struct pace {
	unsigned dying;      /* programs of killed processes that have not ended yet */
	size_t first, count; /* programs freed in the last PACE_US, and when each stops counting */
	int64_t until_us[PACE_MOST];
};

/* Returns whether processes with n programs (at most PACE_MOST) may be killed now.  If so, the
 * programs count as dying until pace_end(). */
bool pace_begin(struct pace *, unsigned n, int64_t now_us);
/* Records that they have ended.  begun: pace_begin() allowed it; false: they ended by
 * themselves. */
void pace_end(struct pace *, unsigned n, bool begun, int64_t now_us);
/* Returns the microseconds until another pace_begin() may succeed. */
int64_t pace_wait_us(const struct pace *, int64_t now_us);
