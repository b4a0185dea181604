/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk.h - one desk for each workspace whose files are asked for: operations wait in line, one
 * steward does them, and it goes home when nobody has come for a while.
 *
 * A steward that dies, hangs or talks nonsense fails the operation it was at, and the next has
 * another one.
 */
#pragma once

#include "executor/builder/files/slip.h"
#include "executor/sandbox/box.h"

struct operation;

/* What sets one kind of operation apart.  Each returns -1 with *e where the operation fails. */
struct operation_kind {
	/* Sends what can be sent now by desk_send(); called first, and when there is room again. */
	int (*go)(struct operation *, struct err *);
	/* An answer but DONE; NULL: there are none. */
	int (*take)(struct operation *, struct slip *, struct err *);
	/* The steward says it is done: the result is complete.  NULL: nothing is left to do. */
	int (*finish)(struct operation *, const struct slip_head *, struct err *);
	/* Says so to who asked, and frees the operation.  *e: ERR_none where it went well. */
	void (*end)(struct operation *, const struct err *e);
};

/* The head of each; the rest is its kind's. */
struct operation {
	const struct operation_kind *kind;
	struct operation *next;
	struct err refused; /* ERR_none, or why it is not to begin at all */
	const char *path;   /* for texts, encoded; NULL: it is about no single file */
	struct desk *desk;
};

/* Takes it; it begins and ends from the loop. */
void desk_add(struct workspace *, struct operation *);
/* Before the workspace is dropped: nothing is in line, and no steward stays. */
void desk_leave(const struct workspace *);
/* The one that is being done on that workspace, or NULL. */
struct operation *desk_current(const struct workspace *);

/* In go(): 1: sent; 0: no room now, go() is called again; -1 with *e. */
int desk_send(struct operation *, const struct slip *, struct err *);
/* In go(): somebody else is to say something first; it may take its time. */
void desk_wait(struct operation *);
/* And now has: go() is called, or the operation fails. */
void desk_resume(struct operation *);
void desk_fail(struct operation *, const struct err *);

/* What a fault is, for people. */
const char *desk_fault(enum slip_fault);
