/* SPDX-License-Identifier: Apache-2.0 */
/* inner.h - declarations shared by the files of the bus; no other file includes it. */
#pragma once

#include "common/base/loop.h"
#include "common/bus/bus_message.h"
#include "common/bus/config.h"
#include "common/bus/connection.h"
#include "common/bus/keys.h"

struct ask;
struct caller;

enum {
	BUS_TICK_MS = 500,         /* heartbeats of a server; of a client every second one */
	BUS_SERVER_LOST_MS = 2000, /* silence after which a server is declared lost */
	BUS_CLIENT_LOST_MS = 5000,
	BUS_CLIENT_STALE_MS =
	    4000, /* a client that sent no heartbeat for so long must expect to be declared lost */
	BUS_MAX_ASKS = 4096, /* open requests; ids below this are those of hellos */
	BUS_BATCH = 64,      /* messages of one socket before the others are read, */
	BUS_TURN_US = 1000,  /* or fewer if handling them takes longer than this */
};

struct bus {
	struct bus_config config;
	void *context;
	struct keys keys;
	const struct route *routes[MSG_COUNT];
	struct bus_counts counts;
	struct bus_needs needs;
	bool draining, stopped;
};

extern struct bus bus;

/* Count refused and malformed messages and log them, at most a few lines per second. */
void bus_refuse(enum peer from, const struct err *);
void bus_malformed(enum peer from, const struct err *);
/* The same for a connection that exceeded its bound (recv.h). */
void bus_endless(enum peer from);

/* The hello of this process. Its texts do not belong to the caller. */
struct hello bus_hello(void);
/* A peer's build: its version, and the messages that it describes differently. */
struct build {
	char version[33];
	bool differs[MSG_COUNT];
};

/* Fills in *build from the hello of an instance and logs the differences. */
void bus_compare(const struct hello *, struct build *);
/* Returns -1 with the reason why this message is not exchanged with a peer of another build. */
int bus_refuse_build(
    enum msg_id, enum peer, const char *instance, const struct build *, struct err *);

/* Counts messages of one socket; initialized with { 0 }. bus_goes_on(): may one more be read before
 * the other sockets? */
struct bus_turn {
	int messages;
	int64_t until_us;
};

bool bus_goes_on(struct bus_turn *);

/* Packs a message of the bus itself; it is within its bounds by construction. */
struct packed bus_pack(enum msg_id, void *msg);
/* Packs a failure. A shortage of descriptors or memory is temporary, so it is reported as such,
 * with its remedy, not as a fault. */
struct packed bus_pack_failure(const struct err *why);

/* ---- server.c: endpoints and the clients that have sent a hello ---- */

int server_prepare(struct err *);
int server_start(struct err *);
/* Reads the sockets that are marked readable, or all. true: there may be more. */
bool server_pump(bool all);
void server_tick(void);
struct heartbeat server_load(void);
void server_stop(void);
/*
 * Takes *content. -1: dropped, because the client disconnected or is too slow. A reply is never
 * dropped silently: a failure replaces it, or the connection is shut down.
 */
int server_send(struct caller *, enum frame, uint64_t id, enum msg_id, struct packed *content);
void server_fail(struct caller *, uint64_t id, const struct err *why);

/* ---- call.c: open requests of clients ---- */

struct open_call;

struct calls { /* of one caller */
	struct open_call *first;
	size_t count;
};

/* 0: the request is open or has been answered. -1: send *e to the caller. */
int call_begin(struct caller *, struct bus_message *, struct err *);
void call_cancel(struct caller *, uint64_t id);
/* The caller disconnected. */
void call_orphan(struct caller *);
size_t call_count(void);
/* The calls of a caller, and other facts about it for call.c. */
struct calls *server_calls(struct caller *);
enum peer server_peer(const struct caller *);
const char *server_instance(const struct caller *);
const struct build *server_build(const struct caller *);

/* ---- client.c: connections to servers ---- */

struct link;

int client_prepare(struct err *);
int client_start(struct err *);
bool client_pump(bool all);
void client_tick(void);
void client_stop(void);
bool client_ready(enum peer, struct heartbeat *load);
size_t client_instances(enum peer, const char **names, size_t room);
/* Chooses a connected server that supports the message; NULL with *e: none. */
struct link *client_choose(const struct ask *, struct err *);
/* Can such a server still connect? */
bool client_expects(const struct ask *);
/* Did the supervisor report that the daemon does not run? */
bool client_failed(enum peer);
int client_send(struct link *, struct envelope *, struct packed *content);
/* Changes the number of open requests at that server by 1 or -1. */
void client_load(struct link *, int by);
const char *client_name(const struct link *);

/* ---- ask.c: requests of this process ---- */

uint64_t ask_begin(const struct ask *, struct err *);
void ask_cancel(uint64_t id);
const char *ask_instance(uint64_t id);
void ask_forget(uint64_t id);
void ask_answer(struct link *, struct bus_message *);
/* Is this the id of a request that is open at that server? */
bool ask_is_open(const struct link *, uint64_t id);
/* Called when a server connects and periodically: retries the requests that wait for it. */
void ask_flush(enum peer);
size_t ask_waiting(void);
void ask_refuse_waiting(const struct err *);
/* The server of a link is lost; NULL: all servers. tell: send cancels, because the server may only
 * be slow. */
void ask_lost(struct link *, const struct err *, bool tell);
