/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - a ZeroMQ socket that takes a daemon's place, and frames that are sent unchecked. */
#pragma once

#include "common/bus/bus_message.h"
#include "common/table/edges.h"

#include "tests/hostile/forge.h"

/* The sender or receiver of a message; the address is empty on the connecting side. */
struct line {
	void *socket;
	const struct edge *edge;
	bool binds;
};

/*
 * Daemons connect in a directory of endpoints, or at "tcp://address:port,keys": at that address,
 * with the daemon's key in that directory.
 */
bool line_is_far(const char *run);
/* As root: creates the directory of an edge for its server's user.  -1: an error was printed. */
int line_prepare(const char *run, const struct edge *);
/* Changes from root to that daemon's user; not for TCP, where the key identifies the daemon. */
void line_become(const char *run, enum peer self);
/* Opens the endpoint of an edge: the server binds, the client connects.  -1: an error was
 * printed. */
int line_open(struct line *, const char *run, const struct edge *, enum peer self);

/* Sends frames with any content; takes nothing.  Frames are dropped if the queue is full. */
void line_frames(struct line *, const struct address *, const struct blob *frames, size_t count);
/* Sends an envelope and a packed message, which is cleared. */
void line_send(struct line *, const struct address *, struct envelope, struct packed *content);
void line_hello(
    struct line *, const struct address *, uint64_t id, const char *daemon, const char *instance);

/* For callers that send by themselves; the caller clears it. */
struct packed line_pack_envelope(struct envelope);
struct packed line_pack_hello(const char *daemon, const char *instance);
