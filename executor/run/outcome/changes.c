/* SPDX-License-Identifier: Apache-2.0 */
/* changes.c - lists a run's workspace before and after.  An empty one is not listed, which saves a
 * file helper process. */
#include "executor/run/outcome/changes.h"

#include "executor/sandbox/workspace.h"
#include "executor/session/artifact.h"

#include <stdio.h>

static void
listed(void *self, struct files_tree *tree, const struct err *e)
{
	struct changes *changes = self;

	if (tree == NULL) {
		changes->unlisted = *e;
	} else {
		*changes->list = *tree;
		*tree = (struct files_tree){ 0 };
	}
	changes->done(changes->self);
}

static void
list_files(struct changes *changes, struct workspace *workspace, size_t limit)
{
	if (changes->unlisted.code != ERR_none || changes->bare)
		changes->done(changes->self);
	else
		files_list(workspace, limit, ARTIFACT_HASH_LIMIT, listed, changes);
}

void
changes_before(struct changes *changes, struct workspace *workspace, bool fresh, size_t limit,
    void (*done)(void *self), void *self)
{
	struct workspace_limits left;

	changes->list = &changes->before;
	changes->done = done;
	changes->self = self;
	changes->bare = fresh;
	if (!fresh)
		workspace_left(workspace, &left, &changes->bare, &changes->unlisted);
	list_files(changes, workspace, limit);
}

void
changes_after(
    struct changes *changes, struct workspace *workspace, size_t limit, void (*done)(void *self))
{
	changes->list = &changes->after;
	changes->done = done;
	list_files(changes, workspace, limit);
}

static int
tell_names(const struct changes *changes, struct execution *reply, struct err *e)
{
	char note[512];

	if (changes->unlisted.code == ERR_none)
		return artifact_changes(&changes->before, &changes->after, reply, e);
	snprintf(note, sizeof note, "New files are not listed: %s", changes->unlisted.text);
	return texts_add(&reply->notes, note) < 0 ? err_sys(e, "notes") : 0;
}

int
changes_tell(const struct changes *changes, struct execution *reply, bool gone, struct err *e)
{
	static const char deleted[] =
	    "This run had no session, so its files are deleted. Pass session_id to keep them, and "
	    "to read them with sandbox_read_artifact.";

	if (tell_names(changes, reply, e) < 0)
		return -1;
	if (gone && reply->artifacts.count > 0 && texts_add(&reply->notes, deleted) < 0)
		return err_sys(e, "notes");
	return 0;
}

void
changes_clear(struct changes *changes)
{
	files_tree_clear(&changes->before);
	files_tree_clear(&changes->after);
}
