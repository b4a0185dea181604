/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - a server's entry in the text of a client's file, with the rest of the text as it was.
 *
 * The file is its user's and stays so: order, layout, comments, other servers and other keys of an
 * entry that is there already are kept byte by byte.  What cannot be parsed is refused, never
 * guessed at, and so is a form that an entry cannot be added to.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct merge {
	const char *text; /* of the file, with a zero byte behind it; "" where there is none yet */
	size_t size;
	const char *section, *name; /* the entry is section.name */
	const json_t *entry;        /* an object; in TOML of texts and arrays of texts */
	bool comments; /* JSON: comments and commas before a closing bracket are fine */
};

/* The new text, of malloc, or NULL where it would be the old one; -1 with invalid_argument. */
int merge_json(const struct merge *, char **merged, struct err *);
int merge_toml(const struct merge *, char **merged, struct err *);

/* Gives the lines of a new text the end that all lines of the old one have, where that is CRLF. */
int merge_lines(const struct merge *, char **merged, struct err *);
/* Keys by which clients know how to reach a server: an entry that was there loses those that the
 * new one does not have, and keeps all others. */
bool merge_owns(const char *key, size_t size);
