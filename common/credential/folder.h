/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - files of an operator that are read again when they change, by a process in its jail.
 *
 * A file is replaced as a whole, by rename: of itself, or of a link on the way to it that stays in
 * the folder, as in a mounted Secret.  It must belong to root or to the folder's owner, who is root
 * or who opened it, and be neither readable nor writable by others, nor writable by a group:
 * whoever can write it decides who may come in.  While a file that changed cannot be read or
 * understood, what was read before stays in force and the log says so; a file that is gone means
 * that there is nothing.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <sys/stat.h>

/* What is in the folder. */
#define AUTH_TOKENS "tokens"
#define AUTH_KEYS   "issuer.json"

struct folder {
	int fd; /* -1: not open */
	uid_t owner;
};

struct folder_file {
	const char *name;
	size_t limit; /* bytes */
	/* What it holds now; file NULL: it is not there.  -1: as it was before. */
	int (*read)(const struct blob *file, struct err *);

	/* folder.c's own: what the file was when it was last looked at. */
	struct stat seen;
};

/* The folder that is given, or where that is "" "credentials" below state; made where it is not
 * there: root's, for the gateway's group to read, or one's own.  The descriptor is the caller's. */
int folder_open(const char *given, const char *state, struct folder *, struct err *);

/* Reads those that changed since the last time, at first all of them; the blob is wiped.  0: all is
 * as it should be.  -1: *e says of the last one that is not, named only once while it stays so. */
int folder_look(const struct folder *, struct folder_file *, size_t count, struct err *);
