/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - which files a run left: its workspace, listed before and after.
 *
 * A tree that cannot be listed does not end a run: what the program printed is told all the same,
 * with a note on why its files are not.
 */
#pragma once

#include "executor/files/files.h"

/* The run's; of zeros at first. */
struct changes {
	bool bare; /* nothing is in the workspace, as it was looked at last */

	/* changes.c's own. */
	struct files_tree before, after;
	struct files_tree *list; /* which of them is being made, */
	void (*done)(void *self);
	void *self;
	struct err unlisted; /* why there is none */
};

/* Lists the workspace, of at most limit files, and calls done, at once where nothing is in it;
 * fresh: nobody wrote into it yet.  Lives until then. */
void changes_before(struct changes *, struct workspace *, bool fresh, size_t limit,
    void (*done)(void *self), void *self);
/* The same after the run, whose end has set `bare`. */
void changes_after(struct changes *, struct workspace *, size_t limit, void (*done)(void *self));
/* What changed goes to the reply's artifacts, or why that is not known to its notes. */
int changes_tell(const struct changes *, struct execution *reply, struct err *);
void changes_clear(struct changes *);
