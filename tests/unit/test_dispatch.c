/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dispatch.c - conversations in every era, without a daemon behind them.
 *
 * The bus is played by this file: it keeps what was asked and answers when a test says so.
 */
#include "gateway/calls.h"
#include "gateway/dispatch.h"
#include "gateway/options.h"
#include "gateway/tools.h"

#include "common/auto.h"
#include "common/bus.h"
#include "common/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- the bus ---- */

static struct {
	struct ask ask;
	char principal[64], namespace[64], instance[64], trace[64];
	uint64_t id, cancelled;
	int asked;
	bool there, refuse;
} bus;

static void
keep(char *to, const char *text)
{
	snprintf(to, 64, "%s", text == NULL ? "-" : text);
}

uint64_t
bus_ask(const struct ask *ask, struct err *e)
{
	if (bus.refuse) {
		err_set(e, ERR_queue_full, "too much waits");
		return 0;
	}
	bus.ask = *ask;
	keep(bus.principal, ask->principal);
	keep(bus.namespace, ask->namespace);
	keep(bus.instance, ask->instance);
	keep(bus.trace, ask->trace);
	bus.asked++;
	return ++bus.id;
}

void
bus_cancel(uint64_t id)
{
	struct err e;

	bus.cancelled = id;
	err_set(&e, ERR_cancelled, "cancelled");
	bus.ask.done(bus.ask.self, NULL, &e);
}

bool
bus_ready(enum peer peer, struct heartbeat *load)
{
	(void)peer;
	(void)load;
	return bus.there;
}

static void
fail_call(enum err_code code, const char *text)
{
	struct err e;

	err_set(&e, code, "%s", text);
	bus.ask.done(bus.ask.self, NULL, &e);
}

static void
reply_listing(void)
{
	struct runtime one = { .language = (char[]){ "python" },
		.version = (char[]){ "3" },
		.path = (char[]){ "/p" },
		.backend = (char[]){ "box" } };
	struct runtime_list list = { .runtimes = { &one, 1 } };

	bus.ask.done(bus.ask.self, &list, NULL);
}

/* ---- the client ---- */

static json_t *said[16];
static size_t nsaid;
static struct client client;

static void
hear(struct client *c, const json_t *message)
{
	assert_ptr_equal(c, &client);
	assert_true(nsaid < COUNT(said));
	said[nsaid++] = json_deep_copy(message);
}

static bool
never_slow(struct client *c)
{
	(void)c;
	return false;
}

static void
forget(void)
{
	while (nsaid > 0)
		json_decref(said[--nsaid]);
}

static void
say(const char *text)
{
	struct line line = { .data = text, .size = strlen(text) };

	scan_feed(&line.scan, text, line.size);
	dispatch_line(&client, &line);
}

/* Path "error.code" in the last message. */
static json_t *
at(const char *path)
{
	json_t *value = nsaid == 0 ? NULL : said[nsaid - 1];
	char step[64];

	for (size_t n; *path != '\0' && value != NULL; path += n + (path[n] == '.')) {
		n = strcspn(path, ".");
		snprintf(step, sizeof step, "%.*s", (int)n, path);
		value = json_is_array(value) ? json_array_get(value, (size_t)(step[0] - '0'))
		                             : json_object_get(value, step);
	}
	return value;
}

static int
start(void **state)
{
	static char no_instructions[] = "";
	struct err e;

	(void)state;
	memset(&bus, 0, sizeof bus);
	bus.there = true;
	client = (struct client){ .principal = "local:7", .send = hear, .slow = never_slow };
	options.max_in_flight = 2;
	options.max_message_bytes = 1 << 20;
	options.call_timeout_ms = 1000;
	options.instructions = no_instructions;
	return tools_choose("core", &e);
}

static int
stop(void **state)
{
	(void)state;
	if (client.count > 0)
		calls_end(&client);
	forget();
	return client.calls == NULL ? 0 : -1;
}

#define META \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define REQUEST(id, method, params) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" params "}}"
#define INITIALIZE(version) \
	REQUEST("0", "initialize", \
	    "\"protocolVersion\":\"" version "\",\"capabilities\":{},\"clientInfo\":{}")
#define LIST(id, rest) \
	REQUEST(id, "tools/call", "\"name\":\"list_runtimes\",\"arguments\":{}," rest META)

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
	{ "resources are not there", NULL, REQUEST("1", "resources/list", META), RPC_METHOD,
	    "not found" },
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
		say(c->first);
	forget();
	say(c->line);
	assert_int_equal(nsaid, 1);
	assert_int_equal(json_integer_value(at("error.code")), c->code);
	assert_int_equal(at("result") != NULL, c->code == 0);

	auto_free char *text = json_dumps(said[0], JSON_COMPACT);

	if (strstr(text, c->says) == NULL)
		fail_msg("%s does not say %s", text, c->says);
}

/* ---- eras differ ---- */

static void
lists_as_the_era_knows_it(void **state)
{
	static const struct {
		const char *initialize;
		bool annotations, structured, described;
	} eras[] = {
		{ INITIALIZE("2024-11-05"), false, false, false },
		{ INITIALIZE("2025-03-26"), true, false, false },
		{ INITIALIZE("2025-06-18"), true, true, false },
		{ INITIALIZE("2025-11-25"), true, true, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(eras); i++) {
		client.era = NULL;
		say(eras[i].initialize);
		assert_int_equal(at("result.serverInfo.description") != NULL, eras[i].described);
		assert_int_equal(at("result.serverInfo.title") != NULL, eras[i].structured);
		say(REQUEST("1", "tools/list", ""));
		assert_int_equal(at("result.tools.0.annotations") != NULL, eras[i].annotations);
		assert_int_equal(at("result.tools.0.outputSchema") != NULL, eras[i].structured);
		assert_int_equal(at("result.tools.0.title") != NULL, eras[i].structured);
		assert_null(at("result.resultType"));
		assert_null(at("result.ttlMs"));
		forget();
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
		{ "all", "install_package", false },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(tools_choose(cases[i].sets, &e), 0);
		assert_int_equal(tools_find(cases[i].tool) != MSG_none, cases[i].there);
	}
	assert_int_equal(tools_choose("core,,monitor", &e), -1);
	assert_int_equal(tools_choose("cores", &e), -1);
	assert_non_null(strstr(e.text, "'cores' is none of"));
}

/* ---- calls ---- */

static void
asks_and_answers(void **state)
{
	(void)state;
	say(REQUEST("\"a\"", "tools/call",
	    "\"name\":\"create_session\",\"arguments\":{\"namespace\":\"n1\"},"
	    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{},"
	    "\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01\"}"));
	assert_int_equal(nsaid, 0);
	assert_int_equal(bus.ask.to, PEER_executor);
	assert_int_equal(bus.ask.message, MSG_create_session);
	assert_string_equal(bus.principal, "local:7");
	assert_string_equal(bus.namespace, "n1");
	assert_string_equal(bus.instance, "-");
	assert_string_equal(bus.trace, "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01");
	assert_true(bus.ask.timeout_ms > 0 && bus.ask.timeout_ms <= 1000);

	struct session_created made = { .session_id = (char[]){ "s" },
		.language = (char[]){ "python" },
		.expires_at = (char[]){ "t" } };

	bus.ask.done(bus.ask.self, &made, NULL);
	assert_int_equal(nsaid, 1);
	assert_string_equal(json_string_value(at("id")), "a");
	assert_string_equal(json_string_value(at("result.structuredContent.session_id")), "s");
	assert_string_equal(json_string_value(at("result.content.0.text")),
	    "{\"session_id\":\"s\",\"language\":\"python\",\"expires_at\":\"t\"}");
	assert_true(json_is_false(at("result.isError")));
	assert_string_equal(json_string_value(at("result.resultType")), "complete");
	assert_int_equal(client.count, 0);
	assert_int_equal(client.held, 0);
}

static void
ignores_what_is_no_trace(void **state)
{
	static const char *const traces[] = {
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"00-0AF7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
		"01-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
		"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-x",
		"00",
		"",
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < COUNT(traces); i++) {
		snprintf(text, sizeof text,
		    REQUEST("1", "tools/call",
			"\"name\":\"list_runtimes\","
			"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
			"\"io.modelcontextprotocol/"
			"clientCapabilities\":{},\"traceparent\":\"%s\"}"),
		    traces[i]);
		say(text);
		assert_string_equal(bus.trace, "-");
		reply_listing();
		forget();
	}
}

static void
finds_the_executor_of_a_session(void **state)
{
	static const struct {
		const char *session, *instance;
	} cases[] = {
		{ "sess_1_0123456789abcdef0123456789abcdef", "1" },
		{ "sess_a_b_0123456789abcdef0123456789abcdef", "a_b" },
		{ "sess__0123456789abcdef0123456789abcdef", "-" },
		{ "sess_1", "-" },
		{ "0123456789", "-" },
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof text,
		    REQUEST("1", "tools/call",
			"\"name\":\"sandbox_list_artifacts\",\"arguments\":{\"session_id\":\"%s\"}"
			"," META),
		    cases[i].session);
		say(text);
		assert_string_equal(bus.instance, cases[i].instance);
		fail_call(ERR_not_found, "session");
		forget();
	}
}

static void
fails_with_a_remedy(void **state)
{
	(void)state;
	say(REQUEST(
	    "1", "tools/call", "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"}," META));
	fail_call(ERR_session_busy, "the session is busy");
	assert_true(json_is_true(at("result.isError")));
	assert_null(at("result.structuredContent"));
	assert_string_equal(json_string_value(at("result.content.0.text")),
	    "{\"error\":{\"code\":\"session_busy\",\"message\":\"the session is busy\","
	    "\"hint\":\"Wait for the running call of this session to end, then call again.\"}}");
}

static void
a_program_that_failed_is_an_error(void **state)
{
	struct execution ended = { .success = false, .execution_id = (char[]){ "e" } };

	(void)state;
	say(REQUEST(
	    "1", "tools/call", "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"}," META));
	bus.ask.done(bus.ask.self, &ended, NULL);
	assert_true(json_is_true(at("result.isError")));
	assert_true(json_is_false(at("result.structuredContent.success")));
	assert_non_null(
	    strstr(json_string_value(at("result.content.0.text")), "\"success\":false"));
}

/* A long success stands once in a message, a failure always in the text, which is all that is
 * shown. */
static void
bounds_the_text_of_success(void **state)
{
	static const bool outcomes[] = { true, false };
	struct execution ended = { .execution_id = (char[]){ "e" }, .stdout.size = 2 << 20 };
	auto_free char *out = malloc(ended.stdout.size);

	(void)state;
	memset(out, 'x', ended.stdout.size);
	ended.stdout.data = out;
	for (size_t i = 0; i < COUNT(outcomes); i++) {
		ended.success = outcomes[i];
		say(REQUEST("1", "tools/call",
		    "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"}," META));
		bus.ask.done(bus.ask.self, &ended, NULL);
		assert_int_equal(
		    json_string_length(at("result.structuredContent.stdout")), ended.stdout.size);
		assert_int_equal(
		    json_string_length(at("result.content.0.text")) > ended.stdout.size,
		    !outcomes[i]);
		forget();
	}
}

static void
repeats_what_only_reads(void **state)
{
	(void)state;
	say(LIST("1", ""));
	fail_call(ERR_unavailable, "lost");
	assert_int_equal(bus.asked, 2);
	assert_int_equal(nsaid, 0);
	fail_call(ERR_unavailable, "lost again");
	assert_int_equal(bus.asked, 2);
	assert_true(json_is_true(at("result.isError")));
	assert_non_null(strstr(json_string_value(at("result.content.0.text")), "unavailable"));
}

static void
never_repeats_what_acts(void **state)
{
	(void)state;
	say(REQUEST(
	    "1", "tools/call", "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"}," META));
	fail_call(ERR_unavailable, "lost");
	assert_int_equal(bus.asked, 1);
	assert_int_equal(nsaid, 1);
}

static void
never_repeats_what_was_not_there(void **state)
{
	(void)state;
	bus.there = false;
	say(LIST("1", ""));
	fail_call(ERR_unavailable, "never came");
	assert_int_equal(bus.asked, 1);
	assert_int_equal(nsaid, 1);
}

static void
cancels_in_silence(void **state)
{
	(void)state;
	say(LIST("\"c\"", ""));
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
	    "cancelled\",\"params\":{\"requestId\":\"d\"}}");
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}");
	assert_int_equal(bus.cancelled, 0);
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
	    "cancelled\",\"params\":{\"requestId\":\"c\"}}");
	assert_int_equal(bus.cancelled, bus.id);
	assert_int_equal(nsaid, 0);
	assert_int_equal(client.count, 0);
}

static void
bounds_calls(void **state)
{
	(void)state;
	say(LIST("1", ""));
	say(LIST("1", ""));
	assert_int_equal(json_integer_value(at("error.code")), RPC_INVALID);
	forget();
	say(LIST("2", ""));
	assert_int_equal(nsaid, 0);
	say(LIST("3", ""));
	assert_int_equal(nsaid, 1);
	assert_true(json_is_true(at("result.isError")));
	assert_non_null(strstr(json_string_value(at("result.content.0.text")), "queue_full"));
	assert_non_null(strstr(json_string_value(at("result.content.0.text")), "retry_ms"));
	/* Two calls are open, and the fake bus ends only the last. */
	while (client.count > 0) {
		bus.ask.self = client.calls;
		fail_call(ERR_cancelled, "end");
	}
}

static void
answers_what_the_bus_refuses(void **state)
{
	(void)state;
	bus.refuse = true;
	say(LIST("1", ""));
	assert_non_null(strstr(json_string_value(at("result.content.0.text")), "queue_full"));
	assert_int_equal(client.count, 0);
}

/* ---- progress ---- */

static void
send_part(double progress, const char *text)
{
	struct stream_part part = { .channel = channel_progress,
		.text = { (void *)(uintptr_t)text, strlen(text) },
		.progress = progress };

	bus.ask.part(bus.ask.self, &part);
}

static void
on_time_up(void *self)
{
	(void)self;
	loop_stop();
}

static void
progress_grows_and_is_joined(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(loop_open(&e), 0);
	say(REQUEST("1", "tools/call",
	    "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"},"
	    "\"_meta\":{\"progressToken\":9007199254740993,"
	    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{}}"));
	send_part(5, "a");
	assert_int_equal(nsaid, 1);
	assert_true(json_integer_value(at("params.progressToken")) == 9007199254740993);
	assert_string_equal(json_string_value(at("params.message")), "a");
	send_part(0, "b");
	send_part(2, "c");
	assert_int_equal(nsaid, 1);
	loop_after(300, on_time_up, NULL);
	loop_run(&e);
	assert_int_equal(nsaid, 2);
	assert_string_equal(json_string_value(at("params.message")), "bc");
	assert_true(json_real_value(at("params.progress")) > 5);
	send_part(90, "lost, since the end comes first");
	send_part(91, "");
	fail_call(ERR_timeout, "end");
	loop_after(300, on_time_up, NULL);
	loop_run(&e);
	assert_non_null(at("result"));
	loop_close();
}

static void
no_progress_without_a_token(void **state)
{
	(void)state;
	say(LIST("1", ""));
	send_part(1, "a");
	assert_int_equal(nsaid, 0);
	reply_listing();
	assert_int_equal(nsaid, 1);
}

/* ---- batches ---- */

static void
answers_a_batch_at_once(void **state)
{
	(void)state;
	say(INITIALIZE("2025-03-26"));
	forget();
	say("[" REQUEST("1", "tools/call",
	    "\"name\":\"list_runtimes\"") ","
					  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
					  "initialized\"}," REQUEST(
					      "2", "ping", "") ","
							       "7," INITIALIZE("2025-03-26") "]");
	assert_int_equal(nsaid, 0);
	reply_listing();
	assert_int_equal(nsaid, 1);
	assert_int_equal(json_array_size(said[0]), 4);
	assert_int_equal(json_integer_value(at("0.id")), 2);
	assert_int_equal(json_integer_value(at("1.error.code")), RPC_INVALID);
	assert_int_equal(json_integer_value(at("2.error.code")), RPC_INVALID);
	assert_int_equal(json_integer_value(at("3.id")), 1);
	assert_null(at("3.result.structuredContent"));
}

static void
a_cancelled_call_ends_its_batch(void **state)
{
	(void)state;
	say(INITIALIZE("2025-03-26"));
	forget();
	say("[" REQUEST("1", "tools/call", "\"name\":\"list_runtimes\"") "]");
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
	    "cancelled\",\"params\":{\"requestId\":1}}");
	assert_int_equal(nsaid, 0);
	assert_int_equal(client.count, 0);
	say("[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}]");
	assert_int_equal(nsaid, 0);
}

static void
says_nothing_to_notifications(void **state)
{
	(void)state;
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/never_heard_of\",\"params\":{}}");
	say("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}");
	say("");
	say(" \t\r");
	assert_int_equal(nsaid, 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

int
main(void)
{
	static const struct CMUnitTest others[] = {
		CASE(lists_as_the_era_knows_it),
		CASE(offers_by_toolset),
		CASE(asks_and_answers),
		CASE(ignores_what_is_no_trace),
		CASE(finds_the_executor_of_a_session),
		CASE(fails_with_a_remedy),
		CASE(a_program_that_failed_is_an_error),
		CASE(bounds_the_text_of_success),
		CASE(repeats_what_only_reads),
		CASE(never_repeats_what_acts),
		CASE(never_repeats_what_was_not_there),
		CASE(cancels_in_silence),
		CASE(bounds_calls),
		CASE(answers_what_the_bus_refuses),
		CASE(progress_grows_and_is_joined),
		CASE(no_progress_without_a_token),
		CASE(answers_a_batch_at_once),
		CASE(a_cancelled_call_ends_its_batch),
		CASE(says_nothing_to_notifications),
	};
	struct CMUnitTest tests[COUNT(answers) + COUNT(others)];
	size_t n = 0;

	for (; n < COUNT(answers); n++)
		tests[n] = (struct CMUnitTest){ answers[n].name, answers_as, start, stop,
			(void *)(uintptr_t)&answers[n] };
	memcpy(tests + n, others, sizeof others);
	return _cmocka_run_group_tests("dispatch", tests, COUNT(tests), NULL, NULL);
}
