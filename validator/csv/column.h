/* SPDX-License-Identifier: Apache-2.0 */
/* column.h - what a column holds: the type that fits all its cells, and statistics. */
#pragma once

#include "validator/csv/distinct.h"
#include "validator/csv/value.h"

#include "common/base/err.h"

enum {
	COLUMN_SHOWN = 64,       /* bytes of a least and a greatest text */
	COLUMN_DISTINCT = 10000, /* distinct values that are counted */
};

struct column_text {
	size_t size;
	uint64_t head; /* the first eight bytes: their order decides most comparisons */
	char bytes[COLUMN_SHOWN];
};

struct column {
	unsigned types; /* that fit all cells so far, a bit each */
	uint64_t count, nulls;
	uint64_t min_length, max_length;                     /* characters */
	long double min, max, sum;                           /* of numbers */
	struct column_text least, greatest, lowest, highest; /* lowest: the text of min */
	struct distinct seen;
	const struct numerals *numerals; /* NULL: as in 1234.5 */
	bool is_number;                  /* by the caller's word, also with leading zeros */
	bool more;                       /* distinct values than are counted */
};

void column_begin(struct column *);
/* One cell. */
void column_add(struct column *, struct distinct_budget *, const char *data, size_t size);
/* A cell that the row lacks. */
void column_skip(struct column *);
/* Fills in all of *out but its name. */
int column_report(const struct column *, struct csv_column *out, struct err *);
void column_close(struct column *);
