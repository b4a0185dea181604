/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_link.h - inside the executor: orders to the builder, answers from it (box.c, program.c,
 * workspace.c, files.c).
 *
 * An builder request is what the builder keeps and answers for: a box, a program in one, or a file
 * helper. Answers come from the loop, after builder_start().
 */
#pragma once

#include "executor/builder/order.h"
#include "executor/sandbox/box.h"

struct builder_request;

struct builder_request_events {
	/* The box is closed, or the program's jail is; may be NULL.  fds: what came with it;
	 * those that are taken from there are the receiver's. */
	void (*started)(void *self, const struct answer *, int *fds, size_t nfds);
	/* Of a box: what was used, as builder_request_clock() asks; may be NULL. */
	void (*used)(void *self, const struct answer *);
	/* Of a box: all in it were sent SIGKILL; what it has used; may be NULL. */
	void (*killed)(void *self, const struct answer *);
	/* Exactly once, last: nothing of it is left; answer->error says why it never ran. */
	void (*ended)(void *self, const struct answer *);
};

/* Sends *order with id filled in; fds are copied.  NULL with *e; then nothing is called. */
struct builder_request *builder_request_start(struct order *, const int *fds, size_t nfds,
    const struct builder_request_events *, void *self, struct err *);
/* Of a box or a file helper; its end is still announced.  None of these after ended. */
void builder_request_kill(struct builder_request *);
/* Of a program. */
void builder_request_signal(struct builder_request *, int signal);
/* Of a box: the builder ends it by itself a grace after wall_ms.  0: not any more, and what was
 * used is told, unless its end comes first.  false: it cannot be asked. */
bool builder_request_clock(struct builder_request *, uint64_t wall_ms, uint64_t cpu_ms);
/* For orders about it; never 0. */
uint32_t builder_request_id(const struct builder_request *);

/* An order that is about no builder request, as it stands; the builder's answer to ORDER_WORKSPACE
 * goes to workspace_answered(). */
int builder_order(const struct order *, struct err *);
/* fd: with the answer, or -1; the receiver's. */
void workspace_answered(const struct answer *, int fd);
/* The builder is gone: every workspace that was asked for is refused. */
void workspace_lost(const struct err *);

/* Layers as clients are told of them; message_clear() frees it.  -1: no memory. */
int isolation_of(const struct layers *, struct isolation *);

/*
 * Starts a file helper on the workspace.  *channel is the caller's end of a SOCK_SEQPACKET pair,
 * O_CLOEXEC and non-blocking; messages of at most 64 KiB.  The file helper ends when it is closed.
 * ended: exactly once; e NULL if it returned 0.
 */
struct builder_request *file_helper_start(struct workspace *, int *channel,
    void (*ended)(void *self, const struct err *e), void *self, struct err *);
