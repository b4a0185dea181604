/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - a session's workspace, for as long as anybody works in it. */
#pragma once

#include "executor/session/share.h"

#include <stddef.h>

struct room {
	struct workspace *workspace;
	struct share share; /* given back with it, at the latest */
	size_t refs;
};

/* Takes the workspace and the share; the reference is the caller's.  NULL: no memory; then both are
 * given back. */
struct room *room_new(struct workspace *, struct share *);
struct room *room_get(struct room *);
/* The last one drops the workspace.  NULL is fine. */
void room_put(struct room *);
