/* SPDX-License-Identifier: Apache-2.0 */
/* workspace.h - directories in memory, with limits, that boxes and file helpers see. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct workspace;

struct workspace_limits {
	uint64_t bytes, files;
};

/* Makes an empty tmpfs with these limits.  done: exactly once; the caller then owns the workspace.
 */
void workspace_make(const struct workspace_limits *,
    void (*done)(void *self, struct workspace *, const struct err *), void *self);
/* The same for a workspace that an earlier builder left, with its old number. */
void workspace_adopt(uint32_t id, const struct workspace_limits *,
    void (*done)(void *self, struct workspace *, const struct err *), void *self);
/* Wipes the left workspaces that nobody has adopted; call before any is made. */
void workspace_clear(void);
/* Its number, for workspace_adopt() later; never 0. */
uint32_t workspace_id(const struct workspace *);
/* The function is called before the workspace is wiped.  There is one at most. */
void workspace_at_end(struct workspace *, void (*leave)(const struct workspace *));
/* Wipes the workspace; no box or file operation may use it.  NULL is allowed. */
void workspace_drop(struct workspace *);
/* The free space, and whether the workspace has no files.  Cheap: starts no process.  -1 with *e.
 */
int workspace_left(
    const struct workspace *, struct workspace_limits *left, bool *bare, struct err *);
