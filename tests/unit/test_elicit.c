/* SPDX-License-Identifier: Apache-2.0 */
/* test_elicit.c - a tool that asks its client three questions in two rounds, in both revisions. */
#include "tests/unit/dialog.h"

#include "gateway/mcp/elicit.h"
#include "gateway/mcp/providers.h"
#include "gateway/options.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int runs;

/* Asks for a name and the roots at once, then for a text about both. */
static bool
ask(const struct request *r, json_t **answer)
{

	const struct question first[] = {
		{ "name", "elicitation/create",
		    elicit_form("Who?", json_pack("{s:s}", "type", "object")) },
		{ "roots", "roots/list", NULL },
	};

	if (!elicit(r, first, COUNT(first), answer))
		return true;

	const struct question second = { "text", "sampling/createMessage",
		json_pack("{s:i, s:[]}", "maxTokens", 9, "messages") };

	if (!elicit(r, &second, 1, answer))
		return true;
	*answer = method_complete(
	    r, json_pack("{s:O*, s:O, s:O}", "name", elicit_content(r, "name"), "roots",
		   elicit_result(r, "roots"), "text", elicit_result(r, "text")));
	return true;
}

static bool
confirm(const struct request *r, json_t **answer)
{
	bool yes;

	if (elicit_consent(r, "Sure?", &yes, answer))
		*answer = method_complete(r, json_pack("{s:b}", "yes", yes));
	return true;
}

static bool
call(const struct request *r, const char *name, json_t **answer)
{
	runs++;
	return strcmp(name, "ask") == 0 ? ask(r, answer) : confirm(r, answer);
}

static int
start(void **state)
{
	runs = 0;
	return dialog_start(state);
}

#define CAPABLE "\"elicitation\":{},\"roots\":{},\"sampling\":{}"
#define ABLE(capabilities) \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{" capabilities "}}"
#define ASK(rest) "\"name\":\"ask\",\"arguments\":{\"x\":1}," rest ABLE(CAPABLE)
#define NAME      "\"name\":{\"action\":\"accept\",\"content\":{\"first\":\"Ann\"}}"
#define ROOTS     "\"roots\":{\"roots\":[]}"
#define TEXT      "\"text\":{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"t\"}}"

static const char *
at(const char *path)
{
	const char *text = json_string_value(dialog_at(path));

	return text == NULL ? "" : text;
}

/* tools/call with that state and those answers. */
static void
retry(const char *state, const char *answers)
{
	auto_free char *line = NULL;

	assert_true(asprintf(&line,
			"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
			"\"requestState\":\"%s\",\"inputResponses\":{%s}," ASK("") "}}",
			state, answers) > 0);
	dialog_forget();
	dialog_say(line);
}

static char *
first_round(void)
{
	dialog_say(REQUEST("1", "tools/call", ASK("")));
	assert_string_equal(at("result.resultType"), "input_required");
	assert_string_equal(at("result.inputRequests.name.method"), "elicitation/create");
	assert_string_equal(at("result.inputRequests.roots.method"), "roots/list");
	assert_null(dialog_at("result.inputRequests.text"));
	assert_null(dialog_at("result.ttlMs"));
	return strdup(at("result.requestState"));
}

static void
asks_in_rounds(void **state)
{
	auto_free char *one = first_round();

	(void)state;
	retry(one, NAME "," ROOTS ",\"unasked\":{}");
	assert_string_equal(at("result.resultType"), "input_required");
	assert_string_equal(at("result.inputRequests.text.method"), "sampling/createMessage");
	assert_null(dialog_at("result.inputRequests.name"));

	auto_free char *two = strdup(at("result.requestState"));

	assert_string_not_equal(one, two);
	retry(two, TEXT);
	assert_string_equal(at("result.resultType"), "complete");
	assert_string_equal(at("result.name.first"), "Ann");
	assert_string_equal(at("result.text.content.text"), "t");
	assert_int_equal(runs, 3);
}

/* The state that two of the three answers leave; the caller's. */
static char *
second_round(const char *one)
{
	retry(one, NAME "," ROOTS);
	return strdup(at("result.requestState"));
}

/* Within a state: what was answered before cannot be answered anew. */
static void
keeps_the_first_answer(void **state)
{
	auto_free char *one = first_round();

	(void)state;
	auto_free char *two = second_round(one);

	retry(two, "\"name\":{\"action\":\"accept\",\"content\":{\"first\":\"Bob\"}}," TEXT);
	assert_string_equal(at("result.name.first"), "Ann");
}

#define END_SESSION(more) \
	REQUEST("3", "tools/call", \
	    "\"name\":\"terminate_session\",\"arguments\":{\"session_id\":\"s\"}," more ABLE( \
		CAPABLE))

/* What a user said to a question about a tool of an executor. */
static void
say(const char *state, const char *action)
{
	auto_free char *line = NULL;

	assert_true(asprintf(&line,
			END_SESSION("\"requestState\":\"%s\",\"inputResponses\":{\"confirm\":{"
				    "\"action\":\"%s\",\"content\":{\"confirm\":true}}},"),
			state, action) > 0);
	dialog_forget();
	dialog_say(line);
}

/* Whether the user says yes or no, the executor hears of the state first, which no gateway takes a
 * second time. */
static void
spends_each_state_with_the_executor(void **state)
{
	static const char *const actions[] = { "accept", "decline" };
	struct nothing done = { .ok = true };

	(void)state;
	options.confirm_destructive = true;
	for (size_t i = 0; i < COUNT(actions); i++) {
		dialog_say(END_SESSION(""));
		assert_string_equal(at("result.resultType"), "input_required");

		auto_free char *one = strdup(at("result.requestState"));
		int before = dialog.bus.asked;

		say(one, actions[i]);
		assert_int_equal(dialog.nsaid, 0);
		assert_int_equal(dialog.bus.asked, before + 1);
		assert_int_equal(dialog.bus.ask.message, MSG_spend_consent);
		assert_true(dialog.bus.ask.home);
		dialog.bus.ask.done(dialog.bus.ask.self, &done, NULL);
		assert_int_equal(dialog.bus.asked, before + 1 + (i == 0));
		if (i == 0) {
			assert_int_equal(dialog.bus.ask.message, MSG_terminate_session);
			dialog_fail_call(ERR_internal, "it is played");
		}
		assert_int_equal(dialog.nsaid, 1);
		say(one, "accept");
		assert_int_equal(dialog.bus.ask.message, MSG_spend_consent);
		dialog_fail_call(ERR_invalid_argument, "it was used before");
		assert_int_equal(json_integer_value(dialog_at("error.code")), RPC_PARAMS);
		assert_non_null(strstr(at("error.message"), "requestState: it was used before"));
		assert_int_equal(dialog.bus.ask.message, MSG_spend_consent);
	}
}

static void
asks_again_for_what_is_missing(void **state)
{
	auto_free char *one = first_round();
	static const char *const bad[] = { "", "\"name\":5," ROOTS, "\"name\":{}," ROOTS,
		"\"name\":{\"action\":7}," ROOTS, "\"name\":null," ROOTS };

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		retry(one, bad[i]);
		assert_string_equal(at("result.resultType"), "input_required");
		assert_non_null(dialog_at("result.inputRequests.name"));
		assert_int_equal(dialog_at("result.inputRequests.roots") == NULL, i > 0);
		free(one);
		one = strdup(at("result.requestState"));
	}
}

/* tools/call with answers to what was not asked yet, and no state. */
static void
tell(const char *tool, const char *answers)
{
	auto_free char *line = NULL;

	assert_true(asprintf(&line,
			"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
			"\"name\":\"%s\",\"arguments\":{\"x\":1},\"inputResponses\":{%s}," ABLE(
			    CAPABLE) "}}",
			tool, answers) > 0);
	dialog_forget();
	dialog_say(line);
}

static void
takes_answers_before_it_asks(void **state)
{
	(void)state;
	tell("ask", NAME "," ROOTS "," TEXT ",\"unasked\":{}");
	assert_string_equal(at("result.resultType"), "complete");
	assert_string_equal(at("result.name.first"), "Ann");
	assert_string_equal(at("result.text.content.text"), "t");
	assert_int_equal(runs, 1);
	/* Of some, the others are asked for, and those that were taken stay. */
	tell("ask", NAME "," TEXT);
	assert_string_equal(at("result.resultType"), "input_required");
	assert_int_equal(json_object_size(dialog_at("result.inputRequests")), 1);
	assert_string_equal(at("result.inputRequests.roots.method"), "roots/list");

	auto_free char *one = strdup(at("result.requestState"));

	retry(one, "\"name\":{\"action\":\"decline\"}," ROOTS "," TEXT);
	assert_string_equal(at("result.resultType"), "complete");
	assert_string_equal(at("result.name.first"), "Ann");
	/* Those that fit no question are not. */
	tell("ask", "\"name\":{\"roots\":[]},\"roots\":{\"action\":\"accept\"}," TEXT);
	assert_int_equal(json_object_size(dialog_at("result.inputRequests")), 2);
}

/* Nobody says yes to what they were not shown, with a state or without. */
static void
takes_no_consent_before_it_asks(void **state)
{
#define YES "\"confirm\":{\"action\":\"accept\",\"content\":{\"confirm\":true}}"
	(void)state;
	tell("confirm", YES);
	assert_string_equal(at("result.resultType"), "input_required");
	assert_string_equal(at("result.inputRequests.confirm.method"), "elicitation/create");

	auto_free char *line = NULL, *one = strdup(at("result.requestState"));

	assert_true(asprintf(&line,
			"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
			"\"name\":\"confirm\",\"arguments\":{\"x\":1},\"requestState\":\"%s\","
			"\"inputResponses\":{" YES "}," ABLE(CAPABLE) "}}",
			one) > 0);
	dialog_say(line);
	assert_string_equal(at("result.resultType"), "complete");
	assert_true(json_is_true(dialog_at("result.yes")));
}

static void
takes_no_state_of_others(void **state)
{
	auto_free char *one = first_round();
	struct account other = { .owner = { "local:8", "" } };

	(void)state;
	retry("AAAA", NAME);
	assert_int_equal(json_integer_value(dialog_at("error.code")), RPC_PARAMS);
	dialog.client.account = &other;
	retry(one, NAME "," ROOTS);
	assert_int_equal(json_integer_value(dialog_at("error.code")), RPC_PARAMS);
	assert_non_null(strstr(at("error.message"), "not given out"));
	dialog.client.account = &dialog.account;

	auto_free char *line = NULL;

	assert_true(asprintf(&line,
			"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
			"\"requestState\":\"%s\",\"inputResponses\":{" NAME "," ROOTS
			"},\"name\":\"ask\",\"arguments\":{\"x\":2}," ABLE(CAPABLE) "}}",
			one) > 0);
	dialog_say(line);
	assert_int_equal(json_integer_value(dialog_at("error.code")), RPC_PARAMS);
	assert_int_equal(runs, 1);
}

static void
names_what_the_client_lacks(void **state)
{
	(void)state;
	dialog_say(REQUEST("1", "tools/call", "\"name\":\"ask\"," ABLE("\"roots\":{}")));
	assert_int_equal(json_integer_value(dialog_at("error.code")), RPC_CAPABILITY);
	assert_non_null(dialog_at("error.data.requiredCapabilities.elicitation"));
	assert_null(dialog_at("error.data.requiredCapabilities.roots"));
}

/* ---- earlier revisions ---- */

#define LEGACY(version) \
	REQUEST("0", "initialize", \
	    "\"protocolVersion\":\"" version "\",\"capabilities\":{" CAPABLE \
	    "},\"clientInfo\":{}")
#define CALL REQUEST("1", "tools/call", "\"name\":\"ask\"")

/* Where the client is sent requests, it answers those. */
static void
takes_no_early_answers_before(void **state)
{
	(void)state;
	dialog_say(LEGACY("2025-11-25"));
	dialog_forget();
	dialog_say(REQUEST("1", "tools/call",
	    "\"name\":\"ask\",\"inputResponses\":{" NAME "," ROOTS "," TEXT "}"));
	assert_int_equal(dialog.nsaid, 2);
	assert_string_equal(at("method"), "roots/list");
}

/* The client answers what it was asked as the n-th message. */
static void
respond(const char *id, const char *what)
{
	auto_free char *line = NULL;

	assert_true(asprintf(&line, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",%s}", id, what) > 0);
	dialog_forget();
	dialog_say(line);
}

/* The ids of the two requests of the first round. */
static void
begin_before(char *name, char *roots)
{
	dialog_say(LEGACY("2025-11-25"));
	dialog_forget();
	dialog_say(CALL);
	assert_int_equal(dialog.nsaid, 2);
	snprintf(name, 128, "%s", json_string_value(json_object_get(dialog.said[0], "id")));
	snprintf(roots, 128, "%s", at("id"));
	assert_string_equal(at("method"), "roots/list");
}

static void
asks_by_requests_before(void **state)
{
	char name[128], roots[128];

	(void)state;
	begin_before(name, roots);
	respond(roots, "\"result\":{\"roots\":[]}");
	assert_int_equal(dialog.nsaid, 0);
	respond(name, "\"result\":{\"action\":\"decline\"}");
	assert_int_equal(dialog.nsaid, 1);
	assert_string_equal(at("method"), "sampling/createMessage");

	auto_free char *text = strdup(at("id"));

	respond(text, "\"result\":{\"role\":\"assistant\",\"content\":{\"text\":\"t\"}}");
	assert_int_equal(dialog.nsaid, 1);
	assert_int_equal(json_integer_value(dialog_at("id")), 1);
	assert_null(dialog_at("result.name"));
	assert_string_equal(at("result.text.content.text"), "t");
	assert_int_equal(runs, 3);
	respond(text, "\"result\":{}");
	assert_int_equal(dialog.nsaid, 0);
}

static void
takes_an_error_for_a_no(void **state)
{
	char name[128], roots[128];

	(void)state;
	begin_before(name, roots);
	respond(name, "\"error\":{\"code\":-1,\"message\":\"no\"}");
	respond(roots, "\"error\":{\"code\":-1,\"message\":\"no\"}");
	assert_string_equal(at("method"), "sampling/createMessage");
}

static void
ignores_responses_of_others(void **state)
{
	char name[128], roots[128];
	struct client *other = &dialog.client, kept = dialog.client;

	(void)state;
	begin_before(name, roots);
	kept = dialog.client;
	respond("0123456789abcdef0123456789abcdef.name", "\"result\":{\"action\":\"accept\"}");
	respond(".", "\"result\":{}");
	name[0] = name[0] == '0' ? '1' : '0';
	respond(name, "\"result\":{\"action\":\"accept\"}");
	assert_int_equal(dialog.nsaid, 0);
	assert_ptr_equal(other->pending, kept.pending);
	assert_int_equal(runs, 1);
}

static void
ends_where_the_client_cancels(void **state)
{
	char name[128], roots[128];

	(void)state;
	begin_before(name, roots);
	dialog_say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
		   "\"requestId\":1}}");
	assert_null(dialog.client.pending);
	respond(name, "\"result\":{\"action\":\"accept\"}");
	assert_int_equal(dialog.nsaid, 0);
}

static void
answers_in_its_batch(void **state)
{
	(void)state;
	dialog_say(LEGACY("2025-03-26"));
	dialog_forget();
	dialog_say("[" CALL "," REQUEST("5", "ping", "") "]");
	assert_int_equal(dialog.nsaid, 2);

	auto_free char *roots = strdup(at("id"));
	auto_free char *name = strdup(json_string_value(json_object_get(dialog.said[0], "id")));

	respond(roots, "\"result\":{\"roots\":[]}");
	respond(name, "\"result\":{\"action\":\"cancel\"}");

	auto_free char *text = strdup(at("id"));

	respond(text, "\"result\":{\"content\":[]}");
	assert_int_equal(dialog.nsaid, 1);
	assert_int_equal(json_array_size(dialog.said[0]), 2);
	assert_int_equal(json_integer_value(dialog_at("0.id")), 5);
	assert_int_equal(json_integer_value(dialog_at("1.id")), 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, dialog_stop)

int
main(void)
{
	static const struct provider asking = { .requests = { [PROVIDER_call] = call } };
	static const struct CMUnitTest tests[] = {
		CASE(asks_in_rounds),
		CASE(keeps_the_first_answer),
		CASE(spends_each_state_with_the_executor),
		CASE(asks_again_for_what_is_missing),
		CASE(takes_answers_before_it_asks),
		CASE(takes_no_consent_before_it_asks),
		CASE(takes_no_state_of_others),
		CASE(names_what_the_client_lacks),
		CASE(asks_by_requests_before),
		CASE(takes_no_early_answers_before),
		CASE(takes_an_error_for_a_no),
		CASE(ignores_responses_of_others),
		CASE(ends_where_the_client_cancels),
		CASE(answers_in_its_batch),
	};

	providers_add(&asking);
	return cmocka_run_group_tests_name("elicit", tests, NULL, NULL);
}
