/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor.h - what a monitoring system reads from a daemon: /healthz, /readyz and /metrics over
 * HTTP.
 *
 * The setting `metrics` names a unix socket, or a port of this machine's loopback address. Whoever
 * can connect may read: the text has totals only, and nothing of a request but its path matters.
 */
#pragma once

#include "common/base/err.h"

#include <stdio.h>
#include <sys/types.h>

struct monitor {
	const char *where;            /* the setting `metrics`; "": nothing listens */
	const char *name, *instance;  /* of this daemon, for a socket in a directory */
	uid_t uid;                    /* of the socket */
	void (*measure)(void);        /* before the text is made: sets gauges */
	const char *(*fault)(void);   /* why it must be started again; NULL: it need not */
	const char *(*missing)(void); /* why it is not ready; NULL: it is */
};

/* Before the jail: listens. */
int monitor_open(const struct monitor *, struct err *);
/* In the jail, with loop: serves, a few connections at a time. */
int monitor_start(struct err *);
void monitor_stop(void);

/* In another process: asks the daemon at that place. 0: it is alive and can do its work. -1 with
 * *e: it is not, or cannot, or nothing listens. */
int monitor_ask(const struct monitor *, struct err *);

/* All metrics of this process, as /metrics has them. */
void monitor_write(FILE *);
