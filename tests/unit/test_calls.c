/* SPDX-License-Identifier: Apache-2.0 */
/* test_calls.c - tool calls from the client's line to its reply, with progress in between. */
#include "tests/unit/dialog.h"

#include "gateway/mcp/calls.h"
#include "gateway/options.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/work.h"
#include "common/bus/bus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- calls ---- */

static void
asks_and_answers(void **state)
{
	(void)state;
	dialog_say(REQUEST("\"a\"", "tools/call",
	    "\"name\":\"create_session\",\"arguments\":{\"namespace\":\"n1\"},"
	    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{},"
	    "\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01\"}"));
	assert_int_equal(dialog.nsaid, 0);
	assert_int_equal(dialog.bus.ask.to, PEER_executor);
	assert_int_equal(dialog.bus.ask.message, MSG_create_session);
	assert_string_equal(dialog.bus.owner.principal, "local:7");
	/* A label for the log; the namespace is that of the credentials. */
	assert_string_equal(dialog.bus.owner.namespace, "");
	assert_string_equal(dialog.bus.instance, "-");
	assert_string_equal(
	    dialog.bus.trace, "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01");
	assert_true(dialog.bus.ask.timeout_ms > 0 && dialog.bus.ask.timeout_ms <= 1000);

	struct session_created made = { .session_id = (char[]){ "s" },
		.language = (char[]){ "python" },
		.expires_at = (char[]){ "t" } };

	dialog.bus.ask.done(dialog.bus.ask.self, &made, NULL);
	assert_int_equal(dialog.nsaid, 1);
	assert_string_equal(json_string_value(dialog_at("id")), "a");
	assert_string_equal(
	    json_string_value(dialog_at("result.structuredContent.session_id")), "s");
	assert_string_equal(json_string_value(dialog_at("result.content.0.text")),
	    "{\"session_id\":\"s\",\"language\":\"python\",\"expires_at\":\"t\"}");
	assert_true(json_is_false(dialog_at("result.isError")));
	assert_string_equal(json_string_value(dialog_at("result.resultType")), "complete");
	assert_int_equal(dialog.account.count, 0);
	assert_int_equal(dialog.account.held, 0);
}

static void
asks_in_the_namespace_of_the_credentials(void **state)
{
	(void)state;
	strcpy(dialog.account.owner.namespace, "blue");
	dialog_say(REQUEST("1", "tools/call",
	    "\"name\":\"create_session\",\"arguments\":{\"namespace\":\"red\"},"
	    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{}}"));
	assert_string_equal(dialog.bus.owner.namespace, "blue");
	/* One that was cancelled would be waited for still. */
	dialog_fail_call(ERR_session_limit, "no more");
	dialog.account.owner.namespace[0] = 0;
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
		dialog_say(text);
		assert_string_equal(dialog.bus.trace, "-");
		dialog_reply_listing();
		dialog_forget();
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
		dialog_say(text);
		assert_string_equal(dialog.bus.instance, cases[i].instance);
		dialog_fail_call(ERR_not_found, "session");
		dialog_forget();
	}
}

static void
fails_with_a_remedy(void **state)
{
	(void)state;
	dialog_say(REQUEST(
	    "1", "tools/call", "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"}," META));
	dialog_fail_call(ERR_session_busy, "the session is busy");
	assert_true(json_is_true(dialog_at("result.isError")));
	assert_null(dialog_at("result.structuredContent"));
	assert_string_equal(json_string_value(dialog_at("result.content.0.text")),
	    "{\"error\":{\"code\":\"session_busy\",\"message\":\"the session is busy\","
	    "\"hint\":\"Wait for the running call of this session to end, then call again.\"}}");
}

static void
a_program_that_failed_is_an_error(void **state)
{
	struct execution ended = { .success = false, .execution_id = (char[]){ "e" } };

	(void)state;
	dialog_say(REQUEST(
	    "1", "tools/call", "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"}," META));
	dialog.bus.ask.done(dialog.bus.ask.self, &ended, NULL);
	assert_true(json_is_true(dialog_at("result.isError")));
	assert_true(json_is_false(dialog_at("result.structuredContent.success")));
	assert_non_null(
	    strstr(json_string_value(dialog_at("result.content.0.text")), "\"success\":false"));
}

/* A long success stands once in a message, a failure always in the text, which is all that is
 * shown. */
static void
end_when_answered(void *unused)
{
	if (dialog.nsaid > 0)
		loop_stop();
	else
		loop_after(1, end_when_answered, unused);
}

/* Others go on while JSON is made of so many bytes. */
static void
reply_at_length(bool success, size_t size)
{
	struct execution done = {
		.execution_id = strdup("e"), .success = success, .stdout = { malloc(size), size }
	};
	struct err e;

	memset(done.stdout.data, 'x', size);
	assert_int_equal(loop_open(&e), 0);
	dialog.bus.ask.done(dialog.bus.ask.self, &done, NULL);
	assert_null(done.stdout.data);
	assert_int_equal(dialog.nsaid, 0);
	assert_int_equal(dialog.account.count, 1);
	end_when_answered(NULL);
	assert_int_equal(loop_run(&e), 0);
	work_close();
	loop_close();
}

static void
bounds_the_text_of_success(void **state)
{
	static const bool outcomes[] = { true, false };
	const size_t size = 2 << 20;

	(void)state;
	for (size_t i = 0; i < COUNT(outcomes); i++) {
		dialog_say(REQUEST("1", "tools/call",
		    "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"}," META));
		reply_at_length(outcomes[i], size);
		assert_int_equal(
		    json_string_length(dialog_at("result.structuredContent.stdout")), size);
		assert_int_equal(
		    json_string_length(dialog_at("result.content.0.text")) > size, !outcomes[i]);
		assert_int_equal(dialog.account.count, 0);
		dialog_forget();
	}
}

static void
repeats_what_only_reads(void **state)
{
	(void)state;
	dialog_say(LIST("1", ""));
	dialog_fail_call(ERR_unavailable, "lost");
	assert_int_equal(dialog.bus.asked, 2);
	assert_int_equal(dialog.nsaid, 0);
	dialog_fail_call(ERR_unavailable, "lost again");
	assert_int_equal(dialog.bus.asked, 2);
	assert_true(json_is_true(dialog_at("result.isError")));
	assert_non_null(
	    strstr(json_string_value(dialog_at("result.content.0.text")), "unavailable"));
}

static void
never_repeats_what_acts(void **state)
{
	(void)state;
	dialog_say(REQUEST(
	    "1", "tools/call", "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"}," META));
	dialog_fail_call(ERR_unavailable, "lost");
	assert_int_equal(dialog.bus.asked, 1);
	assert_int_equal(dialog.nsaid, 1);
}

static void
never_repeats_what_was_not_there(void **state)
{
	(void)state;
	dialog.bus.there = false;
	dialog_say(LIST("1", ""));
	dialog_fail_call(ERR_unavailable, "never came");
	assert_int_equal(dialog.bus.asked, 1);
	assert_int_equal(dialog.nsaid, 1);
}

static void
cancels_in_silence(void **state)
{
	(void)state;
	dialog_say(LIST("\"c\"", ""));
	dialog_say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		   "cancelled\",\"params\":{\"requestId\":\"d\"}}");
	dialog_say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}");
	assert_int_equal(dialog.bus.cancelled, 0);
	dialog_say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
		   "cancelled\",\"params\":{\"requestId\":\"c\"}}");
	assert_int_equal(dialog.bus.cancelled, dialog.bus.id);
	assert_int_equal(dialog.nsaid, 0);
	assert_int_equal(dialog.account.count, 0);
}

/* A cancel comes too late for it, and only its answer names it. */
static void
ends_a_session_that_nobody_waits_for(void **state)
{
	const char id[] = "sess_7_0123456789abcdef0123456789abcdef";
	struct session_created made = { .session_id = (char *)(uintptr_t)id };
	struct session_status ended = { .session_id = (char *)(uintptr_t)id };

	(void)state;
	strcpy(dialog.account.owner.namespace, "blue");
	for (int fails = 0; fails < 2; fails++) {
		dialog_say(REQUEST("\"c\"", "tools/call", "\"name\":\"create_session\"," META));
		dialog_say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
			   "cancelled\",\"params\":{\"requestId\":\"c\"}}");
		assert_int_equal(dialog.nsaid, 0);
		assert_int_equal(dialog.account.count, 0);
		assert_int_equal(dialog.account.held, 0);
		assert_null(dialog.client.pending);
		assert_int_equal(dialog.bus.ask.message, MSG_create_session);
		if (fails)
			dialog_fail_call(ERR_session_limit, "no more");
		else
			dialog.bus.ask.done(dialog.bus.ask.self, &made, NULL);
		assert_int_equal(dialog.bus.asked, fails ? 3 : 2);
	}
	dialog_say(REQUEST("\"c\"", "tools/call", "\"name\":\"create_session\"," META));
	client_give_up(&dialog.client, false); /* is told that it was cancelled */
	assert_int_equal(dialog.nsaid, 1);
	dialog_forget();
	dialog.bus.ask.done(dialog.bus.ask.self, &made, NULL);
	assert_int_equal(dialog.bus.ask.message, MSG_terminate_session);
	assert_string_equal(dialog.bus.instance, "7");
	assert_string_equal(dialog.bus.owner.principal, "local:7");
	assert_string_equal(dialog.bus.owner.namespace, "blue");
	dialog.bus.ask.done(dialog.bus.ask.self, &ended, NULL);
	assert_int_equal(dialog.nsaid, 0);
	dialog.account.owner.namespace[0] = 0;
}

/* Only what needs nothing of the principal's may be served by any of several executors. */
static void
asks_the_home_of_the_principal(void **state)
{
	(void)state;
	dialog_say(LIST("1", ""));
	assert_true(dialog.bus.ask.home);
	dialog_fail_call(ERR_session_limit, "no more");
	dialog_say(REQUEST(
	    "2", "tools/call", "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"}," META));
	assert_int_equal(dialog.bus.ask.message, MSG_execute_code);
	assert_false(dialog.bus.ask.home);
	dialog_fail_call(ERR_session_limit, "no more");
}

static void
bounds_calls(void **state)
{
	(void)state;
	dialog_say(LIST("1", ""));
	dialog_say(LIST("1", ""));
	assert_int_equal(json_integer_value(dialog_at("error.code")), RPC_INVALID);
	dialog_forget();
	dialog_say(LIST("2", ""));
	assert_int_equal(dialog.nsaid, 0);
	dialog_say(LIST("3", ""));
	assert_int_equal(dialog.nsaid, 1);
	assert_true(json_is_true(dialog_at("result.isError")));
	assert_non_null(
	    strstr(json_string_value(dialog_at("result.content.0.text")), "queue_full"));
	assert_non_null(strstr(json_string_value(dialog_at("result.content.0.text")), "retry_ms"));
	/* Two calls are open, and the fake bus ends only the last. */
	while (dialog.account.count > 0) {
		dialog.bus.ask.self = dialog.client.pending;
		dialog_fail_call(ERR_cancelled, "end");
	}
}

/* A request with so many values beside what it is about: 2 bytes of text each, and some 50 in use.
 */
static char *
with_values(int id, const char *method, const char *what, size_t count)
{
	auto_free char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	fprintf(to, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s,", id, method,
	    what);
	fputs("\"junk\":[0", to);
	for (size_t i = 1; i < count; i++)
		fputs(",0", to);
	fputs("]," META "}}", to);
	assert_int_equal(fclose(to), 0);
	return take_ptr(text);
}

/* Calls are bounded by what they hold, not by the text they came in. */
static void
bounds_what_calls_hold(void **state)
{
	static const struct {
		const char *method, *what;
	} rows[] = {
		{ "tools/call", "\"name\":\"list_runtimes\",\"arguments\":{}" },
		{ "resources/read", "\"uri\":\"sandbox://artifacts/"
				    "sess_1_00000000000000000000000000000000\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		auto_free char *one = with_values(1, rows[i].method, rows[i].what, 30000);
		auto_free char *two = with_values(2, rows[i].method, rows[i].what, 30000);

		dialog_forget();
		dialog_say(one);
		assert_int_equal(dialog.nsaid, 0);
		assert_in_range(dialog.account.held, 1 << 20, 2 << 20);
		dialog_say(two);
		assert_int_equal(dialog.nsaid, 1);
		assert_int_equal(dialog.account.count, 1);
		dialog_fail_call(ERR_cancelled, "end");
		assert_int_equal(dialog.account.count, 0);
		assert_int_equal(dialog.account.held, 0);
	}
}

static void
answers_what_the_bus_refuses(void **state)
{
	(void)state;
	dialog.bus.refuse = true;
	dialog_say(LIST("1", ""));
	assert_non_null(
	    strstr(json_string_value(dialog_at("result.content.0.text")), "queue_full"));
	assert_int_equal(dialog.account.count, 0);
}

/* ---- large replies ---- */

static void
on_time_up(void *self)
{
	(void)self;
	loop_stop();
}

static void
run_ms(int64_t ms)
{
	struct err e;

	loop_after(ms, on_time_up, NULL);
	assert_int_equal(loop_run(&e), 0);
}

#define READ(id) \
	REQUEST(id, "tools/call", \
	    "\"name\":\"sandbox_read_artifact\",\"arguments\":{\"path\":\"f\"}," META)

/* The second is asked for when the first has ended; what is cancelled meanwhile never is. */
static void
reads_files_in_turn(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(loop_open(&e), 0);
	dialog_say(READ("1"));
	assert_int_equal(dialog.bus.asked, 1);
	dialog_say(READ("2"));
	assert_int_equal(dialog.bus.asked, 1);
	dialog_say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		   "\"params\":{\"requestId\":2," META "}}");
	assert_int_equal(dialog.account.count, 1);
	dialog_say(READ("3"));
	dialog_fail_call(ERR_not_found, "no file");
	assert_int_equal(dialog.bus.asked, 1);
	run_ms(20);
	assert_int_equal(dialog.bus.asked, 2);
	dialog_fail_call(ERR_not_found, "no file");
	assert_int_equal(dialog.nsaid, 2);
	assert_int_equal(dialog.account.count, 0);
	assert_int_equal(dialog.account.held, 0);
	loop_close();
}

static void
reply_with_a_file(struct ask ask, size_t size)
{
	struct artifact_content reply = { .session_id = strdup("s"),
		.path = strdup("f"),
		.mime_type = strdup("text/plain"),
		.sha256 = strdup("0"),
		.content_base64 = { calloc(1, size), size } };

	ask.done(ask.self, &reply, NULL);
	message_clear(MSG_artifact_content, &reply);
}

/* A read that hangs keeps nobody waiting; its reply has to find room when it comes. */
static void
reads_that_hang_keep_no_memory(void **state)
{
	const size_t half = 40 << 20;
	struct ask first, second;
	struct err e;

	(void)state;
	assert_int_equal(loop_open(&e), 0);
	dialog_say(READ("1"));
	first = dialog.bus.ask;
	dialog_say(READ("2"));
	run_ms(1100);
	assert_int_equal(dialog.bus.asked, 2);
	second = dialog.bus.ask;
	run_ms(1100);
	reply_with_a_file(first, half);
	assert_int_equal(dialog.nsaid, 0); /* a thread makes it text */
	reply_with_a_file(second, half);
	assert_int_equal(dialog.nsaid, 1);
	assert_non_null(
	    strstr(json_string_value(dialog_at("result.content.0.text")), "queue_full"));
	work_close();
	assert_int_equal(dialog.nsaid, 2);
	assert_true(json_is_false(dialog_at("result.isError")));
	assert_int_equal(dialog.account.count, 0);
	loop_close();
}

/* ---- progress ---- */

static void
send_part(double progress, const char *text)
{
	struct stream_part part = { .channel = channel_progress,
		.text = { (void *)(uintptr_t)text, strlen(text) },
		.progress = progress };

	dialog.bus.ask.part(dialog.bus.ask.self, &part);
}

static void
progress_grows_and_is_joined(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(loop_open(&e), 0);
	dialog_say(REQUEST("1", "tools/call",
	    "\"name\":\"execute_code\",\"arguments\":{\"code\":\"1\"},"
	    "\"_meta\":{\"progressToken\":9007199254740993,"
	    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{}}"));
	send_part(5, "a");
	assert_int_equal(dialog.nsaid, 1);
	assert_true(json_integer_value(dialog_at("params.progressToken")) == 9007199254740993);
	assert_string_equal(json_string_value(dialog_at("params.message")), "a");
	send_part(0, "b");
	send_part(2, "c");
	assert_int_equal(dialog.nsaid, 1);
	loop_after(300, on_time_up, NULL);
	loop_run(&e);
	assert_int_equal(dialog.nsaid, 2);
	assert_string_equal(json_string_value(dialog_at("params.message")), "bc");
	assert_true(json_real_value(dialog_at("params.progress")) > 5);
	send_part(90, "lost, since the end comes first");
	send_part(91, "");
	dialog_fail_call(ERR_timeout, "end");
	loop_after(300, on_time_up, NULL);
	loop_run(&e);
	assert_non_null(dialog_at("result"));
	loop_close();
}

static void
no_progress_without_a_token(void **state)
{
	(void)state;
	dialog_say(LIST("1", ""));
	assert_null(dialog.bus.ask.part); /* so the daemon sends none */
	dialog_reply_listing();
	assert_int_equal(dialog.nsaid, 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, dialog_start, dialog_stop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(asks_and_answers),
		CASE(asks_in_the_namespace_of_the_credentials),
		CASE(ignores_what_is_no_trace),
		CASE(finds_the_executor_of_a_session),
		CASE(fails_with_a_remedy),
		CASE(a_program_that_failed_is_an_error),
		CASE(bounds_the_text_of_success),
		CASE(repeats_what_only_reads),
		CASE(never_repeats_what_acts),
		CASE(never_repeats_what_was_not_there),
		CASE(cancels_in_silence),
		CASE(ends_a_session_that_nobody_waits_for),
		CASE(asks_the_home_of_the_principal),
		CASE(bounds_calls),
		CASE(reads_files_in_turn),
		CASE(reads_that_hang_keep_no_memory),
		CASE(bounds_what_calls_hold),
		CASE(answers_what_the_bus_refuses),
		CASE(progress_grows_and_is_joined),
		CASE(no_progress_without_a_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
