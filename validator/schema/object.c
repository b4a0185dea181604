/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - the keywords for objects: one pass over the members of the value. */
#include "validator/schema/run.h"

#include <string.h>

enum {
	BITS = 64, /* required names that the pass itself finds */
};

static bool
check_counts(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	const struct object_rule *rule = node->object;
	size_t n = value->count;

	if (n < rule->min)
		return run_fail(run, node, KEYWORD_min_members, place, value,
		    "at least %zu properties; there are %zu", rule->min, n);
	if (n > rule->max)
		return run_fail(run, node, KEYWORD_max_members, place, value,
		    "at most %zu properties; there are %zu", rule->max, n);
	return true;
}

/* ---- one member ---- */

static bool
check_name(struct run *run, const struct node *by, const struct place *at)
{
	const struct view name = view_name(at->key, at->index);

	return run_visit(run, by, &name, at, NULL);
}

static bool
check_patterns(struct run *run, const struct node *node, const struct view *value,
    const struct place *at, bool *matched)
{
	bool ok = true;

	for (const struct pattern_rule *one = node->object->patterns; one != NULL && !run->stopped;
	     one = one->next) {
		int got = regex_match(one->regex, at->key, at->index, run->e);

		if (got < 0) {
			err_add(run->e, "pattern %.80s of patternProperties", one->pattern);
			return run_stop(run);
		}
		if (got > 0) {
			*matched = true;
			ok &= run_visit(run, one->node, value, at, NULL);
		}
	}
	return ok;
}

static bool
check_additional(
    struct run *run, const struct node *node, const struct view *value, const struct place *at)
{
	const struct node *by = node->object->additional;

	if (!by->deny)
		return run_visit(run, by, value, at, NULL);
	return run_fail(run, node, KEYWORD_additional, at, value,
	    "no property \"%.200s\", which the schema does not describe", at->key);
}

/* member: its row, or NULL. */
static bool
check_member(struct run *run, const struct node *node, const struct member *member,
    const struct view *value, const struct place *at, bool *evaluated)
{
	const struct object_rule *rule = node->object;
	bool ok = true, known = member != NULL && member->node != NULL;

	if (rule->names != NULL)
		ok &= check_name(run, rule->names, at);
	if (known)
		ok &= run_visit(run, member->node, value, at, NULL);
	if (rule->patterns != NULL)
		ok &= check_patterns(run, node, value, at, &known);
	if (!known && rule->additional != NULL) {
		ok &= check_additional(run, node, value, at);
		known = true;
	}
	*evaluated = known;
	return ok;
}

/* ---- all members ---- */

/* *found: the required names among the first BITS that are there. */
static bool
check_members(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen, uint64_t *found)
{
	const struct object_rule *rule = node->object;
	struct place at = { .up = place, .of = value->json };
	bool ok = true, evaluated;

	if (rule->only_known && (rule->known & value->members->names) == 0)
		return true;
	for (uint32_t i = 0; i < value->count && (ok || run->problems != NULL) && !run->stopped;
	     i++) {
		const struct view_member *one = &value->members->all[i];
		const struct member *member =
		    map_find(&rule->members, one->key, one->size, one->hash);

		if (member == NULL && rule->only_known)
			continue;
		at.key = one->key;
		at.index = one->size;
		if (member != NULL && member->bit != 0 && member->bit <= BITS)
			*found |= 1ULL << (member->bit - 1);
		ok &= check_member(run, node, member, &one->value, &at, &evaluated);
		if (evaluated)
			seen_set(seen, i);
	}
	return ok;
}

static bool
has(const struct view *value, const struct needed *name)
{
	return view_has(value, name->name, name->size, name->hash);
}

static bool
check_required(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, uint64_t found)
{
	const struct object_rule *rule = node->object;
	bool ok = true;

	for (size_t i = 0; i < rule->nrequired && (ok || run->problems != NULL); i++) {
		if ((i < BITS && (found >> i & 1) != 0) || has(value, &rule->required[i]))
			continue;
		ok = run_fail(run, node, KEYWORD_required, place, value, "the property \"%.200s\"",
		    rule->required[i].name);
	}
	return ok;
}

static bool
check_needed(struct run *run, const struct node *node, const struct dependency *one,
    const struct view *value, const struct place *place)
{
	json_t *name;
	size_t i;
	bool ok = true;

	json_array_foreach((json_t *)(uintptr_t)one->needed, i, name)
	{
		const char *text = json_string_value(name);

		if (text == NULL ||
		    json_object_getn(value->json, text, json_string_length(name)) != NULL)
			continue;
		ok = run_fail(run, node, one->keyword, place, value,
		    "the property \"%.200s\", which \"%.200s\" needs", text, one->key.name);
	}
	return ok;
}

static bool
check_dependencies(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	bool ok = true;

	for (const struct dependency *one = node->object->dependencies; one != NULL;
	     one = one->next) {
		if (!has(value, &one->key))
			continue;
		ok &= one->node != NULL ? run_visit(run, one->node, value, place, seen)
		                        : check_needed(run, node, one, value, place);
	}
	return ok;
}

bool
object_check(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct object_rule *rule = node->object;
	uint64_t found = 0;
	bool ok = check_counts(run, node, value, place);

	if (rule->walk && (ok || run->problems != NULL))
		ok &= check_members(run, node, value, place, seen, &found);
	if (rule->required != NULL && (ok || run->problems != NULL))
		ok &= check_required(run, node, value, place, found);
	if (rule->dependencies != NULL && (ok || run->problems != NULL))
		ok &= check_dependencies(run, node, value, place, seen);
	return ok;
}

bool
object_check_rest(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	struct place at = { .up = place, .of = value->json };
	bool ok = true;

	for (uint32_t i = 0; i < value->count && !run->stopped; i++) {
		const struct view_member *one = &value->members->all[i];

		if (seen_has(seen, i))
			continue;
		at.key = one->key;
		at.index = one->size;
		ok &=
		    node->rest_members->deny
			? run_fail(run, node, KEYWORD_unevaluated_properties, &at, &one->value,
			      "no property \"%.200s\", which the schema does not describe", at.key)
			: run_visit(run, node->rest_members, &one->value, &at, NULL);
	}
	seen_all(seen);
	return ok;
}
