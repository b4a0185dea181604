/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - of what all workspaces, and all boxes, may hold together, what each principal has.
 *
 * A workspace counts with all that it may ever hold, from before it is made.  What it holds now
 * would be less and a promise to nobody: programs write while others are asked, a gigabyte in half
 * a second, and those of a session go on between its calls.  A box counts in the same way, with its
 * memory limit: that of a session from the session's start, that of a run while it has a place in
 * the queue (run/queue.h).
 */
#pragma once

#include "executor/run/limits.h"

struct holder;

enum share_kind {
	SHARE_WORKSPACES, /* of sessions */
	SHARE_MEMORY,     /* of boxes; not limited while there is only one principal */
	SHARES,
};

/* Zeroed: of nothing. */
struct share {
	struct holder *holder;
	enum share_kind kind;
	uint64_t bytes;
};

/* Once the limits are settled: 0 becomes what it means.  A share in which no default run fits is
 * refused by name. */
int share_settle(struct err *);
/* Bytes that count for a workspace, and for a box on it. */
uint64_t share_of_workspace(const struct workspace_limits *);
uint64_t share_of_box(const struct limits *);

/* For a session.  session_limit, or limit_exceeded where it would not fit without all that the
 * principal has: says what that is, what there is, and what to do. */
int share_take(
    struct share *, enum share_kind, const char *principal, uint64_t bytes, struct err *);
/* Both kinds for a session, or none. */
int share_take_session(
    struct share[SHARES], const char *principal, const struct limits *, struct err *);
/* The same of one that is there already: also beyond the limits. */
void share_keep_session(struct share[SHARES], const char *principal, const struct limits *);
/* For a run: records that the principal is there.  limit_exceeded if the run could never fit. */
int share_check(enum share_kind, const char *principal, uint64_t bytes, struct err *);
/* Does it fit now? */
bool share_fits(enum share_kind, const char *principal, uint64_t bytes);
/* Of something that fits, or that is there already: also beyond the limit. */
void share_keep(struct share *, enum share_kind, const char *principal, uint64_t bytes);
/* Gives it back; of nothing does nothing. */
void share_drop(struct share *);
/* In stop(): no principal was there. */
void share_forget(void);

/* What a principal may hold, and the most that this can become as things are. */
struct workspaces_info share_of(enum share_kind, const char *principal);
