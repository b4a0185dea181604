/* SPDX-License-Identifier: Apache-2.0 */
/* description.h - what a daemon is: a constant struct. */
#pragma once

#include "common/bus/bus.h"
#include "common/metric/metric.h"
#include "common/table/setting.h"

struct daemon {
	enum peer self;
	const char *summary;            /* for --help; NULL: the doc of peers.def */
	const struct setting *settings; /* its options.def, besides the common ones; NULL: none */
	const struct route *routes;     /* ends with MSG_none; NULL: serves no client */
	const int *syscalls;            /* in addition to common/jail/syscalls.def; ends with -1 */
	const int *refused;             /* see struct jail; may be NULL */
	uint64_t memory_bytes;          /* RLIMIT_AS; 0: none */
	bool outside;                   /* may connect to other machines */
	bool stateless;                 /* true: no state directory, even if peers.def has one */
	int (*open)(struct err *);  /* outside the jail: paths, children, warm-up; may be NULL */
	int (*start)(struct err *); /* inside it, with loop and bus; may be NULL */
	void (*stop)(void);         /* after the last call has ended; may be NULL */
	void (*load)(struct heartbeat *);                        /* NULL: counts open calls */
	void (*replies)(const struct call *, const void *reply); /* see bus.h; may be NULL */
	/* Called repeatedly after the request to stop, until drain_ms have passed: the number of
	 * operations in progress besides calls of the bus. NULL: none. */
	size_t (*drain)(void);
	struct metric *metrics; /* its metrics.def, besides the common ones; NULL: none */
	size_t nmetrics;
	void (*measure)(void); /* sets its gauges before they are read; may be NULL */
	/* Why this process cannot do its work, whatever its peers do, until it is started again;
	 * NULL: it can.  May be NULL. */
	const char *(*fault)(void);
};
