/* SPDX-License-Identifier: Apache-2.0 */
/* test_validate_values.c - numbers, formats and patterns, as a client of validate_json_data sees
 * them. */
#include "tests/unit/checked_json.h"

#include "validator/schema/cache.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

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

		check_json(&got, tried[i].schema, tried[i].data, json_draft_2020_12);
		if (got.status != 0 || got.report.valid != tried[i].valid)
			fail_msg("%s of %s: %s", tried[i].data, tried[i].schema, got.error.text);
		checked_clear(&got);
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

		check_json(&got, "{\"type\": \"integer\"}", tried[i].data, json_draft_04);
		assert_int_equal(got.report.valid, tried[i].valid);
		checked_clear(&got);
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

		check_json(&got, tried[i].schema, tried[i].data, json_draft_2020_12);
		assert_int_equal(got.report.errors.count, 1);
		assert_string_equal(got.report.errors.items[0].message, tried[i].message);
		checked_clear(&got);
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

		check_json(&got, tried[i].schema, tried[i].data, json_draft_2020_12);
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
	check_json(&got, "{}", data, json_draft_2020_12);
	assert_int_equal(got.error.code, ERR_limit_exceeded);
	assert_string_equal(got.error.text,
	    "data: a number of 1000000 digits is over the limit; write at most 4096");

	memset(data, '7', BYTES);
	for (size_t i = 0; i <= MANY; i++)
		data[i * (DIGITS + 1)] = i == 0 ? '[' : i < MANY ? ',' : ']';
	data[BYTES - 1] = '\0';
	snprintf(schema, DIGITS + 100, "{\"items\": {\"multipleOf\": %.*s}}", DIGITS, data + 1);
	schema[strlen("{\"items\": {\"multipleOf\": ") + DIGITS - 1] = '9';
	check_json(&got, schema, data, json_draft_2020_12);
	assert_true(time(NULL) - begun <= 10);
	if (got.status == 0)
		checked_clear(&got);
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
		check_json(&got, schema, data, formats[i].draft);
		assert_int_equal(got.status, 0);
		if (got.report.valid != formats[i].valid)
			print_error("%s %s: %d\n", schema, data, got.report.valid);
		failed += got.report.valid != formats[i].valid;
		checked_clear(&got);
	}
	assert_int_equal(failed, 0);
}

static void
names_variable_lookbehind(void **state)
{
	struct checked got;

	(void)state;
	check_json(&got, "{\"pattern\": \"(?<=ba+)c\"}", "\"baac\"", json_draft_2020_12);
	assert_int_equal(got.status, -1);
	assert_int_equal(got.error.code, ERR_schema_invalid);
	assert_non_null(strstr(got.error.text, "/pattern"));
	assert_non_null(strstr(got.error.text, "a lookbehind of variable length is not supported"));
	check_json(&got, "{\"pattern\": \"(?<=a{3,2})c\"}", "\"aaac\"", json_draft_2020_12);
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
		check_json(&got, schema, data, json_draft_2020_12);
		if (got.status != 0 || got.report.valid != tried[i].valid)
			fail_msg("%s %s: %s", schema, data, got.error.text);
		checked_clear(&got);
	}
}

/* What is decided without PCRE2, and what only looks as if it were. */
static void
matches_simple_patterns(void **state)
{
	static const struct {
		const char *pattern, *matches, *fails;
	} tried[] = {
		{ "^[a-z]+$", "abc", "abC" },
		{ "^[a-z]+$", "a", "" },
		{ "^[_a-zA-Z][a-zA-Z0-9_-]*$", "_a-9", "-a" },
		{ "^[\\\\w-]+$", "a_-9", "a.9" },
		{ "^x-", "x-a", "ax-" },
		{ "x-", "ax-", "x" },
		{ "^a*b", "aab", "aac" },
		{ "^[ab]+b$", "aab", "aaa" },
		{ "^[ab]*a[ab]*$", "bab", "bbb" },
		{ "^a+b*c*$", "aacc", "aacb" },
		{ "^.+$", "\u00e9\u2030", "a\\u2028b" },
		{ "^.+$", "a", "a\\nb" },
		{ "^.*$", "", "\\r" },
		{ "^[^*]+$", "a\\n\u00e9", "a*" },
		{ "^[^a].$", "\u00e9\u00e9", "\u00e9" },
		{ "^[^*]*[*][^*]*$", "\u00e9*a", "a**" },
		{ "^a|b$", "ab", "ba" },
		{ "^a[|]b$", "a|b", "a" },
		{ "^(a|b)c$", "bc", "cc" },
		{ "^ab?c", "ac", "abb" },
		{ "^ab{2}", "abb", "ab" },
		{ "^a+?b$", "aab", "aaab c" },
		{ "^[]", NULL, "a" },
		{ "^(?:[]*)[]?a$", "a", "b" },
		{ "^[^]+$", "\\n\u2028", "" },
		{ "^\\\\d+\\\\.\\\\d+$", "1.25", "1,25" },
		{ "", "a", NULL },
		{ "^$", "", "a" },
		{ "\u00e9$", "a\u00e9", "\u00e9a" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(tried); i++) {
		const char *text = i % 2 == 0 ? tried[i / 2].matches : tried[i / 2].fails;
		char schema[128], data[64];
		struct checked got;

		if (text == NULL)
			continue;
		snprintf(schema, sizeof schema, "{\"pattern\": \"%s\"}", tried[i / 2].pattern);
		snprintf(data, sizeof data, "\"%s\"", text);
		check_json(&got, schema, data, json_draft_2020_12);
		if (got.status != 0 || got.report.valid != (i % 2 == 0))
			fail_msg("%s %s: %s", schema, data, got.error.text);
		checked_clear(&got);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compares_decimals),
		cmocka_unit_test(knows_how_integers_were_written),
		cmocka_unit_test(shows_numbers_as_written),
		cmocka_unit_test(refuses_by_place_and_limit),
		cmocka_unit_test(limits_digits),
		cmocka_unit_test(checks_formats),
		cmocka_unit_test(names_variable_lookbehind),
		cmocka_unit_test(matches_lookbehind),
		cmocka_unit_test(matches_simple_patterns),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	cache_clear();
	return failed;
}
