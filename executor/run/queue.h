/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - places to run in, and the line for them: bounded, and fair.
 *
 * Principals take turns, and so do the name spaces of each, whoever waits longest in each first, so
 * that one who sends a thousand calls delays another by one run and not by a thousand; and by none
 * if that other runs nothing, for which a place is kept.  What is run in a session goes before the
 * rest, up to a ratio.
 */
#pragma once

#include "executor/session/share.h"

#include "common/bus/bus.h"

enum queue_class {
	QUEUE_SESSION,
	QUEUE_STATELESS,
	QUEUE_CLASSES,
};

/* A call's place, part of whatever runs. */
struct ticket {
	const char *principal, *space; /* only read by queue_enter() and queue_is_busy() */
	enum queue_class class;
	uint64_t bytes;            /* of memory it holds while it waits */
	uint64_t box_bytes;        /* that its box may hold; 0: that counts elsewhere */
	void (*start)(void *self); /* its turn has come */
	void *self;

	/* queue.c's own. */
	enum { TICKET_OUT, TICKET_WAITS, TICKET_RUNS } state;
	int64_t since_ms;
	struct share share;  /* of a run, its box */
	struct party *party; /* where it waits or runs, */
	struct lane *lane;   /* and waits */
	struct ticket *next;
};

/* start is called once, before this returns where there is room.  queue_full says when to come
 * again, limit_exceeded that the box can never fit; then start is never called. */
int queue_enter(struct ticket *, struct err *);
/* Gives the place back, waiting or running; of one that is out does nothing. */
void queue_leave(struct ticket *);
/* Starts what fits now: memory was given back elsewhere. */
void queue_pump(void);

struct queue_counts {
	uint64_t running, waiting, completed;
};
const struct queue_counts *queue_counts(void);
/* Would it have to wait? */
bool queue_is_busy(const struct ticket *);
/* How many more would be taken now. */
void queue_load(struct heartbeat *);
