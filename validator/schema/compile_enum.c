/* SPDX-License-Identifier: Apache-2.0 */
/* compile_enum.c - enum and const, so that a value is found without looking at each choice.  Trusts
 * nothing, as compile.c. */
#include "validator/schema/compile.h"

#include <stdlib.h>

enum {
	MANY_CHOICES = 8, /* from so many, enum looks hashes up */
};

static int
by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
add_text(const struct keyword_use *use, struct logic_rule *rule, json_t *choice)
{
	const struct needed text =
	    compile_needed(json_string_value(choice), json_string_length(choice));
	size_t before = rule->texts.count;

	map_put(&rule->texts, &use->build->plan->arena, text.name, text.size, choice);
	if (rule->texts.count > before && before < FEW_TEXTS)
		rule->few[before] = text;
}

static void
index_texts(const struct keyword_use *use, struct logic_rule *rule)
{
	json_t *choice;
	size_t i;

	rule->only_texts = true;
	json_array_foreach((json_t *)(uintptr_t)rule->choices, i, choice)
	{
		if (json_is_string(choice))
			add_text(use, rule, choice);
		else
			rule->only_texts = false;
	}
}

int
compile_enum(const struct keyword_use *use, struct err *e)
{
	struct logic_rule *rule = OWN(use, logic);
	size_t n = json_array_size(use->value);
	uint64_t steps = 0;

	if (use->row->id == KEYWORD_const) {
		rule->constant = use->value;
		return 0;
	}
	if (!json_is_array(use->value))
		return compile_misformed(use, e);
	rule->choices = use->value;
	index_texts(use, rule);
	if (n < MANY_CHOICES || rule->only_texts)
		return 0;
	rule->hashes = arena_take(&use->build->plan->arena, n * sizeof *rule->hashes);
	for (size_t i = 0; i < n; i++)
		rule->hashes[i] = value_hash(json_array_get(use->value, i), &steps);
	qsort(rule->hashes, n, sizeof *rule->hashes, by_size);
	return 0;
}
