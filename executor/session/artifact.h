/* SPDX-License-Identifier: Apache-2.0 */
/* artifact.h - files of a workspace as callers see them: artifacts, uploads, reads, lists. */
#pragma once

#include "executor/event.h"
#include "executor/files/files.h"

enum {
	ARTIFACT_HASH_LIMIT = 256 << 20, /* bytes of a file that is hashed in a listing */
	ARTIFACT_MAX_OF_RUN = 1000,      /* of schema.def */
	ARTIFACT_MAX_LISTED = 10000,
};

/* Appends the files that are new in `after` or were written since `before`, and a note about those
 * that do not fit. */
int artifact_changes(const struct files_tree *before, const struct files_tree *after,
    struct execution *reply, struct err *);
/* "/workspace/" and the file's name; allocated with malloc. */
char *artifact_path(const char *filename);
/* The name, shortened if it is too long for a list of texts; allocated with malloc. */
char *artifact_shown(const char *filename);

int artifact_on_sandbox_upload_file(struct call *, void *request, struct err *);
int artifact_on_sandbox_read_artifact(struct call *, void *request, struct err *);
int artifact_on_sandbox_list_artifacts(struct call *, void *request, struct err *);
