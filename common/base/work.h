/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - worker threads for slow work (a digest of 256 MiB, an fsync), so that the loop
 * continues. Several jobs run at once, so that the disk can flush them together.
 */
#pragma once

#include "common/base/err.h"

#include <stddef.h>

struct work {
	void (*run)(struct work *);  /* in a thread: uses only data that belongs to *work */
	void (*done)(struct work *); /* later, in the loop */
	struct work *next;
};

enum {
	WORK_MAX_THREADS = 64,
	WORK_BYTES = 64 << 10, /* up to this size a thread is not worth its overhead */
};

/* In the jail. */
int work_open(size_t threads, struct err *);
void work_give(struct work *);
/*
 * The same for rare work: a few threads are started with the first job. Without threads, for
 * example while work_close() waits, run() and done() are called at once.
 */
void work_do(struct work *);
/* The same for work on that many bytes; a small job runs at once. */
void work_over(struct work *, size_t bytes);
/* Waits for all jobs. The loop has ended, so done() is called from here. */
void work_close(void);
