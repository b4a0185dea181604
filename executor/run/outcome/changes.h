/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - the files that a run changed: its workspace is listed before and after the run.
 *
 * A tree that cannot be listed does not fail the run: the reply has the program's output, and a
 * note says why its files are missing.
 */
#pragma once

#include "executor/files/files.h"

/* The changes of one run; zeroed at first. */
struct changes {
	bool bare; /* the workspace was empty when last checked */

	/* changes.c's own. */
	struct files_tree before, after;
	struct files_tree *list; /* the one that is being made */
	void (*done)(void *self);
	void *self;
	struct err unlisted; /* why a list is missing */
};

/* Lists the workspace, at most limit files, and calls done; immediately if the workspace is empty.
 * fresh: nobody wrote to it yet.  The struct must live until done. */
void changes_before(struct changes *, struct workspace *, bool fresh, size_t limit,
    void (*done)(void *self), void *self);
/* The same after the run; the caller has set `bare`. */
void changes_after(struct changes *, struct workspace *, size_t limit, void (*done)(void *self));
/* Adds the changed files to the reply's artifacts, or a note that says why they are unknown.  gone:
 * the run's workspace ends with it, and a note says so. */
int changes_tell(const struct changes *, struct execution *reply, bool gone, struct err *);
void changes_clear(struct changes *);
