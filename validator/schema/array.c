/* SPDX-License-Identifier: Apache-2.0 */
/* array.c - the keywords for arrays. */
#include "validator/schema/run.h"

#include "common/base/auto.h"

#include <stdlib.h>

/* ---- uniqueItems ---- */

struct hashed {
	uint64_t hash;
	size_t index;
};

static int
by_hash(const void *a, const void *b)
{
	const struct hashed *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Items of equal hashes are neighbours; false: *a and *b are equal items, or the run has stopped.
 */
static bool
all_differ(struct run *run, const json_t *value, struct hashed *items, size_t *a, size_t *b)
{
	size_t n = json_array_size(value);

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && items[k].hash == items[i].hash; k++) {
			*a = items[i].index;
			*b = items[k].index;
			if (!run_spend(run, 1) ||
			    value_equal(json_array_get(value, *a), json_array_get(value, *b)))
				return false;
		}
	return true;
}

static bool
check_unique(
    struct run *run, const struct node *node, const json_t *value, const struct place *place)
{
	size_t n = json_array_size(value), a = 0, b = 0;
	uint64_t steps = 0;

	if (n < 2)
		return true;
	auto_free struct hashed *items = malloc(n * sizeof *items);
	must(items != NULL);
	for (size_t i = 0; i < n; i++)
		items[i] = (struct hashed){ value_hash(json_array_get(value, i), &steps), i };
	qsort(items, n, sizeof *items, by_hash);
	if (!run_spend(run, steps))
		return false;
	if (all_differ(run, value, items, &a, &b))
		return true;
	return run_fail(run, node, KEYWORD_unique, place, json_array_get(value, b),
	    "items that differ; item %zu equals item %zu", b, a);
}

/* ---- items ---- */

static bool
check_counts(
    struct run *run, const struct node *node, const json_t *value, const struct place *place)
{
	const struct array_rule *rule = node->array;
	size_t n = json_array_size(value);

	if (n < rule->min)
		return run_fail(run, node, KEYWORD_min_items, place, value,
		    "at least %zu items; there are %zu", rule->min, n);
	if (n > rule->max)
		return run_fail(run, node, KEYWORD_max_items, place, value,
		    "at most %zu items; there are %zu", rule->max, n);
	return true;
}

/* An item that the schema false refuses is one too many. */
static bool
refuse_item(struct run *run, const struct node *node, const json_t *value,
    const struct place *place, enum keyword keyword, size_t most)
{
	return run_fail(run, node, keyword, place, value, "at most %zu items", most);
}

static bool
check_items(struct run *run, const struct node *node, const json_t *value,
    const struct place *place, struct seen *seen)
{
	const struct array_rule *rule = node->array;
	size_t n = json_array_size(value);
	struct place at = { .up = place };
	bool ok = true;

	for (size_t i = 0; i < n && (ok || run->problems != NULL) && !run->stopped; i++) {
		const struct node *by = i < rule->nprefix ? rule->prefix[i] : rule->rest;

		if (by == NULL)
			break;
		at.index = i;
		if (by->deny && i >= rule->nprefix) {
			seen_all(seen);
			return refuse_item(
			    run, node, value, place, rule->rest_keyword, rule->nprefix);
		}
		ok &= run_visit(run, by, json_array_get(value, i), &at, NULL);
		seen_set(seen, i);
	}
	return ok;
}

/* Its problems are of no interest: the items need not match. */
static bool
check_contains(struct run *run, const struct node *node, const json_t *value,
    const struct place *place, struct seen *seen)
{
	const struct array_rule *rule = node->array;
	struct problems *problems = run->problems;
	struct place at = { .up = place };
	size_t matches = 0;

	run->problems = NULL;
	for (at.index = 0; at.index < json_array_size(value) && !run->stopped; at.index++)
		if (run_visit(run, rule->contains, json_array_get(value, at.index), &at, NULL)) {
			matches++;
			if (rule->contains_counts)
				seen_set(seen, at.index);
		}
	run->problems = problems;
	if (matches < rule->min_contains)
		return run_fail(run, node,
		    rule->min_contains == 1 ? KEYWORD_contains : KEYWORD_min_contains, place, value,
		    "at least %zu items that match the schema of contains; %zu do",
		    rule->min_contains, matches);
	if (matches > rule->max_contains)
		return run_fail(run, node, KEYWORD_max_contains, place, value,
		    "at most %zu items that match the schema of contains; %zu do",
		    rule->max_contains, matches);
	return true;
}

bool
array_check(struct run *run, const struct node *node, const json_t *value,
    const struct place *place, struct seen *seen)
{
	const struct array_rule *rule = node->array;
	bool ok = check_counts(run, node, value, place);

	if ((rule->nprefix > 0 || rule->rest != NULL) && (ok || run->problems != NULL))
		ok &= check_items(run, node, value, place, seen);
	if (rule->contains != NULL && (ok || run->problems != NULL))
		ok &= check_contains(run, node, value, place, seen);
	if (rule->unique && (ok || run->problems != NULL))
		ok &= check_unique(run, node, value, place);
	return ok;
}

bool
array_check_rest(struct run *run, const struct node *node, const json_t *value,
    const struct place *place, struct seen *seen)
{
	struct place at = { .up = place };
	bool ok = true;

	for (size_t i = 0; i < json_array_size(value) && !run->stopped; i++) {
		if (seen_has(seen, i))
			continue;
		at.index = i;
		ok &=
		    node->rest_items->deny
			? run_fail(run, node, KEYWORD_unevaluated_items, &at,
			      json_array_get(value, i), "no item that the schema does not describe")
			: run_visit(run, node->rest_items, json_array_get(value, i), &at, NULL);
	}
	seen_all(seen);
	return ok;
}
