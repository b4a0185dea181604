/* SPDX-License-Identifier: Apache-2.0 */
/* test_dispatch.c - conversations in every revision, without daemons. */
#include "tests/unit/dialog.h"

#include "gateway/mcp/dispatch.h"
#include "gateway/mcp/methods.h"
#include "gateway/mcp/tools.h"
#include "gateway/options.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/credential/scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- what a line is answered with ---- */

static const struct answer {
	const char *name, *first, *line; /* first: sent before, NULL: nothing */
	int code;                        /* 0: a result */
	const char *says;                /* in the text of the answer */
} answers[] = {
	{ "discover", NULL, REQUEST("1", "server/discover", META), 0,
	    "\"supportedVersions\":[\"2026-07-28\"]" },
	{ "discover has resultType", NULL, REQUEST("1", "server/discover", META), 0,
	    "\"resultType\":\"complete\"" },
	{ "discover can be cached", NULL, REQUEST("1", "server/discover", META), 0,
	    "\"ttlMs\":300000" },
	{ "discover names the server", NULL, REQUEST("1", "server/discover", META), 0,
	    "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"cloister\"" },
	{ "no claim, no initialize", NULL, REQUEST("1", "tools/list", ""), RPC_PARAMS,
	    "clientCapabilities" },
	{ "discover without a claim", NULL, REQUEST("1", "server/discover", ""), RPC_PARAMS,
	    "protocolVersion" },
	{ "no capabilities", NULL,
	    REQUEST("1", "tools/list",
		"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}"),
	    RPC_PARAMS, "clientCapabilities" },
	{ "version not a text", NULL,
	    REQUEST("1", "tools/list", "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":1}"),
	    RPC_PARAMS, "must be a string" },
	{ "version unknown", NULL,
	    REQUEST("1", "tools/list",
		"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2031-01-01\"}"),
	    RPC_VERSION, "\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"2031-01-01\"}" },
	{ "version that cannot be claimed", NULL,
	    REQUEST("1", "tools/list",
		"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2025-11-25\"}"),
	    RPC_VERSION, "\"requested\":\"2025-11-25\"" },
	{ "claimed initialize", NULL, REQUEST("1", "initialize", META), RPC_METHOD, "initialize" },
	{ "claimed ping", NULL, REQUEST("1", "ping", META), RPC_METHOD, "ping" },
	{ "claimed logging", NULL, REQUEST("1", "logging/setLevel", META), RPC_METHOD, "logging" },
	{ "method nobody knows", NULL, REQUEST("1", "resources/guess", META), RPC_METHOD,
	    "not found" },
	{ "discover tells of resources", NULL, REQUEST("1", "server/discover", META), 0,
	    "\"resources\":{\"listChanged\":true,\"subscribe\":true}" },
	{ "discover tells of tasks", NULL, REQUEST("1", "server/discover", META), 0,
	    "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}" },
	{ "initialize tells of no tasks", NULL, INITIALIZE("2025-11-25"), 0,
	    "\"logging\":{},\"tools\":{}},\"instructions\"" },
	{ "cursor nobody gave", NULL, REQUEST("1", "tools/list", "\"cursor\":\"x\"," META),
	    RPC_PARAMS, "cursor" },
	{ "tool nobody knows", NULL, REQUEST("1", "tools/call", "\"name\":\"rm\"," META),
	    RPC_PARAMS, "Unknown tool: rm" },
	{ "tool not offered", NULL, REQUEST("1", "tools/call", "\"name\":\"sandbox_stats\"," META),
	    RPC_PARAMS, "Unknown tool" },
	{ "message that is no tool", NULL, REQUEST("1", "tools/call", "\"name\":\"hello\"," META),
	    RPC_PARAMS, "Unknown tool" },
	{ "name missing", NULL, REQUEST("1", "tools/call", META), RPC_PARAMS, "name must be" },
	{ "arguments a list", NULL,
	    REQUEST("1", "tools/call", "\"name\":\"list_runtimes\",\"arguments\":[]," META),
	    RPC_PARAMS, "arguments must be" },
	{ "argument of a wrong type", NULL,
	    REQUEST(
		"1", "tools/call", "\"name\":\"execute_code\",\"arguments\":{\"code\":5}," META),
	    0, "\"isError\":true" },
	{ "argument nobody knows", NULL,
	    REQUEST("1", "tools/call",
		"\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\",\"colour\":1}," META),
	    0, "invalid_argument" },
	{ "ping first", NULL, REQUEST("1", "ping", ""), 0, "\"result\":{}" },
	{ "initialize 2025-11-25", NULL, INITIALIZE("2025-11-25"), 0, "\"2025-11-25\"" },
	{ "initialize 2025-06-18", NULL, INITIALIZE("2025-06-18"), 0, "\"2025-06-18\"" },
	{ "initialize 2025-03-26", NULL, INITIALIZE("2025-03-26"), 0, "\"2025-03-26\"" },
	{ "initialize 2024-11-05", NULL, INITIALIZE("2024-11-05"), 0, "\"2024-11-05\"" },
	{ "initialize the unknown", NULL, INITIALIZE("1999-01-01"), 0, "\"2025-11-25\"" },
	{ "initialize never agrees on a modern one", NULL, INITIALIZE("2026-07-28"), 0,
	    "\"protocolVersion\":\"2025-11-25\"" },
	{ "initialize without a version", NULL, REQUEST("1", "initialize", ""), RPC_PARAMS,
	    "protocolVersion" },
	{ "initialize twice", INITIALIZE("2025-06-18"), INITIALIZE("2025-11-25"), RPC_INVALID,
	    "2025-06-18" },
	{ "ping later", INITIALIZE("2025-06-18"), REQUEST("1", "ping", ""), 0, "\"result\":{}" },
	{ "legacy list", INITIALIZE("2025-06-18"), REQUEST("1", "tools/list", ""), 0,
	    "\"outputSchema\"" },
	{ "legacy discover", INITIALIZE("2025-06-18"), REQUEST("1", "server/discover", ""),
	    RPC_METHOD, "server/discover" },
	{ "modern beside legacy", INITIALIZE("2025-06-18"), REQUEST("1", "server/discover", META),
	    0, "supportedVersions" },
	{ "batch before initialize", NULL, "[" REQUEST("1", "ping", "") "]", RPC_INVALID,
	    "no batches" },
	{ "batch in 2025-06-18", INITIALIZE("2025-06-18"), "[" REQUEST("1", "ping", "") "]",
	    RPC_INVALID, "no batches" },
	{ "empty batch", INITIALIZE("2025-03-26"), "[]", RPC_INVALID, "empty" },
};

static void
answers_as(void **state)
{
	const struct answer *c = *state;

	if (c->first != NULL)
		dialog_say(c->first);
	dialog_forget();
	dialog_say(c->line);
	assert_int_equal(dialog.nsaid, 1);
	assert_int_equal(json_integer_value(dialog_at("error.code")), c->code);
	assert_int_equal(dialog_at("result") != NULL, c->code == 0);

	auto_free char *text = json_dumps(dialog.said[0], JSON_COMPACT);

	if (strstr(text, c->says) == NULL)
		fail_msg("%s does not say %s", text, c->says);
}

/* ---- revisions differ ---- */

static void
lists_as_the_revision_knows_it(void **state)
{
	static const struct {
		const char *initialize;
		bool annotations, structured, described;
	} revisions[] = {
		{ INITIALIZE("2024-11-05"), false, false, false },
		{ INITIALIZE("2025-03-26"), true, false, false },
		{ INITIALIZE("2025-06-18"), true, true, false },
		{ INITIALIZE("2025-11-25"), true, true, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(revisions); i++) {
		dialog.client.revision = NULL;
		dialog_say(revisions[i].initialize);
		assert_int_equal(
		    dialog_at("result.serverInfo.description") != NULL, revisions[i].described);
		assert_int_equal(
		    dialog_at("result.serverInfo.title") != NULL, revisions[i].structured);
		dialog_say(REQUEST("1", "tools/list", ""));
		assert_int_equal(
		    dialog_at("result.tools.0.annotations") != NULL, revisions[i].annotations);
		assert_int_equal(
		    dialog_at("result.tools.0.outputSchema") != NULL, revisions[i].structured);
		assert_int_equal(
		    dialog_at("result.tools.0.title") != NULL, revisions[i].structured);
		assert_null(dialog_at("result.resultType"));
		assert_null(dialog_at("result.ttlMs"));
		dialog_forget();
	}
}

static void
offers_by_toolset(void **state)
{
	static const struct {
		const char *sets, *tool;
		bool there;
	} cases[] = {
		{ "core", "execute_code", true },
		{ "core", "sandbox_stats", false },
		{ "core,monitor", "sandbox_stats", true },
		{ "all", "run_sandbox_code", true },
		{ "mcp-secure-sandbox", "run_sandbox_code", true },
		{ "mcp-secure-sandbox", "execute_code", false },
		{ "mcp-code-sandbox", "sandbox_run_python", true },
		{ "python-sandbox", "validate_code", true },
		{ "all", "snapshot_get", false },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(tools_choose(cases[i].sets, &e), 0);
		assert_int_equal(tools_find(cases[i].tool) != MSG_none, cases[i].there);
	}
	assert_int_equal(tools_choose("core,,monitor", &e), -1);
	assert_int_equal(tools_choose("cores", &e), -1);
	assert_non_null(strstr(e.text, "'cores' is not one of"));
}

/* ---- batches ---- */

static void
answers_a_batch_at_once(void **state)
{
	(void)state;
	dialog_say(INITIALIZE("2025-03-26"));
	dialog_forget();
	dialog_say("[" REQUEST("1", "tools/call",
	    "\"name\":\"list_runtimes\"") ","
					  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
					  "initialized\"}," REQUEST(
					      "2", "ping", "") ","
							       "7," INITIALIZE("2025-03-26") "]");
	assert_int_equal(dialog.nsaid, 0);
	dialog_reply_listing();
	assert_int_equal(dialog.nsaid, 1);
	assert_int_equal(json_array_size(dialog.said[0]), 4);
	assert_int_equal(json_integer_value(dialog_at("0.id")), 2);
	assert_int_equal(json_integer_value(dialog_at("1.error.code")), RPC_INVALID);
	assert_int_equal(json_integer_value(dialog_at("2.error.code")), RPC_INVALID);
	assert_int_equal(json_integer_value(dialog_at("3.id")), 1);
	assert_null(dialog_at("3.result.structuredContent"));
}

static void
a_cancelled_call_ends_its_batch(void **state)
{
	(void)state;
	dialog_say(INITIALIZE("2025-03-26"));
	dialog_forget();
	dialog_say("[" REQUEST("1", "tools/call", "\"name\":\"list_runtimes\"") "]");
	dialog_say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		   "cancelled\",\"params\":{\"requestId\":1}}");
	assert_int_equal(dialog.nsaid, 0);
	assert_int_equal(dialog.account.count, 0);
	dialog_say("[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}]");
	assert_int_equal(dialog.nsaid, 0);
}

static void
says_nothing_to_notifications(void **state)
{
	(void)state;
	dialog_say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	dialog_say(
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/never_heard_of\",\"params\":{}}");
	dialog_say("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}");
	dialog_say("");
	dialog_say(" \t\r");
	assert_int_equal(dialog.nsaid, 0);
}

#ifndef SANITIZED /* whose malloc gives back nothing */
static long
resident_mb(void)
{
	char line[128], *pages;
	FILE *from = fopen("/proc/self/statm", "re");

	assert_non_null(from);
	assert_non_null(fgets(line, sizeof line, from));
	fclose(from);
	pages = strchr(line, ' ');
	assert_non_null(pages);
	return strtol(pages, NULL, 10) * sysconf(_SC_PAGESIZE) >> 20;
}

static void
stop(void *unused)
{
	(void)unused;
	loop_stop();
}

/* Its answer, which is there still, was made behind all that the message was read into. */
static void
gives_back_what_a_large_message_took(void **state)
{
	static char line[4 << 20];
	char *at = line + sprintf(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
					"\"params\":{" META ",\"x\":[0");
	long before = resident_mb();
	struct err e;

	(void)state;
	while (at < line + sizeof line - 64)
		at = stpcpy(at, ",[\"a\"]");
	stpcpy(at, "]}}");
	assert_int_equal(loop_open(&e), 0);
	dialog_say(line);
	assert_non_null(dialog_at("result.tools"));
	assert_true(resident_mb() > before + 30);
	loop_after(500, stop, NULL);
	assert_int_equal(loop_run(&e), 0);
	loop_close();
	assert_true(resident_mb() < before + 12);
}
#endif

/* ---- scopes ---- */

/* clang-format off */
static const struct {
	const char *name;
	unsigned revisions;
} methods[] = {
#define METHOD(name, revisions, ...) { name, revisions },
#define NOTIFICATION(...)
#include "gateway/methods.def"
};
/* clang-format on */

/* These describe the server only, or end what the client itself began. */
static bool
needs_no_scope(const char *method)
{
	static const char *const all[] = { "initialize", "logging/setLevel", "ping", "prompts/get",
		"prompts/list", "resources/unsubscribe", "server/discover", "tools/list" };

	for (size_t i = 0; i < COUNT(all); i++)
		if (strcmp(all[i], method) == 0)
			return true;
	return false;
}

static bool
is_denied(void)
{
	const char *code = json_string_value(dialog_at("error.data.code"));

	return code != NULL && strcmp(code, "denied") == 0;
}

static void
refuses_what_credentials_do_not_allow(void **state)
{
	char line[512];

	(void)state;
	dialog.client.scopes = SCOPES_NONE;
	for (size_t i = 0; i < COUNT(methods); i++) {
		bool modern = (methods[i].revisions & REVISION_MODERN) != 0;

		snprintf(line, sizeof line,
		    "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"%s\",\"params\":{\"name\":"
		    "\"execute_code\",\"uri\":\"sandbox://logs\"%s}}",
		    i + 1, methods[i].name, modern ? "," META : "");
		dialog.client.revision = modern ? NULL : revision_agree("2025-11-25");
		dialog_forget();
		dialog_say(line);
		assert_int_equal(dialog.nsaid, 1);
		assert_true(is_denied() != needs_no_scope(methods[i].name));
	}
	assert_int_equal(dialog.bus.asked, 0);
}

static void
knows_what_methods_need(void **state)
{
	json_auto_t *run = json_pack("{s:s}", "name", "execute_code");
	json_auto_t *look = json_pack("{s:s}", "name", "list_runtimes");
	json_auto_t *logs = json_pack("{s:s}", "uri", "sandbox://logs");

	(void)state;
	assert_int_equal(methods_scopes("tools/list", NULL), 0);
	assert_int_equal(methods_scopes("tools/call", run), 1 << scope_run);
	assert_int_equal(methods_scopes("tools/call", look), 1 << scope_read);
	assert_int_equal(methods_scopes("resources/read", NULL), 1 << scope_read);
	assert_int_equal(
	    methods_scopes("resources/read", logs), 1 << scope_read | 1 << scope_monitor);
	assert_int_equal(methods_scopes("tasks/cancel", NULL), 1 << scope_run);
	assert_int_equal(methods_scopes("", NULL), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, dialog_start, dialog_stop)

int
main(void)
{
	static const struct CMUnitTest others[] = {
		CASE(lists_as_the_revision_knows_it),
		CASE(offers_by_toolset),
		CASE(answers_a_batch_at_once),
		CASE(a_cancelled_call_ends_its_batch),
		CASE(says_nothing_to_notifications),
		CASE(refuses_what_credentials_do_not_allow),
		CASE(knows_what_methods_need),
#ifndef SANITIZED
		CASE(gives_back_what_a_large_message_took),
#endif
	};
	struct CMUnitTest tests[COUNT(answers) + COUNT(others)];
	size_t n = 0;

	for (; n < COUNT(answers); n++)
		tests[n] = (struct CMUnitTest){ answers[n].name, answers_as, dialog_start,
			dialog_stop, (void *)(uintptr_t)&answers[n] };
	memcpy(tests + n, others, sizeof others);
	return _cmocka_run_group_tests("dispatch", tests, COUNT(tests), NULL, NULL);
}
