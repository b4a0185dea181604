/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workspace_table.h - the table of workspaces.  Each is one tmpfs, mounted where no box sees it,
 * and lent to one box at a time.
 *
 * They are mounted in a mount namespace of their own: only a mounted tmpfs can be cloned for a
 * box, and mounts in the boxes' template would be visible in every box.  That namespace contains
 * nothing else.  A descriptor of it keeps all workspaces alive, and the next builder continues
 * with it.
 */
#pragma once

#include "executor/builder/host.h"

#include <stdbool.h>
#include <stddef.h>

/* Opens the namespace of an earlier builder if host->workspace_table_fd can be entered.
 * Otherwise makes a new one and sets host->workspace_table_fd to -1.  Returns a descriptor of it
 * that workspace_table.c owns. */
int workspace_table_open(struct host *, struct err *);
/* Makes a workspace with these limits.  Its root is owned by that uid.  Returns a descriptor of
 * its root that workspace_table.c owns.  The executor gets a copy of it. */
int workspace_table_add(uint32_t id, uint64_t bytes, uint64_t files, uid_t owner, struct err *);
/* Takes over a workspace of an earlier builder if it equals what workspace_table_add() would
 * make. */
int workspace_table_adopt(uint32_t id, uint64_t bytes, uint64_t files, uid_t owner, struct err *);
/* Removes the workspaces of an earlier builder that were not adopted. */
void workspace_table_clear(void);
bool workspace_table_has(uint32_t id);
int workspace_table_remove(uint32_t id, struct err *);
/* Returns a detached mount of a workspace, which the caller owns and moves into a box, and its
 * size. */
int workspace_table_lend(uint32_t id, uint64_t *bytes, struct err *);
/* Mounts that directory of the workspace, a name without links, on a path of another mount
 * namespace: read-only, and without set-user-id bits and devices. */
int workspace_table_mount(
    uint32_t id, const char *directory, int space, const char *path, struct err *);

/* Returns a detached tmpfs that the caller owns.  Also used for /tmp of a box. */
int workspace_table_tmpfs(uint64_t bytes, uint64_t files, uid_t owner, struct err *);
/* Moves a detached mount to a path of another mount namespace. */
int workspace_table_place(int mount, int space, const char *path, struct err *);
/* Unmounts it again. */
int workspace_table_uncover(int space, const char *path, struct err *);

/* A process uses it; the process has ended. */
void workspace_table_use(uint32_t id);
void workspace_table_release(uint32_t id);
/* Removes it as soon as no process uses it, which is soon: the executor has ordered their ends. */
void workspace_table_wipe(uint32_t id);
/* It will be removed, and no process may use it any more. */
bool workspace_table_is_doomed(uint32_t id);
