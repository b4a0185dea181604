/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hard_links.c - joins the names of one file.
 *
 * Inodes come from a file helper that may lie, so they only say which names to compare: a name is
 * joined if its content and size are those of the file.  The shortest name is the file, so that the
 * names that refer to it need no more memory than the names themselves.
 */
#include "executor/files/hard_links.h"

#include <stdlib.h>
#include <string.h>

struct hard_link {
	uint64_t inode;
	const char *path;
};

int
hard_links_add(struct hard_links *l, uint64_t inode, const char *path, struct err *e)
{
	if (l->count == l->room) {
		size_t room = l->room * 2 + 64;
		struct hard_link *grown = realloc(l->items, room * sizeof *grown);

		if (grown == NULL)
			return err_sys(e, "list");
		l->items = grown;
		l->room = room;
	}
	l->items[l->count++] = (struct hard_link){ inode, path };
	return 0;
}

/* The shortest name of an inode comes first. */
static int
by_inode(const void *a, const void *b)
{
	const struct hard_link *x = a, *y = b;
	size_t nx = strlen(x->path), ny = strlen(y->path);

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return nx != ny ? (nx < ny ? -1 : 1) : strcmp(x->path, y->path);
}

static int
by_path(const void *key, const void *entry)
{
	return strcmp(key, ((const struct tree_entry *)entry)->path);
}

static struct tree_entry *
find(const struct files_tree *tree, const char *path)
{
	struct tree_entry *entry =
	    bsearch(path, tree->items, tree->count, sizeof *tree->items, by_path);

	must(entry != NULL);
	return entry;
}

static bool
is_same(const struct tree_entry *a, const struct tree_entry *b)
{
	return a->sha256 != NULL && b->sha256 != NULL && a->size == b->size &&
	       strcmp(a->sha256, b->sha256) == 0;
}

int
hard_links_join(struct hard_links *l, struct files_tree *tree, size_t room, struct err *e)
{
	const struct tree_entry *file = NULL;

	if (l->count > 0)
		qsort(l->items, l->count, sizeof *l->items, by_inode);
	for (size_t i = 0; i < l->count; i++) {
		struct tree_entry *entry = find(tree, l->items[i].path);

		if (i == 0 || l->items[i].inode != l->items[i - 1].inode) {
			file = entry;
			continue;
		}

		size_t size = strlen(file->path) + 1;

		if (size > room || !is_same(file, entry))
			continue;
		if ((entry->same_as = strdup(file->path)) == NULL)
			return err_sys(e, "list");
		room -= size;
	}
	return 0;
}

void
hard_links_clear(struct hard_links *l)
{
	free(l->items);
	*l = (struct hard_links){ 0 };
}
