/* SPDX-License-Identifier: Apache-2.0 */
/* omissions.h - what a snapshot does not hold: refused, or left out and named in the result. */
#pragma once

#include "executor/files/files.h"
#include "executor/redact/known.h"

enum {
	OMISSIONS_MAX_ENTRIES = 100000,    /* of schema.def */
	OMISSIONS_MAX_CONTENT = 256 << 20, /* of schema.def */
};

/* -1: the tree has content that a snapshot cannot hold; *e names it and what to do. */
int omissions_refuse(const struct files_tree *, struct err *);
/* Moves the names that were left out to the reply, without the secrets, and adds notes. */
void omissions_tell(struct files_tree *, const struct known *, struct snapshot *reply);
