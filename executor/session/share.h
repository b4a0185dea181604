/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - of the memory that all workspaces may hold together, what each has.
 *
 * A workspace counts with all that it may ever hold, from before it is made.  What it holds now
 * would be less and a promise to nobody: programs write while others are asked, a gigabyte in half
 * a second, and those of a session go on between its calls.  A run without one waits for its turn
 * and is soon over: those are bounded by their number (run/queue.h).
 */
#pragma once

#include "executor/sandbox/box.h"

struct holder;

/* Zeroed: of nothing. */
struct share {
	struct holder *holder;
	uint64_t bytes;
};

/* session_limit, or limit_exceeded where it would not fit without all that the principal has: says
 * what that is, what there is, and what to do. */
int share_take(
    struct share *, const char *principal, const struct workspace_limits *, struct err *);
/* Of a workspace that is there already: also beyond the limit. */
void share_keep(struct share *, const char *principal, const struct workspace_limits *);
/* Gives it back; of nothing does nothing. */
void share_drop(struct share *);

/* What a principal's workspaces may hold, and the most that this can become as things are. */
struct workspaces_info share_of(const char *principal);
