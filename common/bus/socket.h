/* SPDX-License-Identifier: Apache-2.0 */
/* socket.h - ZeroMQ sockets with the bounds that all of ours have, woken by the loop. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bounded queues, message size and handshake time; in the loop; NULL with *e.  *stirred is set when
 * something may be there to be read: its descriptor said so.  It is for the owner to set it after a
 * send, which may have taken what the descriptor had to say, and to clear it when the socket was
 * read until it had nothing.
 */
void *socket_open(void *context, int type, bool *stirred, struct err *);
/* No part is larger, and so few whole messages wait to be read that these have at most 512 MB in
 * parts of that size; PARCEL_PART_BYTES where this is not called. */
int socket_bound_parts(void *socket, size_t bytes, struct err *);
void socket_close(void *socket);
int socket_set_int(void *socket, int option, const char *name, int value, struct err *);
int socket_set_text(void *socket, int option, const char *name, const char *value, struct err *);

/* What happens to a socket's connections: happened() is called from the loop when there are some of
 * the events asked for, and must take all. */
void *socket_monitor(void *context, void *socket, int events,
    void (*happened)(void *self, uint32_t), void *self, struct err *);
/* A socket and the monitor of it. */
void socket_close_both(void *socket, void *monitor);
/* The next event, and the descriptor that most are about; 0 where there is none. */
int socket_event(void *monitor, int *fd);
