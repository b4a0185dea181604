/* SPDX-License-Identifier: Apache-2.0 */
/* note.h - the summary of a check, and what in a text seems to be no part of its table. */
#pragma once

#include "validator/csv/state.h"

enum { NOTE_MAX = 1024 };

struct note {
	char text[NOTE_MAX];
	size_t used;
};

void note_add(struct note *, const char *fmt, ...) PRINTF(2, 3);
/* A guessed encoding, the declared delimiter, titles before the header, a footer. text: what the
 * table was read from.
 */
void note_table(struct note *, const struct table *, const struct blob *text);
