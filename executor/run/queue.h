/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - the queue for the places to run in: bounded and fair.
 *
 * Principals take turns, and so do the namespaces of each principal; the one that has waited
 * longest is next.  So a client that sends a thousand calls delays another principal by one run,
 * not by a thousand.  It does not delay a principal that runs nothing, because one place is kept
 * free for such a principal.  Runs in a session go before the others, up to a ratio.
 */
#pragma once

#include "executor/session/share.h"

#include "common/bus/bus.h"

enum queue_class {
	QUEUE_SESSION,
	QUEUE_STATELESS,
	QUEUE_CLASSES,
};

/* A call's place in the queue; embedded in the run's own struct. */
struct ticket {
	const struct owner *owner; /* only read by queue_enter() and queue_is_busy() */
	enum queue_class class;
	uint64_t bytes;            /* memory that the call holds while it waits */
	uint64_t box_bytes;        /* limit of its box; 0: the box is counted elsewhere */
	void (*start)(void *self); /* it may run now */
	void *self;

	/* queue.c's own. */
	enum { TICKET_OUT, TICKET_WAITS, TICKET_RUNS } state;
	int64_t since_ms;
	struct share share;  /* of a run, its box */
	struct party *party; /* where it waits or runs */
	struct lane *lane;   /* where it waits */
	struct ticket *next;
};

/* Calls start once, before it returns if there is room.  queue_full gives the time to retry
 * after; limit_exceeded: the box can never fit.  After an error start is not called. */
int queue_enter(struct ticket *, struct err *);
/* Gives the place back, waiting or running; does nothing if the ticket is out. */
void queue_leave(struct ticket *);
/* Starts what fits now; call after memory was freed elsewhere. */
void queue_pump(void);

struct queue_counts {
	uint64_t running, waiting, completed;
};
const struct queue_counts *queue_counts(void);
/* Would this ticket have to wait? */
bool queue_is_busy(const struct ticket *);
/* Fills in how many more calls would be accepted now. */
void queue_load(struct heartbeat *);
