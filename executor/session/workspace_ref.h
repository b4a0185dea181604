/* SPDX-License-Identifier: Apache-2.0 */
/* workspace_ref.h - a counted reference to a session's workspace. */
#pragma once

#include "executor/session/share.h"

#include <stddef.h>

struct workspace_ref {
	struct workspace *workspace;
	struct share share; /* returned with the workspace at the latest */
	size_t refs;
};

/* Takes the workspace and the share; the caller owns the reference.  NULL: no memory; both were
 * released. */
struct workspace_ref *workspace_ref_new(struct workspace *, struct share *);
struct workspace_ref *workspace_ref_get(struct workspace_ref *);
/* The last reference drops the workspace.  NULL is allowed. */
void workspace_ref_put(struct workspace_ref *);
