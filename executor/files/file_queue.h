/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_queue.h - one file queue for each workspace with file operations: they wait in the queue,
 * one file helper does them in order, and it exits after a while without work.
 *
 * If a file helper dies, hangs or sends invalid frames, the current operation fails, and the next
 * one gets a new helper.
 */
#pragma once

#include "executor/builder/files/file_frame.h"

#include "common/base/err.h"

struct workspace;

struct operation;

/* The callbacks of one kind of operation.  Each returns -1 with *e if the operation fails. */
struct operation_kind {
	/* Sends what can be sent now with file_queue_send(); called first, and when there is room
	 * again.
	 */
	int (*go)(struct operation *, struct err *);
	/* Handles an answer other than DONE; NULL: there are none. */
	int (*take)(struct operation *, struct file_frame *, struct err *);
	/* The file helper sent DONE: the result is complete.  NULL: nothing is left to do. */
	int (*finish)(struct operation *, const struct file_frame_head *, struct err *);
	/* Reports the end to the caller and frees the operation.  *e: ERR_none after success. */
	void (*end)(struct operation *, const struct err *e);
};

/* The common head of operations; the rest belongs to the kind. */
struct operation {
	const struct operation_kind *kind;
	struct operation *next;
	struct err refused; /* ERR_none, or why it must not begin */
	const char *path;   /* encoded, for texts; NULL: it is not about a single file */
	struct file_queue *file_queue;
};

/* Takes the operation, which begins and ends from the loop. */
void file_queue_add(struct workspace *, struct operation *);
/* Before the workspace is dropped: the queue is empty, and its file helper exits. */
void file_queue_leave(const struct workspace *);
/* The active operation of that workspace, or NULL. */
struct operation *file_queue_current(const struct workspace *);

/* In go(): 1: sent; 0: no room now, go() is called again; -1 with *e. */
int file_queue_send(struct operation *, const struct file_frame *, struct err *);
/* In go(): the operation waits for another component, without a time limit. */
void file_queue_wait(struct operation *);
/* Ends the wait: go() is called, or the operation fails. */
void file_queue_resume(struct operation *);
void file_queue_fail(struct operation *, const struct err *);

/* The text of a fault. */
const char *file_queue_fault(enum file_frame_fault);
