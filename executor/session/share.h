/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - the limits for all workspaces together and for all boxes together, and each
 * principal's share of them.
 *
 * A workspace counts with its full limit from before it is made.  Its current usage would be less
 * but would guarantee nothing: programs write during the check, a gigabyte in half a second, and
 * programs of a session continue between its calls.  A box counts in the same way, with its memory
 * limit: the box of a session from the session's start, the box of a run while the run has a place
 * in the queue (run/queue.h).
 */
#pragma once

#include "executor/run/limits.h"
#include "executor/sandbox/workspace.h"

struct holder;

enum share_kind {
	SHARE_WORKSPACES, /* workspaces of sessions */
	SHARE_MEMORY,     /* boxes; not limited while there is only one principal */
	SHARES,
};

/* Zeroed: holds nothing. */
struct share {
	struct holder *holder;
	enum share_kind kind;
	uint64_t bytes;
};

/* Call once the limits are settled: replaces 0 by its meaning.  Refuses, by name, a share that
 * is too small for a run with the default limits. */
int share_settle(struct err *);
/* The bytes that count for a workspace, and for a box on it. */
uint64_t share_of_workspace(const struct workspace_limits *);
uint64_t share_of_box(const struct limits *);

/* For a session.  session_limit; limit_exceeded: it would not fit even if the principal had
 * nothing else.  The error text gives the principal's usage, the limit, and what to do. */
int share_take(
    struct share *, enum share_kind, const char *principal, uint64_t bytes, struct err *);
/* Takes both kinds for a session, or neither. */
int share_take_session(
    struct share[SHARES], const char *principal, const struct limits *, struct err *);
/* The same for an existing session; ignores the limits. */
void share_keep_session(struct share[SHARES], const char *principal, const struct limits *);
/* For a run: records that the principal exists.  limit_exceeded if the run could never fit. */
int share_check(enum share_kind, const char *principal, uint64_t bytes, struct err *);
/* Does it fit now? */
bool share_fits(enum share_kind, const char *principal, uint64_t bytes);
/* Takes the share for what fits or exists already; ignores the limit. */
void share_keep(struct share *, enum share_kind, const char *principal, uint64_t bytes);
/* Gives the share back; does nothing if it holds nothing. */
void share_drop(struct share *);
/* In stop(): forgets all principals. */
void share_forget(void);

/* What a principal may hold now, and the most that it could get in the present state. */
struct workspaces_info share_of(enum share_kind, const char *principal);
