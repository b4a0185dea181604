/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - requests of this process, from bus_ask() to the single call of done().
 *
 * Trusts no server to reply: each request ends at the latest by its deadline, by the loss of its
 * server, or when the wait for a server times out. The low bits of an id are the slot of the
 * request in the table; the others are a generation number of the slot.
 */
#include "common/base/auto.h"
#include "common/bus/bus.h"
#include "common/bus/inner.h"

#include <errno.h>
#include <string.h>

enum {
	MAX_WAITING = 256, /* for a server that is not connected, of BUS_MESSAGE_BYTES at most */
	GRACE_MS = 250,    /* for a reply that left the server in time */
	RETRY_MS = 100,
};

struct open_ask {
	struct ask ask;
	struct owner owner; /* of the request; ask.owner points to it */
	uint64_t id, timer;
	int64_t deadline_ms;
	struct link *link; /* NULL: waits for a server */
	struct open_ask *next_waiting;
	/* While it waits: */
	struct packed content;
	size_t bytes; /* bytes of content */
	char *instance, *trace;
	uint64_t wait_timer;
};

static struct open_ask *asks[BUS_MAX_ASKS];
static size_t open_asks, last_slot;
static uint64_t generation;
static struct {
	struct open_ask *first, **last;
	size_t count, bytes;
} waiting[PEER_COUNT];
static size_t all_waiting; /* bytes */

static struct open_ask *
find(uint64_t id)
{
	struct open_ask *a = asks[id % BUS_MAX_ASKS];

	return a != NULL && a->id == id ? a : NULL;
}

/* ---- ending ---- */

static void
stop_waiting(struct open_ask *a)
{
	struct open_ask **at = &waiting[a->ask.to].first;

	while (*at != NULL && *at != a)
		at = &(*at)->next_waiting;
	if (*at == NULL)
		return;
	*at = a->next_waiting;
	if (a->next_waiting == NULL)
		waiting[a->ask.to].last = at;
	waiting[a->ask.to].count--;
	waiting[a->ask.to].bytes -= a->bytes;
	all_waiting -= a->bytes;
	a->next_waiting = NULL;
}

static void
forget(struct open_ask *a)
{
	if (a->link == NULL)
		stop_waiting(a);
	else
		client_load(a->link, -1);
	loop_unset(a->timer);
	loop_unset(a->wait_timer);
	packed_clear(&a->content);
	free(a->instance);
	free(a->trace);
	asks[a->id % BUS_MAX_ASKS] = NULL;
	open_asks--;
	free(a);
}

/* done() may call bus_ask(), so the table is updated before. */
static void
finish(struct open_ask *a, void *reply, const struct err *e)
{
	struct ask ask = a->ask;

	forget(a);
	if (ask.done != NULL)
		ask.done(ask.self, reply, e);
}

static void
send_cancel(struct open_ask *a)
{
	struct envelope envelope = { .frame = frame_cancel, .id = a->id };
	struct packed nothing = { 0 };

	if (a->link != NULL)
		client_send(a->link, &envelope, &nothing);
}

static void
pass_deadline(void *self)
{
	struct open_ask *a = self;
	struct err e;

	a->timer = 0;
	send_cancel(a);
	err_set(&e, ERR_deadline_exceeded, "%s: no reply from %s within %lld ms",
	    messages[a->ask.message].name, edge_peer_name(a->ask.to), (long long)a->ask.timeout_ms);
	finish(a, NULL, &e);
}

static int
takes_no_more(const struct open_ask *a, struct err *e)
{
	err_set(e, ERR_queue_full, "%s accepts no more requests now", edge_peer_name(a->ask.to));
	e->retry_ms = RETRY_MS;
	return -1;
}

/* The server may have been connected all the time, with a full connection. */
static void
pass_wait(void *self)
{
	struct open_ask *a = self;
	struct err e;

	a->wait_timer = 0;
	if (client_choose(&a->ask, &e) != NULL)
		takes_no_more(a, &e);
	err_add(&e, "waited %lld ms", (long long)bus.config.connect_wait_ms);
	finish(a, NULL, &e);
}

/* ---- starting ---- */

/* An envelope omits a text that was not given. */
static char *
given(const char *text)
{
	return text != NULL && text[0] != 0 ? (char *)(uintptr_t)text : NULL;
}

static int
transmit(struct open_ask *a, struct link *link)
{
	struct envelope envelope = {
		.frame = frame_request,
		.id = a->id,
		.message = (char *)messages[a->ask.message].name,
		.principal = given(a->owner.principal),
		.namespace = given(a->owner.namespace),
		.trace = given(a->ask.trace),
		.quiet = a->ask.part == NULL,
	};

	if (a->deadline_ms != INT64_MAX) {
		int64_t left = a->deadline_ms - loop_now_ms();

		envelope.deadline_ms = left < 1 ? 1 : (uint64_t)left;
	}
	if (client_send(link, &envelope, &a->content) < 0)
		return -1;
	a->link = link;
	client_load(link, 1);
	return 0;
}

/* 0: the request must wait, because the connection is full, or closed and not yet reported as
 * closed. */
static int
refuse_send(const struct open_ask *a, int why, struct err *e)
{
	if (why == EAGAIN)
		return 0;
	if (why == EMSGSIZE)
		return err_set(e, ERR_invalid_argument,
		    "%s: principal, namespace, trace or timeout is out of range",
		    messages[a->ask.message].name);
	return takes_no_more(a, e);
}

static int
too_many(enum peer to, struct err *e)
{
	err_set(
	    e, ERR_queue_full, "%zu requests wait for %s", waiting[to].count, edge_peer_name(to));
	e->retry_ms = 10 * RETRY_MS;
	return -1;
}

/* A single request always has room, however large it is. */
static int
check_room(const struct open_ask *a, struct err *e)
{
	enum peer to = a->ask.to;

	if (waiting[to].count >= MAX_WAITING)
		return too_many(to, e);
	if (waiting[to].bytes + a->bytes > BUS_MESSAGE_BYTES)
		err_set(e, ERR_queue_full, "requests of %zu bytes wait for %s; the limit is %d",
		    waiting[to].bytes, edge_peer_name(to), BUS_MESSAGE_BYTES);
	else if (all_waiting + a->bytes > BUS_MESSAGE_UNSENT_BYTES)
		err_set(e, ERR_queue_full,
		    "requests of %zu bytes wait for servers; the limit is %d", all_waiting,
		    BUS_MESSAGE_UNSENT_BYTES);
	else
		return 0;
	e->retry_ms = 10 * RETRY_MS;
	return -1;
}

static int
keep(const char *text, char **copy)
{
	*copy = text == NULL ? NULL : strdup(text);
	return text != NULL && *copy == NULL ? -1 : 0;
}

static int
wait_for(struct open_ask *a, struct err *e)
{
	typeof(waiting[0]) *queue = &waiting[a->ask.to];

	if (keep(a->ask.instance, &a->instance) < 0 || keep(a->ask.trace, &a->trace) < 0)
		return err_sys(e, "%s", messages[a->ask.message].name);
	a->ask.instance = a->instance;
	a->ask.trace = a->trace;
	if (queue->first == NULL)
		queue->last = &queue->first;
	*queue->last = a;
	queue->last = &a->next_waiting;
	queue->count++;
	queue->bytes += a->bytes;
	all_waiting += a->bytes;
	a->wait_timer = loop_after(bus.config.connect_wait_ms, pass_wait, a);
	return 0;
}

/* Sends it or puts it into the queue. */
static int
begin(struct open_ask *a, struct link *link, struct err *e)
{
	if (link != NULL && transmit(a, link) == 0)
		return 0;
	if (link != NULL && refuse_send(a, errno, e) < 0)
		return -1;
	a->bytes = bus_message_weigh(&a->content);
	return check_room(a, e) < 0 ? -1 : wait_for(a, e);
}

/* Is this request permitted now? *link: its server; NULL: it must wait. */
static int
admit(const struct ask *ask, struct link **link, struct err *e)
{
	must(edge_find(bus.config.self, ask->to) != NULL &&
	     messages[ask->message].reply != MSG_none);
	if (bus.stopped)
		return err_set(
		    e, ERR_unavailable, "%s is shutting down", edge_peer_name(bus.config.self));
	*link = client_choose(ask, e);
	if (*link == NULL && (!client_expects(ask) || client_failed(ask->to)))
		return -1;
	if (open_asks < BUS_MAX_ASKS && (*link != NULL || waiting[ask->to].count < MAX_WAITING))
		return 0;
	return too_many(ask->to, e);
}

static struct open_ask *
new_ask(const struct ask *ask)
{
	struct open_ask *a = calloc(1, sizeof *a);

	if (a == NULL)
		return NULL;
	do
		last_slot = (last_slot + 1) % BUS_MAX_ASKS;
	while (asks[last_slot] != NULL);
	a->ask = *ask;
	if (ask->owner != NULL)
		a->owner = *ask->owner;
	a->ask.owner = &a->owner;
	a->id = ++generation * BUS_MAX_ASKS + last_slot;
	a->deadline_ms = ask->timeout_ms > 0 ? loop_now_ms() + ask->timeout_ms : INT64_MAX;
	asks[last_slot] = a;
	open_asks++;
	return a;
}

uint64_t
ask_begin(const struct ask *ask, struct err *e)
{
	struct link *link = NULL;

	if (admit(ask, &link, e) < 0)
		return 0;
	struct open_ask *a = new_ask(ask);
	if (a == NULL) {
		err_sys(e, "%s", messages[ask->message].name);
		return 0;
	}
	if (wire_encode(ask->message, ask->request, &a->content, e) < 0 || begin(a, link, e) < 0) {
		forget(a);
		return 0;
	}
	if (a->deadline_ms != INT64_MAX)
		a->timer = loop_after(ask->timeout_ms + GRACE_MS, pass_deadline, a);
	return a->id;
}

/* false: it still waits. */
static bool
try_again(struct open_ask *a, struct err *e)
{
	struct link *link = client_choose(&a->ask, e);

	if (link == NULL)
		return !client_expects(&a->ask);
	if (transmit(a, link) == 0)
		e->code = ERR_none;
	else if (refuse_send(a, errno, e) == 0)
		return false;
	return true;
}

void
ask_flush(enum peer to)
{
	struct open_ask *a = waiting[to].first, *next;
	struct err e;

	for (; a != NULL; a = next) {
		next = a->next_waiting;
		if (!try_again(a, &e))
			continue;
		stop_waiting(a);
		loop_unset(a->wait_timer);
		a->wait_timer = 0;
		if (e.code == ERR_none)
			continue;
		finish(a, NULL, &e);
		next = waiting[to].first; /* done() may have changed the queue */
	}
}

size_t
ask_waiting(void)
{
	size_t count = 0;

	for (enum peer to = PEER_FIRST; to < PEER_COUNT; to++)
		count += waiting[to].count;
	return count;
}

void
ask_refuse_waiting(const struct err *why)
{
	for (size_t i = 0; i < BUS_MAX_ASKS; i++)
		if (asks[i] != NULL && asks[i]->link == NULL)
			finish(asks[i], NULL, why);
}

void
ask_cancel(uint64_t id)
{
	struct open_ask *a = find(id);
	struct err e;

	if (a == NULL)
		return;
	send_cancel(a);
	err_set(&e, ERR_cancelled, "%s was cancelled", messages[a->ask.message].name);
	finish(a, NULL, &e);
}

const char *
ask_instance(uint64_t id)
{
	const struct open_ask *a = find(id);

	return a == NULL || a->link == NULL ? "" : client_name(a->link);
}

void
ask_forget(uint64_t id)
{
	struct open_ask *a = find(id);

	if (a != NULL)
		forget(a);
}

void
ask_lost(struct link *link, const struct err *e, bool tell)
{
	for (size_t i = 0; i < BUS_MAX_ASKS && open_asks > 0; i++) {
		struct open_ask *a = asks[i];

		if (a == NULL || (link != NULL && a->link != link))
			continue;
		if (tell)
			send_cancel(a);
		finish(a, NULL, e);
	}
}

/* ---- replies ---- */

static void
on_reply(struct open_ask *a, struct bus_message *p)
{
	enum msg_id message = messages[a->ask.message].reply;
	auto_free void *reply = calloc(1, messages[message].size);
	struct err e;

	if (reply == NULL) {
		err_sys(&e, "%s", messages[message].name);
		finish(a, NULL, &e);
		return;
	}
	if (bus_message_decode(p, message, reply, &e) == 0) {
		finish(a, reply, NULL);
		message_clear(message, reply);
		return;
	}
	bus_malformed(a->ask.to, &e);
	err_set(&e, ERR_internal, "%s: malformed reply from %s", messages[a->ask.message].name,
	    edge_peer_name(a->ask.to));
	finish(a, NULL, &e);
}

static void
on_failure(struct open_ask *a, struct bus_message *p)
{
	struct failure f = { 0 };
	struct err e;

	if (bus_message_decode(p, MSG_failure, &f, &e) == 0) {
		err_set(&e, err_parse(f.code), "%s", f.text);
		e.retry_ms = (int)f.retry_ms;
		message_clear(MSG_failure, &f);
	} else {
		bus_malformed(a->ask.to, &e);
		err_set(&e, ERR_internal, "%s: malformed failure from %s",
		    messages[a->ask.message].name, edge_peer_name(a->ask.to));
	}
	finish(a, NULL, &e);
}

static void
on_part(struct open_ask *a, struct bus_message *p)
{
	struct stream_part part = { 0 };
	struct err e;

	if (bus_message_decode(p, MSG_stream_part, &part, &e) < 0) {
		bus_malformed(a->ask.to, &e);
		return;
	}
	if (a->ask.part != NULL)
		a->ask.part(a->ask.self, &part);
	message_clear(MSG_stream_part, &part);
}

bool
ask_is_open(const struct link *link, uint64_t id)
{
	const struct open_ask *a = find(id);

	return a != NULL && a->link == link;
}

void
ask_answer(struct link *link, struct bus_message *p)
{
	struct open_ask *a = find(p->envelope.id);
	struct err e;

	if (!ask_is_open(link, p->envelope.id)) {
		err_set(&e, ERR_not_found, "reply from %s to request %llu, which is not open",
		    client_name(link), (unsigned long long)p->envelope.id);
		bus_refuse(PEER_none, &e);
	} else if (p->envelope.frame == frame_reply) {
		on_reply(a, p);
	} else if (p->envelope.frame == frame_failure) {
		on_failure(a, p);
	} else {
		on_part(a, p);
	}
}
