/* SPDX-License-Identifier: Apache-2.0 */
/* test_large.c - numbers that Jansson cannot hold: which are marked, and that every digit comes
 * back. */
#include "common/codec/large.h"

#include "common/base/auto.h"
#include "common/codec/jschema.h"
#include "common/table/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CALL(arguments) "{\"id\":1,\"params\":{\"name\":\"x\",\"arguments\":" arguments "}}"

static json_t *
hidden(const char *text)
{
	size_t size;
	auto_free char *made = large_hide(text, strlen(text), LARGE_ARGUMENTS, &size);

	assert_non_null(made);
	return json_loadb(made, size, JSON_DECODE_ANY, NULL);
}

static void
keeps_every_digit(void **state)
{
	static const char *const texts[] = {
		CALL("{\"a\":18446744073709551615}"),
		CALL("{\"a\":[-9223372036854775809,9223372036854775808,1]}"),
		CALL("{\"a\":{\"b\":[123456789012345678901234567890]},\"c\":1e400,\"d\":-9e999}"),
		CALL("{\"a\":5555555555555555555555555555.01,\"b\":[-1E-400,2e+301]}"),
		CALL("[0.12345678901234567,9007199254740993.0]"),
		CALL("[1234567890123456e1,1e301]"),
		CALL("{\"a\":\"18446744073709551615 \\\" \\\\\",\"b\":100000000000000000000}"),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		json_t *json = hidden(texts[i]);

		assert_non_null(json);
		auto_free char *text = json_dumps(json, JSON_COMPACT);
		text[large_show(text, strlen(text))] = '\0';
		assert_string_equal(text, texts[i]);
		json_decref(json);
	}
}

static void
leaves_the_rest(void **state)
{
	static const char *const texts[] = {
		CALL("{\"a\":9223372036854775807,\"b\":-9223372036854775808,\"c\":1e299}"),
		CALL("[0.1,0.123456789012345,12345.678901234500000000000000,0e999999,1e-299,1.5E+"
		     "22]"),
		CALL("{1e400:1}"),
		CALL("{\"a\":{18446744073709551615 :1}}"),
		CALL("[1e,1e400e1,1.e400,01e400,-,--1e400,1e400.5]"),
		"{\"id\":18446744073709551615,\"params\":{\"arguments\":{}}}",
		"{\"params\":{\"_meta\":{\"n\":18446744073709551615},\"arguments\":{}}}",
		"{\"params\":{\"arguments\":{}},\"n\":18446744073709551615}",
		"{\"other\":{\"arguments\":{\"n\":18446744073709551615}}}",
		CALL("{\"a\":018446744073709551615}"),
		"\"",
		"{\"a\\",
		"]]]]1",
		"",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		size_t size;

		assert_null(large_hide(texts[i], strlen(texts[i]), LARGE_ARGUMENTS, &size));
	}
}

/* What stands around the numbers stays in its place. */
static void
cuts(void **state)
{
	static const char text[] =
	    "[1e400,-1e400,18446744073709551615,\"1e400\",0.1234567890123456]";
	auto_free char *made = large_cut(text, strlen(text), LARGE_ALL);

	(void)state;
	assert_string_equal(
	    made, "[1    ,-1    ,184467440737095     ,\"1e400\",0                 ]");
}

/* Wherever a number begins, and however short it is. */
static void
finds_all(void **state)
{
	static const char *const numbers[] = { "1e400", "-1e400", "1E+400", "0.1e-400",
		"0.1234567890123456", "18446744073709551615", "12345e999" };
	char text[128];
	size_t size;

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++)
		for (int before = 0; before < 40; before++) {
			snprintf(text, sizeof text, "[1,%*s1.5,%s,2]", before, "", numbers[i]);
			auto_free char *made = large_hide(text, strlen(text), LARGE_ALL, &size);

			assert_non_null(made);
			assert_int_equal(size, strlen(text) + 34);
			assert_int_equal(large_show(made, size), strlen(text));
			assert_memory_equal(made, text, strlen(text));
		}
}

static void
rounds_for_those_who_want(void **state)
{
	json_t *call = hidden(CALL("[1e400,5.0000000000000000001]"));
	const json_t *numbers = json_object_get(json_object_get(call, "params"), "arguments");
	json_t *five = large_nearest(json_array_get(numbers, 1));

	(void)state;
	assert_null(large_nearest(json_array_get(numbers, 0)));
	assert_true(json_real_value(five) == 5);
	auto_free char *text = large_dump(numbers, JSON_COMPACT);
	assert_string_equal(text, "[1e400,5.0000000000000000001]");
	json_decref(five);
	json_decref(call);
}

/* An argument that takes no such number fails by its name; JSON that is passed on keeps it. */
static void
reaches_arguments(void **state)
{
	static const char passed[] = "{\"n\":[18446744073709551615,0.1,1.5]}";
	static const struct {
		enum msg_id id;
		const char *arguments, *error;
	} tried[] = {
		{ MSG_execute_code, "{\"code\":18446744073709551615}",
		    "code: expected a string, got a number" },
		{ MSG_execute_code, "{\"code\":\"x\",\"allowed_imports\":[18446744073709551615]}",
		    "allowed_imports[0]: expected a string, got a number" },
		{ MSG_audit_execution, "{\"limit\":18446744073709551615}",
		    "limit: 1.84467440737096e+19 is over the limit of 1000" },
		{ MSG_audit_execution, "{\"limit\":5.0000000000000000000001}", NULL },
		{ MSG_audit_execution, "{\"limit\":5.00001000000000000000001}",
		    "limit: 5.00001 is not an integer" },
		{ MSG_usage, "{\"wall_ms\":0,\"max_memory_bytes\":9223372036854775808}",
		    "max_memory_bytes: 9223372036854775808 is over 64 bits" },
		{ MSG_bridge_data,
		    "{\"session_id\":\"s\",\"key\":\"k\",\"data\":{\"n\":[18446744073709551615,0.1,"
		    "1.50]}}",
		    NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		char text[256];
		auto_free void *msg = calloc(1, messages[tried[i].id].size);
		struct err e = { 0 };

		snprintf(text, sizeof text, "{\"params\":{\"arguments\":%s}}", tried[i].arguments);
		json_t *json = hidden(text);
		json_t *arguments = json_object_get(json_object_get(json, "params"), "arguments");
		int status = jschema_read(tried[i].id, arguments, msg, &e);
		assert_int_equal(status, tried[i].error != NULL ? -1 : 0);
		if (status < 0) {
			assert_string_equal(e.text, tried[i].error);
		} else {
			const struct blob *data = &((struct bridge_data *)msg)->data;
			if (tried[i].id == MSG_bridge_data)
				assert_memory_equal(data->data, passed, strlen(passed));
			else
				assert_int_equal(((struct audit_execution *)msg)->limit, 5);
			message_clear(tried[i].id, msg);
		}
		json_decref(json);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_every_digit),
		cmocka_unit_test(leaves_the_rest),
		cmocka_unit_test(cuts),
		cmocka_unit_test(finds_all),
		cmocka_unit_test(rounds_for_those_who_want),
		cmocka_unit_test(reaches_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
