/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_link.h - orders to the builder and its answers, for the files of this directory (box.c,
 * program.c, workspace.c, file_helper.c).
 *
 * A builder request is an object that the builder keeps and reports on: a box, a program in a box,
 * or a file helper.  Answers come from the loop, after builder_start().
 */
#pragma once

#include "executor/builder/order.h"

struct builder_request;

struct builder_request_events {
	/* The box, or the program's jail, is closed; may be NULL.  fds: descriptors of the
	 * answer; the receiver owns those that it takes out of the array. */
	void (*started)(void *self, const struct answer *, int *fds, size_t nfds);
	/* A box: its usage, requested by builder_request_clock() or builder_request_count(); may
	 * be NULL. */
	void (*used)(void *self, const struct answer *);
	/* A box: SIGKILL was sent to all its processes; with its usage; may be NULL. */
	void (*killed)(void *self, const struct answer *);
	/* Exactly once, last: nothing of the request is left; answer->error says why it never
	 * ran. */
	void (*ended)(void *self, const struct answer *);
};

/* Sends *order with id filled in; fds are copied.  NULL with *e: no callback is called. */
struct builder_request *builder_request_start(struct order *, const int *fds, size_t nfds,
    const struct builder_request_events *, void *self, struct err *);
/* For a box or a file helper; its end is still reported.  After ended, none of these functions
 * may be called. */
void builder_request_kill(struct builder_request *);
/* For a program. */
void builder_request_signal(struct builder_request *, int signal);
/* For a box: the builder ends it some time after wall_ms.  0: stops that clock, and the usage is
 * reported unless the end comes first.  false: the builder cannot be asked. */
bool builder_request_clock(struct builder_request *, uint64_t wall_ms, uint64_t cpu_ms);
/* For a box: its usage, which is counted on, and the number of its processes are reported unless
 * the end comes first.  false: the builder cannot be asked. */
bool builder_request_count(struct builder_request *);
/* The id for orders about it; never 0. */
uint32_t builder_request_id(const struct builder_request *);

/* Sends an order that belongs to no builder request, unchanged.  The answer to ORDER_WORKSPACE
 * goes to workspace_answered(). */
int builder_order(const struct order *, struct err *);
/* fd: the descriptor of the answer, or -1; the receiver owns it. */
void workspace_answered(const struct answer *, int fd);
/* The builder has ended: every pending request for a workspace fails. */
void workspace_lost(const struct err *);
