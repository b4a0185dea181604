/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the settings of a bus, what the jail must permit it, and its counters. */
#pragma once

#include "common/table/edges.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <sys/types.h>

struct call;
struct route;

struct bus_config {
	enum peer self;
	const char *instance; /* default "1" */
	const char *run;      /* directory of the endpoints, */
	int run_fd;           /* and a descriptor of it, to read NAME.failed; -1: none */
	const char *keys;     /* directory of CURVE keys; "" without tcp */
	/* "": one ipc endpoint per edge. tcp://address:port: only this endpoint, for all clients;
	 * the key identifies each. */
	const char *listen;
	/* Separated by commas: tcp://host:port, ipc:///path, or the name of an instance with
	 * endpoints in `run`; "": instance 1. */
	const char *connect[PEER_COUNT];
	int64_t connect_wait_ms;
	size_t max_calls; /* open calls of one peer over all its connections; 0: 1024 */
	bool apart;       /* each daemon has its own uid; this one uid:gid */
	uid_t uid;        /* otherwise all have the uid of this process */
	gid_t gid;
	const struct route *routes;       /* ends with MSG_none; NULL: no clients */
	void (*load)(struct heartbeat *); /* NULL: counts open calls */
	const char *(*fault)(void);       /* see struct daemon; NULL: it has none */
	/* Called with each reply before it is sent; must not change it; may be NULL. */
	void (*replies)(const struct call *, const void *reply);
};

/* What the jail must permit: directories to bind in, and TCP. */
struct bus_needs {
	const int *directories;
	size_t nfolders;
	bool tcp_connect, tcp_bind;
};

/* Counters since the start, for logs and tests. */
struct bus_counts {
	uint64_t requests;         /* passed to a handler */
	uint64_t refused;          /* connections, requests and frames that were not accepted */
	uint64_t malformed;        /* those that could not be decoded */
	uint64_t lost[PEER_COUNT]; /* lost peers */
};
