/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bus_peer.h - two ends of a bus for tests. The servers (snapshotd) run in child processes, and
 * their handlers do what a request asks. The client (executor) runs in the test's process.
 */
#pragma once

#include "common/bus/bus.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
	PEER_HEAP = 200 << 20, /* two of them exceed the bytes that may wait for one connection */
	PEER_BUSY_S = 3,
	PEER_LATE_S = 1, /* less than the silence that ends a connection */
};

struct peer_options {
	const char *instance, *listen, *keys, *connect;
	size_t max_calls;
	int64_t connect_wait_ms; /* 0: 5000 */
	bool faulty;             /* its daemon says that it cannot do its work */
};

/* Sent by a server to its test over a pipe: why on_cancel() was called. */
struct peer_note {
	enum err_code cancelled;
};

/* Creates a directory for each test; the teardown kills all processes. */
int peer_setup(void **state);
int peer_teardown(void **state);
const char *peer_directory(void);

pid_t peer_serve(const struct peer_options *);
/* Sends SIGKILL, and waits. */
void peer_kill(pid_t);
void peer_client(const struct peer_options *);
/* A TCP port that nobody listens on. */
int peer_free_port(void);
/* The next note of a server; ERR_none after ms. */
enum err_code peer_note(int ms);

/* The result of a request. */
struct outcome {
	uint64_t id;
	bool ended, replied;
	struct err e;
	char text[256]; /* content of the reply */
	size_t parts;
	int64_t asked_ms, ended_ms;
};

/*
 * Asks snapshotd to do something.  "echo": the reply is principal, namespace and trace; "counts":
 * struct bus_counts; "instance"; "fault": an internal error, anything unknown a corrupt snapshot;
 * "stream": two parts, then a reply; "hang": nothing until on_cancel(), which is noted; "heap":
 * PEER_HEAP bytes; "drain": echo, and from then on no more; "busy": an answer after PEER_BUSY_S, in
 * which nothing is read; "late": after PEER_LATE_S, messages are read before events of connections;
 * "adopt ID": that request is adopted, and its outcome noted, file_exists
 * for a reply; "stop", "finish": the adopted one is stopped or replied to.
 */
void peer_ask(struct outcome *, const char *what, const char *instance, int64_t timeout_ms);
/* The same for the principal's home instance. */
void peer_ask_home(struct outcome *, const char *what, const char *principal);
/* Sends a snapshot_put with so many bytes. */
void peer_put(struct outcome *, size_t bytes);
/* The same with PEER_HEAP bytes, to any daemon that the executor may ask. */
void peer_put_heap(struct outcome *, enum peer to);
/* Runs the loop until the request has ended, or for ms; returns whether it has ended. */
bool peer_wait(const struct outcome *, int ms);
void peer_run(int ms);
/* Asks and waits. */
struct outcome peer_try(const char *what);
/* The counters of snapshotd. */
struct bus_counts peer_counts(void);
