/* SPDX-License-Identifier: Apache-2.0 */
/* test_providers.c - a provider that is added to those of the gateway: what it is asked, and what
 * it is never asked. */
#include "tests/unit/dialog.h"

#include "gateway/mcp/providers.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- the provider: it has the objects whose names begin with "more" ---- */

static int asked;
static enum provider_request last;

static bool
has(enum provider_request what, const struct request *r, const char *name, json_t **answer)
{
	asked++;
	last = what;
	if (strncmp(name, "more", 4) != 0)
		return false;
	*answer = method_complete(r, json_pack("{s:s}", "of", name));
	return true;
}

#define HAS(what) \
	static bool has_##what(const struct request *r, const char *name, json_t **answer) \
	{ \
		return has(PROVIDER_##what, r, name, answer); \
	}
HAS(call)
HAS(get)
HAS(read)
HAS(complete_prompt)
HAS(complete_template)
HAS(get_task)
HAS(update_task)
HAS(cancel_task)

static json_t *
list(const struct revision *revision, const struct client *client)
{
	(void)revision;
	(void)client;
	return json_pack("[{s:s, s:i}, {s:s}]", "name", "list_runtimes", "more", 1, "name", "more");
}

static bool
has_task(const struct account *account, const char *id)
{
	return account == &dialog.account && strcmp(id, "more") == 0;
}

static const struct provider more = {
	.lists = {
		[PROVIDER_tools] = list,
		[PROVIDER_prompts] = list,
		[PROVIDER_resources] = list,
		[PROVIDER_templates] = list,
	},
	.changes = { [PROVIDER_tools] = true },
	.requests = {
		[PROVIDER_call] = has_call,
		[PROVIDER_get] = has_get,
		[PROVIDER_read] = has_read,
		[PROVIDER_complete_prompt] = has_complete_prompt,
		[PROVIDER_complete_template] = has_complete_template,
		[PROVIDER_get_task] = has_get_task,
		[PROVIDER_update_task] = has_update_task,
		[PROVIDER_cancel_task] = has_cancel_task,
	},
	.has_task = has_task,
};

static int
start(void **state)
{
	asked = 0;
	return dialog_start(state);
}

#define TASKS \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{" \
	"\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}}"
#define COMPLETE(ref, argument, value) \
	REQUEST("1", "completion/complete", \
	    "\"ref\":{" ref "},\"argument\":{\"name\":\"" argument "\",\"value\":" value \
	    "}," META)

static const char *
at(const char *path)
{
	const char *text = json_string_value(dialog_at(path));

	return text == NULL ? "" : text;
}

/* ---- lists ---- */

static const struct {
	const char *request, *path;
} lists[] = {
	{ REQUEST("1", "tools/list", META), "result.tools" },
	{ REQUEST("1", "prompts/list", META), "result.prompts" },
	{ REQUEST("1", "resources/list", META), "result.resources" },
	{ REQUEST("1", "resources/templates/list", META), "result.resourceTemplates" },
};

/* The provider's two items come after those of the gateway, each time. */
static void
adds_to_each_list(void **state)
{
	(void)state;
	dialog.bus.there = false;
	for (size_t i = 0; i < COUNT(lists); i++) {
		size_t sizes[2];

		for (size_t k = 0; k < COUNT(sizes); k++) {
			dialog_forget();
			dialog_say(lists[i].request);

			json_t *all = dialog_at(lists[i].path);
			size_t count = sizes[k] = json_array_size(all);

			assert_true(count > 2);
			assert_null(json_object_get(json_array_get(all, 0), "more"));
			assert_non_null(json_object_get(json_array_get(all, count - 2), "more"));
			assert_string_equal(json_string_value(json_object_get(
						json_array_get(all, count - 1), "name")),
			    "more");
		}
		assert_int_equal(sizes[0], sizes[1]);
	}
}

/* Headers are checked by the definition of the tool that a call gets. */
static void
finds_the_first_of_a_name(void **state)
{
	json_t *own = providers_tool(revision_modern(), "list_runtimes");
	json_t *added = providers_tool(revision_modern(), "more");

	(void)state;
	assert_non_null(json_object_get(own, "inputSchema"));
	assert_null(json_object_get(own, "more"));
	assert_non_null(added);
	assert_null(providers_tool(revision_modern(), "rm"));
	json_decref(own);
	json_decref(added);
}

static void
tells_which_lists_change(void **state)
{
	(void)state;
	dialog_say(REQUEST("1", "server/discover", META));
	assert_true(json_is_true(dialog_at("result.capabilities.tools.listChanged")));
	assert_true(json_is_true(dialog_at("result.capabilities.resources.listChanged")));
	assert_non_null(dialog_at("result.capabilities.prompts"));
	assert_null(dialog_at("result.capabilities.prompts.listChanged"));
	dialog_forget();
	dialog_say(REQUEST("2", "subscriptions/listen",
	    "\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true}," META));
	assert_true(json_is_true(dialog_at("params.notifications.toolsListChanged")));
	assert_null(dialog_at("params.notifications.promptsListChanged"));
}

/* ---- requests for one object ---- */

#define READ(uri)  REQUEST("1", "resources/read", "\"uri\":\"" uri "\"," META)
#define CALL(name) REQUEST("1", "tools/call", "\"name\":\"" name "\"," META)
#define GET(name)  REQUEST("1", "prompts/get", "\"name\":\"" name "\"," META)
#define TASK(method, id) \
	REQUEST("1", "tasks/" method, "\"taskId\":\"" id "\",\"inputResponses\":{}," TASKS)
#define PROMPT(name) COMPLETE("\"type\":\"ref/prompt\",\"name\":\"" name "\"", "task", "\"\"")
#define TEMPLATE(uri) \
	COMPLETE("\"type\":\"ref/resource\",\"uri\":\"" uri "\"", "schema_name", "\"\"")

static const struct {
	enum provider_request what;
	const char *request;   /* for an object of the added provider */
	const char *of_nobody; /* no provider has it */
	const char *refusal;
} requests[] = {
	{ PROVIDER_call, CALL("more"), CALL("rm"), "Unknown tool: rm" },
	{ PROVIDER_get, GET("more"), GET("rm"), "unknown prompt: rm" },
	{ PROVIDER_read, READ("more://x"), READ("rm://x"), "Resource not found" },
	{ PROVIDER_complete_prompt, PROMPT("more"), PROMPT("rm"), "ref: not a prompt" },
	{ PROVIDER_complete_template, TEMPLATE("more"), TEMPLATE("rm"), "ref: not a prompt" },
	{ PROVIDER_get_task, TASK("get", "more"), TASK("get", "rm"), "no such task" },
	{ PROVIDER_update_task, TASK("update", "more"), TASK("update", "rm"), "no such task" },
	{ PROVIDER_cancel_task, TASK("cancel", "more"), TASK("cancel", "rm"), "no such task" },
};

static void
gets_requests_for_its_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(requests); i++) {
		asked = 0;
		dialog_forget();
		dialog_say(requests[i].request);
		assert_int_equal(asked, 1);
		assert_int_equal(last, requests[i].what);
		assert_memory_equal(at("result.of"), "more", 4);
		dialog_forget();
		dialog_say(requests[i].of_nobody);
		assert_int_equal(asked, 2);
		assert_int_equal(last, requests[i].what);
		assert_non_null(strstr(at("error.message"), requests[i].refusal));
	}
	assert_int_equal(dialog.bus.asked, 0);
}

/* A request for an object of the gateway asks no added provider. */
static void
takes_no_name_of_the_gateway(void **state)
{
	static const char *const all[] = { CALL("list_runtimes"),
		GET("generate_secure_script\",\"arguments\":{\"task\":\"x\"},\"x\":\"x"),
		READ("sandbox://schemas"), PROMPT("generate_secure_script"),
		TEMPLATE("sandbox://schemas/{schema_name}"),
		TASK("get", "task_one_00000000000000000000000000000000") };

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		dialog_forget();
		dialog_say(all[i]);
		assert_null(dialog_at("error"));
		if (dialog.client.pending != NULL)
			dialog.client.pending->cancel(dialog.client.pending);
	}
	assert_int_equal(asked, 0);
}

static void
gets_only_what_is_well_formed(void **state)
{
	static const char *const all[] = {
		REQUEST("1", "tools/call", "\"name\":\"more\",\"arguments\":[]," META),
		REQUEST("1", "tools/call", META),
		REQUEST("1", "prompts/get", "\"name\":\"more\",\"arguments\":3," META),
		REQUEST("1", "resources/read", "\"uri\":\"mo\\u0000re\"," META),
		COMPLETE("\"type\":\"ref/prompt\",\"name\":\"more\"", "task", "5"),
		COMPLETE("\"type\":\"ref/prompt\",\"uri\":\"more\"", "task", "\"\""),
		COMPLETE("\"type\":\"more\",\"name\":\"more\"", "task", "\"\""),
		REQUEST("1", "tasks/get", "\"taskId\":\"more\"," META),
		REQUEST("1", "tasks/update", "\"taskId\":\"more\",\"inputResponses\":[]," TASKS),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		dialog_forget();
		dialog_say(all[i]);
		assert_true(json_integer_value(dialog_at("error.code")) < 0);
	}
	assert_int_equal(asked, 0);
}

/* Executors are not asked for a task that a provider has. */
static void
knows_its_tasks(void **state)
{
	(void)state;
	dialog_say(REQUEST("1", "subscriptions/listen",
	    "\"notifications\":{\"taskIds\":[\"rm\",\"more\"]}," TASKS));
	assert_int_equal(dialog.bus.asked, 0);
	assert_int_equal(json_array_size(dialog_at("params.notifications.taskIds")), 1);
	assert_string_equal(at("params.notifications.taskIds.0"), "more");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, dialog_stop)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(adds_to_each_list),
		CASE(finds_the_first_of_a_name),
		CASE(tells_which_lists_change),
		CASE(gets_requests_for_its_own),
		CASE(takes_no_name_of_the_gateway),
		CASE(gets_only_what_is_well_formed),
		CASE(knows_its_tasks),
	};

	providers_add(&more);
	return cmocka_run_group_tests_name("providers", tests, NULL, NULL);
}
