/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.h - a temporary directory of a test, and its removal; symlinks in it are removed, not
 * followed. */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* base: ends with six letters, which are replaced each time.  -1: it could not be created. */
static inline int
scratch_make(char *base)
{
	memcpy(base + strlen(base) - 6, "XXXXXX", 6);
	return mkdtemp(base) == NULL ? -1 : 0;
}

static inline int
scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st, (void)type, (void)walk;
	return remove(path);
}

static inline int
scratch_remove(const char *base)
{
	return nftw(base, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
