/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bus.h - requests, replies, streams and cancellation between daemons, over ZeroMQ.
 *
 * The endpoint (ipc: directory, group, uid checked by the kernel) or the CURVE key (tcp) identifies
 * the peer, never the content of a message. Peers are not trusted: messages are decoded strictly; a
 * refused one is counted and logged. A message can end a call but never the process.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/owner.h"
#include "common/bus/config.h"
#include "common/codec/wire.h"
#include "common/table/edges.h"
#include "common/table/schema.h"

#include <sys/types.h>

/* ---- serving ---- */

/* An open request. Handlers read the first members and may set `self` and `on_cancel`. */
struct call {
	enum peer from;   /* PEER_none if `by_operator` */
	bool by_operator; /* it came by the operator's socket of this daemon */
	enum msg_id message;
	struct owner owner;  /* its texts are "" if not given */
	const char *trace;   /* "" if not given */
	int64_t deadline_ms; /* on loop_now_ms()'s clock; INT64_MAX: none */
	void *self;
	/*
	 * Called once when the client no longer waits: it cancelled (cancelled), the deadline
	 * passed (deadline_exceeded; the bus has sent the failure) or it disconnected
	 * (unavailable). The handler must still end the call, soon; the bus discards its reply.
	 */
	void (*on_cancel)(struct call *, enum err_code why);
};

#define FROM(peer) (1u << PEER_##peer)

struct route {
	enum msg_id message;
	unsigned from; /* permitted clients: FROM(gateway) | FROM(executor) */
	/*
	 * Handles a decoded request, which the bus clears afterwards; take_ptr what must be kept.
	 * Return -1 with *e: the bus sends the error and frees the call. Return 0: the handler has
	 * ended the call, or keeps it and ends it exactly once.
	 */
	int (*handle)(struct call *, void *request, struct err *e);
};

/* Each ends the call and frees it. *reply is messages[call->message].reply; its blobs are taken,
 * the rest stays with the caller. */
void call_reply(struct call *, void *reply);
void call_fail(struct call *, const struct err *);
/* Sends a part before the reply; takes its text. -1: dropped, because the client disconnected,
 * wants no parts or is too slow. */
int call_stream(struct call *, struct stream_part *);

/* The open call of the same connection with that id, which bus_ask() returned to the client; NULL:
 * none, or cancelled. */
struct call *call_beside(const struct call *, uint64_t id);
/*
 * From now on this process owns the call: a cancel or a lost connection no longer affects it, and
 * ended() gets its outcome once, instead of the client. The content is
 * messages[call->message].reply, encoded; its parts may be taken. NULL: the call failed with *e. A
 * passed deadline still ends it.
 */
void call_adopt(struct call *,
    void (*ended)(void *self, struct packed *content, const struct err *e), void *self);
/* Cancels an adopted call, as the client would. */
void call_stop(struct call *);

/* A request that came by the operator's socket (common/daemon/operator.h). */
struct bus_order {
	const char *message;    /* not trusted */
	const char *principal;  /* of the operator */
	struct packed *content; /* not trusted; its blobs may be taken */
	/* As of call_adopt(). */
	void (*ended)(void *self, struct packed *content, const struct err *e);
	void *self;
};

/* Passes it to the handler of its route, whose `from` does not count. ended() is called once,
 * perhaps before this returns. -1 with *e: it is not called, because this daemon takes no such
 * message from an operator, or not this one. */
int bus_order(const struct bus_order *, struct err *);

/* ---- requests to other daemons ---- */

struct ask {
	enum peer to;
	const char *instance; /* its name, as in its hello; NULL: the least loaded one, */
	bool home;            /* or the fixed instance of this owner while it is connected */
	enum msg_id message;
	void *request;             /* its blobs are taken, the rest stays */
	const struct owner *owner; /* in whose name; copied; NULL: nobody's */
	const char *trace;         /* NULL or "": none */
	int64_t timeout_ms;        /* 0: none */
	void *self;
	void (*part)(void *self, const struct stream_part *); /* NULL: none are sent */
	/*
	 * Called exactly once, never from within bus_ask(). reply NULL: the request failed with *e
	 * (the peer's error, or unavailable, deadline_exceeded, cancelled). The bus clears *reply
	 * afterwards; take_ptr what must be kept.
	 */
	void (*done)(void *self, void *reply, const struct err *e);
};

/*
 * Returns the id of the request, or 0 with *e if it was not accepted; then done is not called. If
 * the peer is not connected, the request waits in a bounded queue for up to connect_wait_ms. If the
 * peer is lost, the request fails with unavailable.
 */
uint64_t bus_ask(const struct ask *, struct err *);
/* Sends a cancel to the server and calls done at once with `cancelled`. Ignores an unknown id. */
void bus_cancel(uint64_t id);
/* The instance that has the request; "": it waits for one, or the id is unknown. */
const char *bus_asked(uint64_t id);
/* Forgets a request that the server has adopted: done is not called, and no reply is expected. */
void bus_forget(uint64_t id);

/* The number of requests that wait because their server is not connected. */
size_t bus_waiting(void);
/* Ends them: no server will connect. */
void bus_refuse_waiting(const struct err *why);

/* Is an instance of that daemon connected and alive? Copies the last heartbeat of the first one,
 * and if possible of one that has no fault, to *load if not NULL. */
bool bus_ready(enum peer, struct heartbeat *load);
/* Why none of its instances can do work, valid until the next call; NULL: one can. */
const char *bus_lacks(enum peer);
/* Stores the names of its connected instances, valid until the callback returns. Returns their
 * number. */
size_t bus_instances(enum peer, const char **names, size_t room);
/* The content of the next heartbeat of this process. */
struct heartbeat bus_load(void);

/* ---- start and end; called by daemon_main and tests ---- */

/* Suffix of NAME.failed in `run`, where the supervisor writes why daemon NAME does not run. */
#define BUS_FAILED ".failed"

/* Called before the jail, with one thread. Prepares the ZeroMQ context, directories and their
 * owners, keys, and the uids of the peers. */
int bus_prepare(const struct bus_config *, struct err *);
const struct bus_needs *bus_needs(void);
/* Called in the jail. Opens sockets (which starts ZeroMQ's threads) and begins hellos and
 * heartbeats. */
int bus_start(struct err *);
/* From now on new requests fail with unavailable. Returns the number of open calls. */
size_t bus_drain(void);
/* Stops the bus. Our open requests fail with unavailable. For open calls on_cancel is called; they
 * may still be ended. */
void bus_stop(void);

/* Makes a key pair for each daemon that has none in the directory: <daemon>.key (secret) and
 * <daemon>.pub. */
int bus_keys_make(const char *directory, struct err *);

const struct bus_counts *bus_counts(void);
