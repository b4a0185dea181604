/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_compat.c - each row of compat.def names a tool, arguments and keys that exist, and values
 * that parse; a row with a typing error is found.
 */
#include "gateway/compat/convert.h"
#include "gateway/compat/offer.h"
#include "gateway/compat/place.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Does the message have a field at that place, such as "usage.wall_ms" or "artifacts[].size"? */
static bool
has_place(enum msg_id id, const char *place)
{
	size_t size = strcspn(place, ".[");
	const char *rest = place + size;
	const struct message *m = &messages[id];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		if (f->name_size != size || memcmp(f->name, place, size) != 0)
			continue;
		if (rest[0] == '\0')
			return true;
		if (strncmp(rest, "[].", 3) == 0)
			return f->kind == KIND_LIST && has_place(f->of, rest + 3);
		return f->kind == KIND_ITEM && has_place(f->of, rest + 1);
	}
	return false;
}

static bool
parses(const char *json)
{
	json_auto_t *value = json_loads(json, JSON_DECODE_ANY, NULL);

	return value != NULL;
}

static bool
takes(enum rows_system system, const char *tool, const char *name)
{
	for (const struct rows_take *row = rows_takes; row->tool != NULL; row++)
		if (row->system == system && strcmp(row->tool, tool) == 0 &&
		    strcmp(row->name, name) == 0)
			return true;
	return false;
}

/* Is it a key, or an object with a key, that an earlier row of the tool gives? */
static bool
given_before(const struct rows_give *row, const char *place)
{
	size_t size = strcspn(place, ".[");

	for (const struct rows_give *r = rows_gives; r->tool != NULL && r != row; r++)
		if (r->system == row->system && strcmp(r->tool, row->tool) == 0 &&
		    strncmp(r->key, place, size) == 0)
			return true;
	return false;
}

static bool
take_is_right(const struct rows_take *row)
{
	const struct rows_offer *offer = offer_find(row->system, row->tool);

	if (offer == NULL ||
	    (row->fallback != NULL && row->fallback != rows_needed && !parses(row->fallback)))
		return false;
	return row->ours[0] == '\0' || has_place(offer->ours, row->ours);
}

static bool
set_is_right(const struct rows_set *row)
{
	const struct rows_offer *offer = offer_find(row->system, row->tool);

	return offer != NULL && parses(row->value) && has_place(offer->ours, row->ours);
}

static bool
give_is_right(const struct rows_give *row)
{
	const struct rows_offer *offer = offer_find(row->system, row->tool);

	if (offer == NULL || (row->fallback != NULL && !parses(row->fallback)))
		return false;
	if (row->how == convert_asked)
		return takes(row->system, row->tool, row->ours);
	return row->ours[0] == '\0' || has_place(messages[offer->ours].reply, row->ours) ||
	       given_before(row, row->ours);
}

static void
rows_name_what_exists(void **state)
{
	(void)state;
	for (const struct rows_offer *row = rows_offers; row->tool != NULL; row++) {
		assert_ptr_equal(offer_find(row->system, row->tool), row);
		if (row->ours != MSG_none)
			assert_non_null(messages[row->ours].title);
	}
	for (const struct rows_take *row = rows_takes; row->tool != NULL; row++)
		if (!take_is_right(row))
			fail_msg("TAKE %s %s", row->tool, row->name);
	for (const struct rows_set *row = rows_sets; row->tool != NULL; row++)
		if (!set_is_right(row))
			fail_msg("SET %s %s", row->tool, row->ours);
	for (const struct rows_give *row = rows_gives; row->tool != NULL; row++)
		if (!give_is_right(row))
			fail_msg("GIVE %s %s", row->tool, row->key);
	for (const struct rows_named *row = rows_codes; row->theirs != NULL; row++)
		assert_int_not_equal(row->ours, ERR_none);
}

static void
typing_errors_are_found(void **state)
{
	const struct rows_take take = { ROWS_sandboxmcp, "execute_code", "timeout_seconds",
		"integer", "60", "timeout", convert_same, "" };
	const struct rows_give give = { ROWS_sandboxmcp, "execute_code", "request_id",
		"execution_id", convert_same, NULL };
	struct rows_take bad = take;
	struct rows_give worse = give;

	(void)state;
	assert_true(take_is_right(&take));
	assert_true(give_is_right(&give));
	bad.ours = "time_out";
	assert_false(take_is_right(&bad));
	bad = take;
	bad.tool = "execute_cod";
	assert_false(take_is_right(&bad));
	bad = take;
	bad.fallback = "sixty";
	assert_false(take_is_right(&bad));
	worse.ours = "execution";
	assert_false(give_is_right(&worse));
	worse = give;
	worse.how = convert_asked;
	assert_false(give_is_right(&worse));
}

static void
places_are_made(void **state)
{
	json_auto_t *value = json_pack("{s:i}", "scalar", 1);

	(void)state;
	assert_int_equal(place_set(value, "a.b", json_integer(2)), 0);
	assert_int_equal(json_integer_value(place_get(value, "a.b")), 2);
	assert_int_equal(place_set(value, "scalar.b", json_integer(3)), -1);
	assert_null(place_get(value, "a.c"));
	assert_ptr_equal(place_get(value, ""), value);
}

static void
arguments_are_checked(void **state)
{
	static const struct {
		const char *arguments, *says;
	} cases[] = {
		{ "{\"code\":\"x\"}", NULL },
		{ "{\"code\":\"x\",\"language\":null,\"unheard\":1}", NULL },
		{ "{\"code\":\"x\",\"timeout_seconds\":5.0}", NULL },
		{ "{}", "'code' is a required property" },
		{ "{\"code\":null}", "'code' is a required property" },
		{ "{\"code\":\"x\",\"timeout_seconds\":5.5}",
		    "timeout_seconds: 5.5 is not of type 'integer'" },
		{ "{\"code\":\"x\",\"language\":\"ruby\"}",
		    "language: \"ruby\" is not one of 'python|node|shell'" },
		{ "{\"code\":\"x\",\"allowed_domains\":[1]}",
		    "allowed_domains: [1] is not of type 'array'" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		json_auto_t *arguments = json_loads(cases[i].arguments, 0, NULL);
		auto_free char *says =
		    offer_refuse(offer_find(ROWS_sandboxmcp, "execute_code"), arguments);

		if (cases[i].says == NULL)
			assert_null(says);
		else
			assert_string_equal(says, cases[i].says);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_name_what_exists),
		cmocka_unit_test(typing_errors_are_found),
		cmocka_unit_test(places_are_made),
		cmocka_unit_test(arguments_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
