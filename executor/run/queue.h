/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - places to run in, and the line for them: bounded, and fair between principals.
 *
 * Principals take turns, whoever waits longest in each first, so that one who sends a thousand
 * calls delays another by one run and not by a thousand.
 */
#pragma once

#include "common/bus.h"

/* A call's place, part of whatever runs. */
struct ticket {
	const char *principal;     /* only read by queue_enter() */
	uint64_t bytes;            /* of memory it holds while it waits */
	void (*start)(void *self); /* its turn has come */
	void *self;

	/* queue.c's own. */
	enum { TICKET_OUT, TICKET_WAITS, TICKET_RUNS } state;
	int64_t since_ms;
	struct line *line;
	struct ticket *next;
};

/* start is called once, before this returns where there is room.  queue_full says when to come
 * again; then start is never called. */
int queue_enter(struct ticket *, struct err *);
/* Gives the place back, waiting or running; of one that is out does nothing. */
void queue_leave(struct ticket *);

struct queue_counts {
	uint64_t running, waiting, completed;
};
const struct queue_counts *queue_counts(void);
/* Would the next one have to wait? */
bool queue_is_busy(void);
/* How many more would be taken now. */
void queue_load(struct heartbeat *);
