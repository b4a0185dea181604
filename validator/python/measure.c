/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - lines, characters, functions, and McCabe's cyclomatic complexity of the program.
 *
 * Trusts nothing and decides nothing.
 */
#include "validator/python/measure.h"

#include <string.h>

enum {
	MEDIUM_FROM = 11, /* McCabe's thresholds */
	HIGH_FROM = 21,
};

static const unsigned decisions[NODE_COUNT] = {
#define NODE(class, binds, decisions) [NODE_##class] = (decisions),
#include "validator/python/ast.def"
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

int
measure_program(const struct program *program, struct analysis *analysis, struct err *e)
{
	uint64_t cyclomatic = 1, functions = 0;

	for (size_t n = 0; n < program->tree.count; n++) {
		const struct node *node = &program->tree.nodes[n];
		cyclomatic += decisions_of(node);
		functions += node->kind == NODE_FunctionDef ||
		             node->kind == NODE_AsyncFunctionDef || node->kind == NODE_Lambda;
	}
	analysis->cyclomatic = cyclomatic;
	analysis->functions = functions;
	const char *word = cyclomatic < MEDIUM_FROM ? "low"
	                   : cyclomatic < HIGH_FROM ? "medium"
	                                            : "high";
	return say_complexity(analysis, word, e);
}
