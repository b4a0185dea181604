/* SPDX-License-Identifier: Apache-2.0 */
/* constraint.h - what the cells of a column must be, read from JSON. */
#pragma once

#include "validator/csv/value.h"

#include "common/base/err.h"

#include <jansson.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
	CONSTRAINT_SHOWN = 64, /* bytes of a bound or pattern in messages */
};

struct constraint {
	enum value_type type;
	bool nullable; /* an empty cell is allowed; by default only for string */
	bool unique;
	bool optional;  /* the column may be missing */
	bool only_type; /* and bounds: there is no other rule */
	bool has_min, has_max;
	long double min, max;
	char min_text[CONSTRAINT_SHOWN], max_text[CONSTRAINT_SHOWN];
	bool has_length;
	uint64_t min_length, max_length; /* characters */
	pcre2_code *pattern;             /* must match the whole cell */
	pcre2_match_data *match;
	char pattern_text[CONSTRAINT_SHOWN];
	struct texts formats, nulls;
	struct texts with;   /* columns that it is unique together with */
	char *references;    /* a column whose values the cells must have; NULL: any */
	char *reference_csv; /* the table with that column; NULL: this one */
	struct texts words;  /* sorted; with items, a cell must be one of these */
};

/* column: its name, for errors. invalid_argument names the key by its path. Clear it in any case.
 */
int constraint_read(struct constraint *, const char *column, json_t *json, struct err *);
void constraint_clear(struct constraint *);
