/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - the side of an edge that binds: its endpoints and its connected clients.
 *
 * Trusts the kernel and CURVE to identify a client: an ipc endpoint belongs to one edge, and on TCP
 * each message carries the name that ZAP assigned to the key. A routing id only distinguishes a
 * peer's connections. A client is lost when it gets no heartbeat, or after five seconds of silence.
 */
#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "common/bus/deferred.h"
#include "common/bus/endpoint.h"
#include "common/bus/inner.h"
#include "common/bus/recv.h"
#include "common/bus/socket.h"
#include "common/bus/zap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MAX_CALLERS = 256,        /* connections of one daemon to an endpoint */
	MAX_STRANGERS = 64,       /* connections to an endpoint that have sent no hello */
	STRANGER_BYTES = 8 << 20, /* as recv.h counts: a hello is 200 KB */
	DEFERRED_MS = 20,
};

struct caller {
	struct caller *next;
	struct server *server;
	struct address address;
	enum peer peer;
	char instance[65];
	int64_t heard_ms;
	struct build build;
	struct calls calls;
	struct deferreds deferred; /* replies only: stream parts are dropped instead */
	int fd;
};

struct server {
	enum peer peer; /* the client of an ipc edge; PEER_none: TCP, any */
	char address[ENDPOINT_BYTES];
	uid_t uid;
	void *socket, *monitor;
	struct connection *connections;
	bool stirred; /* as socket.h says */
	size_t most;  /* bytes of a connection that has greeted, as recv.h counts */
	struct caller *callers;
};

static struct server servers[PEER_COUNT];
static size_t nservers;
static int directories[PEER_COUNT];
static uint64_t deferred_timer;

struct calls *
server_calls(struct caller *c)
{
	return &c->calls;
}

enum peer
server_peer(const struct caller *c)
{
	return c->peer;
}

const char *
server_instance(const struct caller *c)
{
	return c->instance;
}

const struct build *
server_build(const struct caller *c)
{
	return &c->build;
}

/* ---- sending ---- */

static int
transmit(struct server *s, enum peer reader, const struct address *to, struct answer *a)
{
	const struct target target = { s->socket, to, reader };
	struct envelope envelope = { .frame = (int)a->frame, .id = a->id };

	envelope.message = a->message == MSG_none ? NULL : (char *)messages[a->message].name;
	s->stirred = true;
	return bus_message_send(&target, &envelope, &a->content);
}

/* Did transmit() fail because there is no room? */
static bool
is_full(void)
{
	return errno == EAGAIN || errno == ENOBUFS;
}

static void
send_deferred(struct caller *c)
{
	for (struct answer *a; (a = deferred_first(&c->deferred)) != NULL;
	     deferred_drop(&c->deferred))
		if (transmit(c->server, c->peer, &c->address, a) < 0 && is_full())
			return;
}

static void
send_all_deferred(void *self)
{
	bool more = false;

	(void)self;
	deferred_timer = 0;
	for (struct server *s = servers; s < servers + nservers; s++)
		for (struct caller *c = s->callers; c != NULL; c = c->next) {
			send_deferred(c);
			more |= deferred_first(&c->deferred) != NULL;
		}
	if (more)
		deferred_timer = loop_after(DEFERRED_MS, send_all_deferred, NULL);
}

static struct answer
failure_of(uint64_t id, const struct err *why)
{
	return (struct answer){ frame_failure, id, MSG_failure, bus_pack_failure(why) };
}

/* The client always learns the outcome: through a failure instead of the reply, or through the
 * end of the connection. */
static int
keep_deferred(struct caller *c, struct answer *a)
{
	struct err e;

	if (deferred_timer == 0)
		deferred_timer = loop_after(DEFERRED_MS, send_all_deferred, NULL);
	if (deferred_add(&c->deferred, a, &e) == 0)
		return 0;
	bus_refuse(c->peer, &e);
	packed_clear(&a->content);
	if (a->frame != frame_failure) {
		*a = failure_of(a->id, &e);
		if (deferred_add(&c->deferred, a, &e) == 0)
			return 0;
		packed_clear(&a->content);
	}
	connection_end(c->server->connections, c->fd);
	return -1;
}

int
server_send(
    struct caller *c, enum frame frame, uint64_t id, enum msg_id message, struct packed *content)
{
	struct answer a = { frame, id, message, *content };

	*content = (struct packed){ 0 };
	if (deferred_first(&c->deferred) != NULL)
		errno = EAGAIN;
	else if (transmit(c->server, c->peer, &c->address, &a) == 0)
		return 0;
	if ((frame == frame_reply || frame == frame_failure) && is_full())
		return keep_deferred(c, &a);
	packed_clear(&a.content);
	return -1;
}

void
server_fail(struct caller *c, uint64_t id, const struct err *why)
{
	struct answer a = failure_of(id, why);

	server_send(c, a.frame, a.id, a.message, &a.content);
}

/* Only a client that sent a hello has a queue; for others the refusal may be lost. */
static void
refuse(struct server *s, struct caller *c, const struct bus_message *p, const struct err *why)
{
	if (c != NULL) {
		server_fail(c, p->envelope.id, why);
		return;
	}
	struct answer a = failure_of(p->envelope.id, why);
	if (transmit(s, PEER_none, &p->from, &a) < 0)
		packed_clear(&a.content);
}

/* ---- callers ---- */

static struct caller *
find_caller(struct server *s, const struct address *from)
{
	for (struct caller *c = s->callers; c != NULL; c = c->next)
		if (c->address.size == from->size &&
		    memcmp(c->address.bytes, from->bytes, from->size) == 0)
			return c;
	return NULL;
}

static size_t
count_callers(const struct server *s, enum peer peer)
{
	size_t n = 0;

	for (const struct caller *c = s->callers; c != NULL; c = c->next)
		n += c->peer == peer;
	return n;
}

static struct caller *
add_caller(struct server *s, const struct address *from, enum peer peer, struct err *e)
{
	struct caller *c = count_callers(s, peer) < MAX_CALLERS ? calloc(1, sizeof *c) : NULL;

	if (c == NULL) {
		err_set(e, ERR_queue_full, "more than %d connections of %s", MAX_CALLERS,
		    edge_peer_name(peer));
		return NULL;
	}
	c->server = s;
	c->address = *from;
	c->peer = c->deferred.reader = peer;
	c->next = s->callers;
	s->callers = c;
	return c;
}

static void
drop_caller(struct caller *c)
{
	struct caller **at = &c->server->callers;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	call_orphan(c);
	deferred_clear(&c->deferred);
	free(c);
}

static void
lose_caller(struct caller *c, const char *why)
{
	log_info("client disconnected", LOG_S("peer", edge_peer_name(c->peer)),
	    LOG_S("instance", c->instance), LOG_S("why", why), LOG_N("open", c->calls.count));
	bus.counts.lost[c->peer]++;
	drop_caller(c);
}

struct heartbeat
server_load(void)
{
	struct heartbeat load = { .running = call_count() };
	uint64_t most = bus.config.max_calls;

	load.room = bus.draining || load.running > most ? 0 : most - load.running;
	if (bus.config.load != NULL)
		bus.config.load(&load);
	load.faulty = bus.config.fault != NULL && bus.config.fault() != NULL;
	return load;
}

/* -1 with errno: not sent. */
static int
send_heartbeat(struct caller *c)
{
	struct heartbeat load = server_load();
	struct answer a = { frame_heartbeat, 0, MSG_heartbeat, bus_pack(MSG_heartbeat, &load) };
	int rc = transmit(c->server, c->peer, &c->address, &a);
	int why = errno;
	packed_clear(&a.content);
	errno = why;
	return rc;
}

void
server_tick(void)
{
	int64_t now = loop_now_ms();

	for (struct server *s = servers; s < servers + nservers; s++)
		for (struct caller *c = s->callers, *next; c != NULL; c = next) {
			next = c->next;
			if (now - c->heard_ms > BUS_CLIENT_LOST_MS)
				lose_caller(c, "silent");
			else if (send_heartbeat(c) < 0 && errno == EHOSTUNREACH)
				lose_caller(c, "disconnected");
		}
	for (struct server *s = servers; s < servers + nservers; s++)
		connection_end_silent(s->connections, BUS_CLIENT_LOST_MS);
}

static void see_events(void *self, uint32_t unused);

/* ---- receiving ---- */

/* A hello starts both sides anew: the earlier requests of the client are cancelled. */
static int
greet(struct server *s, struct caller *c, enum peer from, const struct bus_message *p,
    const struct hello *theirs, struct err *e)
{
	struct hello ours = bus_hello();
	struct packed content = bus_pack(MSG_hello, &ours);

	if (strcmp(theirs->daemon, edge_peer_name(from)) != 0) {
		packed_clear(&content);
		return err_set(e, ERR_denied, "hello from %s on the edge of %s", theirs->daemon,
		    edge_peer_name(from));
	}
	if (c == NULL && (c = add_caller(s, &p->from, from, e)) == NULL) {
		packed_clear(&content);
		return -1;
	}
	call_orphan(c);
	c->fd = p->fd;
	see_events(s, 0); /* its own event is there, and would otherwise bound it as a stranger's */
	connection_heard(s->connections, p->fd, true);
	recv_widen(p->fd, s->most);
	c->heard_ms = loop_now_ms();
	snprintf(c->instance, sizeof c->instance, "%s", theirs->instance);
	bus_compare(theirs, &c->build);
	log_info("client connected", LOG_S("peer", theirs->daemon),
	    LOG_S("instance", theirs->instance), LOG_S("version", theirs->version));
	if (server_send(c, frame_hello, p->envelope.id, MSG_hello, &content) == 0)
		send_heartbeat(c);
	return 0;
}

static int
on_hello(struct server *s, struct caller *c, enum peer from, struct bus_message *p, struct err *e)
{
	struct hello theirs = { 0 };

	if (bus_message_decode(p, MSG_hello, &theirs, e) < 0)
		return -1;
	int rc = greet(s, c, from, p, &theirs, e);
	message_clear(MSG_hello, &theirs);
	return rc;
}

static int
on_bus_message(
    struct server *s, struct caller *c, enum peer from, struct bus_message *p, struct err *e)
{
	switch (p->envelope.frame) {
	case frame_hello:
		return on_hello(s, c, from, p, e);
	case frame_heartbeat:
		return 0;
	case frame_request:
		if (c == NULL)
			return err_set(e, ERR_unavailable, "a request before a hello");
		return call_begin(c, p, e);
	case frame_cancel:
		if (c != NULL)
			call_cancel(c, p->envelope.id);
		return 0;
	default:
		return err_set(e, ERR_denied, "unexpected frame '%s' from a client",
		    word_text(SET_frame, p->envelope.frame));
	}
}

/* The peer that sent it; PEER_none: refused. */
static enum peer
sender(const struct server *s, const struct caller *c, const struct bus_message *p, struct err *e)
{
	enum peer from = s->peer != PEER_none ? s->peer : edge_peer_parse(p->user);

	if (edge_find(from, bus.config.self) != NULL && (c == NULL || c->peer == from))
		return from;
	err_set(e, ERR_denied, "message with an unknown key");
	return PEER_none;
}

/* Only a client that sent a hello may send a large request. */
static size_t
room(void *self, const struct bus_message *p)
{
	bool request = p->envelope.frame == frame_request && find_caller(self, &p->from) != NULL;

	return request ? BUS_MESSAGE_BYTES : BUS_MESSAGE_SMALL_BYTES;
}

static bool
receive(struct server *s)
{
	const struct receiver in = { .socket = s->socket, .routed = true, .room = room, .self = s };
	struct bus_message p;
	struct err e;
	int rc = bus_message_receive(&in, &p, &e);

	if (rc == 0)
		return false;
	struct caller *c = find_caller(s, &p.from);
	connection_heard(s->connections, p.fd, c != NULL);
	if (rc < 0) {
		bus_malformed(s->peer, &e);
		return true;
	}
	enum peer from = sender(s, c, &p, &e);
	if (from == PEER_none) {
		bus_refuse(from, &e);
	} else {
		if (c != NULL)
			c->heard_ms = loop_now_ms();
		if (on_bus_message(s, c, from, &p, &e) < 0) {
			bus_refuse(from, &e);
			refuse(s, c, &p, &e);
		}
	}
	bus_message_clear(&p);
	return true;
}

static void
see_events(void *self, uint32_t unused)
{
	struct server *s = self;
	struct err e;

	(void)unused;
	for (int event, fd; (event = socket_event(s->monitor, &fd)) != 0;) {
		if (event == ZMQ_EVENT_ACCEPTED) {
			connection_add(&s->connections, fd, STRANGER_BYTES);
			connection_end_stranger(s->connections, MAX_STRANGERS);
			continue;
		}
		if (event == ZMQ_EVENT_DISCONNECTED) {
			if (connection_remove(&s->connections, fd))
				bus_endless(s->peer);
			continue;
		}
		err_set(&e, ERR_denied, "%s",
		    event == ZMQ_EVENT_ACCEPT_FAILED
			? "a connection of another user, or no descriptor was free"
			: "a connection that failed its handshake");
		bus_refuse(s->peer, &e);
	}
}

bool
server_pump(bool all)
{
	bool more = zap_pump();

	for (struct server *s = servers; s < servers + nservers; s++) {
		struct bus_turn turn = { 0 };

		s->stirred |= all;
		while (s->stirred && bus_goes_on(&turn))
			s->stirred = receive(s);
	}
	for (const struct server *s = servers; s < servers + nservers; s++)
		more |= s->stirred;
	return more;
}

/* ---- start and end ---- */

static int
add_edge(const struct edge *edge, struct err *e)
{
	struct server *s = &servers[nservers];

	*s = (struct server){ .peer = edge->client };
	if (endpoint_ipc(bus.config.run, edge, bus.config.instance, s->address, e) < 0 ||
	    endpoint_uid(&bus.config, edge->client, &s->uid, e) < 0)
		return -1;
	int fd = endpoint_directory(&bus.config, edge, e);
	if (fd < 0)
		return -1;
	directories[nservers++] = fd;
	bus.needs.nfolders = nservers;
	return 0;
}

int
server_prepare(struct err *e)
{
	bus.needs.directories = directories;
	nservers = 0;
	if (bus.config.routes == NULL)
		return 0;
	if (*bus.config.listen != '\0') {
		servers[nservers++] = (struct server){ .peer = PEER_none };
		bus.needs.tcp_bind = true;
		return 0;
	}
	for (const struct edge *edge = edges; edge < edges + edges_count; edge++)
		if (edge->server == bus.config.self && add_edge(edge, e) < 0)
			return -1;
	return 0;
}

static int
make_tcp(struct server *s, struct err *e)
{
	int n = snprintf(s->address, sizeof s->address, "%s", bus.config.listen);

	if ((size_t)n >= sizeof s->address)
		return err_set(e, ERR_invalid_argument, "listen: the address is too long");
	if (strchr(s->address, '[') != NULL &&
	    socket_set_int(s->socket, ZMQ_IPV6, "ZMQ_IPV6", 1, e) < 0)
		return -1;
	if (zap_open(bus.context, bus.config.self, &bus.keys, e) < 0)
		return -1;
	if (socket_set_int(s->socket, ZMQ_CURVE_SERVER, "ZMQ_CURVE_SERVER", 1, e) < 0)
		return -1;
	return socket_set_text(
	    s->socket, ZMQ_CURVE_SECRETKEY, "ZMQ_CURVE_SECRETKEY", bus.keys.secret, e);
}

static int
make_ipc(struct server *s, struct err *e)
{
	if (zmq_setsockopt(s->socket, ZMQ_IPC_FILTER_UID, &s->uid, sizeof s->uid) < 0)
		return err_set(
		    e, ERR_internal, "ZMQ_IPC_FILTER_UID: %s", zmq_strerror(zmq_errno()));
	return 0;
}

static int
bind_server(struct server *s, struct err *e)
{
	/* The mode of the directory controls access; the socket gets the directory's group. */
	mode_t before = umask(0117);
	int rc = zmq_bind(s->socket, s->address);

	if (rc < 0)
		err_set(e, ERR_unavailable, "bind %s: %s", s->address, zmq_strerror(zmq_errno()));
	umask(before);
	if (rc == 0)
		log_info("listening", LOG_S("endpoint", s->address));
	return rc;
}

/* What no request that this process accepts exceeds. */
static int
bound_parts(struct server *s, struct err *e)
{
	struct wire_bounds most = { .part = BUS_MESSAGE_SMALL_BYTES };

	for (const struct route *r = bus.config.routes; r->message != MSG_none; r++)
		wire_widen(&most, r->message);
	return socket_bound_parts(s->socket, &most, &s->most, e);
}

static int
open_server(struct server *s, struct err *e)
{
	const int events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_ACCEPT_FAILED |
	                   ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
	                   ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

	if ((s->socket = socket_open(bus.context, ZMQ_ROUTER, &s->stirred, e)) == NULL ||
	    (s->monitor = socket_monitor(bus.context, s->socket, events, see_events, s, e)) ==
		NULL ||
	    bound_parts(s, e) < 0 ||
	    socket_set_int(s->socket, ZMQ_ROUTER_MANDATORY, "ZMQ_ROUTER_MANDATORY", 1, e) < 0)
		return -1;
	if ((s->peer == PEER_none ? make_tcp(s, e) : make_ipc(s, e)) < 0)
		return -1;
	return bind_server(s, e);
}

int
server_start(struct err *e)
{
	for (struct server *s = servers; s < servers + nservers; s++)
		if (open_server(s, e) < 0)
			return -1;
	return 0;
}

void
server_stop(void)
{
	for (struct server *s = servers; s < servers + nservers; s++) {
		while (s->callers != NULL)
			drop_caller(s->callers);
		connection_clear(&s->connections);
		socket_close_both(take_ptr(s->socket), take_ptr(s->monitor));
	}
	for (size_t i = 0; i < bus.needs.nfolders; i++)
		close(directories[i]);
	zap_close();
	loop_unset(deferred_timer);
	deferred_timer = 0;
	nservers = 0;
	bus.needs.nfolders = 0;
}
