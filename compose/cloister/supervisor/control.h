/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the supervisor's socket: one line asks, one line answers.
 *
 *	lease    "ok"; held until the connection ends
 *	adopt    with a descriptor, which is the lease instead of the connection; "ok"
 *	stay     "ok"; the supervisor no longer ends when idle
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
	json_t *(*status)(void); /* the caller's */
	void (*stay)(void);
	void (*down)(void);
};

int control_open(const struct control *, struct err *);
/* A lease is held as long as the other end of fd, which is taken, is open. */
int control_hold(int fd, struct err *);
size_t control_leases(void);
/* Is somebody connected who has not said yet what for? */
bool control_is_asked(void);
/* No more connections: from now on a client finds nobody, and starts anew. */
void control_shut(void);
/* Answers those who asked for the end, and closes all. */
void control_close(void);
