/* SPDX-License-Identifier: Apache-2.0 */
/* keyword.h - the table of keywords.def. */
#pragma once

#include <stddef.h>

/* Each is younger than those above it. */
enum draft {
	DRAFT_unknown,
	DRAFT_4 = 4,
	DRAFT_6 = 6,
	DRAFT_7 = 7,
	DRAFT_2019 = 2019,
	DRAFT_2020 = 2020,
};

enum vocabulary {
	VOCABULARY_core,
	VOCABULARY_applicator,
	VOCABULARY_unevaluated,
	VOCABULARY_validation,
	VOCABULARY_metadata,
	VOCABULARY_format,
	VOCABULARY_content,
	VOCABULARY_COUNT,
};

/* What the value of a keyword must be. */
enum form {
	FORM_ANYTHING,
	FORM_FLAG,
	FORM_STRING,
	FORM_URI,
	FORM_ANCHOR,
	FORM_PATTERN,
	FORM_NUMBER,
	FORM_POSITIVE,
	FORM_COUNT,
	FORM_LIST,
	FORM_STRINGS,
	FORM_SOME_STRINGS,
	FORM_TYPES,
	FORM_FLAG_MAP,
	FORM_STRINGS_MAP,
	FORM_SCHEMA,
	FORM_SCHEMA_OR_FLAG,
	FORM_SCHEMAS,
	FORM_ITEMS,
	FORM_SCHEMA_MAP,
	FORM_PATTERN_MAP,
	FORM_DEPENDENCIES,
	FORM_COUNT_OF,
};

enum keyword {
#define KEYWORD(id, ...) KEYWORD_##id,
#include "validator/schema/keywords.def"
	KEYWORD_COUNT
};

struct keyword_row {
	enum keyword id;
	const char *name;
	enum vocabulary vocabulary;
	enum draft first, last;
	enum form form;
};

extern const struct keyword_row keyword_rows[KEYWORD_COUNT];

/* NULL: that draft has no such keyword. */
const struct keyword_row *keyword_find(enum draft, const char *name, size_t size);
/* The row of a keyword that constrains values and that only other drafts have: the first later one,
 * or the last earlier one; NULL: none. */
const struct keyword_row *keyword_elsewhere(enum draft, const char *name, size_t size);
/* The name of a keyword of that draft that constrains values and was probably meant; NULL: none. */
const char *keyword_near(enum draft, const char *name);
