/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - the line for the processes that check: bounded, and fair.
 *
 * A parse of 1 MiB takes seconds and cannot be interrupted.  The first check of each principal goes
 * before the second of any, and of those the smallest, up to a number of times; and all processes
 * but one may have large code at once, so that whoever sends a few lines is answered at once
 * whatever others send.  A principal has a share of the places, so that one who takes all it can
 * get keeps nobody else from being checked.
 */
#pragma once

#include "validator/worker.h"

#include "common/bus/bus.h"

struct queue_config {
	struct worker_plan plan;
	uint64_t max_waiting, max_waiting_each;
	uint64_t workers;           /* processes; 0: as many as there are processors, 2 at least */
	void (*short_of_one)(void); /* a process is gone, and nobody in the jail can make another */
};

/* In open(): makes the processes, and waits until each is ready. */
int queue_open(const struct queue_config *, struct err *);
/* In the jail, with the loop there. */
int queue_start(struct err *);
/* Waits for nothing: what is under way ends with this process. */
void queue_stop(void);
/* Takes the request and ends the call some time, or answers queue_full. */
int queue_submit(struct call *, struct validate_code *request, struct err *);
void queue_load(struct heartbeat *);
