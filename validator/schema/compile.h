/* SPDX-License-Identifier: Apache-2.0 */
/* compile.h - what plan.c, compile.c and compile_ref.c share while a plan is made. */
#pragma once

#include "validator/schema/node.h"

struct plan_regex {
	struct regex *regex;
	struct plan_regex *next;
};

struct build {
	struct plan *plan;
	struct map nodes;   /* by schema */
	struct node *queue; /* to be compiled */
	size_t count, regexes;
};

/* A keyword of a node. */
struct keyword_use {
	struct build *build;
	struct node *node;
	const struct keyword_row *row;
	json_t *value;
	const char *pointer; /* of the value */
};

/* Adds its rules to the node; schema_invalid or limit_exceeded. */
int compile_keyword(const struct keyword_use *, struct err *);
/* The node of a schema, which is compiled later; NULL with *e. */
const struct node *plan_node(struct build *, const struct location *, struct err *);

/* Sets *e; returns -1. */
int compile_misformed(const struct keyword_use *, struct err *);
/* The rule of a node, made if it has none; the plan owns it.  For OWN() only. */
void *compile_own(const struct keyword_use *, void **rule, size_t size);
#define OWN(use, kind) compile_own(use, (void **)&(use)->node->kind, sizeof *(use)->node->kind)

/* A name for a rule to look for. */
struct needed compile_needed(const char *name, size_t size);

/* enum, const: rows of keywords.def, as those below. */
int compile_enum(const struct keyword_use *, struct err *);
/* $ref, $dynamicRef, $recursiveRef: rows of keywords.def. */
int compile_ref(const struct keyword_use *, struct err *);
int compile_dynamic_ref(const struct keyword_use *, struct err *);
int compile_recursive_ref(const struct keyword_use *, struct err *);
