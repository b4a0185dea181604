/* SPDX-License-Identifier: Apache-2.0 */
/* test_headers.c - headers must agree with the body. */
#include "gateway/transport/http/headers.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

/* ---- a request, played: pairs of names and values ---- */

static const char *const *sent;

const char *
request_header(const struct http_request *r, const char *name)
{
	(void)r;
	for (const char *const *at = sent; at != NULL && *at != NULL; at += 2)
		if (strcasecmp(*at, name) == 0)
			return at[1];
	return NULL;
}

bool
request_repeats(const struct http_request *r, const char *name)
{
	int n = 0;

	(void)r;
	for (const char *const *at = sent; at != NULL && *at != NULL; at += 2)
		n += strcasecmp(*at, name) == 0;
	return n > 1;
}

/* ---- values ---- */

static const struct value {
	const char *header, *member; /* JSON */
	bool same;
} values[] = {
	{ "a", "\"a\"", true },
	{ " a\t", "\"a\"", true },
	{ "a b", "\"a b\"", true },
	{ "A", "\"a\"", false },
	{ "", "\"\"", true },
	{ "", "\"a\"", false },
	{ "=?base64?w6Q=?=", "\"\xc3\xa4\"", true },
	{ "=?base64?\077=", "\"\"", true },
	{ "=?base64?w6Q?=", "\"\xc3\xa4\"", false },  /* padding */
	{ "=?base64?w6R=?=", "\"\xc3\xa4\"", false }, /* bits beyond the end */
	{ "=?base64?w6-=?=", "\"\xc3\xa4\"", false }, /* the other alphabet */
	{ "=?base64?/w==?=", "\"\\ufffd\"", false },  /* not UTF-8 */
	{ "=?base64?YQBi?=", "\"a\"", false },
	{ "=?BASE64?w6Q=?=", "\"=?BASE64?w6Q=?=\"", true }, /* then it is a text */
	{ "=?base64?=", "\"=?base64?=\"", true },
	{ "7", "7", true },
	{ "7.0", "7", true },
	{ "7.00", "7", true },
	{ "07", "7", true },
	{ "-7", "-7", true },
	{ "7.5", "7", false },
	{ "7e0", "7", false },
	{ "0x7", "7", false },
	{ "", "0", false },
	{ "7 8", "7", false },
	{ "9007199254740993", "9007199254740993", true },
	{ "9007199254740992", "9007199254740993", false },
	{ "99999999999999999999", "9223372036854775807", false },
	{ "true", "true", true },
	{ "True", "true", false },
	{ "1", "true", false },
	{ "false", "false", true },
	{ "null", "null", false },
	{ "[]", "[]", false },
	{ "1.5", "1.5", false },
};

static void
compares_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		json_t *member = json_loads(values[i].member, JSON_DECODE_ANY, NULL);

		assert_non_null(member);
		if (headers_says(values[i].header, member) != values[i].same)
			fail_msg("'%s' beside %s", values[i].header, values[i].member);
		json_decref(member);
	}
}

/* ---- headers ---- */

#define SCHEMA \
	"{\"properties\":{\"a\":{\"x-mcp-header\":\"A\"},\"b\":{},\"c\":{\"properties\":" \
	"{\"d\":{\"x-mcp-header\":\"D\"}}}}}"

static const struct head {
	const char *name, *params;
	const char *sent[7];
	const char *says; /* NULL: nothing is wrong */
} heads[] = {
	{ "all is there", "{\"name\":\"x\"}", { "Mcp-Method", "tools/call", "mcp-name", "x" },
	    NULL },
	{ "no method", "{\"name\":\"x\"}", { "Mcp-Name", "x" }, "Mcp-Method is required" },
	{ "another method", "{\"name\":\"x\"}", { "Mcp-Method", "tools/list", "Mcp-Name", "x" },
	    "Mcp-Method does not match" },
	{ "method twice", "{\"name\":\"x\"}",
	    { "Mcp-Method", "tools/call", "Mcp-Method", "tools/call", "Mcp-Name", "x" },
	    "Mcp-Method does not match" },
	{ "no name", "{\"name\":\"x\"}", { "Mcp-Method", "tools/call" }, "Mcp-Name is required" },
	{ "another name", "{\"name\":\"x\"}", { "Mcp-Method", "tools/call", "Mcp-Name", "y" },
	    "Mcp-Name does not match" },
	{ "no name at all", "{}", { "Mcp-Method", "tools/call" }, NULL },
};

static const struct head arguments[] = {
	{ "none", "{}", { NULL }, NULL },
	{ "both", "{\"arguments\":{\"a\":\"x\",\"c\":{\"d\":5}}}",
	    { "Mcp-Param-A", "x", "Mcp-Param-D", "5" }, NULL },
	{ "missing", "{\"arguments\":{\"a\":\"x\"}}", { NULL }, "Mcp-Param-A is required" },
	{ "other", "{\"arguments\":{\"a\":\"x\"}}", { "Mcp-Param-A", "y" },
	    "Mcp-Param-A does not" },
	{ "deep", "{\"arguments\":{\"c\":{\"d\":5}}}", { "Mcp-Param-D", "6" },
	    "Mcp-Param-D does not" },
	{ "only in the head", "{\"arguments\":{}}", { "Mcp-Param-A", "x" }, "body has no such" },
	{ "null is none", "{\"arguments\":{\"a\":null}}", { NULL }, NULL },
	{ "not marked", "{\"arguments\":{\"b\":\"x\"}}", { "Mcp-Param-B", "y" }, NULL },
};

static void
check(const struct head *h, json_t *wrong)
{
	const char *text =
	    json_string_value(json_object_get(json_object_get(wrong, "error"), "message"));

	if ((wrong == NULL) != (h->says == NULL) || (text != NULL && strstr(text, h->says) == NULL))
		fail_msg("%s: %s", h->name, text == NULL ? "nothing is wrong" : text);
	if (wrong != NULL)
		assert_int_equal(
		    json_integer_value(json_object_get(json_object_get(wrong, "error"), "code")),
		    HEADERS_MISMATCH);
	json_decref(wrong);
}

static void
play(const struct head *h, bool params)
{
	json_t *id = json_integer(1), *schema = json_loads(SCHEMA, 0, NULL);
	struct rpc rpc = { .kind = RPC_request,
		.id = id,
		.method = "tools/call",
		.params = json_loads(h->params, 0, NULL) };

	sent = h->sent;
	check(h, params ? headers_params(NULL, &rpc, schema) : headers_method(NULL, &rpc));
	json_decref(rpc.params);
	json_decref(schema);
	json_decref(id);
}

static void
compares_headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(heads); i++)
		play(&heads[i], false);
	for (size_t i = 0; i < COUNT(arguments); i++)
		play(&arguments[i], true);
}

static void
compares_versions(void **state)
{
	static const char *const right[] = { "MCP-Protocol-Version", " 2026-07-28 ", NULL };
	json_t *wrong;

	(void)state;
	sent = right;
	assert_null(headers_version(NULL, NULL, "2026-07-28"));
	wrong = headers_version(NULL, NULL, "2026-07-2");
	assert_non_null(wrong);
	json_decref(wrong);
	sent = NULL;
	wrong = headers_version(NULL, NULL, "2026-07-28");
	assert_non_null(wrong);
	json_decref(wrong);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compares_values),
		cmocka_unit_test(compares_headers),
		cmocka_unit_test(compares_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
