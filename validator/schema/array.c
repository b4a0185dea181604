/* SPDX-License-Identifier: Apache-2.0 */
/* array.c - the keywords for arrays. */
#include "validator/schema/run.h"

#include "common/base/auto.h"

#include <stdlib.h>

enum {
	FEW_ITEMS = 8, /* are compared without hashes */
};

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
all_differ(struct run *run, const struct view *value, struct hashed *items, size_t *a, size_t *b)
{
	size_t n = value->count;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && items[k].hash == items[i].hash; k++) {
			*a = items[i].index;
			*b = items[k].index;
			if (!run_spend(run, 1) ||
			    value_equal(value->items[*a].json, value->items[*b].json))
				return false;
		}
	return true;
}

/* The first of a few items that equals one before it, or NULL; *other: that one. */
static const struct view *
few_equal(const struct view *value, size_t *item, size_t *other)
{
	for (*item = 1; *item < value->count; ++*item)
		for (*other = 0; *other < *item; ++*other)
			if (view_equal(&value->items[*item], &value->items[*other]))
				return &value->items[*item];
	return NULL;
}

static bool
check_unique(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	size_t n = value->count, a = 0, b = 0;
	uint64_t steps = 0;

	if (n < 2 || (n <= FEW_ITEMS && few_equal(value, &b, &a) == NULL))
		return run_spend(run, n * n / 2);
	auto_free struct hashed *items = malloc(n * sizeof *items);
	must(items != NULL);
	for (size_t i = 0; i < n; i++)
		items[i] = (struct hashed){ value_hash(value->items[i].json, &steps), i };
	qsort(items, n, sizeof *items, by_hash);
	if (!run_spend(run, steps))
		return false;
	if (all_differ(run, value, items, &a, &b))
		return true;
	return run_fail(run, node, KEYWORD_unique, place, &value->items[b],
	    "items that differ; item %zu equals item %zu", b, a);
}

/* ---- items ---- */

static bool
check_counts(
    struct run *run, const struct node *node, const struct view *value, const struct place *place)
{
	const struct array_rule *rule = node->array;
	size_t n = value->count;

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
refuse_item(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, enum keyword keyword, size_t most)
{
	return run_fail(run, node, keyword, place, value, "at most %zu items", most);
}

/* Items of which only the type is asked for: how many of them, from the first on, have it. */
static uint32_t
count_typed(const struct node *by, const struct view *value, uint32_t from)
{
	uint32_t i = from;

	while (i < value->count &&
	       (by->types & (by->strict ? value->items[i].strict_types : value->items[i].types)) !=
		   0 &&
	       (by->further & value->items[i].types) == 0)
		i++;
	return i - from;
}

static bool
check_rest(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct node *by = node->array->rest->target;
	struct place at = { .up = place };
	bool ok = true;

	for (uint32_t i = (uint32_t)node->array->nprefix;
	     i < value->count && (ok || run->problems != NULL) && !run->stopped; i++) {
		uint32_t typed = count_typed(by, value, i);

		run_spend(run, typed);
		i += typed;
		if (i == value->count)
			break;
		at.index = i;
		ok &= run_visit(run, by, &value->items[i], &at, NULL);
	}
	seen_all(seen);
	return ok;
}

static bool
check_prefix(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct array_rule *rule = node->array;
	struct place at = { .up = place };
	bool ok = true;

	for (size_t i = 0; i < value->count && i < rule->nprefix && (ok || run->problems != NULL) &&
			   !run->stopped;
	     i++) {
		at.index = i;
		ok &= run_visit(run, rule->prefix[i], &value->items[i], &at, NULL);
		seen_set(seen, i);
	}
	return ok;
}

static bool
check_items(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct array_rule *rule = node->array;
	bool ok = check_prefix(run, node, value, place, seen);

	if (rule->rest == NULL || value->count <= rule->nprefix || (!ok && run->problems == NULL))
		return ok;
	if (!rule->rest->deny)
		return check_rest(run, node, value, place, seen) && ok;
	seen_all(seen);
	return refuse_item(run, node, value, place, rule->rest_keyword, rule->nprefix);
}

/* Its problems are of no interest: the items need not match. */
static bool
check_contains(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct array_rule *rule = node->array;
	struct problems *problems = run->problems;
	struct place at = { .up = place };
	size_t matches = 0;

	run->problems = NULL;
	for (at.index = 0; at.index < value->count && !run->stopped; at.index++)
		if (run_visit(run, rule->contains, &value->items[at.index], &at, NULL)) {
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

static __attribute__((noinline)) bool
check_fully(struct run *run, const struct node *node, const struct view *value,
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

/* Most arrays are lists of texts or numbers, and need no more than this. */
bool
array_check(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	const struct array_rule *rule = node->array;

	if (rule->only_items && seen == NULL && value->count >= rule->min &&
	    value->count <= rule->max && count_typed(rule->rest->target, value, 0) == value->count)
		return run_spend(run, value->count);
	return check_fully(run, node, value, place, seen);
}

bool
array_check_rest(struct run *run, const struct node *node, const struct view *value,
    const struct place *place, struct seen *seen)
{
	struct place at = { .up = place };
	bool ok = true;

	for (size_t i = 0; i < value->count && !run->stopped; i++) {
		if (seen_has(seen, i))
			continue;
		at.index = i;
		ok &= node->rest_items->deny
		          ? run_fail(run, node, KEYWORD_unevaluated_items, &at, &value->items[i],
				"no item that the schema does not describe")
		          : run_visit(run, node->rest_items, &value->items[i], &at, NULL);
	}
	seen_all(seen);
	return ok;
}
