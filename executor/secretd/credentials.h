/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials.h - the operator's credentials: for a name of a host the value of its Authorization.
 *
 * They come from a netrc file, in the form that curl and pip read: "machine NAME login LOGIN
 * password PASSWORD", or of our own "machine NAME token TOKEN" (RFC 6750), between spaces or line
 * ends. A value may be in double quotes, in which \" and
 * \\ stand for these characters. A line that begins with # is a comment. What these programs read
 * differently is refused: "default", "macdef", a name that occurs twice, a backslash outside
 * quotes.
 */
#pragma once

#include "common/base/domain.h"

#include <stddef.h>

enum {
	CREDENTIALS_MAX = 256,
	CREDENTIALS_WORD = 1024,  /* bytes of a login or password, with a zero byte */
	CREDENTIALS_VALUE = 2752, /* "Basic " and the base64 of both, with a zero byte (RFC 7617) */
	CREDENTIALS_SHORTEST =
	    8, /* bytes of a password: a shorter one occurs in answers by chance */
	CREDENTIALS_BYTES = 1 << 20, /* of a file */
};

/* In guarded and, within RLIMIT_MEMLOCK, locked memory. */
struct credential {
	char name[DOMAIN_NAME]; /* lower case */
	char password[CREDENTIALS_WORD];
	char value[CREDENTIALS_VALUE];
};

/* Zeroed at first. */
struct credentials {
	struct credential *all[CREDENTIALS_MAX]; /* owned */
	size_t count;
};

/* Reads a file that only its owner may read. denied: others may. invalid_argument: names the line,
 * and never quotes it. Leaves nothing in *to if it fails. */
int credentials_load(const char *path, struct credentials *to, struct err *);
/* The same for a text of that many bytes. */
int credentials_read(const char *text, size_t size, struct credentials *to, struct err *);
/* NULL: that name has none. The name is in lower case. */
const struct credential *credentials_find(const struct credentials *, const char *name);
/* Wipes and frees all but the one of that name. */
void credentials_keep(struct credentials *, const char *name);
/* Wipes and frees. */
void credentials_clear(struct credentials *);
