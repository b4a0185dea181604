/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - can a workspace have this tree, and can it be restored? */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/*
 * Entries must be strictly ordered by path.  Paths are relative and encoded; the encoding must not
 * hide a '/', "." or "..".  Each entry is below a directory that is an entry too.  Files have a
 * digest; links have a target; nothing else has either.  A hard link is a file with the digest and
 * size of the file that it refers to.  invalid_argument names the entry.  Counts files and their
 * bytes, those of hard links once.
 */
int tree_check(
    const struct tree_entry *, size_t count, uint64_t *files, uint64_t *bytes, struct err *);
