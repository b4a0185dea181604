/* SPDX-License-Identifier: Apache-2.0 */
/* hard_links.h - which entries of a listed tree are names of one file. */
#pragma once

#include "executor/files/tree.h"

struct hard_link;

struct hard_links {
	struct hard_link *items;
	size_t count, room;
};

/* Notes a name of that inode.  The path belongs to an entry of the tree. */
int hard_links_add(struct hard_links *, uint64_t inode, const char *path, struct err *);
/* Sets same_as of all names of a file but its shortest, in a tree that is sorted by path, while
 * their bytes have room.  The other names stay files of their own. */
int hard_links_join(struct hard_links *, struct files_tree *, size_t room, struct err *);
void hard_links_clear(struct hard_links *);
