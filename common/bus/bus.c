/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bus.c - start, loop and end of the bus of a process; server.c and client.c are its two sides.
 *
 * Trusts the configuration. The ZeroMQ context is made before the jail, since making it opens
 * files; its threads start with the first socket and so are in the jail. Everything else runs in
 * the thread of the loop. Before each wait the sockets are read until empty, because ZeroMQ's
 * descriptors are edge-triggered.
 */
#include "common/bus/bus.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/bus/endpoint.h"
#include "common/bus/inner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	LINES = 5, /* log lines about refusals of a peer, per second */
	DEFAULT_CALLS = 1024,
};

struct bus bus;

static struct greeting greetings[MSG_COUNT];
static uint64_t tick_timer;

/* ---- refusals ---- */

/* Counted for each peer, so a flood by one does not hide refusals of another. */
static void
note(const char *text, enum peer from, const struct err *e)
{
	static int64_t seconds[PEER_COUNT];
	static unsigned lines[PEER_COUNT];
	int64_t now = loop_now_ms() / 1000;

	lines[from] = now == seconds[from] ? lines[from] + 1 : 1;
	seconds[from] = now;
	if (lines[from] <= LINES)
		log_warn(text, LOG_S("peer", edge_peer_name(from)), LOG_E(e),
		    LOG_N("refused", bus.counts.refused));
}

void
bus_refuse(enum peer from, const struct err *e)
{
	bus.counts.refused++;
	note("refused", from, e);
}

void
bus_malformed(enum peer from, const struct err *e)
{
	bus.counts.malformed++;
	bus.counts.refused++;
	note("malformed", from, e);
}

void
bus_endless(enum peer from)
{
	struct err e;

	err_set(&e, ERR_limit_exceeded, "a message larger than any that is allowed");
	bus_malformed(from, &e);
}

const struct bus_counts *
bus_counts(void)
{
	return &bus.counts;
}

/* ---- hello ---- */

static uint64_t
hash_of(enum msg_id message)
{
	return message_hash(message) & INT64_MAX; /* the bound of UINT fields */
}

struct hello
bus_hello(void)
{
	struct hello h = {
		.daemon = (char *)edge_peer_name(bus.config.self),
		.instance = (char *)bus.config.instance,
		.version = (char *)CLOISTER_VERSION,
	};

	h.messages.items = greetings + 1;
	h.messages.count = MSG_COUNT - 1;
	return h;
}

static void
prepare_hello(void)
{
	for (enum msg_id m = MSG_none + 1; m < MSG_COUNT; m++)
		greetings[m] = (struct greeting){ (char *)messages[m].name, hash_of(m) };
}

void
bus_compare(const struct hello *theirs, struct build *build)
{
	size_t same = 0;

	snprintf(build->version, sizeof build->version, "%s", theirs->version);
	memset(build->differs, true, sizeof build->differs);
	for (size_t i = 0; i < theirs->messages.count; i++) {
		const struct greeting *g = &theirs->messages.items[i];
		enum msg_id message = message_find(g->message);

		if (message != MSG_none)
			build->differs[message] = g->hash != greetings[message].hash;
	}
	for (enum msg_id m = MSG_none + 1; m < MSG_COUNT; m++)
		same += !build->differs[m];
	if (same < MSG_COUNT - 1)
		log_warn("peer of another build: messages with different descriptions are refused",
		    LOG_S("peer", theirs->daemon), LOG_S("instance", theirs->instance),
		    LOG_S("its_version", theirs->version), LOG_S("our_version", CLOISTER_VERSION),
		    LOG_N("differ", MSG_COUNT - 1 - same));
}

int
bus_refuse_build(enum msg_id message, enum peer peer, const char *instance,
    const struct build *build, struct err *e)
{
	return err_set(e, ERR_unavailable,
	    "%s: %s %.32s (version %s) and %s (version %s) describe it differently; run one "
	    "version of both",
	    messages[message].name, edge_peer_name(peer), instance, build->version,
	    edge_peer_name(bus.config.self), CLOISTER_VERSION);
}

struct packed
bus_pack(enum msg_id message, void *msg)
{
	struct packed content = { 0 };
	struct err e;

	must(wire_encode(message, msg, &content, &e) == 0);
	return content;
}

struct packed
bus_pack_failure(const struct err *why)
{
	bool shortage = why->sys == EMFILE || why->sys == ENFILE || why->sys == ENOMEM;
	bool passes = why->code == ERR_internal && shortage;
	char text[sizeof why->text]; /* limited to the bound of the message; only the remedy can be
	                                cut off */
	struct failure f = {
		.code = (char *)err_name(passes ? ERR_unavailable : why->code),
		.text = text,
		.retry_ms = (uint64_t)why->retry_ms,
	};

	snprintf(text, sizeof text, "%s%s", why->text, passes ? err_shortage(why->sys) : "");
	return bus_pack(MSG_failure, &f);
}

/* ---- start and end ---- */

static bool
uses_tcp(void)
{
	const struct bus_config *c = &bus.config;
	bool tcp = *c->listen != '\0' && c->routes != NULL;

	for (size_t i = 0; i < PEER_COUNT; i++)
		tcp |= c->connect[i] != NULL && strstr(c->connect[i], "tcp://") != NULL;
	return tcp;
}

static int
check_config(struct err *e)
{
	struct bus_config *c = &bus.config;

	if (c->instance == NULL)
		c->instance = "1";
	if (c->listen == NULL)
		c->listen = "";
	if (c->max_calls == 0)
		c->max_calls = DEFAULT_CALLS;
	if (!endpoint_is_name(c->instance))
		return err_set(e, ERR_invalid_argument,
		    "instance '%.64s': letters, digits, '_', '-' and '.' are allowed", c->instance);
	if (*c->listen != '\0' && strncmp(c->listen, "tcp://", 6) != 0)
		return err_set(e, ERR_invalid_argument, "listen: tcp://address:port required");
	if (uses_tcp() && (c->keys == NULL || *c->keys == '\0'))
		return err_set(e, ERR_invalid_argument, "keys: required for tcp endpoints");
	return 0;
}

int
bus_prepare(const struct bus_config *config, struct err *e)
{
	bus = (struct bus){ .config = *config };
	if (check_config(e) < 0)
		return err_add(e, "bus");
	for (const struct route *r = config->routes; r != NULL && r->message != MSG_none; r++)
		bus.routes[r->message] = r;
	prepare_hello();
	bus.context = zmq_ctx_new();
	if (bus.context == NULL)
		return err_set(e, ERR_internal, "bus: %s", zmq_strerror(zmq_errno()));
	if (uses_tcp() && keys_load(config->keys, config->self, &bus.keys, e) < 0)
		return err_add(e, "bus");
	return server_prepare(e) < 0 || client_prepare(e) < 0 ? err_add(e, "bus") : 0;
}

const struct bus_needs *
bus_needs(void)
{
	return &bus.needs;
}

/* The first message is always read, and starts the turn. */
bool
bus_goes_on(struct bus_turn *t)
{
	int64_t now_us = loop_now_us();

	if (t->messages++ == 0)
		t->until_us = now_us + BUS_TURN_US;
	return t->messages <= BUS_BATCH && now_us < t->until_us;
}

/* Every source is read in each round, whatever the first ones contained. */
static bool
pump_sockets(bool all)
{
	bool more;

	if (bus.context == NULL || bus.stopped)
		return false;
	more = server_pump(all);
	more |= client_pump(all);
	return more;
}

static bool
pump(void *self)
{
	(void)self;
	return pump_sockets(false);
}

/* Pending messages are read first: peers are not to blame if this process was busy. */
static void
tick(void *self)
{
	(void)self;
	pump_sockets(true);
	connection_give_back();
	server_tick();
	client_tick();
	tick_timer = loop_after(BUS_TICK_MS, tick, NULL);
}

int
bus_start(struct err *e)
{
	if (server_start(e) < 0 || client_start(e) < 0)
		return err_add(e, "bus");
	if (loop_before_wait(pump, NULL, e) < 0)
		return -1;
	tick_timer = loop_after(BUS_TICK_MS, tick, NULL);
	return 0;
}

size_t
bus_drain(void)
{
	bus.draining = true;
	return call_count();
}

void
bus_stop(void)
{
	struct err e;

	if (bus.context == NULL)
		return;
	bus.draining = bus.stopped = true;
	err_set(&e, ERR_unavailable, "%s is shutting down", edge_peer_name(bus.config.self));
	ask_lost(NULL, &e, false);
	server_stop();
	client_stop();
	loop_unset(tick_timer);
	zmq_ctx_term(take_ptr(bus.context));
	keys_clear(&bus.keys);
}

int
bus_keys_make(const char *directory, struct err *e)
{
	return keys_make(directory, e);
}

uint64_t
bus_ask(const struct ask *ask, struct err *e)
{
	return ask_begin(ask, e);
}

bool
bus_ready(enum peer to, struct heartbeat *load)
{
	return client_ready(to, load);
}

const char *
bus_lacks(enum peer to)
{
	static char text[96];
	struct heartbeat load;
	const bool connected = bus_ready(to, &load);

	if (connected && !load.faulty)
		return NULL;
	snprintf(text, sizeof text,
	    connected ? "%s cannot do its work until it is started again; its log says why"
		      : "%s is not connected",
	    edge_peer_name(to));
	return text;
}

size_t
bus_instances(enum peer to, const char **names, size_t room)
{
	return client_instances(to, names, room);
}

struct heartbeat
bus_load(void)
{
	return server_load();
}

void
bus_cancel(uint64_t id)
{
	ask_cancel(id);
}

size_t
bus_waiting(void)
{
	return ask_waiting();
}

void
bus_refuse_waiting(const struct err *why)
{
	ask_refuse_waiting(why);
}

const char *
bus_asked(uint64_t id)
{
	return ask_instance(id);
}

void
bus_forget(uint64_t id)
{
	ask_forget(id);
}
