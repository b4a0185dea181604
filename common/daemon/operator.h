/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator.h - the socket of an operator's terminal: <run>/<daemon>.sock.
 *
 * It takes the messages that schema.def marks OPERATOR(daemon), and passes them to the handlers of
 * the daemon's routes.  The principal of such a call is local:UID of the sender.
 *
 * A packet is the name of the message, a zero byte, and the message, flattened (wire.h).  The reply
 * is one packet: a zero byte and the message's reply, or a one and a failure.
 */
#pragma once

#include "common/bus/bus.h"

#include <stddef.h>

enum {
	OPERATOR_BYTES = 80 << 10,      /* of a packet: a secret of 64 KiB and its names */
	OPERATOR_REPLY_BYTES = 2 << 20, /* a list of 1,000 names */
};

/* The name of the socket in the directory of endpoints; -1: too long. */
int operator_name(enum peer, char *path, size_t room, const char *run, struct err *);

/* Before the jail.  Opens no socket unless one of the routes is an operator's message.  Creates the
 * directory, which the bus makes only later. */
int operator_open(enum peer self, const struct route *, const char *run, struct err *);
/* In the jail, with the loop and the bus. */
int operator_start(struct err *);
void operator_stop(void);
