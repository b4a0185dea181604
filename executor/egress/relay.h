/* SPDX-License-Identifier: Apache-2.0 */
/* relay.h - one connection of a program and the one outside that belongs to it. */
#pragma once

#include "executor/egress/served.h"

/* Takes ownership of sock.  Resolves the name, connects and copies until both ends are closed. */
void relay_begin(struct served *, int sock, const char *name, uint16_t port);
/* Resets a connection, which the caller closes: an orderly end would look like a server that sends
 * nothing, or no more. */
void relay_reset(int sock);
/* Closes all connections of a network. */
void relay_end_all(struct served *);
