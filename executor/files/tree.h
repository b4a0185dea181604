/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - what a workspace has. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>

enum {
	FILES_MAX_LEFT_OUT = 100, /* of schema.def */
};

/* All entries of a workspace, parents before children, sorted by path; with the SHA-256 of regular
 * files of at most hash_limit bytes. */
struct files_tree {
	struct tree_entry *items;
	size_t count;
	struct texts skipped; /* names that are neither file, directory nor link, and why */
	char *lost;           /* one of these that may have had content, or NULL */
	bool barred;          /* lost: its permissions deny access */
	bool truncated;       /* there are more than `limit` entries */
	struct {
		struct left_out *items;
		size_t count;
	} left_out;        /* the first FILES_MAX_LEFT_OUT of the FIFOs, sockets and devices */
	size_t nleft_out;  /* all of them */
	size_t attributed; /* entries that have extended attributes */
};
void files_tree_clear(struct files_tree *);
