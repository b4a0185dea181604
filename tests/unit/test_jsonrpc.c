/* SPDX-License-Identifier: Apache-2.0 */
/* test_jsonrpc.c - replies to hostile lines, and that the id is found. */
#include "gateway/rpc/jsonrpc.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NO_ID -1

/* A zero byte may be in a line, so each knows its size. */
#define LINE(text) text, sizeof(text) - 1

static const struct refusal {
	const char *name, *line;
	size_t size;
	int code;
	int id; /* NO_ID: the answer has none */
	const char *says;
} refusals[] = {
	{ "nothing but a word", LINE("hello"), RPC_PARSE, NO_ID, "Parse error" },
	{ "half an object", LINE("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":"), RPC_PARSE, 7,
	    "Parse" },
	{ "id last", LINE("{\"method\":\"x\",]\"jsonrpc\":\"2.0\",\"id\":7}"), RPC_PARSE, NO_ID,
	    "Parse" },
	{ "two objects", LINE("{\"id\":7} {\"id\":8}"), RPC_PARSE, 7, "end of file expected" },
	{ "raw zero byte", LINE("{\"id\":7,\"method\":\"a\0b\"}"), RPC_PARSE, 7, "Parse error" },
	{ "zero byte in a key", LINE("{\"id\":7,\"a\\u0000\":1}"), RPC_PARSE, 7,
	    "must not contain a zero byte" },
	{ "zero byte in a method",
	    LINE("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\\u0000x\"}"), RPC_INVALID, 7,
	    "method must be a string" },
	{ "invalid UTF-8", LINE("{\"id\":7,\"method\":\"\xff\xfe\"}"), RPC_PARSE, 7,
	    "unable to decode" },
	{ "overlong UTF-8", LINE("{\"id\":7,\"method\":\"\xc0\xaf\"}"), RPC_PARSE, 7,
	    "unable to decode" },
	{ "half a surrogate pair", LINE("{\"id\":7,\"method\":\"\\ud800\"}"), RPC_PARSE, 7,
	    "Unicode" },
	{ "key given twice", LINE("{\"id\":7,\"method\":\"a\",\"method\":\"b\"}"), RPC_PARSE, 7,
	    "duplicate object key" },
	{ "integer beyond 64 bits", LINE("{\"id\":7,\"n\":123456789012345678901234567890}"),
	    RPC_PARSE, 7, "too big integer" },
	{ "integer of 2^63", LINE("{\"id\":7,\"n\":9223372036854775808}"), RPC_PARSE, 7,
	    "and 9223372036854775807, other numbers within 1.79e308; send larger ones as strings" },
	{ "integer under -2^63", LINE("{\"id\":7,\"n\":-9223372036854775809}"), RPC_PARSE, 7,
	    "within -9223372036854775808" },
	{ "real beyond a double", LINE("{\"id\":7,\"n\":1e999}"), RPC_PARSE, 7,
	    "real number overflow" },
	{ "real beyond a double, named", LINE("{\"id\":7,\"n\":-1e999}"), RPC_PARSE, 7,
	    "other numbers within 1.79e308" },
	/* The place that is wrong, and not the first large number. */
	{ "fault behind large numbers",
	    LINE("{\"id\":7,\"params\":{\"arguments\":{\"n\":1e999,\"m\":18446744073709551616,}}}"),
	    RPC_PARSE, 7, "string or '}' expected near '}', at byte 67" },
	{ "fault at a large number",
	    LINE("{\"id\":7,\"params\":{\"arguments\":[1e400 123456789012345678901]}}"), RPC_PARSE,
	    7, "expected near '123456789012345', at byte 52" },
	{ "integer beyond 64 bits behind a large argument",
	    LINE("{\"id\":7,\"params\":{\"arguments\":[1e400],\"n\":18446744073709551616}}"),
	    RPC_PARSE, 7, "too big integer near '18446744073709551616'" },
	{ "comment", LINE("{\"id\":7/*x*/}"), RPC_PARSE, NO_ID, "Parse" },
	{ "a number", LINE("5"), RPC_INVALID, NO_ID, "a message must be an object" },
	{ "null", LINE("null"), RPC_INVALID, NO_ID, "a message must be an object" },
	{ "no version", LINE("{\"id\":7,\"method\":\"ping\"}"), RPC_INVALID, 7, "jsonrpc must be" },
	{ "version 1", LINE("{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}"), RPC_INVALID, 7,
	    "2.0" },
	{ "id null", LINE("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}"), RPC_INVALID,
	    NO_ID, "id must be" },
	{ "id a fraction", LINE("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}"),
	    RPC_INVALID, NO_ID, "id must be" },
	{ "id an object", LINE("{\"jsonrpc\":\"2.0\",\"id\":{\"id\":7},\"method\":\"ping\"}"),
	    RPC_INVALID, NO_ID, "id must be" },
	{ "id true", LINE("{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}"), RPC_INVALID,
	    NO_ID, "id must be" },
	{ "no method", LINE("{\"jsonrpc\":\"2.0\",\"id\":7}"), RPC_INVALID, 7, "method must be" },
	{ "method a number", LINE("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}"), RPC_INVALID, 7,
	    "method" },
	{ "params a list",
	    LINE("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":[1]}"), RPC_PARAMS,
	    7, "params must be an object" },
	{ "nested id is not the id", LINE("{\"params\":{\"id\":9},\"x\":["), RPC_PARSE, NO_ID,
	    "Parse" },
	{ "id in a text is not the id", LINE("{\"a\":\"\\\"id\\\":9,\",\"x\":["), RPC_PARSE, NO_ID,
	    "Parse" },
	{ "first of two ids", LINE("{\"id\":7,\"id\":8}"), RPC_PARSE, 7, "duplicate" },
};

/* As lines.c hands it over. */
static struct line
line_of(const char *data, size_t size)
{
	static struct scan scan;

	scan_reset(&scan);
	scan_feed(&scan, data, size);
	return (struct line){ .data = data, .size = size, .scan = &scan };
}

static void
assert_error(json_t *answer, int code, int id, const char *says)
{
	json_t *error = json_object_get(answer, "error");
	const char *message = json_string_value(json_object_get(error, "message"));

	assert_non_null(message);
	assert_int_equal(json_integer_value(json_object_get(error, "code")), code);
	if (strstr(message, says) == NULL)
		fail_msg("'%s' does not say '%s'", message, says);
	if (id == NO_ID)
		assert_null(json_object_get(answer, "id"));
	else
		assert_int_equal(json_integer_value(json_object_get(answer, "id")), id);
	json_decref(answer);
}

static void
refuses(void **state)
{
	const struct refusal *c = *state;
	/* A copy of exactly that size, so that a sanitizer sees a read beyond it. */
	auto_free char *data = malloc(c->size);
	struct rpc rpc;
	json_t *answer;

	memcpy(data, c->line, c->size);
	struct line line = line_of(data, c->size);
	json_t *message = jsonrpc_parse(&line, &answer);
	if (message != NULL)
		answer = jsonrpc_read(message, &rpc);
	assert_non_null(answer);
	assert_error(answer, c->code, c->id, c->says);
	json_decref(message);
}

static json_t *
parse(const char *text)
{
	struct line line = line_of(text, strlen(text));
	json_t *answer, *message = jsonrpc_parse(&line, &answer);

	assert_non_null(message);
	return message;
}

static void
keeps_ids(void **state)
{
	static const char *const ids[] = { "9007199254740993", "-9223372036854775808",
		"9223372036854775807", "0", "\"\"", "\"9007199254740993\"", "\"a\\nb\"",
		"\"\\u00e9\"" };

	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++) {
		char text[128];
		struct rpc rpc;

		snprintf(
		    text, sizeof text, "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"id\":%s}", ids[i]);
		json_t *message = parse(text), *answer = jsonrpc_read(message, &rpc);
		json_t *same = json_loads(ids[i], JSON_DECODE_ANY, NULL);
		json_t *result = jsonrpc_result(rpc.id, json_object());
		struct line line = line_of(text, strlen(text));
		json_t *scanned = scan_id(line.scan);

		assert_null(answer);
		assert_int_equal(rpc.kind, RPC_request);
		assert_true(json_equal(json_object_get(result, "id"), same));
		assert_true(json_equal(scanned, same));
		json_decref(scanned);
		json_decref(result);
		json_decref(same);
		json_decref(message);
	}
}

static void
tells_kinds(void **state)
{
	static const struct {
		const char *text;
		enum rpc_kind kind;
	} cases[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}", RPC_request },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", RPC_notification },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[]}", RPC_notification },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", RPC_response },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", RPC_response },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rpc rpc;
		json_t *message = parse(cases[i].text);

		assert_null(jsonrpc_read(message, &rpc));
		assert_int_equal(rpc.kind, cases[i].kind);
		assert_null(rpc.params);
		json_decref(message);
	}
}

/* What a parser would be asked to build is bounded before it builds it. */
static void
bounds_depth(void **state)
{
	static const int depths[] = { SCAN_MAX_DEPTH - 1, SCAN_MAX_DEPTH, 100000 };

	(void)state;
	for (size_t i = 0; i < COUNT(depths); i++) {
		size_t size = 0, nest = (size_t)depths[i];
		auto_free char *text = malloc(2 * nest + 32);
		json_t *answer;

		size += (size_t)sprintf(text, "{\"id\":7,\"x\":");
		memset(text + size, '[', nest);
		memset(text + size + nest, ']', nest);
		text[size + 2 * nest] = '}';
		struct line line = line_of(text, size + 2 * nest + 1);
		json_t *message = jsonrpc_parse(&line, &answer);

		if (nest < SCAN_MAX_DEPTH)
			assert_non_null(message);
		else
			assert_error(answer, RPC_INVALID, 7, "over the limit of 256 levels");
		json_decref(message);
	}
}

static void
bounds_values(void **state)
{
	size_t n = SCAN_MAX_VALUES + 1, size = 0;
	auto_free char *text = malloc(2 * n + 32);
	json_t *answer;

	(void)state;
	size += (size_t)sprintf(text, "{\"id\":7,\"x\":[");
	for (size_t i = 0; i < n; i++) {
		text[size++] = '0';
		text[size++] = ',';
	}
	struct line line = line_of(text, size);
	assert_null(jsonrpc_parse(&line, &answer));
	assert_error(answer, RPC_INVALID, 7, "over the limit of 2000000");
}

/* In one object or in many; a colon in a text is none. */
static void
bounds_keys(void **state)
{
	static const struct {
		const char *key;
		size_t keys;
		bool refused;
	} cases[] = {
		{ "{\"a\":1},", SCAN_MAX_KEYS - 2, false },
		{ "{\"a\":1},", SCAN_MAX_KEYS - 1, true },
		{ "\":::\\\"::\",", SCAN_MAX_KEYS, false },
	};

	(void)state;
	for (size_t c = 0; c < COUNT(cases); c++) {
		size_t each = strlen(cases[c].key), size = 0;
		auto_free char *text = malloc(each * cases[c].keys + 32);
		json_t *answer;

		size += (size_t)sprintf(text, "{\"id\":7,\"x\":[");
		for (size_t i = 0; i < cases[c].keys; i++, size += each)
			memcpy(text + size, cases[c].key, each);
		size += (size_t)sprintf(text + size, "0]}");

		struct line line = line_of(text, size);
		json_t *message = jsonrpc_parse(&line, &answer);

		assert_int_equal(message == NULL, cases[c].refused);
		if (cases[c].refused)
			assert_error(answer, RPC_INVALID, 7, "over the limit of 50000");
		json_decref(message);
	}
}

/* An error quotes what came; cut within a character or full of control bytes it is still JSON. */
static void
quotes_safely(void **state)
{
	char name[600];

	(void)state;
	memset(name, 'a', sizeof name);
	for (size_t i = 1; i + 2 < sizeof name; i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	name[sizeof name - 1] = '\0';
	json_t *answer = jsonrpc_error(NULL, RPC_METHOD, "Method not found: %s\r\n\x1b", name);
	auto_free char *text = json_dumps(answer, JSON_COMPACT);

	assert_non_null(text);
	assert_null(strchr(text, '\n'));
	json_decref(answer);
}

int
main(void)
{
	struct CMUnitTest tests[COUNT(refusals) + 6];
	size_t n = 0;

	for (; n < COUNT(refusals); n++)
		tests[n] = (struct CMUnitTest){ refusals[n].name, refuses, NULL, NULL,
			(void *)(uintptr_t)&refusals[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(keeps_ids);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(tells_kinds);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(bounds_depth);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(bounds_values);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(bounds_keys);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(quotes_safely);
	return _cmocka_run_group_tests("jsonrpc", tests, n, NULL, NULL);
}
