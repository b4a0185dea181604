/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - the parts of a compiled schema. */
#pragma once

#include "validator/schema/library.h"
#include "validator/schema/regex.h"
#include "validator/schema/value.h"

struct format;
struct plan_regex;

enum {
	FEW_TEXTS = 4,
};

/* A name, and its hash. */
struct needed {
	const char *name;
	size_t size;
	uint64_t hash;
};

struct number_rule {
	bool is_short; /* all bounds: doubles are enough */
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
	bool only_items;      /* nothing but a schema for all items, and counts */
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
	struct needed key;
	const json_t *needed;    /* an array of names, or NULL */
	const struct node *node; /* or a schema */
	enum keyword keyword;
	struct dependency *next;
};

struct object_rule {
	size_t min, max;
	struct map members; /* from names to struct member */
	struct needed *required;
	size_t nrequired;
	struct pattern_rule *patterns;
	struct dependency *dependencies;
	const struct node *additional, *names;
	bool walk;       /* members have to be looked at one by one */
	bool only_known; /* but only those of `members` */
	uint64_t known;  /* view_bit() of each of `members` */
};

struct branches {
	const struct node **nodes;
	size_t count;
};

struct logic_rule {
	const json_t *choices; /* enum: an array */
	const json_t *constant;
	uint64_t *hashes;             /* sorted, of many choices */
	struct map texts;             /* the choices that are texts */
	struct needed few[FEW_TEXTS]; /* if there are no more */
	bool only_texts;
	const struct node *ref;
	const struct node *dynamic; /* where to begin, and the name to look for from outside */
	const char *dynamic_name;
	struct branches all, any, one;
	const struct node * not, *condition, *then, *otherwise;
};

struct node {
	const struct node *target; /* what applies in its place: that of a mere $ref; or itself */
	uint8_t types;             /* VALUE_... that are allowed */
	uint8_t further;           /* those for which there are rules */
	bool deny;                 /* the schema false */
	bool strict;               /* 1.0 is no integer */
	bool rest;                 /* has unevaluated... */
	bool odd;                  /* more than its own rules have to be looked at */
	struct number_rule *number;
	struct string_rule *string;
	struct array_rule *array;
	struct object_rule *object;
	struct logic_rule *logic;
	const struct node *rest_items, *rest_members; /* unevaluatedItems, unevaluatedProperties */
	const struct resource *resource;
	const char *where;
	const json_t *schema;
	struct node *next; /* to be compiled */
	struct node *older;
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
	struct node *newest; /* of all nodes */
	bool formats, dynamic;
	struct note notes[NOTE_COUNT];
	struct plan_regex *regexes;
};
