/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - a ZeroMQ socket by which one daemon's place is taken, and frames that nobody checks. */
#pragma once

#include "common/bus/bus_message.h"
#include "common/table/edges.h"

#include "tests/hostile/forge.h"

/* Where a message came from, or goes; the address is empty on the side that connects. */
struct line {
	void *socket;
	const struct edge *edge;
	bool binds;
};

/*
 * Where daemons meet is a directory of endpoints, or "tcp://address:port,keys": at that address,
 * under the key that the daemon has in that directory.
 */
bool line_is_far(const char *run);
/* By root: the directory of an edge, for its server's user.  -1: said why. */
int line_prepare(const char *run, const struct edge *);
/* Root becomes that daemon's user; but not far away, where the key is who one is. */
void line_become(const char *run, enum peer self);
/* The endpoint of an edge, bound by its server, connected to by its client.  -1: said why. */
int line_open(struct line *, const char *run, const struct edge *, enum peer self);

/* Frames of any content; takes nothing.  A queue that is full swallows them. */
void line_frames(struct line *, const struct address *, const struct blob *frames, size_t count);
/* An envelope, and a message behind it as it was packed, which is cleared. */
void line_send(struct line *, const struct address *, struct envelope, struct packed *content);
void line_hello(
    struct line *, const struct address *, uint64_t id, const char *daemon, const char *instance);

/* For who sends by itself; the caller clears it. */
struct packed line_pack_envelope(struct envelope);
struct packed line_pack_hello(const char *daemon, const char *instance);
