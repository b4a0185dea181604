/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - a table while it is checked: its columns, its errors, the current row. */
#pragma once

#include "validator/csv/column.h"
#include "validator/csv/constraint.h"
#include "validator/csv/scan.h"

#include "common/base/blob.h"

enum {
	TABLE_MAX_MS = 10000,         /* of a table of 10 MB; of a larger one, see csv.c */
	TABLE_MAX_DISTINCT = 2000000, /* in all columns */
	TABLE_WIDTHS = 8,             /* wrong numbers of cells that are told apart */
	TABLE_LINES = 8,              /* that an error names */
	TABLE_KEYS = 8,               /* of several columns */
};

/* Rows with the same wrong number of cells are one error, at the first of them. */
struct table_width {
	size_t cells;
	bool trailing; /* the cells too many are empty */
	uint64_t rows, lines[TABLE_LINES];
	size_t error; /* its number in the list, from 1; 0: not listed */
};

struct table_column {
	char *name;
	struct constraint rule;
	bool has_rule;
	struct column column;
	struct distinct unique;
	struct distinct values; /* that `references` allows */
	unsigned keys;          /* bits of those that it belongs to */
};

/* Columns whose values must be unique together; see key.h. */
struct table_key {
	size_t column, wanted; /* the one with the rule; how many there are */
	char *buffer;          /* the row's values so far */
	size_t used, room, cells;
	struct distinct seen;
};

struct table {
	const struct validate_csv_data *ask;
	struct csv_report *out;
	const struct blob *text;
	json_t *rules;
	const char *guessed;         /* the encoding, if no mark and no caller says it */
	char delimiter, declared;    /* declared: by the text; zero: not */
	char quote, escape, comment; /* zero: there is none */
	struct numerals numerals;
	bool has_numerals;           /* other than 1234.5 */
	uint64_t skipped;            /* lines before the text */
	uint64_t title, header;      /* lines that seem to be these, or zero */
	struct table_column *fields; /* at most SCAN_MAX_CELLS; its owner frees it */
	size_t count, room;
	bool has_header; /* it was read */
	uint64_t row;    /* the current row of data, from 1; 0: the header */
	uint64_t line;
	bool extra; /* a cell too many of the row has text */
	struct table_width widths[TABLE_WIDTHS];
	size_t width_count;
	struct table_key keys[TABLE_KEYS];
	size_t key_count;
	struct distinct_budget budget;
	pcre2_match_context *match;
	int64_t most_ms, until_ms;
	bool has_pattern; /* in a rule */
	bool failed;      /* out of memory */
};

struct fault {
	const char *rule, *column, *value;
	size_t size;
};

/* column, value: NULL if it does not concern one. Counts it, and lists it if there is room. */
void table_report(struct table *, const struct fault *, const char *fmt, ...) PRINTF(3, 4);
