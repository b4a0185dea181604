/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - is this a tree that a workspace can have, and that can be restored? */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/*
 * Entries strictly by path; paths relative, in their encoded form, which hides neither a '/' nor
 * "." and ".."; each below a folder that is an entry too; a digest for files only, a target for
 * links only.  invalid_argument names the entry.  Counts files and their bytes.
 */
int tree_check(
    const struct tree_entry *, size_t count, uint64_t *files, uint64_t *bytes, struct err *);
