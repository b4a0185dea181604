/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - the queue of checks for the worker processes: bounded and fair.
 *
 * A parse of 1 MiB takes seconds and cannot be interrupted.  The first check of each principal runs
 * before the second one of any principal.  Among those, the smallest runs first, and may overtake
 * an earlier one only a limited number of times.  All workers but one may run large code, so that a
 * client with a few lines gets its reply at once.  Each principal has a share of the places, so
 * that one that takes all it can get does not lock out the others.
 */
#pragma once

#include "validator/worker.h"

#include "common/bus/bus.h"

struct queue_config {
	struct worker_plan plan;
	uint64_t max_waiting, max_waiting_each;
	uint64_t workers;           /* processes; 0: as many as processors, at least 2 */
	void (*short_of_one)(void); /* a worker died, and in the jail none can be started */
};

/* In open(): starts the workers and waits until each is ready. */
int queue_open(const struct queue_config *, struct err *);
/* In the jail, after the loop exists. */
int queue_start(struct err *);
/* Does not wait: checks under way end with this process. */
void queue_stop(void);
/*
 * Takes the request, whose message has a checker, and ends the call later, or fails with
 * queue_full. bytes: the size of what is checked.
 */
int queue_submit(struct call *, void *request, uint64_t bytes, struct err *);
void queue_load(struct heartbeat *);
