/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omissions.c - what a snapshot does not hold.
 *
 * Content is never left out: a tree with content that cannot be held is refused, and the text says
 * what to do.  A FIFO, socket or device has no content and is left out and named; extended
 * attributes are counted.  Trusts no name: secrets in it are replaced.
 */
#include "executor/session/snapshot/omissions.h"

#include "common/base/auto.h"
#include "executor/redact/redact.h"
#include "executor/session/artifact.h"

#include <inttypes.h>
#include <stdio.h>

static int
refuse_file(const struct tree_entry *file, struct err *e)
{
	if (file->size > OMISSIONS_MAX_CONTENT)
		return err_set(e, ERR_file_too_large,
		    "%.100s: %" PRIu64 " bytes; a snapshot holds only files of up to %d bytes",
		    file->path, file->size, OMISSIONS_MAX_CONTENT);
	return err_set(e, ERR_snapshot_refused,
	    "%.80s: %" PRIu64 " bytes, mostly holes, which a snapshot does not hold; fill them "
	    "(cp --sparse=never FILE COPY; mv COPY FILE), shorten the file or delete it",
	    file->path, file->size);
}

int
omissions_refuse(const struct files_tree *tree, struct err *e)
{
	if (tree->truncated)
		return err_set(e, ERR_limit_exceeded,
		    "the workspace has more than %d files and directories, the limit of a snapshot",
		    OMISSIONS_MAX_ENTRIES);
	if (tree->lost != NULL)
		return err_set(e, ERR_snapshot_refused, "a snapshot cannot hold %.140s; %s",
		    tree->lost,
		    tree->barred ? "run chmod u+rX on it, or delete it first"
				 : "change or delete that first");
	for (size_t i = 0; i < tree->count; i++)
		if (tree->items[i].type == file_type_regular && tree->items[i].sha256 == NULL)
			return refuse_file(&tree->items[i], e);
	return 0;
}

static void
note(struct snapshot *reply, size_t count, const char *one, const char *many)
{
	auto_free char *text = NULL;

	if (count == 0)
		return;
	must(asprintf(&text, "%zu %s", count, count == 1 ? one : many) >= 0);
	must(texts_add(&reply->notes, text) == 0);
}

void
omissions_tell(struct files_tree *tree, const struct known *known, struct snapshot *reply)
{
	for (size_t i = 0; i < tree->left_out.count; i++) {
		char **path = &tree->left_out.items[i].path;
		char *shown = artifact_shown(*path);

		free(*path);
		*path = shown;
		if (known->redact != NULL)
			redact_text(known->redact, path);
		must(*path != NULL);
	}
	reply->left_out.items = take_ptr(tree->left_out.items);
	reply->left_out.count = tree->left_out.count;
	tree->left_out.count = 0;
	note(reply, tree->nleft_out - reply->left_out.count,
	    "more FIFO, socket or device was left out.",
	    "more FIFOs, sockets and devices were left out.");
	note(reply, tree->attributed, "file has extended attributes, which were not saved.",
	    "files have extended attributes, which were not saved.");
}
