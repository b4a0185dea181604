/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw.h - a peer made of a raw socket that sends what a test wants, byte by byte if necessary: a
 * client beside an ordinary one, or the server of an ordinary client.
 */
#pragma once

#include "common/bus/bus.h"
#include "common/bus/bus_message.h"

/* The socket, of raw_socket(). */
extern void *raw_peer;

/* Like peer_setup() and peer_teardown(), which they call. */
int raw_setup(void **state);
int raw_teardown(void **state);
void *raw_socket(int type);

/* ---- as a client of snapshotd ---- */

void raw_client(void);
/* The same, but all except a message or two of what it has not read stays with the server. */
void raw_slow_client(void);
/* Takes no part of *msg; MSG_none: an envelope alone. */
void raw_send(struct envelope, enum msg_id, void *msg);
/* Sends a hello; differing: of a build that describes this message differently. */
void raw_hello(const char *daemon, enum msg_id differing);
/* Sends a heartbeat, as an ordinary client does each second: a client silent for five is
 * declared lost. */
void raw_beat(void *socket);
void raw_get(uint64_t id, const char *what);
/* The next failure for this id must have the code and contain the text. */
void raw_expect_failure(uint64_t id, enum err_code, const char *says);
/* Has a reply arrived? */
bool raw_replied(uint64_t id);

/* ---- as the server of an ordinary client ---- */

/* Binds, and creates the client, which waits so long for servers: this one, and `other` if not
 * NULL. */
void raw_serve(int64_t connect_wait_ms, const char *other);
/* Runs the client until it has sent its hello; returns its address and the number of the hello. */
struct address raw_hear(uint64_t *greeting);
void raw_reply(const struct address *to, struct envelope, enum msg_id, void *msg);
/* Replies to that hello like a snapshotd of version 0.0.9 that describes all messages but one as
 * this build does. */
void raw_greet(const struct address *to, uint64_t greeting, enum msg_id differing);
