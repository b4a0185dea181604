/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - a table while it is checked: its columns, its errors, the current row. */
#pragma once

#include "validator/csv/column.h"
#include "validator/csv/constraint.h"
#include "validator/csv/scan.h"

#include "common/base/blob.h"

enum {
	TABLE_MAX_MS = 10000,
	TABLE_MAX_DISTINCT = 2000000, /* in all columns */
};

struct table_column {
	char *name;
	struct constraint rule;
	bool has_rule;
	struct column column;
	struct distinct unique;
};

struct table {
	const struct validate_csv_data *ask;
	struct csv_report *out;
	json_t *rules;
	char delimiter, declared;    /* declared: by the text; zero: not */
	struct table_column *fields; /* at most SCAN_MAX_CELLS; its owner frees it */
	size_t count, room;
	bool has_header; /* it was read */
	uint64_t row;    /* the current row of data, from 1; 0: the header */
	uint64_t line;
	struct distinct_budget budget;
	pcre2_match_context *match;
	int64_t until_ms;
	bool failed; /* out of memory */
};

struct fault {
	const char *rule, *column, *value;
	size_t size;
};

/* column, value: NULL if it does not concern one. Counts it, and lists it if there is room. */
void table_report(struct table *, const struct fault *, const char *fmt, ...) PRINTF(3, 4);
