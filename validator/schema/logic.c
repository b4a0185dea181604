/* SPDX-License-Identifier: Apache-2.0 */
/* logic.c - the keywords for any type: enum, const, references and combinations of schemas. */
#include "validator/schema/run.h"

#include <stdio.h>
#include <string.h>

enum {
	SHOWN = 300,
};

/* ---- enum and const ---- */

static bool
has_hash(const struct logic_rule *rule, uint64_t hash)
{
	size_t low = 0, high = json_array_size(rule->choices);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rule->hashes[middle] < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low < json_array_size(rule->choices) && rule->hashes[low] == hash;
}

static bool
is_text_choice(const struct logic_rule *rule, const struct view *value)
{
	if (rule->texts.count > FEW_TEXTS)
		return map_get(&rule->texts, value->text, value->count) != NULL;
	for (size_t i = 0; i < rule->texts.count; i++)
		if (rule->few[i].size == value->count &&
		    map_same(rule->few[i].name, value->text, value->count))
			return true;
	return false;
}

static bool
is_choice(struct run *run, const struct logic_rule *rule, const struct view *value)
{
	uint64_t steps = 0;
	json_t *choice;
	size_t i;

	if ((value->types & VALUE_string) != 0)
		return is_text_choice(rule, value);
	if (rule->only_texts ||
	    (rule->hashes != NULL && !has_hash(rule, value_hash(value->json, &steps))))
		return false;
	run_spend(run, steps);
	json_array_foreach((json_t *)(uintptr_t)rule->choices, i,
	    choice) if (value_equal(value->json, choice)) return true;
	return false;
}

static bool
is_constant(const json_t *constant, const struct view *value)
{
	if ((value->types & VALUE_string) == 0)
		return value_equal(value->json, constant);
	return json_is_string(constant) && json_string_length(constant) == value->count &&
	       map_same(json_string_value(constant), value->text, value->count);
}

static bool
check_choices(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	const struct logic_rule *rule = node->logic;
	char text[SHOWN];

	if (rule->constant != NULL && !is_constant(rule->constant, value)) {
		if (run->problems == NULL)
			return false;
		value_print(rule->constant, text, sizeof text);
		return run_fail(run, node, KEYWORD_const, place, value, "%s", text);
	}
	if (rule->choices == NULL || is_choice(run, rule, value))
		return true;
	if (run->problems == NULL)
		return false;
	value_print(rule->choices, text, sizeof text);
	return run_fail(run, node, KEYWORD_enum, place, value, "one of %s", text);
}

/* ---- references ---- */

/* The outermost resource with that dynamic anchor, as far as its chain of scopes says so. */
static const struct node *
dynamic_target(const struct run *run, const struct logic_rule *rule)
{
	const struct node *target = rule->dynamic;

	if (rule->dynamic_name == NULL)
		return target;
	for (const struct scope *scope = run->scope; scope != NULL; scope = scope->up) {
		const struct node *found = map_get(&scope->resource->dynamic_nodes,
		    rule->dynamic_name, strlen(rule->dynamic_name));

		if (found != NULL)
			target = found;
	}
	return target;
}

/* ---- combinations ---- */

static bool
check_all(struct run *run, const struct branches *all, const struct view *value,
    const struct place *place, struct seen *seen)
{
	bool ok = true;

	for (size_t i = 0; i < all->count && (ok || run->problems != NULL) && !run->stopped; i++)
		ok &= run_visit(run, all->nodes[i], value, place, seen);
	return ok;
}

/* What a branch has seen counts only if the branch is valid. */
static bool
try_branch(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	struct seen own;

	seen_open(&own, value);
	bool ok = run_visit(run, node, value, place, &own);
	if (ok)
		seen_join(seen, &own);
	seen_close(&own);
	return ok;
}

/* How many branches are valid; up to `most`, unless all must be seen. Reports no problem. */
static size_t
count_valid(struct run *run, const struct branches *branches, const struct view *value,
    const struct place *place, struct seen *seen, size_t most)
{
	struct problems *problems = run->problems;
	size_t valid = 0;

	run->problems = NULL;
	for (size_t i = 0; i < branches->count && (valid < most || seen != NULL) && !run->stopped;
	     i++)
		valid += seen == NULL ? run_visit(run, branches->nodes[i], value, place, NULL)
		                      : try_branch(run, branches->nodes[i], value, place, seen);
	run->problems = problems;
	return valid;
}

/* The problems of one branch, which explain the problem before them. */
static void
explain_by(struct run *run, const struct node *branch, const struct view *value,
    const struct place *place, struct seen *seen)
{
	size_t before = run->problems->parent;

	run->problems->parent = run->problems->count;
	run_visit(run, branch, value, place, seen);
	run->problems->parent = before;
}

/* The branch whose problems are the least. */
static size_t
closest(struct run *run, const struct branches *branches, const struct view *value,
    const struct place *place)
{
	struct problems *problems = run->problems;
	size_t count = problems->count, best = 0;
	uint64_t total = problems->total, least = UINT64_MAX;

	for (size_t i = 0; i < branches->count && !run->stopped; i++) {
		explain_by(run, branches->nodes[i], value, place, NULL);
		uint64_t distance = problem_distance(
		    problems, count, total, problems->items[count - 1].instance_path);
		if (distance < least) {
			least = distance;
			best = i;
		}
		problem_forget(problems, count, total);
	}
	return best;
}

/* After a problem with branches. What the closest one describes is no error of its own. */
static void
explain(struct run *run, const struct branches *branches, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct problems *problems = run->problems;

	if (problems == NULL || run->stopped || problems->count == problems->most)
		return;
	if (!problems->detailed) {
		explain_by(
		    run, branches->nodes[closest(run, branches, value, place)], value, place, seen);
		return;
	}
	size_t before = problems->parent, about = problems->count;
	for (size_t i = 0; i < branches->count && !run->stopped; i++) {
		run->problems->parent = about;
		run_visit(run, branches->nodes[i], value, place, seen);
	}
	run->problems->parent = before;
}

static bool
check_any(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct branches *any = &node->logic->any;

	if (count_valid(run, any, value, place, seen, 1) > 0)
		return true;
	run_fail(run, node, KEYWORD_any_of, place, value,
	    "a value that at least one of the %zu schemas of anyOf allows", any->count);
	explain(run, any, value, place, seen);
	return false;
}

static bool
check_one(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct branches *one = &node->logic->one;
	size_t valid = count_valid(run, one, value, place, seen, 2);

	if (valid == 1)
		return true;
	run_fail(run, node, KEYWORD_one_of, place, value,
	    "a value that exactly one of the %zu schemas of oneOf allows; %s", one->count,
	    valid == 0 ? "none does" : "more than one does");
	if (valid == 0)
		explain(run, one, value, place, seen);
	return false;
}

static bool
check_not(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	const struct branches not = { (const struct node *[]){ node->logic->not }, 1 };

	if (count_valid(run, &not, value, place, NULL, 1) == 0)
		return true;
	return run_fail(
	    run, node, KEYWORD_not, place, value, "a value that the schema of not does not allow");
}

static bool
check_condition(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct logic_rule *rule = node->logic;
	const struct branches condition = { (const struct node *[]){ rule->condition }, 1 };
	const struct node *next =
	    count_valid(run, &condition, value, place, seen, 1) > 0 ? rule->then : rule->otherwise;

	return next == NULL || run->stopped || run_visit(run, next, value, place, seen);
}

bool
logic_check(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct logic_rule *rule = node->logic;
	bool ok = check_choices(run, node, value, place);

	if (rule->ref != NULL && (ok || run->problems != NULL))
		ok &= run_visit(run, rule->ref, value, place, seen);
	if (rule->dynamic != NULL && !run->stopped && (ok || run->problems != NULL))
		ok &= run_visit(run, dynamic_target(run, rule), value, place, seen);
	if (rule->all.count > 0 && (ok || run->problems != NULL))
		ok &= check_all(run, &rule->all, value, place, seen);
	if (rule->any.nodes != NULL && (ok || run->problems != NULL))
		ok &= check_any(run, node, value, place, seen);
	if (rule->one.nodes != NULL && (ok || run->problems != NULL))
		ok &= check_one(run, node, value, place, seen);
	if (rule->not != NULL && (ok || run->problems != NULL))
		ok &= check_not(run, node, value, place);
	if (rule->condition != NULL && (ok || run->problems != NULL))
		ok &= check_condition(run, node, value, place, seen);
	return ok;
}
