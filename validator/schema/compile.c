/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile.c - one function for each kind of keyword: from its value to the rules of a node.
 *
 * Trusts nothing: a keyword whose value has the wrong form is refused, even where the metaschema
 * was not applied.
 */
#include "validator/schema/compile.h"

#include "validator/schema/format.h"
#include "validator/schema/note.h"
#include "validator/schema/uri.h"

#include <stdint.h>
#include <string.h>

enum {
	MAX_REGEXES = 2000,
};

int
compile_misformed(const struct keyword_use *use, struct err *e)
{
	return err_set(
	    e, ERR_schema_invalid, "schema: %.150s has a value of the wrong form", use->pointer);
}

void *
compile_own(const struct keyword_use *use, void **rule, size_t size)
{
	if (*rule == NULL)
		*rule = arena_take(&use->build->plan->arena, size);
	return *rule;
}

static struct array_rule *
array_rule(const struct keyword_use *use)
{
	bool fresh = use->node->array == NULL;
	struct array_rule *rule = OWN(use, array);

	if (fresh) {
		rule->max = rule->max_contains = SIZE_MAX;
		rule->min_contains = 1;
		rule->contains_counts = use->node->resource->draft >= DRAFT_2020;
	}
	return rule;
}

static struct object_rule *
object_rule(const struct keyword_use *use)
{
	bool fresh = use->node->object == NULL;
	struct object_rule *rule = OWN(use, object);

	if (fresh)
		rule->max = SIZE_MAX;
	return rule;
}

static struct string_rule *
string_rule(const struct keyword_use *use)
{
	bool fresh = use->node->string == NULL;
	struct string_rule *rule = OWN(use, string);

	if (fresh)
		rule->max = SIZE_MAX;
	return rule;
}

struct needed
compile_needed(const char *name, size_t size)
{
	return (struct needed){ name, size, map_hash(name, size) };
}

/* ---- subschemas ---- */

static const struct node *
child(const struct keyword_use *use, const json_t *schema, const char *pointer, struct err *e)
{
	const struct location parent = { use->node->schema,
		(struct resource *)(uintptr_t)use->node->resource, use->node->where };
	const struct location at =
	    library_locate(&use->build->plan->library, schema, &parent, pointer);

	return plan_node(use->build, &at, e);
}

static int
child_list(const struct keyword_use *use, const struct node ***nodes, size_t *count, struct err *e)
{
	struct arena *arena = &use->build->plan->arena;
	json_t *schema;
	size_t i;

	if (!json_is_array(use->value))
		return compile_misformed(use, e);
	*count = json_array_size(use->value);
	*nodes = arena_take(arena, (*count + 1) * sizeof(void *));
	json_array_foreach(use->value, i, schema)
	{
		(*nodes)[i] = child(use, schema, arena_print(arena, "%s/%zu", use->pointer, i), e);
		if ((*nodes)[i] == NULL)
			return -1;
	}
	return 0;
}

/* ---- any type ---- */

static int
compile_type(const struct keyword_use *use, struct err *e)
{
	json_t *one = use->value;
	unsigned allowed = 0;
	size_t i = 0, n = json_is_array(one) ? json_array_size(one) : 1;

	for (; i < n; i++) {
		unsigned bit = 1;

		if (json_is_array(use->value))
			one = json_array_get(use->value, i);
		if (!json_is_string(one))
			return compile_misformed(use, e);
		while (bit <= VALUE_object &&
		       strcmp(value_type_name(bit), json_string_value(one)) != 0)
			bit <<= 1;
		if (bit > VALUE_object)
			return compile_misformed(use, e);
		allowed |= bit;
	}
	use->node->types = (uint8_t)allowed;
	return 0;
}

static int
compile_branches(const struct keyword_use *use, struct err *e)
{
	struct logic_rule *rule = OWN(use, logic);
	struct branches *branches = use->row->id == KEYWORD_all_of   ? &rule->all
	                            : use->row->id == KEYWORD_any_of ? &rule->any
	                                                             : &rule->one;

	return child_list(use, &branches->nodes, &branches->count, e);
}

static int
compile_condition(const struct keyword_use *use, struct err *e)
{
	struct logic_rule *rule = OWN(use, logic);
	const struct node *node = child(use, use->value, use->pointer, e);

	if (node == NULL)
		return -1;
	if (use->row->id == KEYWORD_not)
		rule->not = node;
	else if (use->row->id == KEYWORD_if)
		rule->condition = node;
	else if (use->row->id == KEYWORD_then)
		rule->then = node;
	else
		rule->otherwise = node;
	return 0;
}

static int
compile_unevaluated(const struct keyword_use *use, struct err *e)
{
	const struct node *node = child(use, use->value, use->pointer, e);

	if (use->row->id == KEYWORD_unevaluated_items)
		use->node->rest_items = node;
	else
		use->node->rest_members = node;
	return node != NULL ? 0 : -1;
}

/* ---- numbers ---- */

static int
compile_bound(const struct keyword_use *use, struct err *e)
{
	bool first = use->node->number == NULL || use->node->number->is_short;
	struct number_rule *rule = OWN(use, number);

	if (!json_is_number(use->value) ||
	    (use->row->id == KEYWORD_multiple && json_number_value(use->value) <= 0))
		return compile_misformed(use, e);
	rule->is_short = first && value_is_short(use->value);
	if (use->row->id == KEYWORD_minimum)
		rule->minimum = use->value;
	else if (use->row->id == KEYWORD_maximum)
		rule->maximum = use->value;
	else if (use->row->id == KEYWORD_above)
		rule->above = use->value;
	else if (use->row->id == KEYWORD_below)
		rule->below = use->value;
	else
		rule->multiple = use->value;
	return 0;
}

static int
compile_open_bound(const struct keyword_use *use, struct err *e)
{
	bool first = use->node->number == NULL;
	struct number_rule *rule = OWN(use, number);

	rule->is_short |= first;
	if (!json_is_boolean(use->value))
		return compile_misformed(use, e);
	if (use->row->id == KEYWORD_above_4)
		rule->open_minimum = json_is_true(use->value);
	else
		rule->open_maximum = json_is_true(use->value);
	return 0;
}

/* A count may be written 2.0. */
static int
read_count(const struct keyword_use *use, size_t *count, struct err *e)
{
	double real = json_number_value(use->value);

	if ((value_types(use->value, false) & VALUE_integer) == 0 || real < 0)
		return compile_misformed(use, e);
	*count = real < 1e15 ? (size_t)real : SIZE_MAX;
	return 0;
}

/* ---- strings ---- */

static int
compile_length(const struct keyword_use *use, struct err *e)
{
	struct string_rule *rule = string_rule(use);

	return read_count(use, use->row->id == KEYWORD_min_length ? &rule->min : &rule->max, e);
}

static const struct regex *
compile_regex(const struct keyword_use *use, const char *text, size_t size, struct err *e)
{
	struct plan *plan = use->build->plan;
	struct regex *regex;

	if (use->build->regexes++ >= MAX_REGEXES) {
		err_set(e, ERR_limit_exceeded,
		    "schema: more than %d patterns; write fewer patterns", MAX_REGEXES);
		return NULL;
	}
	regex = regex_new(text, size, e);
	if (regex == NULL) {
		err_add(e, "schema: %.100s", use->pointer);
		return NULL;
	}
	struct plan_regex *entry = arena_take(&plan->arena, sizeof *entry);
	*entry = (struct plan_regex){ regex, plan->regexes };
	plan->regexes = entry;
	return regex;
}

static int
compile_pattern(const struct keyword_use *use, struct err *e)
{
	struct string_rule *rule = string_rule(use);

	if (!json_is_string(use->value))
		return compile_misformed(use, e);
	rule->pattern = use->value;
	rule->regex =
	    compile_regex(use, json_string_value(use->value), json_string_length(use->value), e);
	return rule->regex != NULL ? 0 : -1;
}

static int
compile_format(const struct keyword_use *use, struct err *e)
{
	if (!json_is_string(use->value))
		return compile_misformed(use, e);
	const char *name = json_string_value(use->value);
	if (!use->build->plan->formats && !use->node->resource->assert_format)
		return 0;
	const struct format *format = format_find(use->node->resource->draft, name);
	if (format == NULL)
		note_format(use->build->plan->notes, use->node, name);
	else
		string_rule(use)->format = format;
	return 0;
}

/* Later drafts say that contents are not checked. */
static int
compile_content(const struct keyword_use *use, struct err *e)
{
	const char *text = json_string_value(use->value);

	if (text == NULL)
		return compile_misformed(use, e);
	if (!use->build->plan->formats || use->node->resource->draft != DRAFT_7)
		return 0;
	if (use->row->id == KEYWORD_content_type)
		string_rule(use)->content_type = text;
	else
		string_rule(use)->content_coding = text;
	return 0;
}

/* ---- arrays ---- */

static int
compile_item_count(const struct keyword_use *use, struct err *e)
{
	struct array_rule *rule = array_rule(use);

	switch (use->row->id) {
	case KEYWORD_min_items:
		return read_count(use, &rule->min, e);
	case KEYWORD_max_items:
		return read_count(use, &rule->max, e);
	case KEYWORD_min_contains:
		return read_count(use, &rule->min_contains, e);
	default:
		return read_count(use, &rule->max_contains, e);
	}
}

static int
compile_unique(const struct keyword_use *use, struct err *e)
{
	if (!json_is_boolean(use->value))
		return compile_misformed(use, e);
	array_rule(use)->unique = json_is_true(use->value);
	return 0;
}

static int
compile_prefix(const struct keyword_use *use, struct err *e)
{
	struct array_rule *rule = array_rule(use);

	return child_list(use, &rule->prefix, &rule->nprefix, e);
}

static int
compile_rest(const struct keyword_use *use, struct err *e)
{
	struct array_rule *rule = array_rule(use);

	rule->rest = child(use, use->value, use->pointer, e);
	rule->rest_keyword = KEYWORD_items;
	return rule->rest != NULL ? 0 : -1;
}

/* Before 2020-12: a schema for all items, or a list of schemas for the first ones. */
static int
compile_items(const struct keyword_use *use, struct err *e)
{
	if (!json_is_array(use->value))
		return compile_rest(use, e);
	array_rule(use)->many = true;
	return compile_prefix(use, e);
}

static int
compile_more_items(const struct keyword_use *use, struct err *e)
{
	struct array_rule *rule = array_rule(use);

	rule->more = child(use, use->value, use->pointer, e);
	return rule->more != NULL ? 0 : -1;
}

static int
compile_contains(const struct keyword_use *use, struct err *e)
{
	struct array_rule *rule = array_rule(use);

	rule->contains = child(use, use->value, use->pointer, e);
	return rule->contains != NULL ? 0 : -1;
}

/* ---- objects ---- */

static int
compile_member_count(const struct keyword_use *use, struct err *e)
{
	struct object_rule *rule = object_rule(use);

	return read_count(use, use->row->id == KEYWORD_min_members ? &rule->min : &rule->max, e);
}

static struct member *
member_of(const struct keyword_use *use, const char *name, size_t size)
{
	struct object_rule *rule = object_rule(use);
	struct member *member = map_get(&rule->members, name, size);

	if (member == NULL) {
		member = arena_take(&use->build->plan->arena, sizeof *member);
		map_put(&rule->members, &use->build->plan->arena, name, size, member);
	}
	return member;
}

static int
compile_properties(const struct keyword_use *use, struct err *e)
{
	const char *name;
	json_t *schema;
	size_t size;

	if (!json_is_object(use->value))
		return compile_misformed(use, e);
	object_rule(use)->walk = true;
	json_object_keylen_foreach(use->value, name, size, schema)
	{
		const char *pointer = uri_append(&use->build->plan->arena, use->pointer, name);
		struct member *member = member_of(use, name, size);

		member->node = child(use, schema, pointer, e);
		if (member->node == NULL)
			return -1;
	}
	return 0;
}

static int
compile_required(const struct keyword_use *use, struct err *e)
{
	json_t *name;
	size_t i;

	if (!json_is_array(use->value))
		return compile_misformed(use, e);
	struct object_rule *rule = object_rule(use);
	rule->nrequired = json_array_size(use->value);
	rule->required =
	    arena_take(&use->build->plan->arena, rule->nrequired * sizeof *rule->required);
	json_array_foreach(use->value, i, name)
	{
		if (!json_is_string(name))
			return compile_misformed(use, e);
		rule->required[i] =
		    compile_needed(json_string_value(name), json_string_length(name));
		struct member *member =
		    member_of(use, json_string_value(name), json_string_length(name));
		if (member->bit == 0)
			member->bit = i + 1;
	}
	return 0;
}

static int
compile_patterns(const struct keyword_use *use, struct err *e)
{
	struct object_rule *rule = object_rule(use);
	const char *pattern;
	json_t *schema;
	size_t size;

	if (!json_is_object(use->value))
		return compile_misformed(use, e);
	rule->walk = true;
	json_object_keylen_foreach(use->value, pattern, size, schema)
	{
		struct pattern_rule *one = arena_take(&use->build->plan->arena, sizeof *one);
		const char *pointer = uri_append(&use->build->plan->arena, use->pointer, pattern);

		one->pattern = pattern;
		one->regex = compile_regex(use, pattern, size, e);
		if (one->regex == NULL || (one->node = child(use, schema, pointer, e)) == NULL)
			return -1;
		one->next = rule->patterns;
		rule->patterns = one;
	}
	return 0;
}

static int
compile_additional(const struct keyword_use *use, struct err *e)
{
	struct object_rule *rule = object_rule(use);

	rule->walk = true;
	rule->additional = child(use, use->value, use->pointer, e);
	return rule->additional != NULL ? 0 : -1;
}

static int
compile_names(const struct keyword_use *use, struct err *e)
{
	struct object_rule *rule = object_rule(use);

	rule->walk = true;
	rule->names = child(use, use->value, use->pointer, e);
	return rule->names != NULL ? 0 : -1;
}

static int
compile_dependencies(const struct keyword_use *use, struct err *e)
{
	struct object_rule *rule = object_rule(use);
	const char *key;
	json_t *value;
	size_t size;

	if (!json_is_object(use->value))
		return compile_misformed(use, e);
	json_object_keylen_foreach(use->value, key, size, value)
	{
		struct dependency *one = arena_take(&use->build->plan->arena, sizeof *one);
		const char *pointer = uri_append(&use->build->plan->arena, use->pointer, key);

		*one = (struct dependency){ .key = compile_needed(key, size),
			.keyword = use->row->id,
			.next = rule->dependencies };
		if (json_is_array(value))
			one->needed = value;
		else if ((one->node = child(use, value, pointer, e)) == NULL)
			return -1;
		rule->dependencies = one;
	}
	return 0;
}

static int
compile_none(const struct keyword_use *use, struct err *e)
{
	(void)use;
	(void)e;
	return 0;
}

/* ---- the table ---- */

/* clang-format off */
static int (*const compilers[KEYWORD_COUNT])(const struct keyword_use *, struct err *) = {
#define KEYWORD(id, name, vocabulary, first, last, form, rule) [KEYWORD_##id] = compile_##rule,
#include "validator/schema/keywords.def"
};
/* clang-format on */

int
compile_keyword(const struct keyword_use *use, struct err *e)
{
	return compilers[use->row->id](use, e);
}
