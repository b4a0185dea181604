/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - code in the form that a parser needs, with positions in it. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

struct source {
	char *text; /* UTF-8 without zero bytes; a zero byte follows */
	size_t size;
	size_t *starts; /* where each line starts */
	size_t lines;
};

/* Copies the code; invalid_argument if it has a zero byte or is not UTF-8. */
int source_open(struct source *, const void *data, size_t size, struct err *);
void source_close(struct source *);

/* The start of a line (from 1) and its size without line end; a missing line is empty. */
const char *source_line(const struct source *, uint64_t line, size_t *size);
/* The column (from 1, in characters) of a byte (from 0) of a line. */
uint64_t source_column(const struct source *, uint64_t line, uint64_t byte);
uint64_t source_characters(const struct source *);
