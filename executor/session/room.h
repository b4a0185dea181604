/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - a counted reference to a session's workspace. */
#pragma once

#include "executor/session/share.h"

#include <stddef.h>

struct room {
	struct workspace *workspace;
	struct share share; /* returned with the workspace at the latest */
	size_t refs;
};

/* Takes the workspace and the share; the caller owns the reference.  NULL: no memory; both were
 * released. */
struct room *room_new(struct workspace *, struct share *);
struct room *room_get(struct room *);
/* The last reference drops the workspace.  NULL is allowed. */
void room_put(struct room *);
