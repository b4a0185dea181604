/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_jschema.c - the errors that a model reads after a mistake, and the output of a hostile
 * guest.
 *
 * tests/wire covers every field of every message; this file covers error texts and corner cases.
 */
#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/codec/jschema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	enum msg_id id;
	const char *json;
	enum err_code code;
	const char *text;
} refusals[] = {
	{ MSG_execute_code, "{\"code\":\"x\",\"timeout\":7200}", ERR_limit_exceeded,
	    "timeout: 7200 is over the limit of 3600" },
	{ MSG_execute_code, "{\"code\":\"x\",\"timeout\":-0.5}", ERR_invalid_argument,
	    "timeout: -0.5 is under the minimum of 0" },
	{ MSG_execute_code, "{}", ERR_invalid_argument, "code: missing" },
	{ MSG_execute_code, "{\"code\":null}", ERR_invalid_argument,
	    "code: expected a string, got null" },
	{ MSG_execute_code, "{\"code\":\"\"}", ERR_invalid_argument,
	    "code: 0 bytes are under the minimum of 1" },
	{ MSG_execute_code, "{\"code\":\"a\\u0000b\"}", ERR_invalid_argument,
	    "code: has a zero byte" },
	{ MSG_run_sandbox_code, "{\"foo\":1}", ERR_invalid_argument,
	    "foo: unknown argument; known: code, timeout_sec" },
	{ MSG_execute_code, "{\"cod\":\"x\"}", ERR_invalid_argument,
	    "cod: unknown argument; the nearest is code" },
	{ MSG_execute_code, "{\"code\":\"x\",\"time_out\":1}", ERR_invalid_argument,
	    "time_out: unknown argument; the nearest is timeout" },
	{ MSG_execute_code, "{\"code\":\"x\",\"echo\":\"last\"}", ERR_invalid_argument,
	    "echo: unknown argument; known: code, language, timeout, capture_output, "
	    "allowed_imports, use_container, memory_limit, session_id, namespace, "
	    "enable_network, allowed_domains, profile, ..." },
	{ MSG_validate_code, "{\"code\":\"x\",\"language\":\"ruby\"}", ERR_invalid_argument,
	    "language: 'ruby' is not one of python, node, shell, typescript" },
	{ MSG_execute_code, "{\"code\":\"x\",\"files\":[{\"filename\":\"a\"},{}]}",
	    ERR_invalid_argument, "files[1].filename: missing" },
	{ MSG_execute_code, "{\"code\":\"x\",\"files\":[{\"filename\":\"a\"},7]}",
	    ERR_invalid_argument, "files[1]: expected an object, got a number" },
	{ MSG_execute_code, "{\"code\":\"x\",\"resource_limits\":{\"max_ram_mb\":1e6}}",
	    ERR_limit_exceeded, "resource_limits.max_ram_mb: 1000000 is over the limit of 8192" },
	{ MSG_execute_code, "{\"code\":\"x\",\"resource_limits\":{\"max_ram_mb\":1.5}}",
	    ERR_invalid_argument, "resource_limits.max_ram_mb: 1.5 is not an integer" },
	{ MSG_execute_code, "{\"code\":\"x\",\"allowed_imports\":[\"os\",5]}", ERR_invalid_argument,
	    "allowed_imports[1]: expected a string, got a number" },
	{ MSG_execute_code, "{\"code\":\"x\",\"allowed_imports\":\"os\"}", ERR_invalid_argument,
	    "allowed_imports: expected an array of strings, got a string" },
	{ MSG_sandbox_upload_file, "{\"filename\":\"a\",\"content_base64\":\"YQ\"}",
	    ERR_invalid_argument, "content_base64: not base64 (padding required, no line breaks)" },
	{ MSG_execute_code, "{\"code\":\"x\",\"timeout\":\"soon\"}", ERR_invalid_argument,
	    "timeout: expected a number, got a string" },
	{ MSG_execute_code, "{\"code\":\"x\",\"timeout\":\"[5]\"}", ERR_invalid_argument,
	    "timeout: expected a number, got a string" },
	{ MSG_execute_code, "{\"code\":\"x\",\"timeout\":\"7200\"}", ERR_limit_exceeded,
	    "timeout: 7200 is over the limit of 3600" },
	{ MSG_audit_execution, "{\"limit\":0}", ERR_invalid_argument,
	    "limit: 0 is under the minimum of 1" },
	{ MSG_audit_execution, "{\"limit\":9223372036854775808.0}", ERR_limit_exceeded,
	    "limit: 9.22337203685478e+18 is over the limit of 1000" },
	{ MSG_usage, "{\"wall_ms\":0,\"max_memory_bytes\":9223372036854775808.0}",
	    ERR_invalid_argument, "max_memory_bytes: 9.22337203685478e+18 is not an integer" },
};

static void
says_what_is_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refusals); i++) {
		json_t *json = json_loads(refusals[i].json, JSON_ALLOW_NUL, NULL);
		auto_free void *msg = calloc(1, messages[refusals[i].id].size);
		struct err e = { 0 };

		assert_non_null(json);
		assert_int_equal(jschema_read(refusals[i].id, json, msg, &e), -1);
		assert_string_equal(e.text, refusals[i].text);
		assert_int_equal(e.code, refusals[i].code);
		json_decref(json);
	}
}

/* Models write numbers, arrays and objects as text, and "" for what they leave out. */
static void
takes_what_models_write(void **state)
{
	static const char text[] =
	    "{\"code\":\"x\",\"timeout\":\"5\",\"capture_output\":\"False\",\"use_container\":"
	    "\"true\","
	    "\"session_id\":\"\",\"profile\":\"\",\"memory_limit\":\"\",\"allowed_imports\":\"["
	    "\\\"os\\\"]\","
	    "\"files\":\"[{\\\"filename\\\":\\\"a\\\",\\\"content\\\":\\\"\\\"}]\","
	    "\"resource_limits\":\"{\\\"max_ram_mb\\\": \\\"64\\\"}\"}";
	json_t *json = json_loads(text, 0, NULL);
	struct execute_code msg = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_non_null(json);
	if (jschema_read(MSG_execute_code, json, &msg, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(msg.timeout == 5);
	assert_false(msg.capture_output);
	assert_true(msg.use_container);
	assert_null(msg.session_id);
	assert_null(msg.profile);
	assert_int_equal(msg.allowed_imports.count, 1);
	assert_int_equal(msg.files.count, 1);
	assert_int_equal(msg.resource_limits->max_ram_mb, 64);
	message_clear(MSG_execute_code, &msg);
	json_decref(json);
}

/* Terminals and logs read these texts too. */
static void
quotes_keys_with_care(void **state)
{
	json_t *json = json_loads("{\"\\u001b[31m\\n\\u20ac\":1}", 0, NULL);
	struct run_sandbox_code msg = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(jschema_read(MSG_run_sandbox_code, json, &msg, &e), -1);
	assert_string_equal(
	    e.text, "?[31m?\xe2\x82\xac: unknown argument; known: code, timeout_sec");
	json_decref(json);

	/* 48 bytes are shown; here they end within a character. */
	json = json_loads("{\"a\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82"
			  "\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82"
			  "\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\":1}",
	    0, NULL);
	assert_int_equal(jschema_read(MSG_run_sandbox_code, json, &msg, &e), -1);
	assert_true(utf8_valid(e.text, strlen(e.text)));
	assert_non_null(strstr(e.text, ": unknown argument; known: code, timeout_sec"));
	json_decref(json);
}

static void
takes_numbers_as_clients_write_them(void **state)
{
	static const char *const limits[] = { "7", "7.0", "7e0", "0.7e1", "70e-1" };

	(void)state;
	for (size_t i = 0; i < COUNT(limits); i++) {
		struct audit_execution msg = { 0 };
		char text[64];
		struct err e;

		snprintf(text, sizeof text, "{\"limit\":%s}", limits[i]);

		json_t *json = json_loads(text, 0, NULL);

		assert_int_equal(jschema_read(MSG_audit_execution, json, &msg, &e), 0);
		assert_int_equal(msg.limit, 7);
		json_decref(json);
		message_clear(MSG_audit_execution, &msg);
	}
}

static void
absent_and_null_are_what_the_table_says(void **state)
{
	static const char *const texts[] = {
		"{\"code\":\"x\"}",
		"{\"code\":\"x\",\"language\":null,\"timeout\":null,\"capture_output\":null,"
		"\"allowed_imports\":null,\"session_id\":null,\"files\":null,"
		"\"resource_limits\":null}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		json_t *json = json_loads(texts[i], 0, NULL);
		struct execute_code msg = { 0 };
		struct err e;

		assert_int_equal(jschema_read(MSG_execute_code, json, &msg, &e), 0);
		assert_null(msg.language);
		assert_true(msg.capture_output);
		assert_false(msg.use_container);
		assert_null(msg.session_id);
		assert_null(msg.allowed_imports.items);
		assert_null(msg.files.items);
		assert_null(msg.resource_limits);
		json_decref(json);
		message_clear(MSG_execute_code, &msg);
	}

	/* An empty list is not an absent one: nothing may be imported. */
	json_t *json = json_loads("{\"code\":\"x\",\"allowed_imports\":[]}", 0, NULL);
	struct execute_code msg = { 0 };
	struct err e;

	assert_int_equal(jschema_read(MSG_execute_code, json, &msg, &e), 0);
	assert_non_null(msg.allowed_imports.items);
	assert_int_equal(msg.allowed_imports.count, 0);
	json_decref(json);
	message_clear(MSG_execute_code, &msg);
}

static json_t *
upload_of(size_t size)
{
	size_t digits = (size + 2) / 3 * 4, padding = (3 - size % 3) % 3;
	auto_free char *text = malloc(digits + 1);

	memset(text, 'A', digits);
	memset(text + digits - padding, '=', padding);
	text[digits] = 0;
	return json_pack("{s:s, s:s}", "filename", "a", "content_base64", text);
}

static void
takes_files_up_to_the_limit(void **state)
{
	const size_t limit = 52428800;

	(void)state;
	for (size_t size = limit; size <= limit + 1; size++) {
		json_t *json = upload_of(size);
		struct sandbox_upload_file msg = { 0 };
		struct err e;
		int result = jschema_read(MSG_sandbox_upload_file, json, &msg, &e);

		assert_int_equal(result, size <= limit ? 0 : -1);
		if (result == 0)
			assert_int_equal(msg.content_base64.size, size);
		else
			assert_int_equal(e.code, ERR_limit_exceeded);
		json_decref(json);
		message_clear(MSG_sandbox_upload_file, &msg);
	}
}

/* ---- what a guest claims to be JSON ---- */

static json_t *
write_result(const void *bytes, size_t size)
{
	struct execution x = { .result = blob_copy(bytes, size) };
	json_t *json = jschema_write(MSG_execution, &x);
	json_t *result = json_incref(json_object_get(json, "result"));

	assert_non_null(result);
	json_decref(json);
	message_clear(MSG_execution, &x);
	return result;
}

#define BYTES(s) s, sizeof(s) - 1

static void
gives_a_guests_json_as_it_is_or_as_text(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *json;
	} results[] = {
		{ BYTES("1"), "1" },
		{ BYTES("null"), "null" },
		{ BYTES(" {\"a\": [1, -0.5, \"b\"]} "), "{\"a\":[1,-0.5,\"b\"]}" },
		{ BYTES("\"\\u0000\""), "\"\\u0000\"" },
		{ BYTES("\"]]]\\\"[[[\""), "\"]]]\\\"[[[\"" },
		{ BYTES(""), "\"\"" },
		{ BYTES("{"), "\"{\"" },
		{ BYTES("]"), "\"]\"" },
		{ BYTES("\"\\"), "\"\\\"\\\\\"" },
		{ BYTES("1 2"), "\"1 2\"" },
		{ BYTES("NaN"), "\"NaN\"" },
		{ BYTES("1e999"), "\"1e999\"" },
		{ BYTES("123456789012345678901234567890"), "\"123456789012345678901234567890\"" },
		{ BYTES("{\"a\":1,\"a\":2}"), "\"{\\\"a\\\":1,\\\"a\\\":2}\"" },
		{ BYTES("\"\xff\""), "\"\\\"\\uFFFD\\\"\"" },
		{ BYTES("1\0"), "\"1\\u0000\"" },
		{ BYTES("\"\\ud800\""), "\"\\\"\\\\ud800\\\"\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(results); i++) {
		json_t *result = write_result(results[i].bytes, results[i].size);
		auto_free char *text =
		    json_dumps(result, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

		assert_string_equal(text, results[i].json);
		json_decref(result);
	}
}

static json_type
type_of_nest(size_t depth, size_t times)
{
	char text[JSCHEMA_ANY_DEPTH * 2 + 8];
	auto_free char *all = calloc(times, sizeof text);
	size_t size = 0;

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	for (size_t i = 0; i < times; i++) {
		all[size++] = i == 0 ? '[' : ',';
		memcpy(all + size, text, depth * 2);
		size += depth * 2;
	}
	all[size++] = ']';

	json_t *result = write_result(all, size);
	json_type type = json_typeof(result);

	json_decref(result);
	return type;
}

static void
bounds_what_it_parses(void **state)
{
	(void)state;
	assert_int_equal(type_of_nest(JSCHEMA_ANY_DEPTH - 1, 2), JSON_ARRAY);
	assert_int_equal(type_of_nest(JSCHEMA_ANY_DEPTH, 2), JSON_STRING);
	assert_int_equal(type_of_nest(1, JSCHEMA_ANY_NESTED - 1), JSON_ARRAY);
	assert_int_equal(type_of_nest(1, JSCHEMA_ANY_NESTED), JSON_STRING);
}

static void
escapes_what_it_writes(void **state)
{
	struct execution x = { .stdout = blob_text("\"\\\n\x01\x7f</script>\xe2\x80\xa8") };
	json_t *json;

	(void)state;
	x.stderr = blob_copy("a\xff\0b", 4); /* never decoded, so not yet known to be text */
	json = jschema_write(MSG_execution, &x);

	auto_free char *text = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII);

	assert_non_null(strstr(text, "\"stdout\":\"\\\"\\\\\\n\\u0001\x7f</script>\\u2028\""));
	assert_non_null(strstr(text, "\"stderr\":\"a\\uFFFD\\u0000b\""));
	json_decref(json);
	message_clear(MSG_execution, &x);
}

static const struct {
	enum msg_id id;
	json_t *(*schema)(enum msg_id);
	const char *json;
} schemas[] = {
	{ MSG_run_sandbox_code, jschema_input,
	    "{\"type\":\"object\",\"properties\":{"
	    "\"code\":{\"type\":\"string\",\"description\":\"The program.\"},"
	    "\"timeout_sec\":{\"type\":\"number\","
	    "\"description\":\"Wall clock limit in seconds. Default: the server's.\"}},"
	    "\"required\":[\"code\"]}" },
	{ MSG_get_sandbox_info, jschema_input,
	    "{\"type\":\"object\",\"properties\":{\"detail\":{\"type\":\"boolean\","
	    "\"default\":true,\"description\":\"Include lists of modules.\"}}}" },
	{ MSG_bridge_data, jschema_input,
	    "{\"type\":\"object\",\"properties\":{"
	    "\"session_id\":{\"type\":\"string\",\"description\":\"The session.\"},"
	    "\"key\":{\"type\":\"string\",\"description\":\"The name; an identifier.\"},"
	    "\"data\":{\"description\":\"The value.\"}},"
	    "\"required\":[\"session_id\",\"key\",\"data\"]}" },
	/* No default, for what is written has all its numbers; and 64 bytes of text may be
	   16 characters. */
	{ MSG_finding, jschema_output,
	    "{\"type\":\"object\",\"properties\":{"
	    "\"line\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10000000,"
	    "\"description\":\"From 1. 0: concerns all of the code.\"},"
	    "\"column\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10000000,"
	    "\"description\":\"From 1, in characters.\"},"
	    "\"rule\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":64,"
	    "\"description\":\"Name of the rule.\"},"
	    "\"message\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1024,"
	    "\"description\":\"Description of the finding.\"},"
	    "\"hint\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1024,"
	    "\"description\":\"How to correct it.\"}},"
	    "\"required\":[\"line\",\"column\",\"rule\",\"message\"],"
	    "\"additionalProperties\":false}" },
	{ MSG_snapshot_put, jschema_output,
	    "{\"type\":\"object\",\"properties\":{"
	    "\"sha256\":{\"type\":\"string\",\"minLength\":16,\"maxLength\":64,"
	    "\"description\":\"Digest that the sender claims; snapshotd checks it.\"},"
	    "\"content\":{\"type\":\"string\",\"contentEncoding\":\"base64\","
	    "\"maxLength\":357913944,\"description\":\"The bytes.\"}},"
	    "\"required\":[\"sha256\",\"content\"],\"additionalProperties\":false}" },
	{ MSG_get_sandbox_info, jschema_output,
	    "{\"type\":\"object\",\"properties\":{\"detail\":{\"type\":\"boolean\","
	    "\"description\":\"Include lists of modules.\"}},"
	    "\"required\":[\"detail\"],\"additionalProperties\":false}" },
};

static void
describes_each_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(schemas); i++) {
		json_t *schema = schemas[i].schema(schemas[i].id);
		auto_free char *text = json_dumps(schema, JSON_COMPACT);

		assert_string_equal(text, schemas[i].json);
		json_decref(schema);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(takes_what_models_write),
		cmocka_unit_test(quotes_keys_with_care),
		cmocka_unit_test(takes_numbers_as_clients_write_them),
		cmocka_unit_test(absent_and_null_are_what_the_table_says),
		cmocka_unit_test(takes_files_up_to_the_limit),
		cmocka_unit_test(gives_a_guests_json_as_it_is_or_as_text),
		cmocka_unit_test(bounds_what_it_parses),
		cmocka_unit_test(escapes_what_it_writes),
		cmocka_unit_test(describes_each_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
