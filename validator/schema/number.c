/* SPDX-License-Identifier: Apache-2.0 */
/* number.c - the keywords for numbers. */
#include "validator/schema/run.h"

enum {
	SHOWN = 64,
};

struct bound {
	const char *what;
	const json_t *number;
};

static bool
fail(struct run *run, const struct node *node, enum keyword keyword, const struct place *place,
    const struct view *value, struct bound bound)
{
	char text[SHOWN];

	if (run->problems == NULL)
		return false;
	value_print(bound.number, text, sizeof text);
	return run_fail(run, node, keyword, place, value, "a number %s %s", bound.what, text);
}

/* Less than, equal to or greater than zero. */
static inline int
compare(const struct number_rule *rule, const struct view *value, const json_t *bound)
{
	if (!rule->is_short || !value->is_short)
		return value_compare(value->json, bound);
	double number = json_number_value(bound);
	return (value->number > number) - (value->number < number);
}

bool
number_check(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	const struct number_rule *rule = node->number;
	uint64_t steps = 0;
	bool ok = true;

	if (rule->minimum != NULL &&
	    compare(rule, value, rule->minimum) < (rule->open_minimum ? 1 : 0))
		ok = fail(run, node, KEYWORD_minimum, place, value,
		    (struct bound){
			rule->open_minimum ? "greater than" : "of at least", rule->minimum });
	if (rule->maximum != NULL &&
	    compare(rule, value, rule->maximum) > (rule->open_maximum ? -1 : 0))
		ok = fail(run, node, KEYWORD_maximum, place, value,
		    (struct bound){
			rule->open_maximum ? "less than" : "of at most", rule->maximum });
	if (rule->above != NULL && compare(rule, value, rule->above) <= 0)
		ok = fail(run, node, KEYWORD_above, place, value,
		    (struct bound){ "greater than", rule->above });
	if (rule->below != NULL && compare(rule, value, rule->below) >= 0)
		ok = fail(run, node, KEYWORD_below, place, value,
		    (struct bound){ "less than", rule->below });
	if (rule->multiple != NULL && !value_multiple(value->json, rule->multiple, &steps))
		ok = fail(run, node, KEYWORD_multiple, place, value,
		    (struct bound){ "that is a multiple of", rule->multiple });
	return run_spend(run, steps) && ok;
}
