/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asker.c - a daemon under another's name (ASK_AS) that asks its server (ASK_OF) whatever a test
 * tells it to.
 *
 * A line of stdin is {"id", "message", "principal", "namespace", "request"}; for each there is a
 * line of stdout, {"id", "reply"} or {"id", "error": {"code", "text"}}, in the order of the
 * answers.  Ends with its input, once all is answered.
 */
#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/codec/jschema.h"
#include "common/daemon/daemon.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

struct question {
	json_int_t id;
	enum msg_id reply;
};

static struct {
	char *text;
	size_t size, room;
} input;
static size_t waiting;
static bool ended;
static uint64_t timeout_ms;

static void
say(json_int_t id, const char *name, json_t *value)
{
	json_t *line = json_pack("{s:I, s:o}", "id", id, name, value);
	auto_free char *text = json_dumps(line, JSON_COMPACT);

	must(text != NULL);
	puts(text);
	fflush(stdout);
	json_decref(line);
}

static void
say_error(json_int_t id, const struct err *e)
{
	say(id, "error", json_pack("{s:s, s:s}", "code", err_name(e->code), "text", e->text));
}

static void
end_if_done(void)
{
	if (ended && waiting == 0)
		daemon_end(NULL);
}

static void
on_done(void *self, void *reply, const struct err *e)
{
	auto_free struct question *q = self;

	if (reply != NULL)
		say(q->id, "reply", jschema_write(q->reply, reply));
	else
		say_error(q->id, e);
	waiting--;
	end_if_done();
}

static const char *
text_of(const json_t *line, const char *name)
{
	return json_string_value(json_object_get(line, name));
}

static int
ask(const json_t *line, struct question *q, struct err *e)
{
	const char *name = text_of(line, "message");
	enum msg_id message = name != NULL ? message_find(name) : MSG_none;
	auto_free void *request = calloc(1, messages[message].size + 1);
	struct owner owner;

	must(request != NULL);
	if (!owner_set(&owner, text_of(line, "principal"), text_of(line, "namespace")))
		return err_set(e, ERR_invalid_argument, "principal or namespace: too long");
	if (message == MSG_none)
		return err_set(e, ERR_invalid_argument, "message: unknown");
	if (jschema_read(message, json_object_get(line, "request"), request, e) < 0)
		return -1;
	q->reply = messages[message].reply;

	uint64_t id = bus_ask(
	    &(struct ask){
		.to = ASK_OF,
		.message = message,
		.request = request,
		.owner = &owner,
		.timeout_ms = (int64_t)timeout_ms,
		.self = q,
		.done = on_done,
	    },
	    e);

	message_clear(message, request);
	return id != 0 ? 0 : -1;
}

static void
take_line(const char *text, size_t size)
{
	json_error_t wrong;
	json_t *line = json_loadb(text, size, 0, &wrong);
	struct question *q = calloc(1, sizeof *q);
	struct err e;

	must(line != NULL && q != NULL);
	q->id = json_integer_value(json_object_get(line, "id"));
	if (ask(line, q, &e) == 0)
		waiting++;
	else {
		say_error(q->id, &e);
		free(q);
	}
	json_decref(line);
}

/* fresh: how many bytes at the end have not been looked at before. */
static void
take_lines(size_t fresh)
{
	char *at = input.text, *end = input.text + input.size, *from = end - fresh;

	for (char *feed; (feed = memchr(from, '\n', (size_t)(end - from))) != NULL;) {
		take_line(at, (size_t)(feed - at));
		at = from = feed + 1;
	}
	input.size = (size_t)(end - at);
	memmove(input.text, at, input.size);
}

static void
on_input(void *self, uint32_t events)
{
	(void)self;
	(void)events;
	if (input.size == input.room) {
		input.room = input.room * 2 + 65536;
		input.text = realloc(input.text, input.room);
		must(input.text != NULL);
	}

	ssize_t n = read(STDIN_FILENO, input.text + input.size, input.room - input.size);

	if (n > 0) {
		input.size += (size_t)n;
		take_lines((size_t)n);
		return;
	}
	loop_forget(STDIN_FILENO);
	ended = true;
	end_if_done();
}

/* Outside the jail, where jansson may open /dev/urandom. */
static int
prepare(struct err *e)
{
	(void)e;
	json_object_seed(0);
	return 0;
}

static int
start(struct err *e)
{
	return loop_watch(STDIN_FILENO, EPOLLIN, on_input, NULL, e);
}

static void
stop(void)
{
	free(input.text);
}

static const struct setting settings[] = {
	{ "timeout_ms", KIND_UINT, &timeout_ms, "60000", 1, 600000, NULL, "Of each question." },
	{ 0 },
};

static const struct daemon self = {
	.self = ASK_AS,
	.summary = "ask a daemon, for tests",
	.settings = settings,
	.stateless = true,
	.open = prepare,
	.start = start,
	.stop = stop,
};

int
main(int argc, char **argv)
{
	static char line[1 << 16];

	/* A buffer that stdio makes for itself it makes in the jail, by calls that are not listed.
	 */
	setvbuf(stdout, line, _IOFBF, sizeof line);
	return daemon_main(argc, argv, &self);
}
