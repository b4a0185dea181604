/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - the parts of a compiled schema. */
#pragma once

#include "validator/schema/library.h"
#include "validator/schema/regex.h"
#include "validator/schema/value.h"

struct format;
struct plan_regex;

struct number_rule {
	const json_t *minimum, *maximum, *above, *below, *multiple; /* NULL: none */
	bool open_minimum, open_maximum;                            /* draft 4 */
};

struct string_rule {
	size_t min, max; /* characters */
	const struct regex *regex;
	const json_t *pattern;
	const struct format *format;
	const char *content_type, *content_coding;
};

struct array_rule {
	size_t min, max;
	const struct node **prefix;
	size_t nprefix;
	const struct node *rest; /* of the items after the prefix */
	enum keyword rest_keyword;
	const struct node *contains;
	size_t min_contains, max_contains;
	bool unique;
	bool contains_counts; /* what contains matches is evaluated: 2020-12 */
	bool many;            /* items has a list: additionalItems counts */
	const struct node *more;
};

struct member {
	const struct node *node; /* NULL: it is only required */
	size_t bit;              /* 1 + its place among the required, or 0 */
};

struct pattern_rule {
	const struct regex *regex;
	const char *pattern;
	const struct node *node;
	struct pattern_rule *next;
};

struct dependency {
	const char *key;
	size_t key_size;
	const json_t *needed;    /* an array of names, or NULL */
	const struct node *node; /* or a schema */
	enum keyword keyword;
	struct dependency *next;
};

struct object_rule {
	size_t min, max;
	struct map members; /* from names to struct member */
	const json_t *required;
	struct pattern_rule *patterns;
	struct dependency *dependencies;
	const struct node *additional, *names;
	bool walk; /* members have to be looked at one by one */
};

struct branches {
	const struct node **nodes;
	size_t count;
};

struct logic_rule {
	const json_t *choices; /* enum: an array */
	const json_t *constant;
	uint64_t *hashes; /* sorted, of many choices */
	const struct node *ref;
	const struct node *dynamic; /* where to begin, and the name to look for from outside */
	const char *dynamic_name;
	struct branches all, any, one;
	const struct node * not, *condition, *then, *otherwise;
};

struct node {
	const char *where;
	const struct resource *resource;
	const json_t *schema;
	unsigned types; /* VALUE_... that are allowed */
	bool deny;      /* the schema false */
	bool strict;    /* 1.0 is no integer */
	struct number_rule *number;
	struct string_rule *string;
	struct array_rule *array;
	struct object_rule *object;
	struct logic_rule *logic;
	const struct node *rest_items, *rest_members; /* unevaluatedItems, unevaluatedProperties */
	struct node *next;                            /* to be compiled */
};

/* What a schema says without effect. */
enum note_kind {
	NOTE_DRAFT,   /* a keyword of another draft */
	NOTE_KEYWORD, /* a name that is near a keyword's */
	NOTE_FORMAT,  /* a format that nothing checks */
	NOTE_COUNT,
};

/* The first of a kind; its texts are the schema's, or constant. */
struct note {
	const struct node *in;
	const char *name, *meant; /* meant: a similar name, or NULL */
	enum draft known;         /* NOTE_DRAFT: by that draft */
	size_t count;             /* of the kind; 0: none */
};

struct plan {
	struct arena arena;
	struct library library;
	const struct node *root;
	bool formats, dynamic;
	struct note notes[NOTE_COUNT];
	struct plan_regex *regexes;
};
