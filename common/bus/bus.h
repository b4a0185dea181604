/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bus.h - requests, replies, streams and cancellation between daemons, over ZeroMQ.
 *
 * Who the peer is comes from the endpoint (ipc: folder, group, kernel-checked uid) or the CURVE key
 * (tcp), never from what it writes.  Peers are not trusted: whatever they send is decoded strictly,
 * counted and logged when refused, and can end a call but never the process.
 */
#pragma once

#include "common/base/err.h"
#include "common/codec/wire.h"
#include "common/owner.h"
#include "common/table/edges.h"
#include "common/table/schema.h"

#include <sys/types.h>

/* ---- serving ---- */

/* A request under way.  Handlers read the first part; `self` and `on_cancel` are theirs to set. */
struct call {
	enum peer from;
	enum msg_id message;
	const char *principal, *namespace, *trace; /* "" where not given */
	int64_t deadline_ms;                       /* on loop_now_ms()'s clock; INT64_MAX: none */
	void *self;
	/*
	 * Called once when nobody waits any more: the client cancelled (cancelled), the deadline
	 * passed (deadline_exceeded) or the client is gone (unavailable).  The call still has to be
	 * ended, soon; its reply is then thrown away, except that a deadline has already been
	 * answered by the bus.
	 */
	void (*on_cancel)(struct call *, enum err_code why);
};

/* Who asked; points into the call. */
static inline struct owner
call_owner(const struct call *call)
{
	return (
	    struct owner){ (char *)(uintptr_t)call->principal, (char *)(uintptr_t)call->namespace };
}

#define FROM(peer) (1u << PEER_##peer)

struct route {
	enum msg_id message;
	unsigned from; /* FROM(gateway) | FROM(executor) */
	/*
	 * Gets a decoded request, which the bus clears afterwards: take_ptr what is to be kept.
	 * Returns -1 with *e: the bus answers with the error and frees the call.
	 * Returns 0: it has ended the call, or keeps it and will end it exactly once.
	 */
	int (*handle)(struct call *, void *request, struct err *e);
};

/* Each ends the call and frees it.  *reply is messages[call->message].reply; its blobs are taken,
 * the rest stays. */
void call_reply(struct call *, void *reply);
void call_fail(struct call *, const struct err *);
/* Sends a part before the reply; takes its text.  -1: nobody listens, nobody wants any or the
 * client is too slow; it is dropped. */
int call_stream(struct call *, struct stream_part *);

/* The open call of the same connection that has that number, which bus_ask() returned to its asker;
 * NULL: there is none, or it was cancelled. */
struct call *call_beside(const struct call *, uint64_t id);
/*
 * From now on the call belongs to this process: neither a cancel nor the end of the connection
 * concerns it, and ended() gets its outcome, once, in place of the asker.  The content is
 * messages[call->message].reply, encoded, whose parts may be taken; NULL: the call failed, with *e.
 * A passed deadline still ends it.
 */
void call_adopt(struct call *,
    void (*ended)(void *self, struct packed *content, const struct err *e), void *self);
/* As a cancel of its asker; for adopted calls. */
void call_stop(struct call *);

/* ---- asking ---- */

struct ask {
	enum peer to;
	const char *instance; /* which of several, as in its hello; NULL: the least loaded, */
	bool home; /* or the one that is always this principal's in this name space, while it is
	              there */
	enum msg_id message;
	void *request;                             /* its blobs are taken, the rest stays */
	const char *principal, *namespace, *trace; /* NULL or "": none */
	int64_t timeout_ms;                        /* 0: none */
	void *self;
	void (*part)(void *self, const struct stream_part *); /* NULL: none are sent */
	/*
	 * Exactly once, never from within bus_ask().  reply NULL: *e says why not (the peer's own
	 * error, or unavailable, deadline_exceeded, cancelled).  The bus clears *reply afterwards:
	 * take_ptr what is kept.
	 */
	void (*done)(void *self, void *reply, const struct err *e);
};

/*
 * Names the request, 0 with *e if it was not accepted (then done is not called).  A peer that is
 * not there yet is waited for up to the setting connect_wait_ms, in a bounded queue; one that is
 * lost answers unavailable.
 */
uint64_t bus_ask(const struct ask *, struct err *);
/* Tells the server; done comes all the same, at once, with `cancelled`.  An unknown id does
 * nothing. */
void bus_cancel(uint64_t id);
/* Which instance has the request; "": it waits for one, or the id is unknown. */
const char *bus_asked(uint64_t id);
/* The server has adopted the call: done is not called, and no answer is expected any more. */
void bus_forget(uint64_t id);

/* Is an instance of it greeted and alive?  Copies the last heartbeat of the first such one to *load
 * if not NULL. */
bool bus_ready(enum peer, struct heartbeat *load);
/* The names of the instances of it that are greeted and alive, which last until the loop goes on;
 * how many. */
size_t bus_instances(enum peer, const char **names, size_t room);
/* What the next heartbeat of this process says. */
struct heartbeat bus_load(void);

/* ---- the life of it; called by daemon_main and tests ---- */

/* Behind a daemon's name: the file in `run` where its supervisor says why it is not there. */
#define BUS_FAILED ".failed"

struct bus_config {
	enum peer self;
	const char *instance; /* default "1" */
	const char *run;      /* folder of the endpoints, */
	int run_fd;           /* and open to read NAME BUS_FAILED in it; -1: it is not */
	const char *keys;     /* folder of CURVE keys; "" without tcp */
	/* "": an ipc endpoint per edge; tcp://address:port: that one only, for all clients, of
	 * which each is known by its key. */
	const char *listen;
	/* Separated by commas: tcp://host:port, ipc:///path, or the name of an instance that has
	 * its endpoints in `run`; "": instance 1. */
	const char *connect[PEER_COUNT];
	int64_t connect_wait_ms;
	size_t max_calls; /* open ones of a daemon, over all its connections; 0: 1024 */
	bool apart;       /* each daemon has a uid of its own, this one uid:gid */
	uid_t uid;        /* otherwise all have that of this process */
	gid_t gid;
	const struct route *routes;       /* ends with MSG_none; NULL: serves nobody */
	void (*load)(struct heartbeat *); /* NULL: counts open calls */
	/* Sees each reply, which stays as it is, before it is sent; NULL: nobody looks. */
	void (*replies)(const struct call *, const void *reply);
};

/* Before the jail, one thread: the ZeroMQ context, folders and their owners, keys, uids of the
 * peers. */
int bus_prepare(const struct bus_config *, struct err *);
/* What the jail must leave it: folders to bind in, and TCP. */
struct bus_needs {
	const int *folders;
	size_t nfolders;
	bool tcp_connect, tcp_bind;
};
const struct bus_needs *bus_needs(void);
/* In the jail: sockets (this starts ZeroMQ's threads), hello, heartbeats. */
int bus_start(struct err *);
/* No new requests: they are answered with unavailable.  How many calls are still open. */
size_t bus_drain(void);
/* Ends everything: open asks are answered with unavailable; of open calls on_cancel is called, and
 * they may still be ended. */
void bus_stop(void);

/* A key pair for each daemon that has none in the folder: <daemon>.key (secret), <daemon>.pub. */
int bus_keys_make(const char *folder, struct err *);

/* What was refused since the start, for logs and tests. */
struct bus_counts {
	uint64_t requests;         /* that a handler got */
	uint64_t refused;          /* connections, requests and frames that were not accepted */
	uint64_t malformed;        /* those of them that could not be read */
	uint64_t lost[PEER_COUNT]; /* that went away */
};
const struct bus_counts *bus_counts(void);
