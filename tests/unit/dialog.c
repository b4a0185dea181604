/* SPDX-License-Identifier: Apache-2.0 */
/* dialog.c - plays both sides of the dispatcher: records what the client receives and what the
 * bus is asked. */
#include "tests/unit/dialog.h"

#include "common/credential/scope.h"
#include "common/rights/rights.h"
#include "gateway/mcp/dispatch.h"
#include "gateway/mcp/sealed.h"
#include "gateway/mcp/tools.h"
#include "gateway/options.h"

#include "common/base/auto.h"
#include "common/bus/bus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct dialog dialog;

/* ---- the bus ---- */

static void
keep(char *to, const char *text)
{
	snprintf(to, 64, "%s", text == NULL ? "-" : text);
}

uint64_t
bus_ask(const struct ask *ask, struct err *e)
{
	if (dialog.bus.refuse) {
		err_set(e, ERR_queue_full, "too much waits");
		return 0;
	}
	dialog.bus.ask = *ask;
	dialog.bus.owner = ask->owner != NULL ? *ask->owner : (struct owner){ 0 };
	keep(dialog.bus.instance, ask->instance);
	keep(dialog.bus.trace, ask->trace);
	dialog.bus.asked++;
	return ++dialog.bus.id;
}

void
bus_cancel(uint64_t id)
{
	struct err e;

	dialog.bus.cancelled = id;
	err_set(&e, ERR_cancelled, "cancelled");
	dialog.bus.ask.done(dialog.bus.ask.self, NULL, &e);
}

bool
bus_ready(enum peer peer, struct heartbeat *load)
{
	(void)peer;
	(void)load;
	return dialog.bus.there;
}

const char *
bus_asked(uint64_t id)
{
	(void)id;
	return "one";
}

void
bus_forget(uint64_t id)
{
	dialog.bus.forgotten = id;
}

/* No lease is lost here. */
size_t
bus_waiting(void)
{
	return 0;
}

void
bus_refuse_waiting(const struct err *why)
{
	(void)why;
}

/* Nobody tells of changes. */
size_t
bus_instances(enum peer peer, const char **names, size_t room)
{
	(void)peer;
	(void)names;
	(void)room;
	return 0;
}

void
dialog_fail_call(enum err_code code, const char *text)
{
	struct err e;

	err_set(&e, code, "%s", text);
	dialog.bus.ask.done(dialog.bus.ask.self, NULL, &e);
}

void
dialog_reply_listing(void)
{
	struct runtime one = { .language = (char[]){ "python" },
		.version = (char[]){ "3" },
		.path = (char[]){ "/p" },
		.backend = (char[]){ "box" } };
	struct runtime_list list = { .runtimes = { &one, 1 } };

	dialog.bus.ask.done(dialog.bus.ask.self, &list, NULL);
}

/* ---- the client ---- */

static void
hear(struct client *c, struct exchange *none, const json_t *message)
{
	assert_ptr_equal(c, &dialog.client);
	assert_null(none);
	if (message == NULL)
		return;
	assert_true(dialog.nsaid < COUNT(dialog.said));
	dialog.said[dialog.nsaid++] = json_deep_copy(message);
}

static bool
never_slow(const struct client *c, const struct exchange *none)
{
	(void)c;
	(void)none;
	return false;
}

static const struct transport by_test = { .send = hear, .answer = hear, .slow = never_slow };

void
dialog_forget(void)
{
	while (dialog.nsaid > 0)
		json_decref(dialog.said[--dialog.nsaid]);
}

void
dialog_say(const char *text)
{
	struct scan scan = { 0 };
	struct line line = { .data = text, .size = strlen(text), .scan = &scan };

	scan_feed(&scan, text, line.size);
	dispatch_line(&dialog.client, NULL, &line);
}

json_t *
dialog_at(const char *path)
{
	json_t *value = dialog.nsaid == 0 ? NULL : dialog.said[dialog.nsaid - 1];
	char step[64];

	for (size_t n; *path != '\0' && value != NULL; path += n + (path[n] == '.')) {
		n = strcspn(path, ".");
		snprintf(step, sizeof step, "%.*s", (int)n, path);
		value = json_is_array(value) ? json_array_get(value, (size_t)(step[0] - '0'))
		                             : json_object_get(value, step);
	}
	return value;
}

int
dialog_start(void **state)
{
	static char instructions[] = "said to models", transport[] = "stdio";
	struct err e;

	(void)state;
	memset(&dialog.bus, 0, sizeof dialog.bus);
	dialog.bus.there = true;
	dialog.account = (struct account){ .owner = { "local:7", "" } };
	dialog.client =
	    (struct client){ .by = &by_test, .account = &dialog.account, .scopes = SCOPES_LOCAL };
	options.transport = transport;
	options.max_in_flight = 2;
	options.page_size = 100;
	options.elicit_timeout_ms = 60000;
	options.confirm_destructive = false;
	options.max_message_bytes = 1 << 20;
	options.call_timeout_ms = 1000;
	options.instructions = instructions;
	return sealed_open("", &e) < 0 ? -1 : tools_choose("core", &e);
}

int
dialog_stop(void **state)
{
	(void)state;
	client_give_up(&dialog.client, false);
	client_close(&dialog.client);
	dialog_forget();
	return dialog.client.pending == NULL && dialog.account.count == 0 ? 0 : -1;
}

/* ---- rights.h ---- */

const struct rights *
rights_of(const struct owner *owner)
{
	(void)owner;
	return NULL;
}
