/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.h - the connections below a ZeroMQ socket, as reported by its monitor, so that a
 * silent one can be shut down.
 *
 * libzmq keeps all parts of a message until the last one arrives, and the application cannot see
 * them. recv.h bounds them. A peer that never finishes a message appears silent. When its
 * connection breaks, libzmq frees the unfinished message. The break must look as if the peer caused
 * it: if a socket is closed in the middle of a message, libzmq 4.3 never frees the message.
 *
 * libzmq also allocates a whole part as soon as its size is announced, before the peer is known. So
 * the number of connections with an unknown peer is limited.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection;

/* The monitor must be read until it is empty each time; otherwise a descriptor may belong to
 * another connection. most: as for recv_bound(). */
void connection_add(struct connection **all, int fd, size_t most);
/* Returns whether it ended because it exceeded its bound. */
bool connection_remove(struct connection **all, int fd);
/* A message arrived on it; known: from a peer that has sent its hello. */
void connection_heard(struct connection *all, int fd, bool known);
/* Shuts down each connection that was silent for longer. */
void connection_end_silent(struct connection *all, int64_t ms);
/* Shuts down the oldest connection with an unknown peer if there are more than `most`. */
void connection_end_stranger(struct connection *all, size_t most);
/* Shuts down that connection. */
void connection_end(struct connection *all, int fd);
/* Returns free memory to the system some time later, when libzmq's thread has freed what those
 * connections held. */
void connection_give_back(void);
void connection_clear(struct connection **all);
