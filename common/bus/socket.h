/* SPDX-License-Identifier: Apache-2.0 */
/* socket.h - ZeroMQ sockets with common bounds, driven by the loop. */
#pragma once

#include "common/base/err.h"
#include "common/codec/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Opens a socket with a bounded queue of sent messages and handshake time, and adds it to the loop;
 * NULL with *e. *stirred is set when its descriptor reports that there may be something to read.
 * The owner must also set it after a send, which may consume that report, and clear it when the
 * socket has been read until empty.
 */
void *socket_open(void *context, int type, bool *stirred, struct err *);
/* Limits the size of a part, and the number of queued messages: 8 if they hold at most 512 MB,
 * otherwise 2. *most is the bound of a connection with such messages (recv.h). */
int socket_bound_parts(void *socket, const struct wire_bounds *, size_t *most, struct err *);
void socket_close(void *socket);
int socket_set_int(void *socket, int option, const char *name, int value, struct err *);
int socket_set_text(void *socket, int option, const char *name, const char *value, struct err *);

/* Monitors the connections of a socket. The loop calls happened() when there are events of the
 * given kinds; it must read all of them. */
void *socket_monitor(void *context, void *socket, int events,
    void (*happened)(void *self, uint32_t), void *self, struct err *);
/* A socket and the monitor of it. */
void socket_close_both(void *socket, void *monitor);
/* Returns the next event and, for most events, its descriptor; 0: no event. */
int socket_event(void *monitor, int *fd);
