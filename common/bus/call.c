/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - a request from its arrival to its single reply.
 *
 * Trusts no client. A call belongs to its handler from the moment the handler returned 0; its
 * connection may close before the handler ends the call; then the reply is discarded.
 *
 * The endpoint or the key identifies a daemon; its instance name is only a claim. So open calls are
 * counted per daemon over all its connections, including closed ones: more connections give it no
 * more calls.
 */
#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "common/bus/inner.h"
#include "common/metric/shared.h"

#include <string.h>

enum {
	PEER_BYTES = 512 << 20, /* of the open requests of a daemon */
	RETRY_MS = 100,
};

struct open_call {
	struct call call;               /* first: what handlers see */
	struct open_call *next, **link; /* in the list of its caller */
	struct caller *caller;          /* NULL: disconnected */
	uint64_t id, timer;
	int64_t began_us; /* 0: its end was counted */
	size_t bytes;
	bool told; /* on_cancel was called: no client waits */
	/* Of an adopted call, until it has ended. */
	void (*ended)(void *self, struct packed *content, const struct err *e);
	void *self;
	struct envelope envelope;
};

static size_t open_calls;
static struct {
	size_t count, bytes;
} opened[PEER_COUNT];

size_t
call_count(void)
{
	return open_calls;
}

static struct open_call *
of(struct call *call)
{
	return (struct open_call *)call;
}

/* ---- life of a call ---- */

static void
detach(struct open_call *c)
{
	struct calls *calls = server_calls(c->caller);

	*c->link = c->next;
	if (c->next != NULL)
		c->next->link = c->link;
	calls->count--;
	c->caller = NULL;
}

static void
end(struct open_call *c)
{
	if (c->caller != NULL)
		detach(c);
	loop_unset(c->timer);
	message_clear(MSG_envelope, &c->envelope);
	opened[c->call.from].count--;
	opened[c->call.from].bytes -= c->bytes;
	open_calls--;
	free(c);
}

static void
tell(struct open_call *c, enum err_code why)
{
	if (c->told)
		return;
	c->told = true;
	loop_unset(c->timer);
	c->timer = 0;
	if (c->call.on_cancel != NULL)
		c->call.on_cancel(&c->call, why);
}

/* The first end counts: the reply to the client. */
static void
count_end(struct open_call *c, enum err_code code)
{
	unsigned message = c->call.message;

	if (c->began_us == 0)
		return;
	metric_time(&shared_rows[SHARED_request_seconds], METRIC_AT(message, code != ERR_none),
	    loop_now_us() - c->began_us);
	if (code != ERR_none)
		metric_add(&shared_rows[SHARED_request_failures], METRIC_AT(message, code), 1);
	c->began_us = 0;
}

/* Passes the result to the client or to ended(). content NULL: the call failed. */
static void
deliver(struct open_call *c, struct packed *content, const struct err *e)
{
	void (*ended)(void *, struct packed *, const struct err *) = take_ptr(c->ended);

	count_end(c, content != NULL ? ERR_none : e->code);
	if (ended != NULL)
		ended(c->self, content, e);
	else if (c->caller != NULL && !c->told && content != NULL)
		server_send(
		    c->caller, frame_reply, c->id, messages[c->call.message].reply, content);
	else if (c->caller != NULL && !c->told)
		server_fail(c->caller, c->id, e);
}

static void
pass_deadline(void *self)
{
	struct open_call *c = self;
	struct err e;

	c->timer = 0;
	err_set(&e, ERR_deadline_exceeded, "%s: not done within its deadline of %llu ms",
	    messages[c->call.message].name, (unsigned long long)c->envelope.deadline_ms);
	deliver(c, NULL, &e);
	tell(c, ERR_deadline_exceeded);
}

/* ---- starting ---- */

static struct open_call *
find_call(struct caller *caller, uint64_t id)
{
	for (struct open_call *c = server_calls(caller)->first; c != NULL; c = c->next)
		if (c->id == id)
			return c;
	return NULL;
}

static const struct route *
find_route(struct caller *caller, const struct bus_message *p, struct err *e)
{
	const char *name = p->envelope.message == NULL ? "" : p->envelope.message;
	enum msg_id message = message_find(name);
	const struct route *route = bus.routes[message];

	if (message == MSG_none) {
		err_set(e, ERR_invalid_argument, "unknown message '%s'", name);
	} else if (route == NULL || (route->from & 1u << server_peer(caller)) == 0) {
		err_set(e, ERR_denied, "%s may not send to %s: %s",
		    edge_peer_name(server_peer(caller)), edge_peer_name(bus.config.self), name);
	} else if (server_build(caller)->differs[message]) {
		bus_refuse_build(
		    message, server_peer(caller), server_instance(caller), server_build(caller), e);
	} else {
		return route;
	}
	return NULL;
}

/* Is one more request of so many bytes permitted? */
static int
check_opened(enum peer peer, size_t bytes, struct err *e)
{
	size_t count = opened[peer].count, sum = opened[peer].bytes;

	if (count < bus.config.max_calls && (count == 0 || sum + bytes <= PEER_BYTES))
		return 0;
	err_set(e, ERR_queue_full, "%zu requests of %s with %zu bytes are open, the limit", count,
	    edge_peer_name(peer), sum);
	e->retry_ms = RETRY_MS;
	return -1;
}

static int
check_room(struct caller *caller, const struct bus_message *p, struct err *e)
{
	if (bus.draining)
		return err_set(
		    e, ERR_unavailable, "%s is shutting down", edge_peer_name(bus.config.self));
	if (find_call(caller, p->envelope.id) != NULL)
		return err_set(e, ERR_invalid_argument, "id %llu is in use",
		    (unsigned long long)p->envelope.id);
	return check_opened(server_peer(caller), p->bytes, e);
}

static const char *
or_empty(const char *text)
{
	return text == NULL ? "" : text;
}

/* What a call is made of; the envelope is taken. */
struct beginning {
	enum peer from;
	enum msg_id message;
	struct envelope *envelope;
	size_t bytes;
};

/* Without a caller. */
static struct open_call *
new_call(const struct beginning *b)
{
	struct open_call *c = calloc(1, sizeof *c);

	if (c == NULL)
		return NULL;
	c->envelope = *b->envelope;
	*b->envelope = (struct envelope){ .id = c->envelope.id };
	c->id = c->envelope.id;
	c->bytes = b->bytes;
	c->began_us = loop_now_us();
	metric_add(&shared_rows[SHARED_request_bytes], METRIC_AT(b->message), b->bytes);
	c->call = (struct call){
		.from = b->from,
		.message = b->message,
		.trace = or_empty(c->envelope.trace),
		.deadline_ms = INT64_MAX,
	};
	must(owner_set(&c->call.owner, c->envelope.principal, c->envelope.namespace));
	opened[c->call.from].count++;
	opened[c->call.from].bytes += c->bytes;
	open_calls++;
	return c;
}

static void
attach(struct open_call *c, struct caller *caller)
{
	struct calls *calls = server_calls(caller);

	c->caller = caller;
	c->next = calls->first;
	c->link = &calls->first;
	if (c->next != NULL)
		c->next->link = &c->next;
	calls->first = c;
	calls->count++;
	if (c->envelope.deadline_ms > 0) {
		int64_t left = (int64_t)c->envelope.deadline_ms;

		c->call.deadline_ms = loop_now_ms() + left;
		c->timer = loop_after(left, pass_deadline, c);
	}
}

static int
run(const struct route *route, struct caller *caller, struct bus_message *p, void *request,
    struct err *e)
{
	if (bus_message_decode(p, route->message, request, e) < 0) {
		bus.counts.malformed++;
		return -1;
	}
	struct open_call *c = new_call(
	    &(struct beginning){ server_peer(caller), route->message, &p->envelope, p->bytes });
	if (c == NULL)
		return err_sys(e, "%s", messages[route->message].name);
	attach(c, caller);
	bus.counts.requests++;
	if (route->handle(&c->call, request, e) < 0)
		call_fail(&c->call, e);
	return 0;
}

int
call_begin(struct caller *caller, struct bus_message *p, struct err *e)
{
	const struct route *route = find_route(caller, p, e);

	if (route == NULL || check_room(caller, p, e) < 0)
		return -1;
	auto_free void *request = calloc(1, messages[route->message].size);
	if (request == NULL)
		return err_sys(e, "%s", messages[route->message].name);
	int rc = run(route, caller, p, request, e);
	message_clear(route->message, request);
	return rc;
}

void
call_cancel(struct caller *caller, uint64_t id)
{
	struct open_call *c = find_call(caller, id);

	if (c != NULL)
		tell(c, ERR_cancelled);
}

void
call_orphan(struct caller *caller)
{
	for (struct open_call *c; (c = server_calls(caller)->first) != NULL;) {
		detach(c);
		tell(c, ERR_unavailable);
	}
}

/* ---- of an operator ---- */

static int
check_order(enum msg_id message, const struct packed *content, struct err *e)
{
	if (message == MSG_none || message_operator(message) != bus.config.self ||
	    bus.routes[message] == NULL)
		return err_set(e, ERR_invalid_argument, "%s takes no such message from an operator",
		    edge_peer_name(bus.config.self));
	if (bus.draining)
		return err_set(
		    e, ERR_unavailable, "%s is shutting down", edge_peer_name(bus.config.self));
	return check_opened(PEER_none, bus_message_weigh(content), e);
}

static int
run_order(const struct bus_order *o, enum msg_id message, void *request, struct err *e)
{
	struct envelope envelope = { .principal = strdup(o->principal) };
	size_t bytes = bus_message_weigh(o->content);
	struct open_call *c;

	if (envelope.principal == NULL || wire_decode(message, o->content, request, e) < 0 ||
	    (c = new_call(&(struct beginning){ PEER_none, message, &envelope, bytes })) == NULL) {
		free(envelope.principal);
		return e->code != ERR_none ? -1 : err_sys(e, "%s", messages[message].name);
	}
	c->call.by_operator = true;
	c->ended = o->ended;
	c->self = o->self;
	bus.counts.requests++;
	if (bus.routes[message]->handle(&c->call, request, e) < 0)
		call_fail(&c->call, e);
	return 0;
}

int
bus_order(const struct bus_order *o, struct err *e)
{
	enum msg_id message = message_find(o->message);

	*e = (struct err){ 0 };
	if (check_order(message, o->content, e) < 0)
		return -1;
	auto_free void *request = calloc(1, messages[message].size);
	if (request == NULL)
		return err_sys(e, "%s", messages[message].name);
	int rc = run_order(o, message, request, e);
	message_clear(message, request);
	return rc;
}

/* ---- replying ---- */

void
call_fail(struct call *call, const struct err *e)
{
	struct open_call *c = of(call);

	if (e->code == ERR_internal) /* the client gets only a reference to the log */
		log_error("call failed", LOG_S("message", messages[call->message].name), LOG_E(e));
	deliver(c, NULL, e);
	end(c);
}

void
call_reply(struct call *call, void *reply)
{
	struct open_call *c = of(call);
	enum msg_id message = messages[call->message].reply;
	struct packed content = { 0 };
	struct err e;

	if (bus.config.replies != NULL)
		bus.config.replies(call, reply);
	if (wire_encode(message, reply, &content, &e) < 0) {
		log_error("reply violates its schema", LOG_S("message", messages[message].name),
		    LOG_E(&e));
		err_set(&e, ERR_internal, "%s: the reply could not be encoded",
		    messages[call->message].name);
		call_fail(call, &e);
		return;
	}
	deliver(c, &content, NULL);
	packed_clear(&content);
	end(c);
}

int
call_stream(struct call *call, struct stream_part *part)
{
	struct open_call *c = of(call);
	struct packed content = { 0 };
	struct err e;

	if (c->caller == NULL || c->told || c->envelope.quiet ||
	    wire_encode(MSG_stream_part, part, &content, &e) < 0) {
		message_clear(MSG_stream_part, part);
		return -1;
	}
	return server_send(c->caller, frame_stream, c->id, MSG_stream_part, &content);
}

/* ---- adopting ---- */

struct call *
call_beside(const struct call *call, uint64_t id)
{
	struct caller *caller = ((const struct open_call *)call)->caller;
	struct open_call *c = caller == NULL ? NULL : find_call(caller, id);

	return c == NULL || c->told || &c->call == call ? NULL : &c->call;
}

void
call_adopt(struct call *call,
    void (*ended)(void *self, struct packed *content, const struct err *e), void *self)
{
	struct open_call *c = of(call);

	must(c->caller != NULL && !c->told);
	detach(c);
	c->ended = ended;
	c->self = self;
}

void
call_stop(struct call *call)
{
	tell(of(call), ERR_cancelled);
}
