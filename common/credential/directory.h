/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.h - operator's files that a jailed process reloads when they change.
 *
 * A file must be replaced atomically by rename: of the file, or of a symlink in its path that stays
 * in the directory, as in a mounted Secret. It must belong to root or to the owner of the directory
 * (root or the user of this process). It must not be readable or writable by others, nor writable
 * by a group, because a user who can write it controls access. If a changed file cannot be read or
 * parsed, the previous content stays in force and a line is logged. A missing file means no
 * entries.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <sys/stat.h>

/* The files in the directory. */
#define AUTH_TOKENS "tokens"
#define AUTH_KEYS   "issuer.json"

struct directory {
	int fd; /* -1: not open */
	uid_t owner;
};

struct directory_file {
	const char *name;
	size_t limit; /* bytes */
	bool open;    /* others may read it: it has no secrets */
	/* Called with the new content; file NULL: the file does not exist. -1: keep the previous
	 * content. */
	int (*read)(const struct blob *file, struct err *);

	/* used by directory.c: the file's status at the last check. */
	struct stat seen;
};

/* Opens the directory `given`, or "credentials" below state if that is "". Creates it if missing:
 * owned by root and readable by the gateway's group, or owned by this user. The caller owns the
 * descriptor. */
int directory_open(const char *given, const char *state, struct directory *, struct err *);

/* Reads the files that changed since the last call, at first all of them; the blob is wiped. 0: all
 * files are good. -1: *e describes the last bad file; each is reported once while it stays bad. */
int directory_look(const struct directory *, struct directory_file *, size_t count, struct err *);
