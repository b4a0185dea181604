/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - what may take long (a digest of 256 MiB, an fsync) is done by threads, so that the loop
 * goes on; and several at once, so that the disk makes them durable together.
 */
#pragma once

#include "common/base/err.h"

#include <stddef.h>

struct work {
	void (*run)(struct work *);  /* in a thread: sees nothing but what belongs to *work */
	void (*done)(struct work *); /* later, in the loop */
	struct work *next;
};

enum {
	WORK_MAX_THREADS = 64,
	WORK_BYTES = 64 << 10, /* that are looked at: up to here handing it over is not worth it */
};

/* In the jail. */
int work_open(size_t threads, struct err *);
void work_give(struct work *);
/*
 * The same for who seldom has any: a few threads are made with the first.  Without them, as while
 * work_close() waits, run() and done() are called at once.
 */
void work_do(struct work *);
/* The same of what looks at so many bytes: at once where those are few. */
void work_over(struct work *, size_t bytes);
/* Waits for what was given; the loop is over, so done() is called from here. */
void work_close(void);
