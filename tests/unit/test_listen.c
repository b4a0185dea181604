/* SPDX-License-Identifier: Apache-2.0 */
/* test_listen.c - which clients are notified of a change, and which are not. */
#include "tests/unit/dialog.h"

#include "gateway/mcp/resource/listen.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct account mine = { .owner = { "local:7", "" } },
			    others = { .owner = { "local:8", "" } },
			    elsewhere = { .owner = { "local:7", "n" } };

#define LISTEN(id, filter) \
	REQUEST(id, "subscriptions/listen", "\"notifications\":{" filter "}," META)
#define URIS "\"resourceSubscriptions\":[\"sandbox://artifacts/s/a\",\"sandbox://artifacts/sx/a\"]"

/* How many notifications of that method came since the last look. */
static size_t
heard(const char *method)
{
	size_t count = 0;

	for (size_t i = 0; i < dialog.nsaid; i++) {
		const char *its = json_string_value(json_object_get(dialog.said[i], "method"));

		count += its != NULL && strcmp(its, method) == 0;
	}
	assert_int_equal(count, dialog.nsaid);
	dialog_forget();
	return count;
}

static void
tells_the_owner_only(void **state)
{
	(void)state;
	dialog_say(LISTEN("1", URIS ",\"resourcesListChanged\":true"));
	assert_int_equal(heard("notifications/subscriptions/acknowledged"), 1);
	listen_updated(&others, "sandbox://artifacts/s/a", false);
	listen_updated(&elsewhere, "sandbox://artifacts/s/a", false);
	listen_changed(&others, PROVIDER_resources);
	listen_changed(&elsewhere, PROVIDER_resources);
	assert_int_equal(dialog.nsaid, 0);
	listen_updated(&mine, "sandbox://artifacts/s/a", false);
	assert_int_equal(heard("notifications/resources/updated"), 1);
	listen_changed(&mine, PROVIDER_resources);
	assert_int_equal(heard("notifications/resources/list_changed"), 1);
	listen_changed(NULL, PROVIDER_resources);
	assert_int_equal(heard("notifications/resources/list_changed"), 1);
}

static void
tells_what_was_asked_for_only(void **state)
{
	(void)state;
	dialog_say(LISTEN("1", URIS ",\"toolsListChanged\":true"));
	dialog_forget();
	listen_updated(&mine, "sandbox://artifacts/s/b", false);
	listen_updated(&mine, "sandbox://artifacts/s", false);
	for (int list = PROVIDER_tools; list <= PROVIDER_resources; list++)
		listen_changed(&mine, (enum provider_list)list);
	assert_int_equal(dialog.nsaid, 0); /* a release's tools never change, so it did not agree */
	listen_updated(&mine, "sandbox://artifacts/s", true); /* and not those of "sx" */
	assert_int_equal(heard("notifications/resources/updated"), 1);
}

static void
tags_each_of_several(void **state)
{
	(void)state;
	dialog_say(LISTEN("\"a\"", URIS));
	dialog_say(LISTEN("2", URIS));
	dialog_forget();
	listen_updated(&mine, "sandbox://artifacts/s/a", false);
	assert_int_equal(dialog.nsaid, 2);
	assert_int_equal(json_integer_value(json_object_get(
			     json_object_get(json_object_get(dialog.said[0], "params"), "_meta"),
			     "io.modelcontextprotocol/subscriptionId")),
	    2);
	dialog_say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
		   "\"requestId\":2}}");
	dialog_forget();
	listen_updated(&mine, "sandbox://artifacts/s/a", false);
	assert_int_equal(heard("notifications/resources/updated"), 1);
	client_drain(&dialog.client);
	assert_string_equal(json_string_value(dialog_at("id")), "a");
	assert_string_equal(json_string_value(dialog_at("result.resultType")), "complete");
	dialog_forget();
	listen_updated(&mine, "sandbox://artifacts/s/a", false);
	assert_int_equal(dialog.nsaid, 0);
}

static void
tells_sessions_of_earlier_revisions(void **state)
{
	(void)state;
	dialog_say(INITIALIZE("2025-06-18"));
	dialog_say(REQUEST("1", "resources/subscribe", "\"uri\":\"sandbox://logs\""));
	dialog_say(REQUEST("2", "resources/subscribe", "\"uri\":\"sandbox://logs\""));
	dialog_forget();
	listen_updated(&others, "sandbox://logs", false);
	listen_changed(&others, PROVIDER_resources);
	assert_int_equal(dialog.nsaid, 0);
	listen_updated(&mine, "sandbox://logs", false);
	assert_int_equal(heard("notifications/resources/updated"), 1);
	listen_changed(&mine, PROVIDER_resources);
	assert_int_equal(heard("notifications/resources/list_changed"), 1);
	dialog_say(REQUEST("3", "resources/unsubscribe", "\"uri\":\"sandbox://logs\""));
	dialog_forget();
	listen_updated(&mine, "sandbox://logs", false);
	assert_int_equal(dialog.nsaid, 0);
	client_close(&dialog.client);
	listen_changed(&mine, PROVIDER_resources);
	assert_int_equal(dialog.nsaid, 0);
}

static void
bounds_what_is_asked_for(void **state)
{
	char line[64];

	(void)state;
	for (int i = 0; i < 257; i++) {
		snprintf(line, sizeof line, "%d", i);

		auto_free char *request = NULL;

		assert_true(
		    asprintf(&request,
			"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"subscriptions/listen\","
			"\"params\":{\"notifications\":{}," META "}}",
			i) > 0);
		dialog_forget();
		dialog_say(request);
	}
	assert_int_equal(json_integer_value(dialog_at("error.code")), RPC_PARAMS);
	for (int i = 0; i < 256; i++) { /* more than fit into what the dialog keeps */
		struct pending *p = dialog.client.pending;

		dialog_forget();
		p->cancel(p);
	}
	assert_null(dialog.client.pending);
	dialog_say(INITIALIZE("2025-06-18"));
	for (int i = 0; i < 257; i++) {
		auto_free char *request = NULL;

		assert_true(asprintf(&request,
				"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"resources/subscribe\","
				"\"params\":{\"uri\":\"sandbox://%d\"}}",
				i, i) > 0);
		dialog_forget();
		dialog_say(request);
		assert_int_equal(dialog_at("error") != NULL, i == 256);
	}
}

/* A request to listen for 80 URIs of some 45,000 bytes. */
static char *
large(int id)
{
	auto_free char *pad = malloc(45001), *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	memset(pad, 'x', 45000);
	pad[45000] = '\0';
	fprintf(to, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"subscriptions/listen\",", id);
	fputs("\"params\":{\"notifications\":{\"resourceSubscriptions\":[", to);
	for (int i = 0; i < 80; i++)
		fprintf(to, "%s\"sandbox://%d/%s\"", i > 0 ? "," : "", i, pad);
	fputs("]}," META "}}", to);
	assert_int_equal(fclose(to), 0);
	return take_ptr(text);
}

/* Of a principal, whatever it asks by. */
static void
bounds_the_bytes_of_names(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		auto_free char *request = large(i);

		dialog_forget();
		dialog_say(request);
		assert_int_equal(dialog_at("error") != NULL, i == 1);
		if (i != 1)
			continue;
		assert_non_null(strstr(json_string_value(dialog_at("error.message")), "4194304"));
		/* What ends makes room. */
		dialog_forget();
		dialog.client.pending->cancel(dialog.client.pending);
	}
	dialog_forget();
	dialog_say(INITIALIZE("2025-06-18"));

	int taken = 0;

	for (int i = 0; i < 40; i++) {
		auto_free char *request = NULL;

		assert_true(asprintf(&request,
				"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"resources/subscribe\","
				"\"params\":{\"uri\":\"sandbox://%045000d\"}}",
				100 + i, i) > 0);
		dialog_forget();
		dialog_say(request);
		taken += dialog_at("error") == NULL;
	}
	assert_in_range(taken, 1, 20);
	dialog_forget();
	dialog.client.pending->cancel(dialog.client.pending);
	client_close(&dialog.client);
	assert_int_equal(dialog.account.listening, 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, dialog_start, dialog_stop)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(tells_the_owner_only),
		CASE(tells_what_was_asked_for_only),
		CASE(tags_each_of_several),
		CASE(tells_sessions_of_earlier_revisions),
		CASE(bounds_what_is_asked_for),
		CASE(bounds_the_bytes_of_names),
	};

	return cmocka_run_group_tests_name("listen", tests, NULL, NULL);
}
