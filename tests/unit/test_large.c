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
	auto_free char *made = large_hide(text, strlen(text), &size);

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
		CALL("{\"a\":9223372036854775807,\"b\":-9223372036854775808,\"c\":1e308}"),
		"{\"id\":18446744073709551615,\"params\":{\"arguments\":{}}}",
		"{\"params\":{\"_meta\":{\"n\":18446744073709551615},\"arguments\":{}}}",
		"{\"params\":{\"arguments\":{}},\"n\":18446744073709551615}",
		"{\"other\":{\"arguments\":{\"n\":18446744073709551615}}}",
		CALL("{\"a\":018446744073709551615}"),
		CALL("{\"a\":18446744073709551615x}"),
		"\"",
		"{\"a\\",
		"]]]]1",
		"",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		size_t size;
		auto_free char *made = large_hide(texts[i], strlen(texts[i]), &size);

		assert_int_equal(size, strlen(texts[i]));
		assert_memory_equal(made, texts[i], size);
	}
}

static void
clamps(void **state)
{
	static const char text[] = "[1e400,-1e400,18446744073709551615,\"1e400\"]";
	size_t size;
	auto_free char *made = large_clamp(text, strlen(text), &size);

	(void)state;
	made = realloc(made, size + 1);
	made[size] = '\0';
	assert_string_equal(made, "[1.7976931348623157e308,-1.7976931348623157e308,"
				  "18446744073709551615,\"1e400\"]");
}

/* An argument that takes no such number fails by its name; JSON that is passed on keeps it. */
static void
reaches_arguments(void **state)
{
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
		{ MSG_usage, "{\"wall_ms\":0,\"max_memory_bytes\":9223372036854775808}",
		    "max_memory_bytes: 9223372036854775808 is over 64 bits" },
		{ MSG_bridge_data,
		    "{\"session_id\":\"s\",\"key\":\"k\",\"data\":{\"n\":[18446744073709551615]}}",
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
			assert_int_equal(data->size, strlen("{\"n\":[18446744073709551615]}"));
			assert_memory_equal(
			    data->data, "{\"n\":[18446744073709551615]}", data->size);
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
		cmocka_unit_test(clamps),
		cmocka_unit_test(reaches_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
