/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - a client's file: reads it, and replaces it after making a copy of the old one. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <sys/stat.h>

struct store {
	int directory;    /* of the file; -1: the directory does not exist */
	const char *path; /* as requested */
	char *real;       /* with symlinks resolved; from malloc */
	struct stat before;
	struct blob text; /* followed by a zero byte; empty: no file exists */
};

/* Reads the file; -1 with *e if it is not a regular file of this user.  The caller keeps the
 * path, and calls store_close() in any case. */
int store_open(struct store *, const char *path, struct err *);
/* Replaces the text in one step and keeps mode and group.  The old text is kept in *backup, for
 * free(), or NULL if there was none.  Refused if the file changed in between. */
int store_save(struct store *, const char *text, char **backup, struct err *);
void store_close(struct store *);
