/* SPDX-License-Identifier: Apache-2.0 */
/* test_validate.c - checks of JSON as a client sees them: the verdict and each error's place. */
#include "validator/schema/validate.h"

#include "validator/schema/cache.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct checked {
	struct schema_report report;
	struct err error;
	int status;
	char found[1024]; /* "/a type, /b required" */
};

static void
check(struct checked *c, const char *schema, const char *data, int draft)
{
	struct validate_json_data ask = {
		.data = blob_text(data),
		.schema_name_or_dict = blob_text(schema),
		.output = schema_output_basic,
		.draft = draft,
		.check_formats = true,
		.max_errors = 50,
	};
	size_t used = 0;

	*c = (struct checked){ 0 };
	c->status = validate_json(&ask, &c->report, &c->error);
	for (size_t n = 0; n < c->report.errors.count && used < sizeof c->found; n++)
		used += (size_t)snprintf(c->found + used, sizeof c->found - used, "%s%s %s",
		    n == 0 ? "" : ", ", c->report.errors.items[n].instance_path,
		    c->report.errors.items[n].keyword);
	blob_clear(&ask.data);
	blob_clear(&ask.schema_name_or_dict);
}

static void
clear(struct checked *c)
{
	message_clear(MSG_schema_report, &c->report);
}

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

	check(&got, c->schema, c->data, json_draft_2020_12);
	assert_int_equal(got.status, 0);
	assert_string_equal(got.found, c->found);
	assert_int_equal(got.report.valid, c->found[0] == '\0');
	clear(&got);
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

		check(&got, tried[i].schema, "{\"Key\": 1, \"b\": 2}", tried[i].draft);
		assert_int_equal(got.report.errors.count, 1);
		const struct schema_error *error = &got.report.errors.items[0];
		assert_string_equal(error->message, tried[i].message);
		assert_int_equal(strcmp(error->actual, "absent") == 0, i < COUNT(tried) - 1);
		assert_string_equal(error->hint != NULL ? error->hint : "",
		    tried[i].hint != NULL ? tried[i].hint : "");
		clear(&got);
	}
}

static void
proposes_names_that_are_free(void **state)
{
	static const struct {
		const char *data, *hint;
	} tried[] = { { "{\"color\": 1, \"colour\": 2}", "Remove it." },
		{ "{\"colour\": 2}", "Did you mean \"color\"?" } };
	static const char *const schemas[] = {
		"{\"properties\": {\"color\": {}}, \"additionalProperties\": false}",
		"{\"properties\": {\"color\": {}}, \"unevaluatedProperties\": false}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++)
		for (size_t k = 0; k < COUNT(schemas); k++) {
			struct checked got;

			check(&got, schemas[k], tried[i].data, json_draft_2020_12);
			assert_int_equal(got.report.errors.count, 1);
			assert_string_equal(got.report.errors.items[0].hint, tried[i].hint);
			clear(&got);
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

		check(&got, tried[i].schema, tried[i].data, json_draft_2020_12);
		assert_int_equal(got.status, 0);
		if (got.report.parsed_text != tried[i].parsed || got.report.valid != tried[i].valid)
			fail_msg("%s: parsed %d, valid %d", tried[i].schema, got.report.parsed_text,
			    got.report.valid);
		clear(&got);
	}
}

/* ---- numbers ---- */

#define THIRTY "123456789012345678901234567890"

static void
compares_decimals(void **state)
{
	static const struct {
		const char *schema, *data;
		bool valid;
	} tried[] = {
		{ "{\"multipleOf\": 0.01}", "5555555555555555555555555555.01", true },
		{ "{\"multipleOf\": 0.01}", "5555555555555555555555555555.015", false },
		{ "{\"multipleOf\": 1e-400}", "3e-400", true },
		{ "{\"multipleOf\": 18446744073709551616}", "36893488147419103233", false },
		{ "{\"multipleOf\": 0.1}", "9007199254740993", true },
		{ "{\"multipleOf\": 0.3}", "0.30000000000000004", false },
		{ "{\"const\": 9007199254740993}", "9007199254740992", false },
		{ "{\"const\": 9007199254740993.0}", "9007199254740993", true },
		{ "{\"const\": 9007199254740993.0}", "9007199254740992.0", false },
		{ "{\"const\": " THIRTY "}", "123456789012345678901234567891", false },
		{ "{\"const\": {\"a\": [" THIRTY "]}}", "{\"a\": [" THIRTY ".0]}", true },
		{ "{\"const\": 1e30}", "1000000000000000000000000000000", true },
		{ "{\"const\": 1e18}", "1000000000000000000", true },
		{ "{\"const\": 1.23456789012345e18}", "1234567890123450000", true },
		{ "{\"const\": 0.1}", "0.1000000000000000055511151231257827", false },
		{ "{\"const\": 0}", "1e-400", false },
		{ "{\"const\": \"" THIRTY "\"}", THIRTY, false },
		{ "{\"enum\": [1, 1e400, 2]}", "10e399", true },
		{ "{\"enum\": [1, 1e400, 2]}", "1e401", false },
		{ "{\"enum\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 1e30]}",
		    "1000000000000000000000000000000", true },
		{ "{\"enum\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 9007199254740993.0]}", "9007199254740993",
		    true },
		{ "{\"uniqueItems\": true}", "[" THIRTY ", " THIRTY ".0]", false },
		{ "{\"uniqueItems\": true}", "[" THIRTY ", 123456789012345678901234567891]", true },
		{ "{\"uniqueItems\": true}", "[100000000000000000000, 1e20]", false },
		{ "{\"uniqueItems\": true}", "[1000000000000000000, 1e18]", false },
		{ "{\"maximum\": 9007199254740992}", "9007199254740993", false },
		{ "{\"maximum\": 9007199254740992.0}", "9007199254740993.0", false },
		{ "{\"minimum\": -1e400}", "-2e400", false },
		{ "{\"minimum\": -1e400}", "-1e400", true },
		{ "{\"exclusiveMinimum\": 0}", "1e-400", true },
		{ "{\"exclusiveMinimum\": " THIRTY "}", THIRTY, false },
		{ "{\"exclusiveMaximum\": 1e400}", "9.99e399", true },
		{ "{\"type\": \"integer\"}", "1e400", true },
		{ "{\"type\": \"integer\"}", "9007199254740993.5", false },
		{ "{\"type\": \"integer\"}", "-18446744073709551615.000", true },
		{ "{\"type\": \"string\"}", "1e400", false },
		{ "{\"minLength\": 18446744073709551616}", "\"a\"", false },
		{ "{\"properties\": {\"18446744073709551616\": {\"type\": \"null\"}}}",
		    "{\"18446744073709551616\": 1}", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check(&got, tried[i].schema, tried[i].data, json_draft_2020_12);
		if (got.status != 0 || got.report.valid != tried[i].valid)
			fail_msg("%s of %s: %s", tried[i].data, tried[i].schema, got.error.text);
		clear(&got);
	}
}

/* Draft 4: 1.0 is no integer. */
static void
knows_how_integers_were_written(void **state)
{
	static const struct {
		const char *data;
		bool valid;
	} tried[] = { { "18446744073709551616", true }, { "18446744073709551616.0", false },
		{ "1e400", false }, { "1e20", false }, { "7", true } };

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check(&got, "{\"type\": \"integer\"}", tried[i].data, json_draft_04);
		assert_int_equal(got.report.valid, tried[i].valid);
		clear(&got);
	}
}

static void
shows_numbers_as_written(void **state)
{
	static const struct {
		const char *schema, *data, *message;
	} tried[] = {
		{ "{\"const\": " THIRTY "}", "1E400", "expected " THIRTY ", found 1E400" },
		{ "{\"enum\": [0.1, {\"a\\\"\": [1e400, null]}]}", "[0.3, -1e999, \"x\", true]",
		    "expected one of [0.1,{\"a\\\"\":[1e400,null]}], found "
		    "[0.3,-1e999,\"x\",true]" },
		{ "{\"maximum\": 1e400}", "2e400",
		    "expected a number of at most 1e400, found 2e400" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check(&got, tried[i].schema, tried[i].data, json_draft_2020_12);
		assert_int_equal(got.report.errors.count, 1);
		assert_string_equal(got.report.errors.items[0].message, tried[i].message);
		clear(&got);
	}
}

static void
refuses_by_place_and_limit(void **state)
{
	static const struct {
		const char *schema, *data, *error;
		enum err_code code;
	} tried[] = {
		{ "{}", "[1e400,\n1e400, 18446744073709551616x]",
		    "data: line 2, column 28: ']' expected near 'x'", ERR_invalid_argument },
		{ "{}", "[1e400, {1e400: 1}]",
		    "data: line 1, column 10: string or '}' expected near '1'",
		    ERR_invalid_argument },
		{ "{}", "1e1000000001",
		    "data: a number with an exponent beyond 1000000000, which is the limit",
		    ERR_limit_exceeded },
		{ "{\"maximum\": [1e-9999999999]}", "1",
		    "schema_name_or_dict: a number with an exponent beyond 1000000000, which is "
		    "the "
		    "limit",
		    ERR_limit_exceeded },
		{ "{\"minLength\": -1e400}", "\"a\"", "minLength", ERR_schema_invalid },
		{ "{\"minLength\": 1e-400}", "\"a\"", "minLength", ERR_schema_invalid },
		{ "{\"multipleOf\": -1e400}", "1", "multipleOf", ERR_schema_invalid },
		{ "{\"$ref\": 1e400}", "1", "found 1e400", ERR_schema_invalid },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct checked got;

		check(&got, tried[i].schema, tried[i].data, json_draft_2020_12);
		assert_int_equal(got.status, -1);
		assert_int_equal(got.error.code, tried[i].code);
		if (strstr(got.error.text, tried[i].error) == NULL)
			fail_msg("%s: %s", tried[i].data, got.error.text);
	}
}

/* An array of numbers of as many digits as are read; each division takes some of the time. */
static void
limits_digits(void **state)
{
	enum { DIGITS = 4096, MANY = 500, BYTES = MANY * (DIGITS + 1) + 2 };
	char *data = malloc(BYTES), *schema = malloc(DIGITS + 100);
	time_t begun = time(NULL);
	struct checked got;

	(void)state;
	memset(data, '7', BYTES);
	data[1000000] = '\0';
	check(&got, "{}", data, json_draft_2020_12);
	assert_int_equal(got.error.code, ERR_limit_exceeded);
	assert_string_equal(
	    got.error.text, "data: a number of 1000000 digits; at most 4096 are read");

	memset(data, '7', BYTES);
	for (size_t i = 0; i <= MANY; i++)
		data[i * (DIGITS + 1)] = i == 0 ? '[' : i < MANY ? ',' : ']';
	data[BYTES - 1] = '\0';
	snprintf(schema, DIGITS + 100, "{\"items\": {\"multipleOf\": %.*s}}", DIGITS, data + 1);
	schema[strlen("{\"items\": {\"multipleOf\": ") + DIGITS - 1] = '9';
	check(&got, schema, data, json_draft_2020_12);
	assert_true(time(NULL) - begun <= 10);
	if (got.status == 0)
		clear(&got);
	else
		assert_non_null(strstr(got.error.text, "more than 2000 ms"));
	free(data);
	free(schema);
}

/* ---- formats ---- */

static const struct {
	const char *format, *text;
	bool valid;
	int draft;
} formats[] = {
	{ "uri-template", "/users/{id}{?q*,n:9999}", true, json_draft_2020_12 },
	{ "uri-template", "{v:0}", false, json_draft_2020_12 },
	{ "uri-template", "{v:10000}", false, json_draft_2020_12 },
	{ "uri-template", "{v:01}", false, json_draft_2020_12 },
	{ "uri-template", "{v:}", false, json_draft_2020_12 },
	{ "uri-template", "{v:1*}", false, json_draft_2020_12 },
	{ "uri-template", "{v**}", false, json_draft_2020_12 },
	{ "uri-template", "{a..b}", false, json_draft_2020_12 },
	{ "uri-template", "{.a.b}", true, json_draft_2020_12 },
	{ "uri-template", "{a.}", false, json_draft_2020_12 },
	{ "uri-template", "{a,}", false, json_draft_2020_12 },
	{ "uri-template", "{,a}", true, json_draft_2020_12 }, /* a reserved operator */
	{ "uri-template", "{a%2}", false, json_draft_2020_12 },
	{ "uri-template", "{a%20b}", true, json_draft_2020_12 },
	{ "uri-template", "{}", false, json_draft_2020_12 },
	{ "uri-template", "{+}", false, json_draft_2020_12 },
	{ "uri-template", "it's", true, json_draft_2020_12 },
	{ "uri-template", "100%", false, json_draft_2020_12 },
	{ "uri-template", "a{{b}}", false, json_draft_2020_12 },
	{ "idn-hostname", "0a.\u05d0", false, json_draft_2020_12 },
	{ "idn-hostname", "a0.\u05d0", true, json_draft_2020_12 },
	{ "idn-hostname", "0a.example", true, json_draft_2020_12 },
	{ "idn-hostname", "\u05d00\u0660", false, json_draft_2020_12 },
	{ "idn-hostname", "\u05d00", true, json_draft_2020_12 },
	{ "idn-hostname", "\u05d0a", false, json_draft_2020_12 },
	{ "idn-hostname", "a\u05d0", false, json_draft_2020_12 },
	{ "idn-hostname", "\u0623\u0628", true, json_draft_07 },
	{ "idn-hostname", "xn--4dbcagdahymbxekheh6e0a7fei0b.0a", false, json_draft_2020_12 },
	{ "hostname", "xn--4db.0a", false, json_draft_2020_12 },
	{ "hostname", "xn--4db.a0", true, json_draft_2020_12 },
	{ "hostname", "ab--cd.example", true, json_draft_04 },
	{ "hostname", "ab--cd.example", true, json_draft_06 },
	{ "hostname", "ab--cd.example", false, json_draft_07 },
	{ "hostname", "a_b.example", false, json_draft_04 },
	{ "hostname", "-a.example", false, json_draft_04 },
	{ "idn-email", "u@cafe\u0301.com", true, json_draft_2020_12 },
	{ "idn-email", "u@caf\u00e9.com", true, json_draft_2020_12 },
	{ "idn-hostname", "cafe\u0301.com", false, json_draft_2020_12 },
};

static void
checks_formats(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(formats); i++) {
		char schema[64], data[128];
		struct checked got;

		snprintf(schema, sizeof schema, "{\"format\": \"%s\"}", formats[i].format);
		snprintf(data, sizeof data, "\"%s\"", formats[i].text);
		check(&got, schema, data, formats[i].draft);
		assert_int_equal(got.status, 0);
		if (got.report.valid != formats[i].valid)
			print_error("%s %s: %d\n", schema, data, got.report.valid);
		failed += got.report.valid != formats[i].valid;
		clear(&got);
	}
	assert_int_equal(failed, 0);
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

		check(&got, tried[i].schema, "{\"a\": 1}", tried[i].draft);
		assert_int_equal(got.status, 0);
		if (tried[i].told != NULL ? strstr(got.report.message, tried[i].told) == NULL
					  : strstr(got.report.message, "ignored") != NULL)
			fail_msg("%s: %s", tried[i].schema, got.report.message);
		clear(&got);
	}
}

static void
names_variable_lookbehind(void **state)
{
	struct checked got;

	(void)state;
	check(&got, "{\"pattern\": \"(?<=ba+)c\"}", "\"baac\"", json_draft_2020_12);
	assert_int_equal(got.status, -1);
	assert_int_equal(got.error.code, ERR_schema_invalid);
	assert_non_null(strstr(got.error.text, "/pattern"));
	assert_non_null(strstr(got.error.text, "a lookbehind of variable length is not supported"));
	check(&got, "{\"pattern\": \"(?<=a{3,2})c\"}", "\"aaac\"", json_draft_2020_12);
	assert_int_equal(got.error.code, ERR_schema_invalid);
}

static void
matches_lookbehind(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool valid;
	} tried[] = {
		{ "(?<=a+)b", "aab", true },
		{ "(?<=a+)b", "cb", false },
		{ "^.(?<=a*)b", "cb", true },
		{ "(?<!a{2,3})b", "aaab", false },
		{ "(?<!a{2,3})b", "ab", true },
		{ "(?<=x|[ab]{2,}?|\\\\d+)c", "abc", true },
		{ "(?<=x|[ab]{2,}?|\\\\d+)c", "bc", false },
		{ "(?<=x|[ab]{2,}?|\\\\d+)c", "7c", true },
		{ "(?<=\u00e9{2,4}-)c", "\u00e9\u00e9\u00e9-c", true },
		{ "(?<=\u00e9{2,4}-)c", "\u00e9-c", false },
		{ "(?<=a(?:b|c)|d+)e(?=f+)", "ddeff", true },
		{ "((?<=a+)b+|c{2})$", "abbb", true },
		{ "((?<=a+)b+|c{2})$", "bbb", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		char schema[128], data[64];
		struct checked got;

		snprintf(schema, sizeof schema, "{\"pattern\": \"%s\"}", tried[i].pattern);
		snprintf(data, sizeof data, "\"%s\"", tried[i].text);
		check(&got, schema, data, json_draft_2020_12);
		if (got.status != 0 || got.report.valid != tried[i].valid)
			fail_msg("%s %s: %s", schema, data, got.error.text);
		clear(&got);
	}
}

int
main(void)
{
	struct CMUnitTest tests[COUNT(cases) + 12];
	static char names[COUNT(cases)][32];
	size_t n = 0;

	for (size_t i = 0; i < COUNT(cases); i++, n++) {
		snprintf(names[n], sizeof names[n], "finds %zu", i);
		tests[n] = (struct CMUnitTest){ names[n], finds, NULL, NULL,
			(void *)(uintptr_t)&cases[i] };
	}
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(parses_text_where_none_is_allowed);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(tells_what_is_absent);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(proposes_names_that_are_free);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(compares_decimals);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(knows_how_integers_were_written);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(shows_numbers_as_written);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(refuses_by_place_and_limit);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(limits_digits);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(checks_formats);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_ignored_keywords);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_variable_lookbehind);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(matches_lookbehind);
	int failed = _cmocka_run_group_tests("validate", tests, n, NULL, NULL);
	cache_clear();
	return failed;
}
