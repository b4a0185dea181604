/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - code as a parser wants it, and where in it something stands. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

struct source {
	char *text; /* UTF-8 without zero bytes, one behind it */
	size_t size;
	size_t *starts; /* where each line begins */
	size_t lines;
};

/* Copies the code; invalid_argument where it has a zero byte or is not UTF-8. */
int source_open(struct source *, const void *data, size_t size, struct err *);
void source_close(struct source *);

/* Where line (from 1) begins and how many bytes it has without its end; a line that is not there is
 * empty. */
const char *source_line(const struct source *, uint64_t line, size_t *size);
/* The column (from 1, in characters) of a byte (from 0) of a line. */
uint64_t source_column(const struct source *, uint64_t line, uint64_t byte);
uint64_t source_characters(const struct source *);
