/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace.h - how many seccomp programs may be freed at once.
 *
 * A process that ends with a seccomp program of its own makes the kernel free that program by a
 * work item.  On Linux 6.18 more than 1,024 such items at once can block each other for good, and
 * then no process of the host can load or free one again.  So boxes end at a bounded rate, and so
 * few programs live at once that even the end of the builder, which ends all of them together, is
 * below that number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PACE_MOST = 256, /* programs freed in any */
	PACE_US = 100000,
	PACE_LIVING = 1000, /* processes at once that have a program of their own */
};

/* Zeroed: nothing has ended yet. */
struct pace {
	unsigned dying;      /* programs of processes that were killed and have not ended yet */
	size_t first, count; /* programs freed in the last PACE_US, and when each stops counting */
	int64_t until_us[PACE_MOST];
};

/* May processes with n programs (PACE_MOST at most) be killed now?  If so, those count as dying
 * until pace_end(). */
bool pace_begin(struct pace *, unsigned n, int64_t now_us);
/* They have ended.  begun: pace_begin() let them; false: they ended of themselves. */
void pace_end(struct pace *, unsigned n, bool begun, int64_t now_us);
/* Microseconds until another pace_begin() may succeed. */
int64_t pace_wait_us(const struct pace *, int64_t now_us);
