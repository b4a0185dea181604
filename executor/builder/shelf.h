/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shelf.h - workspaces: a tmpfs each, mounted where no box sees them, lent to one box at a time.
 *
 * They hang in a mount namespace of their own, for a mount can be lent only by who has it mounted,
 * and what hung in the boxes' template would be in every box.  There is nothing else in that
 * namespace; whoever has a descriptor of it keeps them all, and the next builder goes on with it.
 */
#pragma once

#include "executor/builder/host.h"

#include <stdbool.h>
#include <stddef.h>

/* That of an earlier builder, where host->shelf_fd is one and can be entered; else a new one, and
 * host->shelf_fd is -1.  A descriptor of its namespace, the shelf's. */
int shelf_open(struct host *, struct err *);
/* With these limits, its root owned by that uid.  A descriptor of its root, the shelf's, for the
 * executor to have a copy of. */
int shelf_add(uint32_t id, uint64_t bytes, uint64_t files, uid_t owner, struct err *);
/* One that an earlier builder left, if it is what shelf_add() would have made of the same. */
int shelf_adopt(uint32_t id, uint64_t bytes, uint64_t files, uid_t owner, struct err *);
/* Those that nobody has adopted are gone. */
void shelf_clear(void);
bool shelf_has(uint32_t id);
int shelf_remove(uint32_t id, struct err *);
/* A detached mount of it, the caller's, to be moved into a box; and its size. */
int shelf_lend(uint32_t id, uint64_t *bytes, struct err *);

/* A detached tmpfs, the caller's; also what /tmp of a box is. */
int shelf_tmpfs(uint64_t bytes, uint64_t files, uid_t owner, struct err *);
