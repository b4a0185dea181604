/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - the one thread that checks, so that the loop stays free.
 *
 * A parse of 1 MiB takes seconds and cannot be interrupted: meanwhile the loop still sends
 * heartbeats, the bus still answers deadlines, and other calls wait here: the first of each
 * principal before the second of any, and of those the smallest.  A principal has a share of the
 * places, so that one who takes all it can get keeps nobody else from being checked.
 */
#pragma once

#include "common/bus.h"

struct worker_config {
	uint64_t max_code_bytes, max_waiting, max_waiting_each;
	void (*enter)(void); /* by the thread, before the first check and after the last */
	void (*leave)(void);
};

/* In the jail, with the loop there. */
int worker_start(const struct worker_config *, struct err *);
/* Waits for the check under way. */
void worker_stop(void);
/* Takes the request and ends the call some time, or answers queue_full. */
int worker_submit(struct call *, struct validate_code *request, struct err *);
void worker_load(struct heartbeat *);
