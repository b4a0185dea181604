/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_methods.c - every method of MCP, asked by a client that says what it likes.
 *
 * Input: which revision is agreed on (1 byte), how daemons answer (1 byte), and lines.  Whatever is
 * said, each request is answered at most once, by what can be sent, and in the end nothing is left.
 */
#include "tests/fuzz/gateway/replies.h"

#include "common/credential/scope.h"
#include "gateway/mcp/dispatch.h"
#include "gateway/mcp/sealed.h"
#include "gateway/mcp/tools.h"
#include "gateway/options.h"

#include "common/base/auto.h"
#include "common/base/log.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t answered;

static void
check(const json_t *message)
{
	auto_free char *text = json_dumps(message, JSON_COMPACT);

	must(text != NULL && strchr(text, '\n') == NULL);
}

static void
hear(struct client *c, struct exchange *none, const json_t *message)
{
	(void)c;
	(void)none;
	check(message);
}

static void
hear_answer(struct client *c, struct exchange *none, const json_t *message)
{
	(void)c;
	(void)none;
	if (message == NULL)
		return;
	check(message);
	answered += json_is_array(message) ? json_array_size(message) : 1;
}

static bool
never_slow(const struct client *c, const struct exchange *none)
{
	(void)c;
	(void)none;
	return false;
}

static const struct transport by_fuzz = { .send = hear, .answer = hear_answer, .slow = never_slow };

static void
say(struct client *client, const char *text, size_t size)
{
	struct scan scan = { 0 };
	struct line line = { .data = text, .size = size, .scan = &scan };

	scan_feed(&scan, text, size);
	dispatch_line(client, NULL, &line);
	while (replies_wanted() > 0 && !replies_slow())
		replies_give();
}

static void
introduce(struct client *client, unsigned which)
{
	static const char *const versions[] = { "2024-11-05", "2025-03-26", "2025-06-18",
		"2025-11-25" };
	char text[256];
	int n = snprintf(text, sizeof text,
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
	    "\"protocolVersion\":"
	    "\"%s\",\"capabilities\":{\"elicitation\":{}}}}",
	    versions[which % COUNT(versions)]);

	say(client, text, (size_t)n);
}

static void
set_up(void)
{
	static char none[] = "", stdio[] = "stdio";
	struct err e;

	if (options.page_size > 0)
		return;
	log_open("fuzz", LOG_error);
	options.transport = stdio;
	options.page_size = 3;
	options.max_in_flight = 4;
	options.result_bytes = 2000;
	options.max_message_bytes = 1 << 20;
	options.call_timeout_ms = options.elicit_timeout_ms = 1000;
	options.task_after_ms = 1000;
	options.confirm_destructive = true;
	options.instructions = options.seal_key = none;
	must(sealed_open("", &e) == 0 && tools_choose("all", &e) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct account account = { .owner = { "local:7", "" } };
	struct client client = { .by = &by_fuzz, .account = &account, .scopes = SCOPES_LOCAL };

	set_up();
	if (size < 2)
		return -1;
	replies_choose(data[1]);
	answered = 0;
	if (data[0] > 0)
		introduce(&client, data[0]);
	for (const char *at = (const char *)data + 2, *end = (const char *)data + size; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = stop == NULL ? (size_t)(end - at) : (size_t)(stop - at);

		say(&client, at, n);
		at += n + 1;
	}
	while (replies_wanted() > 0)
		replies_give();
	client_give_up(&client, false);
	client_close(&client);
	must(client.pending == NULL && account.count == 0 && account.held == 0 &&
	     replies_wanted() == 0);
	return 0;
}
