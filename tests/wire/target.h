/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - one value of a message, found and changed by msgpack-c, not by the code under test.
 */
#pragma once

#include "tests/wire/sample.h"

/* Stands for the value, as a string of msgpack whose length is one byte. */
#define TARGET_MARK "<the value under test>"

enum change {
	CHANGE_MARK,   /* TARGET_MARK for the value */
	CHANGE_REMOVE, /* neither key nor value */
	CHANGE_DOUBLE, /* key and value once more, at the end of the map */
};

struct target {
	enum msg_id id;
	const struct field *f;
	char path[160];  /* "files[1].filename" */
	size_t frame;    /* of a PAGE, BLOB or ANY */
	struct packed p; /* the full sample, changed */
};

/*
 * Changes the n-th value of the message; false: it has fewer.  Values of an object count after it,
 * those of a list in its last element.  The caller clears t->p.
 */
bool target_open(struct target *, enum msg_id, enum change, size_t n);
