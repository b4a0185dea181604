/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - trusts no value, but for its depth, which the parser has bounded. */
#include "validator/schema/view.h"

#include "validator/schema/map.h"
#include "validator/schema/value.h"

#include <string.h>

enum {
	FEW_MEMBERS = 64, /* so many are looked through one by one */
};

static void
read_items(struct view *view, struct arena *arena, const json_t *value)
{
	size_t n = json_array_size(value);
	struct view *items = arena_take(arena, n * sizeof *items);

	for (size_t i = 0; i < n; i++)
		view_read(&items[i], arena, json_array_get(value, i));
	view->items = items;
	view->count = (uint32_t)n;
}

static void
read_members(struct view *view, struct arena *arena, const json_t *value)
{
	json_t *object = (json_t *)(uintptr_t)value;
	size_t n = json_object_size(value);
	struct view_members *members =
	    arena_take(arena, sizeof *members + n * sizeof *members->all);
	struct view_member *member = members->all;

	members->names = 0;

	for (void *at = json_object_iter(object); at != NULL;
	     at = json_object_iter_next(object, at), member++) {
		member->key = json_object_iter_key(at);
		member->size = (uint32_t)json_object_iter_key_len(at);
		member->hash = map_hash(member->key, member->size);
		members->names |= view_bit(member->hash);
		view_read(&member->value, arena, json_object_iter_value(at));
	}
	view->members = members;
	view->count = (uint32_t)n;
}

static void
read_number(struct view *view, const json_t *value)
{
	view->strict_types = (uint8_t)value_types(value, true);
	view->number = json_number_value(value);
	view->is_short = value_is_short(value);
}

void
view_read(struct view *view, struct arena *arena, const json_t *value)
{
	unsigned types = value_types(value, false);

	*view =
	    (struct view){ .json = value, .types = (uint8_t)types, .strict_types = (uint8_t)types };
	if ((types & VALUE_object) != 0) {
		read_members(view, arena, value);
	} else if ((types & VALUE_array) != 0) {
		read_items(view, arena, value);
	} else if ((types & VALUE_string) != 0) {
		view->text = json_string_value(value);
		view->count = (uint32_t)json_string_length(value);
	} else if ((types & VALUE_number) != 0) {
		read_number(view, value);
	}
}

struct view
view_name(const char *key, size_t size)
{
	return (struct view){ .text = key,
		.count = (uint32_t)size,
		.types = VALUE_string,
		.strict_types = VALUE_string };
}

bool
view_has(const struct view *view, const char *key, size_t size, uint64_t hash)
{
	if ((view->members->names & view_bit(hash)) == 0)
		return false;
	if (view->count > FEW_MEMBERS)
		return json_object_getn(view->json, key, size) != NULL;
	for (uint32_t i = 0; i < view->count; i++) {
		const struct view_member *member = &view->members->all[i];

		if (member->hash == hash && member->size == size &&
		    memcmp(member->key, key, size) == 0)
			return true;
	}
	return false;
}

bool
view_equal(const struct view *a, const struct view *b)
{
	if (((a->types | b->types) & VALUE_string) == 0)
		return value_equal(a->json, b->json);
	return a->types == b->types && a->count == b->count && map_same(a->text, b->text, a->count);
}
