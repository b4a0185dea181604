/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package.h - unpacked packages, each once for all sessions, by the SHA-256 of its archive.
 *
 * A package was unpacked from its bytes alone, in a box that had nothing else, so whoever brings an
 * archive can spoil that archive's own package and no other.  No process can write to it.  Packages
 * that nobody uses are kept for the next session, as far as the setting packages_mb allows.
 */
#pragma once

#include "executor/sandbox/box.h"

#include "common/base/hash.h"

/* Read-only for other files. */
struct package {
	char sha256[HASH_HEX]; /* of its archive, */
	uint64_t size;         /* and the bytes of that */
	unsigned python;       /* minor version of the Python that it is for; 0: it is of npm */
	char *name, *version;
	struct workspace *workspace;
	uint64_t bytes;     /* of memory that it takes */
	struct blob report; /* of a tree of npm: what is in it */

	/* package.c's own. */
	size_t users;
	uint64_t turn;
	struct package *next;
};

/* The name in the one form of PEP 503: lower case, one '-' for each run of '-', '_' and '.'.
 * Allocated with malloc. */
char *package_normal(const char *name, size_t size);
/* Reads name and version out of the name of a wheel; both are allocated with malloc.
 * invalid_argument: it is no such name. */
int package_name(const char *file, char **name, char **version, struct err *);
/* The one of that digest for that Python, which the caller then uses; NULL: there is none. */
struct package *package_find(const char *sha256, unsigned python);
/* Takes the workspace and the texts of *made.  NULL: no memory, and both were released. */
struct package *package_add(const struct package *made);
struct package *package_get(struct package *);
/* Bytes that may still be unpacked beside the packages that somebody uses. */
uint64_t package_room(void);
/* The caller no longer uses it.  NULL is allowed. */
void package_put(struct package *);
/* In stop(). */
void package_forget(void);
