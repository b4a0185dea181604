/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - makes the plan of a schema: its nodes, one after the other.
 *
 * Trusts nothing: a keyword whose value has the wrong form is refused, even where the metaschema
 * was not applied.
 */
#include "validator/schema/plan.h"

#include "validator/schema/compile.h"
#include "validator/schema/note.h"
#include "validator/schema/uri.h"

#include "common/base/auto.h"

#include <stdint.h>
#include <stdlib.h>

enum {
	MAX_NODES = 100000,
};

/* ---- nodes ---- */

const struct node *
plan_node(struct build *build, const struct location *at, struct err *e)
{
	struct node *node = json_is_object(at->schema) ? map_at(&build->nodes, at->schema) : NULL;

	if (node != NULL)
		return node;
	if (!json_is_object(at->schema) && !json_is_boolean(at->schema)) {
		err_set(e, ERR_schema_invalid, "schema: %.150s is no schema", at->pointer);
		return NULL;
	}
	if (build->count++ >= MAX_NODES) {
		err_set(e, ERR_limit_exceeded,
		    "schema: more than %d subschemas; check the data by a part of the schema",
		    MAX_NODES);
		return NULL;
	}
	node = arena_take(&build->plan->arena, sizeof *node);
	*node = (struct node){ .where = at->pointer,
		.resource = at->resource,
		.schema = at->schema,
		.types = VALUE_any,
		.deny = json_is_false(at->schema),
		.strict = at->resource->draft == DRAFT_4,
		.next = build->queue };
	if (json_is_object(at->schema)) {
		build->queue = node;
		map_mark(&build->nodes, &build->plan->arena, at->schema, node);
	}
	return node;
}

/* Before draft 2019-09 a $ref has no siblings. */
static bool
counts(const struct node *node, const struct keyword_row *row)
{
	if (node->resource->draft <= DRAFT_7 && row->id != KEYWORD_ref &&
	    json_is_string(json_object_get(node->schema, "$ref")))
		return false;
	return (node->resource->vocabularies >> row->vocabulary & 1) != 0;
}

/* additionalItems counts only beside a list of items. */
static void
settle_items(struct node *node)
{
	if (node->array == NULL || !node->array->many || node->array->more == NULL)
		return;
	node->array->rest = node->array->more;
	node->array->rest_keyword = KEYWORD_more_items;
}

static int
compile_node(struct build *build, struct node *node, struct err *e)
{
	const char *key;
	json_t *value;
	size_t size;

	json_object_keylen_foreach((json_t *)(uintptr_t)node->schema, key, size, value)
	{
		const struct keyword_row *row = keyword_find(node->resource->draft, key, size);

		if (row == NULL)
			note_keyword(build->plan->notes, node, key);
		if (row == NULL || !counts(node, row))
			continue;
		const struct keyword_use use = { build, node, row, value,
			uri_append(&build->plan->arena, node->where, key) };
		if (compile_keyword(&use, e) < 0)
			return -1;
	}
	settle_items(node);
	return 0;
}

static int
compile_queue(struct build *build, struct err *e)
{
	while (build->queue != NULL) {
		struct node *node = build->queue;

		build->queue = node->next;
		if (compile_node(build, node, e) < 0)
			return -1;
	}
	return 0;
}

/* Any dynamic anchor may be the target of a dynamic reference. */
static int
compile_dynamic(struct build *build, struct err *e)
{
	for (struct resource *r = build->plan->library.all; r != NULL; r = r->next)
		for (size_t i = 0; i < r->dynamic_anchors.room; i++) {
			const struct map_entry *entry = &r->dynamic_anchors.entries[i];

			if (entry->value == NULL ||
			    map_get(&r->dynamic_nodes, entry->key, entry->size) != NULL)
				continue;
			const struct node *node = plan_node(build, entry->value, e);
			if (node == NULL)
				return -1;
			map_put(&r->dynamic_nodes, &build->plan->arena, entry->key, entry->size,
			    (void *)(uintptr_t)node);
		}
	return compile_queue(build, e);
}

static int
compile_all(struct plan *plan, const struct plan_spec *spec, struct err *e)
{
	struct build build = { .plan = plan };
	struct location whole;
	const struct resource *newest;

	plan->library.arena = &plan->arena;
	plan->library.documents = spec->documents;
	plan->library.draft = spec->draft;
	if (library_open(&plan->library, spec->schema, &whole, e) < 0)
		return -1;
	plan->root = plan_node(&build, &whole, e);
	if (plan->root == NULL || compile_queue(&build, e) < 0)
		return -1;
	/* What is compiled then may refer to further documents. */
	do {
		newest = plan->library.all;
		if (plan->dynamic && compile_dynamic(&build, e) < 0)
			return -1;
	} while (newest != plan->library.all);
	return 0;
}

struct plan *
plan_new(const struct plan_spec *spec, struct err *e)
{
	struct plan *plan = calloc(1, sizeof *plan);

	must(plan != NULL);
	plan->formats = spec->formats;
	if (compile_all(plan, spec, e) == 0)
		return plan;
	plan_free(plan);
	return NULL;
}

void
plan_free(struct plan *plan)
{
	if (plan == NULL)
		return;
	for (struct plan_regex *one = plan->regexes; one != NULL; one = one->next)
		regex_free(one->regex);
	library_close(&plan->library);
	arena_free(&plan->arena);
	free(plan);
}
