/* SPDX-License-Identifier: Apache-2.0 */
/*
 * played_network.h - runs with a network, for egress: the executor, the sockets of boxes, a DNS
 * server and a server are the test's.  Everything is on loopback.
 *
 * For programs linked with the wraps of `played_network` in guards.cmake.
 */
#pragma once

#include "common/bus/bus.h"
#include "executor/egress/address.h"

enum {
	PLAYED_SLICE_MS = 4,
	PLAYED_MS = 10 * PLAYED_SLICE_MS,
	PLAYED_RUNS = 2,
};

struct played_run {
	int questions, listener; /* this process's own ends of a run's sockets */
	union address at[2];     /* their addresses */
	struct call call;
};

extern struct played_run played_runs[PLAYED_RUNS + 1]; /* for the last one, none are passed */

extern struct played {
	char told[512]; /* parts, joined by ; */
	size_t replies;
	struct network_report report; /* without its list */
	char address[32];             /* that the name has: "" none */
	uint16_t port;
	union address meant; /* to which a program connected */
	uint64_t waiting;    /* a question's timer */
	void (*done)(void *, const union address *, size_t);
	void *self;
	int servers[8]; /* accepted by the server */
	size_t nservers;
	int server;
} played;

/* Setup and teardown of each case, and setup of all: 127.0.0.0/8 is permitted. */
int played_set_up(void **unused);
int played_tear_down(void **unused);
int played_allow_loopback(void **unused);

/* Runs the loop; in slices, because a busy machine can take the whole of one. */
void played_turn(int64_t ms);
/* Asks for a network with that id; a.test and the names below it are allowed, a.test also at the
 * server's port. */
int played_serve(size_t run, const char *id, const char *principal, struct err *);
/* The same, with sockets; it must be served. */
void played_run(size_t run, const char *principal);
/* "NXDOMAIN", "SERVFAIL", "none", an address, or "silence". */
const char *played_resolve(size_t run, const char *name, uint16_t type);
/* A program's connection to that address and port. */
int played_connect(size_t run, const char *address, uint16_t port);
/* errno of a read; 0: the end; -1: there are bytes. */
int played_error(int fd);
/* It was reset, and that is told; closes it. */
void played_refused(int fd, const char *why);
/* The server accepts connections. */
void played_listen(void);
int played_socket(int type, union address *at);
