/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - lines, characters, functions, and McCabe's cyclomatic complexity of the program and
 * of its functions (T. J. McCabe, A Complexity Measure, IEEE TSE 1976).
 *
 * The decisions of a lambda count for the function that it is in.  Trusts nothing and decides
 * nothing.
 */
#include "validator/python/measure.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <string.h>

enum {
	MEDIUM_FROM = 11, /* McCabe's thresholds */
	HIGH_FROM = 21,
	MOST = 16,       /* functions that are listed, as schema.def says */
	MAX_NAME = 256,  /* bytes */
	MAX_NESTED = 16, /* names that make one */
};

static const unsigned decisions[NODE_COUNT] = {
#define NODE(class, binds, decisions) [NODE_##class] = (decisions),
#include "validator/python/ast.def"
};

/* What is known of a node. */
struct measured {
	uint32_t function; /* that it is, or is in; 0: none */
	uint32_t branches; /* of a function, or of the code outside */
};

static int
say_complexity(struct analysis *analysis, const char *word, struct err *e)
{
	free(analysis->estimated_complexity);
	analysis->estimated_complexity = strdup(word);
	return analysis->estimated_complexity != NULL ? 0 : err_sys(e, "measure the code");
}

int
measure_text(const struct source *source, struct analysis *analysis, struct err *e)
{
	analysis->line_count = source->lines;
	analysis->character_count = source_characters(source);
	return say_complexity(analysis, "unknown", e);
}

static uint64_t
decisions_of(const struct node *node)
{
	if (node->kind == NODE_BoolOp) /* a and b and c: two more paths */
		return tree_length(node->ast, ATTR_values) - 1;
	if (node->kind == NODE_comprehension)
		return 1 + tree_length(node->ast, ATTR_ifs);
	return decisions[node->kind];
}

static bool
is_function(enum node_kind kind)
{
	return kind == NODE_FunctionDef || kind == NODE_AsyncFunctionDef;
}

/* Which function each node is in, and the branches of each. */
static void
count_branches(const struct tree *tree, struct measured *all, struct analysis *analysis)
{
	for (size_t n = 0; n < tree->count; n++) {
		const struct node *node = &tree->nodes[n];
		uint64_t own = decisions_of(node);
		bool function = is_function(node->kind);
		all[n].function = function ? (uint32_t)n : all[node->parent].function;
		all[all[n].function].branches += (uint32_t)own;
		analysis->cyclomatic += own;
		analysis->functions += function || node->kind == NODE_Lambda;
	}
}

/* The names of the classes and functions around a node and of itself, joined by dots. */
static char *
name_of(const struct tree *tree, size_t n)
{
	const char *names[MAX_NESTED];
	char text[MAX_NAME + 1] = "";
	size_t depth = 0, used = 0;

	for (; n != 0 && depth < MAX_NESTED; n = tree->nodes[n].parent)
		if (is_function(tree->nodes[n].kind) || tree->nodes[n].kind == NODE_ClassDef)
			names[depth++] = tree_text(tree->nodes[n].ast, ATTR_name) ?: "?";
	while (depth-- > 0 && used < MAX_NAME)
		used += (size_t)snprintf(
		    text + used, sizeof text - used, "%s%s", used > 0 ? "." : "", names[depth]);
	text[utf8_whole(text, used < MAX_NAME ? used : MAX_NAME)] = '\0';
	return strdup(text);
}

/* Puts a function among the most complex; of equals the first in the text comes first. */
static size_t
rank(const struct measured *all, size_t most[MOST], size_t count, size_t n)
{
	size_t at = count;

	while (at > 0 && all[most[at - 1]].branches < all[n].branches)
		at--;
	if (at == MOST)
		return count;
	count += count < MOST;
	memmove(&most[at + 1], &most[at], (count - at - 1) * sizeof *most);
	most[at] = n;
	return count;
}

static int
list_most_complex(
    const struct tree *tree, const struct measured *all, struct analysis *analysis, struct err *e)
{
	size_t most[MOST], count = 0;

	for (size_t n = 1; n < tree->count; n++)
		if (is_function(tree->nodes[n].kind) && all[n].branches > 0)
			count = rank(all, most, count, n);
	for (size_t i = 0; i < count; i++) {
		struct function_complexity *one = list_add(&analysis->most_complex, sizeof *one);
		if (one == NULL)
			return err_sys(e, "measure the code");
		*one = (struct function_complexity){
			.name = name_of(tree, most[i]),
			.line = tree_number(tree->nodes[most[i]].ast, ATTR_lineno),
			.cyclomatic = all[most[i]].branches + UINT64_C(1),
		};
		if (one->name == NULL)
			return err_sys(e, "measure the code");
	}
	return 0;
}

int
measure_program(const struct program *program, struct analysis *analysis, struct err *e)
{
	const struct tree *tree = &program->tree;
	auto_free struct measured *all = calloc(tree->count + 1, sizeof *all);

	if (all == NULL)
		return err_sys(e, "measure the code");
	analysis->cyclomatic = 1;
	count_branches(tree, all, analysis);
	if (list_most_complex(tree, all, analysis, e) < 0)
		return -1;

	uint64_t outside = all[0].branches + UINT64_C(1);
	uint64_t most =
	    analysis->most_complex.count > 0 ? analysis->most_complex.items[0].cyclomatic : 0;

	most = most > outside ? most : outside;
	return say_complexity(analysis,
	    most < MEDIUM_FROM ? "low"
	    : most < HIGH_FROM ? "medium"
			       : "high",
	    e);
}
