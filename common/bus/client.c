/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - the side of an edge that connects: one connection per instance of a server.
 *
 * A server is trusted as far as its edge goes: its directory or its key identifies the daemon. Its
 * messages are still decoded strictly. ZeroMQ reports broken connections, so a killed server is
 * noticed at once; a hung server is declared lost after two seconds of silence.
 *
 * ZMQ_IMMEDIATE ties a queue to its connection: requests that a lost server has not read are not
 * sent to its successor, because their clients have already received a failure.
 */
#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/bus/bus.h"
#include "common/bus/endpoint.h"
#include "common/bus/inner.h"
#include "common/bus/socket.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_LINKS = 256,
	RECONNECT_MS = 5,
	RECONNECT_MAX_MS = 200,
	TCP_PING_MS = 1000,
	TCP_LOST_MS = 3000,
	FAILED_BYTES = 512,
};

struct link {
	enum peer to;
	char *address;
	void *socket, *monitor;
	struct connection *connection;
	bool stirred;      /* as socket.h says */
	size_t most;       /* bytes of the connection, as recv.h counts */
	bool connected;    /* as ZeroMQ says */
	bool ready;        /* hello received, and not silent */
	uint64_t greeting; /* number of our last hello; other replies to hellos are ignored */
	int64_t heard_ms, spoke_ms;
	char instance[65];
	struct build build;
	struct heartbeat load;
	int64_t busy; /* open requests there: its last heartbeat and our changes since */
};

static struct link *links;
static size_t nlinks;
static bool odd_tick;

const char *
client_name(const struct link *l)
{
	return l->instance;
}

void
client_load(struct link *l, int by)
{
	l->busy += by;
	if (l->busy < 0)
		l->busy = 0;
}

int
client_send(struct link *l, struct envelope *envelope, struct packed *content)
{
	int rc = bus_message_send(&(struct target){ l->socket, NULL, l->to }, envelope, content);

	l->stirred = true;
	if (rc == 0)
		l->spoke_ms = loop_now_ms();
	return rc;
}

/* This process was busy for so long that the server may have declared it lost, with its
 * requests. */
static bool
stale(const struct link *l)
{
	return loop_now_ms() - l->spoke_ms > BUS_CLIENT_STALE_MS;
}

/* ---- choice of a server ---- */

static bool
matches(const struct link *l, const struct ask *ask)
{
	return l->to == ask->to &&
	       (ask->instance == NULL || strcmp(ask->instance, l->instance) == 0);
}

/* false if all servers are connected and none of them fits. A made-up id, or a message that
 * their builds describe differently, need not wait. */
bool
client_expects(const struct ask *ask)
{
	for (const struct link *l = links; l < links + nlinks; l++) {
		if (l->to != ask->to)
			continue;
		if (!l->ready || stale(l) || (matches(l, ask) && !l->build.differs[ask->message]))
			return true;
	}
	return false;
}

/* The supervisor's reason why the daemon does not run; false: none, or no supervisor says so. */
static bool
load_failure(enum peer to, struct blob *why)
{
	char file[64];
	struct err ignored;

	snprintf(file, sizeof file, "%s" BUS_FAILED, edge_peer_name(to));
	if (bus.config.run_fd < 0 ||
	    fdio_load(bus.config.run_fd, file, FAILED_BYTES, why, &ignored) < 0)
		return false;
	utf8_tame(why->data);
	return true;
}

bool
client_failed(enum peer to)
{
	struct blob why = { 0 };
	bool failed = load_failure(to, &why);

	blob_clear(&why);
	return failed;
}

static int
say_none(enum peer to, struct err *e)
{
	struct blob why = { 0 };

	if (load_failure(to, &why))
		err_set(e, ERR_unavailable,
		    "no %s runs: %.160s; when that is repaired: cloister up", edge_peer_name(to),
		    (const char *)why.data);
	else
		err_set(e, ERR_unavailable, "no %s is connected", edge_peer_name(to));
	blob_clear(&why);
	return -1;
}

static int
say_why_none(const struct ask *ask, const struct link *differing, struct err *e)
{
	if (differing != NULL)
		return bus_refuse_build(
		    ask->message, ask->to, differing->instance, &differing->build, e);
	if (ask->instance != NULL && !client_expects(ask))
		return err_set(e, ERR_not_found, "no %s has the name '%s'", edge_peer_name(ask->to),
		    ask->instance);
	return say_none(ask->to, e);
}

/* Rendezvous hashing (Thaler and Ravishankar, 1998): every client computes the same instance,
 * and if an instance comes or goes, only the owners assigned to it move. */
static uint64_t
claim(const struct link *l, const struct ask *ask)
{
	static const struct owner nobody;
	crypto_generichash_state state;
	char key[OWNER_KEY];
	size_t size = owner_key(ask->owner != NULL ? ask->owner : &nobody, key);
	uint64_t hash[crypto_generichash_BYTES_MIN / sizeof(uint64_t)];

	crypto_generichash_init(&state, NULL, 0, sizeof hash);
	crypto_generichash_update(&state, (const uint8_t *)key, size);
	crypto_generichash_update(&state, (const uint8_t *)l->instance, strlen(l->instance) + 1);
	crypto_generichash_final(&state, (uint8_t *)hash, sizeof hash);
	return hash[0];
}

static bool
is_better(const struct link *l, const struct link *best, const struct ask *ask)
{
	if (best == NULL || l->load.faulty != best->load.faulty)
		return best == NULL || best->load.faulty;
	return ask->home ? claim(l, ask) > claim(best, ask) : l->busy < best->busy;
}

struct link *
client_choose(const struct ask *ask, struct err *e)
{
	const struct link *differing = NULL;
	struct link *best = NULL;

	for (struct link *l = links; l < links + nlinks; l++) {
		if (!l->ready || stale(l) || !matches(l, ask))
			continue;
		if (l->build.differs[ask->message])
			differing = l;
		else if (is_better(l, best, ask))
			best = l;
	}
	if (best == NULL)
		say_why_none(ask, differing, e);
	return best;
}

bool
client_ready(enum peer to, struct heartbeat *load)
{
	const struct link *found = NULL;

	for (const struct link *l = links; l < links + nlinks; l++)
		if (l->to == to && l->ready && (found == NULL || found->load.faulty))
			found = l;
	if (found != NULL && load != NULL)
		*load = found->load;
	return found != NULL;
}

size_t
client_instances(enum peer to, const char **names, size_t room)
{
	size_t count = 0;

	for (const struct link *l = links; l < links + nlinks && count < room; l++)
		if (l->to == to && l->ready)
			names[count++] = l->instance;
	return count;
}

/* ---- hellos and lost servers ---- */

static void
say_hello(struct link *l)
{
	struct envelope envelope = { .frame = frame_hello, .message = (char *)"hello" };
	struct hello ours = bus_hello();
	struct packed content = bus_pack(MSG_hello, &ours);

	l->greeting = l->greeting % (BUS_MAX_ASKS - 1) + 1;
	envelope.id = l->greeting;
	client_send(l, &envelope, &content);
	packed_clear(&content);
}

static void
beat(struct link *l)
{
	struct envelope envelope = { .frame = frame_heartbeat, .message = (char *)"heartbeat" };
	struct heartbeat nothing = { 0 };
	struct packed content = bus_pack(MSG_heartbeat, &nothing);

	client_send(l, &envelope, &content);
	packed_clear(&content);
}

static void
lose(struct link *l, const char *why)
{
	struct err e;

	if (!l->ready)
		return;
	l->ready = false;
	l->busy = 0;
	bus.counts.lost[l->to]++;
	log_warn("server lost", LOG_S("peer", edge_peer_name(l->to)),
	    LOG_S("instance", l->instance), LOG_S("why", why));
	err_set(&e, ERR_unavailable, "%s %s was lost during the request: %s", edge_peer_name(l->to),
	    l->instance, why);
	ask_lost(l, &e, l->connected);
}

/* One reply for each hello of ours: a server that repeats itself would fill the log. */
static int
on_hello(struct link *l, struct bus_message *p, struct err *e)
{
	struct hello theirs = { 0 };
	int rc = 0;

	if (bus_message_decode(p, MSG_hello, &theirs, e) < 0)
		return -1;
	if (strcmp(theirs.daemon, edge_peer_name(l->to)) != 0) {
		rc = err_set(e, ERR_denied, "%s: hello from %s, expected %s", l->address,
		    theirs.daemon, edge_peer_name(l->to));
	} else {
		snprintf(l->instance, sizeof l->instance, "%s", theirs.instance);
		bus_compare(&theirs, &l->build);
		log_info("server connected", LOG_S("peer", theirs.daemon),
		    LOG_S("instance", theirs.instance), LOG_S("version", theirs.version));
		l->ready = true;
		ask_flush(l->to);
	}
	message_clear(MSG_hello, &theirs);
	return rc;
}

static int
on_heartbeat(struct link *l, struct bus_message *p, struct err *e)
{
	struct heartbeat load = { 0 };

	if (bus_message_decode(p, MSG_heartbeat, &load, e) < 0)
		return -1;
	l->load = load;
	l->busy = (int64_t)(load.running + load.queued);
	return 0;
}

/* Refusal of something that is not a request of ours, such as a hello. */
static int
on_refusal(struct bus_message *p, struct err *e)
{
	struct failure f = { 0 };

	if (bus_message_decode(p, MSG_failure, &f, e) < 0)
		return -1;
	err_set(e, ERR_denied, "refused by the server: %s", f.text);
	message_clear(MSG_failure, &f);
	return -1;
}

static int
on_bus_message(struct link *l, struct bus_message *p, struct err *e)
{
	switch (p->envelope.frame) {
	case frame_hello:
		return p->envelope.id == l->greeting && !l->ready ? on_hello(l, p, e) : 0;
	case frame_heartbeat:
		return on_heartbeat(l, p, e);
	case frame_failure:
		if (p->envelope.id < BUS_MAX_ASKS)
			return on_refusal(p, e);
		/* fall through */
	case frame_reply:
	case frame_stream:
		ask_answer(l, p);
		return 0;
	default:
		return err_set(e, ERR_denied, "unexpected frame '%s' from a server",
		    word_text(SET_frame, p->envelope.frame));
	}
}

/* Only an expected reply may be large. */
static size_t
room(void *self, const struct bus_message *p)
{
	bool reply = p->envelope.frame == frame_reply && ask_is_open(self, p->envelope.id);

	return reply ? BUS_MESSAGE_BYTES : BUS_MESSAGE_SMALL_BYTES;
}

static bool
receive(struct link *l)
{
	const struct receiver in = { .socket = l->socket, .room = room, .self = l };
	struct bus_message p;
	struct err e;
	int rc = bus_message_receive(&in, &p, &e);

	if (rc == 0)
		return false;
	if (rc < 0) {
		bus_malformed(l->to, &e);
		return true;
	}
	l->heard_ms = loop_now_ms();
	if (on_bus_message(l, &p, &e) < 0)
		bus_refuse(l->to, &e);
	bus_message_clear(&p);
	return true;
}

/* Messages that a server sent before it closed the connection are still valid, so they are read
 * first. */
static void
see_events(void *self, uint32_t unused)
{
	struct link *l = self;

	(void)unused;
	for (int event, fd; (event = socket_event(l->monitor, &fd)) != 0;) {
		if (event == ZMQ_EVENT_CONNECTED) {
			connection_add(&l->connection, fd, l->most);
		} else if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
			l->connected = true;
			l->heard_ms = loop_now_ms();
			say_hello(l);
		} else if (event == ZMQ_EVENT_DISCONNECTED) {
			if (connection_remove(&l->connection, fd))
				bus_endless(l->to);
			while (receive(l))
				;
			l->connected = false;
			lose(l, "connection closed");
		} else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
			log_warn("the server does not accept this daemon's key",
			    LOG_S("endpoint", l->address));
		}
	}
}

bool
client_pump(bool all)
{
	bool more = false;

	for (struct link *l = links; l < links + nlinks; l++) {
		struct bus_turn turn = { 0 };

		l->stirred |= all;
		while (l->stirred && bus_goes_on(&turn))
			l->stirred = receive(l);
	}
	for (const struct link *l = links; l < links + nlinks; l++)
		more |= l->stirred;
	return more;
}

/* ---- connections ---- */

static int
make_tcp(struct link *l, struct err *e)
{
	void *s = l->socket;

	if (strchr(l->address, '[') != NULL && socket_set_int(s, ZMQ_IPV6, "ZMQ_IPV6", 1, e) < 0)
		return -1;
	if (socket_set_int(s, ZMQ_HEARTBEAT_IVL, "ZMQ_HEARTBEAT_IVL", TCP_PING_MS, e) < 0 ||
	    socket_set_int(s, ZMQ_HEARTBEAT_TIMEOUT, "ZMQ_HEARTBEAT_TIMEOUT", TCP_LOST_MS, e) < 0)
		return -1;
	if (socket_set_text(
		s, ZMQ_CURVE_SERVERKEY, "ZMQ_CURVE_SERVERKEY", bus.keys.peers[l->to], e) < 0 ||
	    socket_set_text(s, ZMQ_CURVE_PUBLICKEY, "ZMQ_CURVE_PUBLICKEY", bus.keys.public, e) < 0)
		return -1;
	return socket_set_text(s, ZMQ_CURVE_SECRETKEY, "ZMQ_CURVE_SECRETKEY", bus.keys.secret, e);
}

static int
open_link(struct link *l, struct err *e)
{
	const struct wire_bounds reply = { BUS_MESSAGE_PART_BYTES, WIRE_MAX_BLOBS };
	const int events = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
	                   ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

	l->heard_ms = loop_now_ms();
	if ((l->socket = socket_open(bus.context, ZMQ_DEALER, &l->stirred, e)) == NULL ||
	    (l->monitor = socket_monitor(bus.context, l->socket, events, see_events, l, e)) == NULL)
		return -1;
	if (socket_bound_parts(l->socket, &reply, &l->most, e) < 0)
		return -1;
	if (socket_set_int(l->socket, ZMQ_IMMEDIATE, "ZMQ_IMMEDIATE", 1, e) < 0 ||
	    socket_set_int(l->socket, ZMQ_RECONNECT_IVL, "ZMQ_RECONNECT_IVL", RECONNECT_MS, e) < 0)
		return -1;
	if (socket_set_int(
		l->socket, ZMQ_RECONNECT_IVL_MAX, "ZMQ_RECONNECT_IVL_MAX", RECONNECT_MAX_MS, e) < 0)
		return -1;
	if (strncmp(l->address, "tcp:", 4) == 0 && make_tcp(l, e) < 0)
		return -1;
	if (zmq_connect(l->socket, l->address) < 0)
		return err_set(
		    e, ERR_unavailable, "connect %s: %s", l->address, zmq_strerror(zmq_errno()));
	return 0;
}

/* Reconnects to a silent server, and to one that broke ZeroMQ's protocol, because libzmq never
 * retries that by itself. */
static void
renew(struct link *l)
{
	struct err e;

	lose(l, "silent");
	l->heard_ms = loop_now_ms();
	if (l->connected) {
		connection_end_silent(l->connection, -1);
		return;
	}
	connection_clear(&l->connection);
	socket_close_both(take_ptr(l->socket), take_ptr(l->monitor));
	if (open_link(l, &e) < 0)
		log_error("no connection", LOG_S("endpoint", l->address), LOG_E(&e));
}

void
client_tick(void)
{
	int64_t now = loop_now_ms();

	odd_tick = !odd_tick;
	for (struct link *l = links; l < links + nlinks; l++) {
		if (now - l->heard_ms > BUS_SERVER_LOST_MS)
			renew(l);
		if (l->ready && stale(l))
			lose(l, "this process was too busy to send heartbeats");
		if (l->connected && !l->ready)
			say_hello(l);
		else if (l->ready && odd_tick)
			beat(l);
		if (l->ready)
			ask_flush(l->to);
	}
}

/* ---- start and end ---- */

static int
add_links(enum peer to, struct err *e)
{
	struct texts found = { 0 };
	int rc = endpoint_list(&bus.config, to, &found, e);

	if (rc == 0 && nlinks + found.count > MAX_LINKS)
		rc = err_set(e, ERR_limit_exceeded, "connect_%s: more than %d endpoints",
		    edge_peer_name(to), MAX_LINKS);
	for (size_t i = 0; rc == 0 && i < found.count; i++) {
		bus.needs.tcp_connect |= strncmp(found.items[i], "tcp:", 4) == 0;
		links[nlinks++] = (struct link){ .to = to, .address = take_ptr(found.items[i]) };
	}
	for (size_t i = 0; i < found.count; i++)
		free(found.items[i]);
	free(found.items);
	return rc;
}

int
client_prepare(struct err *e)
{
	nlinks = 0;
	odd_tick = false;
	links = calloc(MAX_LINKS, sizeof *links);
	if (links == NULL)
		return err_sys(e, "links");
	for (enum peer to = PEER_FIRST; to < PEER_COUNT; to++)
		if (edge_find(bus.config.self, to) != NULL && add_links(to, e) < 0)
			return -1;
	return 0;
}

int
client_start(struct err *e)
{
	for (struct link *l = links; l < links + nlinks; l++)
		if (open_link(l, e) < 0)
			return -1;
	return 0;
}

void
client_stop(void)
{
	for (struct link *l = links; l < links + nlinks; l++) {
		l->ready = false;
		connection_clear(&l->connection);
		socket_close_both(l->socket, l->monitor);
		free(l->address);
	}
	free(links);
	links = NULL;
	nlinks = 0;
}
