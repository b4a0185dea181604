/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - a client's file: read, and written anew with a copy of the old one beside it. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <sys/stat.h>

struct store {
	int directory;    /* that the file is in; -1: neither is there */
	const char *path; /* as it was asked for */
	char *real;       /* behind links, of malloc */
	struct stat before;
	struct blob text; /* with a zero byte behind it; empty: there is no file */
};

/* Reads what is there; -1 with *e for what is not a regular file of this user.  The path stays the
 * caller's.  Whatever comes of it, store_close(). */
int store_open(struct store *, const char *path, struct err *);
/* Replaces the text in one step and keeps mode and group.  The old text is kept in *backup, for
 * free(), or NULL if there was none.  Refused if the file changed in between. */
int store_save(struct store *, const char *text, char **backup, struct err *);
void store_close(struct store *);
