/* SPDX-License-Identifier: Apache-2.0 */
/* inner.h - what the files of the bus share; nobody else includes it. */
#pragma once

#include "common/base/loop.h"
#include "common/bus/bus.h"
#include "common/bus/connection.h"
#include "common/bus/keys.h"
#include "common/bus/parcel.h"

enum {
	BUS_TICK_MS = 500,         /* heartbeats of a server; of a client every second one */
	BUS_SERVER_LOST_MS = 2000, /* silence after which a server is taken for lost */
	BUS_CLIENT_LOST_MS = 5000,
	BUS_CLIENT_STALE_MS = 4000, /* it knows of itself that it is about to be */
	BUS_MAX_ASKS = 4096,        /* open ones; ids below are of hellos */
	BUS_BATCH = 64,             /* messages of one socket before others have their turn, */
	BUS_TURN_US = 1000,         /* or fewer, where it takes long to handle them */
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

/* Counts and logs, a few lines a second, what was refused or could not be read. */
void bus_refuse(enum peer from, const struct err *);
void bus_malformed(enum peer from, const struct err *);

/* The hello of this process; its texts are not the caller's. */
struct hello bus_hello(void);
/* A peer's build: its version, and which messages it describes otherwise than this one. */
struct build {
	char version[33];
	bool differs[MSG_COUNT];
};

/* From the hello of an instance, whose differences are logged. */
void bus_compare(const struct hello *, struct build *);
/* Why a message is not exchanged with a peer whose build differs in it.  -1. */
int bus_refuse_build(
    enum msg_id, enum peer, const char *instance, const struct build *, struct err *);

/* Messages of one socket, from { 0 }: may one more be taken before others have their turn? */
struct bus_turn {
	int messages;
	int64_t until_us;
};

bool bus_goes_on(struct bus_turn *);

/* Packs a message of the bus itself, which fits its bounds by construction. */
struct packed bus_pack(enum msg_id, void *msg);
/* Descriptors and memory come back: to be short of them is said to be no fault, and how to mend it.
 */
struct packed bus_pack_failure(const struct err *why);

/* ---- server.c: endpoints and the clients that have greeted ---- */

struct caller;

int server_prepare(struct err *);
int server_start(struct err *);
/* Reads what is stirred, or all; true: there may be more. */
bool server_pump(bool all);
void server_tick(void);
struct heartbeat server_load(void);
void server_stop(void);
/*
 * Takes *content.  -1: dropped, because nobody is there or it is too slow.  An answer is not: there
 * is a failure in its place, or the connection is ended.
 */
int server_send(struct caller *, enum frame, uint64_t id, enum msg_id, struct packed *content);
void server_fail(struct caller *, uint64_t id, const struct err *why);

/* ---- call.c: requests under way ---- */

struct open_call;

struct calls { /* of one caller */
	struct open_call *first;
	size_t count;
};

/* 0: the request is under way, or has been answered.  -1: the caller is to be told *e. */
int call_begin(struct caller *, struct parcel *, struct err *);
void call_cancel(struct caller *, uint64_t id);
/* The caller is gone. */
void call_orphan(struct caller *);
size_t call_count(void);
/* Where a caller keeps its calls, and what call.c must know of it. */
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
/* Whom to ask that, of those who are there and have that message; NULL with *e: nobody. */
struct link *client_choose(const struct ask *, struct err *);
/* Could such a one still come? */
bool client_expects(const struct ask *);
int client_send(struct link *, struct envelope *, struct packed *content);
/* One more, or one less, request is under way there. */
void client_load(struct link *, int by);
const char *client_name(const struct link *);

/* ---- ask.c: requests of ours ---- */

uint64_t ask_begin(const struct ask *, struct err *);
void ask_cancel(uint64_t id);
const char *ask_instance(uint64_t id);
void ask_forget(uint64_t id);
void ask_answer(struct link *, struct parcel *);
/* Is this the number of a request that is open there? */
bool ask_is_open(const struct link *, uint64_t id);
/* A server has greeted, or some time has passed: what waited for it is tried again. */
void ask_flush(enum peer);
/* The server of a link is lost; NULL: all of them.  tell: send cancels, it may only be slow. */
void ask_lost(struct link *, const struct err *, bool tell);
