/* SPDX-License-Identifier: Apache-2.0 */
/* test_validate.c - checks of JSON as a client sees them: the verdict and each error's place. */
#include "tests/unit/checked_json.h"

#include "validator/schema/cache.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- all errors of an object ---- */

#define CLOSED "\"unevaluatedProperties\": false"
#define SHUT   "\"unevaluatedItems\": false"
static const struct error_case {
	const char *schema, *data, *found;
} cases[] = {
	/* What no keyword evaluated is told beside other errors. */
	{ "{\"required\": [\"k1\"], \"properties\": {\"k2\": {}}, " CLOSED "}",
	    "{\"k2\": 1, \"k4\": 1}", " required, /k4 unevaluatedProperties" },
	{ "{\"properties\": {\"a\": {\"type\": \"integer\"}}, " CLOSED "}",
	    "{\"a\": \"x\", \"b\": 1}", "/a type, /b unevaluatedProperties" },
	{ "{\"patternProperties\": {\"^a\": {\"type\": \"integer\"}}, "
	  "\"unevaluatedProperties\": {\"type\": \"string\"}}",
	    "{\"a\": \"x\", \"b\": 1, \"c\": \"y\"}", "/a type, /b type" },
	{ "{\"minItems\": 3, \"prefixItems\": [{\"type\": \"string\"}], " SHUT "}", "[1, 2]",
	    " minItems, /0 type, /1 unevaluatedItems" },
	{ "{\"properties\": {\"in\": {\"minProperties\": 3, " CLOSED "}}}", "{\"in\": {\"x\": 1}}",
	    "/in minProperties, /in/x unevaluatedProperties" },
	/* What a failing keyword of the object itself describes is no further error. */
	{ "{\"allOf\": [{\"properties\": {\"a\": {\"type\": \"integer\"}}}], " CLOSED "}",
	    "{\"a\": \"x\", \"b\": 1}", "/a type, /b unevaluatedProperties" },
	{ "{\"$ref\": \"#/$defs/a\", \"$defs\": {\"a\": {\"properties\": {\"a\": "
	  "{\"type\": \"integer\"}}}}, " CLOSED "}",
	    "{\"a\": \"x\"}", "/a type" },
	{ "{\"anyOf\": [{\"properties\": {\"a\": {\"type\": \"integer\"}}, \"required\": [\"a\"]}, "
	  "{\"properties\": {\"z\": {}}, \"required\": [\"z\", \"y\", \"x\"]}], " CLOSED "}",
	    "{\"a\": \"x\", \"b\": 1}", " anyOf, /a type, /b unevaluatedProperties" },
	{ "{\"items\": false, " SHUT "}", "[1]", " items" },
	/* What another branch than the valid one describes stays unevaluated. */
	{ "{\"required\": [\"k\"], \"anyOf\": [{\"properties\": {\"a\": {}}}, "
	  "{\"properties\": {\"b\": {\"type\": \"integer\"}}}], " CLOSED "}",
	    "{\"a\": 1, \"b\": \"x\"}", " required, /b unevaluatedProperties" },
	{ "{\"not\": {\"properties\": {\"a\": {}}}, " CLOSED "}", "{\"a\": 1}",
	    " not, /a unevaluatedProperties" },
};

static void
finds(void **state)
{
	const struct error_case *c = *state;
	struct checked got;

	check_json(&got, c->schema, c->data, json_draft_2020_12);
	assert_int_equal(got.status, 0);
	assert_string_equal(got.found, c->found);
	assert_int_equal(got.report.valid, c->found[0] == '\0');
	checked_clear(&got);
}

/* The object's other properties are not what is wrong, however many there are. */
static void
tells_what_is_absent(void **state)
{
	static const struct {
		const char *schema, *message, *hint;
		int draft;
	} tried[] = {
		{ "{\"required\": [\"key\"], \"properties\": {\"b\": {}}}",
		    "expected the property \"key\"; it is absent", "Rename \"Key\" to \"key\".",
		    json_draft_2020_12 },
		{ "{\"required\": [\"c\"], \"properties\": {\"b\": {}, \"Key\": {}}}",
		    "expected the property \"c\"; it is absent", NULL, json_draft_04 },
		{ "{\"dependentRequired\": {\"b\": [\"name\"]}}",
		    "expected the property \"name\", which \"b\" needs; it is absent", NULL,
		    json_draft_2020_12 },
		{ "{\"dependencies\": {\"b\": [\"name\"]}}",
		    "expected the property \"name\", which \"b\" needs; it is absent", NULL,
		    json_draft_07 },
		{ "{\"minProperties\": 3}",
		    "expected at least 3 properties; there are 2, found {\"Key\":1,\"b\":2}", NULL,
		    json_draft_2020_12 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check_json(&got, tried[i].schema, "{\"Key\": 1, \"b\": 2}", tried[i].draft);
		assert_int_equal(got.report.errors.count, 1);
		const struct schema_error *error = &got.report.errors.items[0];
		assert_string_equal(error->message, tried[i].message);
		assert_int_equal(strcmp(error->actual, "absent") == 0, i < COUNT(tried) - 1);
		assert_string_equal(error->hint != NULL ? error->hint : "",
		    tried[i].hint != NULL ? tried[i].hint : "");
		checked_clear(&got);
	}
}

static void
proposes_names_that_are_free(void **state)
{
	static const struct {
		const char *data, *hint;
	} tried[] = { { "{\"color\": 1, \"colour\": 2}", "Remove it." },
		{ "{\"colour\": 2}", "Did you mean \"color\"?" },
		{ "{\"cloor\": 2}", "Did you mean \"color\"?" } };
	static const char *const schemas[] = {
		"{\"properties\": {\"color\": {}}, \"additionalProperties\": false}",
		"{\"properties\": {\"color\": {}}, \"unevaluatedProperties\": false}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++)
		for (size_t k = 0; k < COUNT(schemas); k++) {
			struct checked got;

			check_json(&got, schemas[k], tried[i].data, json_draft_2020_12);
			assert_int_equal(got.report.errors.count, 1);
			assert_string_equal(got.report.errors.items[0].hint, tried[i].hint);
			checked_clear(&got);
		}
}

/* A pass for the verdict alone writes no text; it must say what the pass for errors says. */
static void
finds_the_same_without_texts(void **state)
{
	static const struct {
		const char *schema, *data;
	} tried[] = {
		{ "{\"const\": 1}", "2" },
		{ "{\"const\": 1.0}", "1" },
		{ "{\"enum\": [1, \"a\"]}", "\"b\"" },
		{ "{\"enum\": [1, \"a\"]}", "\"a\"" },
		{ "{\"enum\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}", "10" },
		{ "{\"anyOf\": [{\"const\": 1}, {\"enum\": [2]}]}", "2" },
		{ "{\"oneOf\": [{\"const\": 1}, {\"enum\": [1]}]}", "1" },
		{ "{\"not\": {\"const\": 1}}", "2" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked all, flag;

		check_json(&all, tried[i].schema, tried[i].data, json_draft_2020_12);
		check_json_for(
		    &flag, tried[i].schema, tried[i].data, json_draft_2020_12, schema_output_flag);
		assert_int_equal(flag.status, 0);
		assert_int_equal(flag.report.valid, all.report.valid);
		assert_int_equal(flag.report.errors.count, 0);
		checked_clear(&all);
		checked_clear(&flag);
	}
}

/* ---- a text as data ---- */

static void
parses_text_where_none_is_allowed(void **state)
{
	static const struct {
		const char *schema, *data;
		bool parsed, valid;
	} tried[] = {
		/* valid speaks of the text that was sent. */
		{ "{\"minLength\": 10}", "\"[1]\"", false, false },
		{ "{\"type\": [\"string\", \"object\"], \"pattern\": \"^x\"}", "\"{}\"", false,
		    false },
		{ "{\"format\": \"email\"}", "\"[1]\"", false, false },
		{ "{\"enum\": [\"a\"]}", "\"[1]\"", false, false },
		{ "{\"$ref\": \"#/$defs/a\", \"$defs\": {\"a\": {\"minLength\": 9}}}", "\"[1]\"",
		    false, false },
		{ "{\"anyOf\": [{\"type\": \"object\"}, {\"minLength\": 9}]}", "\"{}\"", false,
		    false },
		{ "false", "\"{}\"", false, false },
		/* Some type forbids every text. */
		{ "{\"type\": \"object\"}", "\"{}\"", true, true },
		{ "{\"type\": [\"array\", \"null\"]}", "\"[1]\"", true, true },
		{ "{\"$ref\": \"#/$defs/a\", \"$defs\": {\"a\": {\"type\": \"object\"}}}", "\"{}\"",
		    true, true },
		{ "{\"allOf\": [{}, {\"type\": \"object\", \"required\": [\"a\"]}]}", "\"{}\"",
		    true, false },
		{ "{\"oneOf\": [{\"type\": \"object\"}, {\"type\": \"array\"}]}", "\"[]\"", true,
		    true },
		{ "{\"$dynamicRef\": \"#m\", \"$defs\": {\"m\": {\"$dynamicAnchor\": \"m\", "
		  "\"type\": \"object\"}}}",
		    "\"{}\"", true, true },
		{ "{\"$defs\": {\"a\": {\"anyOf\": [{\"type\": \"object\"}, {\"$ref\": "
		  "\"#/$defs/a\"}]}}, "
		  "\"allOf\": [{\"type\": \"object\"}]}",
		    "\"{}\"", true, true },
		/* No JSON of that type in it. */
		{ "{\"type\": \"integer\"}", "\"1\"", false, false },
		{ "{\"type\": \"object\"}", "\"{\"", false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check_json(&got, tried[i].schema, tried[i].data, json_draft_2020_12);
		assert_int_equal(got.status, 0);
		if (got.report.parsed_text != tried[i].parsed || got.report.valid != tried[i].valid)
			fail_msg("%s: parsed %d, valid %d", tried[i].schema, got.report.parsed_text,
			    got.report.valid);
		checked_clear(&got);
	}
}

/* ---- keywords of other drafts ---- */

static void
names_ignored_keywords(void **state)
{
	static const struct {
		const char *schema;
		int draft;
		const char *told; /* NULL: nothing */
	} tried[] = {
		{ "{\"properties\": {\"a\": {\"const\": 1}}}", json_draft_04,
		    "The keyword \"const\" at \"/properties/a\" was ignored, because draft-04 does "
		    "not "
		    "know it; draft-06 does." },
		{ "{\"const\": 1, \"contains\": {}, \"if\": true}", json_draft_04,
		    "so were 2 more keywords" },
		{ "{\"if\": true}", json_draft_06, "draft-06 does not know it; draft-07 does" },
		{ "{\"dependentRequired\": {}}", json_draft_07, "2019-09 does" },
		{ "{\"prefixItems\": [true]}", json_draft_2019_09, "2020-12 does" },
		{ "{\"$schema\": \"http://json-schema.org/draft-04/schema#\", \"const\": 1}",
		    json_draft_2020_12, "draft-04 does not know it" },
		{ "{\"const\": 2, \"type\": \"array\"}", json_draft_04,
		    "found {\"a\":1}. The keyword" },
		{ "{\"const\": {\"a\": 1}}", json_draft_06, NULL },
		{ "{\"properties\": {\"const\": {}}, \"enum\": [{\"a\": 1, \"if\": 1}]}",
		    json_draft_04, NULL },
		{ "{\"examples\": [], \"$defs\": {}, \"x-const\": 1}", json_draft_04, NULL },
		{ "{\"exclusiveMinimum\": true, \"minimum\": 1}", json_draft_04, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check_json(&got, tried[i].schema, "{\"a\": 1}", tried[i].draft);
		assert_int_equal(got.status, 0);
		if (tried[i].told != NULL ? strstr(got.report.message, tried[i].told) == NULL
					  : strstr(got.report.message, "ignored") != NULL)
			fail_msg("%s: %s", tried[i].schema, got.report.message);
		checked_clear(&got);
	}
}

/* A name that is only required is one that can have been meant. */
static void
proposes_names_that_are_required(void **state)
{
	static const char schema[] = "{\"required\": [\"name\"], \"properties\": {\"id\": {}}, "
				     "\"additionalProperties\": false}";
	struct checked got;

	(void)state;
	check_json(&got, schema, "{\"nmae\": 1}", json_draft_2020_12);
	assert_string_equal(got.found, "/nmae additionalProperties,  required");
	assert_string_equal(got.report.errors.items[0].hint, "Did you mean \"name\"?");
	assert_string_equal(got.report.errors.items[1].hint, "Rename \"nmae\" to \"name\".");
	checked_clear(&got);
}

static void
names_misspelt_keywords(void **state)
{
	static const struct {
		const char *schema, *told; /* NULL: nothing */
	} tried[] = {
		{ "{\"properites\": {\"a\": false}}",
		    "The keyword \"properites\" at \"\" is unknown and has no effect; did you mean "
		    "\"properties\"?" },
		{ "{\"items\": {\"requierd\": [\"a\"], \"minlength\": 2}}",
		    "The keyword \"requierd\" at \"/items\" is unknown and has no effect; did you "
		    "mean "
		    "\"required\"? There are 1 more like it." },
		{ "{\"format\": \"emial\"}",
		    "The format \"emial\" at \"\" is unknown and has no effect; did you mean "
		    "\"email\"?" },
		{ "{\"format\": \"int64\"}",
		    "The format \"int64\" at \"\" is unknown and has no effect." },
		{ "{\"additionalItems\": false}", "2020-12 does not know it; 2019-09 does." },
		{ "{\"example\": 1, \"note\": 1, \"x-enum\": 1, \"markdownDescription\": \"\", "
		  "\"nullable\": true, \"id\": \"a\", \"discriminator\": {}}",
		    NULL },
		{ "{\"properties\": {\"requierd\": {}}, \"const\": {\"requierd\": 1}}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check_json(&got, tried[i].schema, "1", json_draft_2020_12);
		assert_int_equal(got.status, 0);
		if (tried[i].told != NULL ? strstr(got.report.message, tried[i].told) == NULL
					  : strstr(got.report.message, "unknown") != NULL)
			fail_msg("%s: %s", tried[i].schema, got.report.message);
		checked_clear(&got);
	}
}

/* Each limit says what was hit. */
static void
names_what_hit_a_limit(void **state)
{
	static const struct {
		const char *schema, *data, *error;
	} tried[] = {
		{ "{\"patternProperties\": {\"^(a+)+[bc]\": {}}}",
		    "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": 1}",
		    "pattern ^(a+)+[bc] of patternProperties: a match takes more than 200000 "
		    "steps; "
		    "write it without nested or adjacent repetition" },
		{ "{\"$ref\": \"#\"}", "1",
		    "schema: more than 1500 schemas apply within one another at \"\"; remove the "
		    "$ref that leads back to itself" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check_json(&got, tried[i].schema, tried[i].data, json_draft_2020_12);
		assert_int_equal(got.error.code, ERR_limit_exceeded);
		assert_string_equal(got.error.text, tried[i].error);
	}
}

/* Also where the data is in a text. */
static void
limits_arrays_and_objects(void **state)
{
	enum { MANY = 300001 };
	char *data = malloc(3 * MANY + 8), *at = data + sprintf(data, "\"[");
	struct checked got;

	(void)state;
	for (size_t i = 1; i < MANY; i++)
		at = stpcpy(at, i > 1 ? ",[]" : "[]");
	strcpy(at, "]\"");
	check_json(&got, "{\"type\": \"array\"}", data, json_draft_2020_12);
	assert_int_equal(got.error.code, ERR_limit_exceeded);
	assert_string_equal(got.error.text, "data: more than 300000 arrays and objects; send less");
	check_json(&got, "{\"type\": \"string\"}", data, json_draft_2020_12);
	assert_true(got.report.valid);
	checked_clear(&got);
	free(data);
}

static void
calls_deep_data_deep(void **state)
{
	enum { LEVELS = 1600 };
	char data[2 * LEVELS + 1];
	struct checked got;

	(void)state;
	memset(data, '[', LEVELS);
	memset(data + LEVELS, ']', LEVELS);
	data[2 * LEVELS] = '\0';
	check_json(&got, "{\"items\": {\"$ref\": \"#\"}}", data, json_draft_2020_12);
	assert_int_equal(got.error.code, ERR_limit_exceeded);
	assert_string_equal(got.error.text,
	    "data: more than 1500 schemas apply within one another, 1500 levels deep in the data; "
	    "nest the data less");
}

int
main(void)
{
	struct CMUnitTest tests[COUNT(cases) + 10];
	static char names[COUNT(cases)][32];
	size_t n = 0;

	for (size_t i = 0; i < COUNT(cases); i++, n++) {
		snprintf(names[n], sizeof names[n], "finds %zu", i);
		tests[n] = (struct CMUnitTest){ names[n], finds, NULL, NULL,
			(void *)(uintptr_t)&cases[i] };
	}
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(finds_the_same_without_texts);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(parses_text_where_none_is_allowed);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(tells_what_is_absent);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(proposes_names_that_are_free);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_ignored_keywords);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(proposes_names_that_are_required);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_misspelt_keywords);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_what_hit_a_limit);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(limits_arrays_and_objects);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(calls_deep_data_deep);
	int failed = _cmocka_run_group_tests("validate", tests, n, NULL, NULL);
	cache_clear();
	return failed;
}
