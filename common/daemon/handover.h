/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h - passes descriptors over an edge, which ZeroMQ cannot.
 *
 * The server listens on a unix socket in the directory of the edge, which only this pair can enter.
 * The client connects, sends one message with its descriptors and closes.  When handover_give() has
 * returned, the server finds them, so a request over the bus may refer to them by name.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/edges.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	HANDOVER_NAME = 320, /* an id of a run, and a name of a host */
	HANDOVER_FDS = 16,
};

struct handover {
	char name[HANDOVER_NAME]; /* chosen by the client */
	int fds[HANDOVER_FDS];
	size_t nfds;
};

/* In start(): a listening socket, non-blocking. */
int handover_open(enum peer client, enum peer self, struct err *);
/* Sends copies to that instance of the server. */
int handover_give(
    enum peer self, enum peer server, const char *instance, const struct handover *, struct err *);
/* The next message.  The caller owns the descriptors.  false: there is none. */
bool handover_take(int listener, struct handover *);
void handover_clear(struct handover *);
