/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.h - the connections below a ZeroMQ socket, as its monitor tells of them, so that one
 * from which nothing comes can be ended.
 *
 * libzmq keeps all that it has of a message until its last part is there; there may be any number
 * of parts, and nobody can look into it.  Who sends them for ever is silent, and when that
 * connection breaks, what there is of the message goes with it.  It must break as by the peer:
 * where a socket is closed in the middle of a message, libzmq 4.3 never frees that.
 *
 * It also takes memory for a whole part as soon as its size is announced, before anybody knows who
 * announces it; so there are never many connections of which that is not known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection;

/* The monitor must be read to its end each time, or else a descriptor may be another's. */
void connection_add(struct connection **all, int fd);
void connection_remove(struct connection **all, int fd);
/* A message came by it; known: of one that has greeted. */
void connection_heard(struct connection *all, int fd, bool known);
/* Ends each that was silent for longer. */
void connection_end_silent(struct connection *all, int64_t ms);
/* Ends the oldest of those that are not known, where they are more than that. */
void connection_end_stranger(struct connection *all, size_t most);
/* Ends that one. */
void connection_end(struct connection *all, int fd);
/* Some time later, when libzmq's thread has freed what those held: gives it back to the system. */
void connection_give_back(void);
void connection_clear(struct connection **all);
