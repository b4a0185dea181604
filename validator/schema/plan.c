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
#include "validator/schema/view.h"

#include "common/base/auto.h"

#include <stdint.h>
#include <stdlib.h>

enum {
	MAX_NODES = 100000,
	MAX_HOPS = 100, /* of references */
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
		.next = build->queue,
		.older = build->plan->newest };
	node->target = node;
	build->plan->newest = node;
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

/* Is a node nothing but a reference? */
static bool
is_mere_ref(const struct node *node)
{
	const struct logic_rule *rule = node->logic;

	return rule != NULL && rule->ref != NULL && node->types == VALUE_any && !node->deny &&
	       node->number == NULL && node->string == NULL && node->array == NULL &&
	       node->object == NULL && !node->rest && rule->choices == NULL &&
	       rule->constant == NULL && rule->dynamic == NULL && rule->all.nodes == NULL &&
	       rule->any.nodes == NULL && rule->one.nodes == NULL && rule->not == NULL &&
	       rule->condition == NULL;
}

/* The end of a chain of references; one that has none leads to itself. */
static const struct node *
target_of(const struct node *node)
{
	const struct node *at = node;

	for (int hops = 0; is_mere_ref(at); at = at->logic->ref)
		if (hops++ == MAX_HOPS)
			return node;
	return at;
}

static void
settle_object(struct object_rule *rule)
{
	rule->only_known =
	    rule->names == NULL && rule->patterns == NULL && rule->additional == NULL;
	for (size_t i = 0; i < rule->members.room; i++)
		if (rule->members.entries[i].value != NULL)
			rule->known |= view_bit(rule->members.entries[i].hash);
}

static void
settle_node(struct node *node)
{
	struct object_rule *object = node->object;

	if (object != NULL)
		settle_object(object);
	struct array_rule *array = node->array;

	if (array != NULL)
		array->only_items = array->rest != NULL && !array->rest->deny &&
		                    array->nprefix == 0 && array->contains == NULL &&
		                    !array->unique;
	node->rest = node->rest_items != NULL || node->rest_members != NULL;
	node->further = (uint8_t)((node->number != NULL ? VALUE_number : 0) |
				  (node->string != NULL ? VALUE_string : 0) |
				  (node->array != NULL ? VALUE_array : 0) |
				  (node->object != NULL ? VALUE_object : 0) |
				  (node->rest ? VALUE_array | VALUE_object : 0) |
				  (node->logic != NULL || node->deny ? VALUE_any : 0));
}

/* When all rules are there. References are skipped only if nobody asks which resources were
 * entered. */
static void
settle_all(struct plan *plan)
{
	for (struct node *node = plan->newest; node != NULL; node = node->older) {
		settle_node(node);
		node->odd = node->deny || node->rest || plan->dynamic;
	}
	for (struct node *node = plan->newest; node != NULL && !plan->dynamic; node = node->older)
		node->target = target_of(node);
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
	settle_all(plan);
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
