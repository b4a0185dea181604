/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the supervisor's socket: one line is a request, one line is the reply.
 *
 *	lease    "ok"; held until the connection ends
 *	adopt    with a descriptor, which is the lease instead of the connection; "ok"
 *	stay     "ok"; the supervisor no longer ends when idle
 *	differ   with a descriptor of a text: settings of a client that are not in force; "ok"
 *	status   one line of JSON
 *	down     "ok" when everything has stopped
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct control {
	void (*leases_changed)(void);
	json_t *(*status)(void); /* the caller owns the reference */
	void (*stay)(void);
	void (*differ)(const char *line); /* of a client; without control characters */
	void (*down)(void);
};

int control_open(const struct control *, struct err *);
/* Takes fd. The lease lasts until the other end of fd is closed. */
int control_hold(int fd, struct err *);
size_t control_leases(void);
/* Is a client connected that has not sent a request yet? */
bool control_is_asked(void);
/* Closes the socket: a new client finds no supervisor and starts another one. */
void control_shut(void);
/* Replies to the clients that requested the shutdown, and closes all connections. */
void control_close(void);
