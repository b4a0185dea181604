/* SPDX-License-Identifier: Apache-2.0 */
/* relay.h - one connection of a program and the one outside that belongs to it. */
#pragma once

#include "executor/egress/served.h"

/* Takes ownership of sock.  Resolves the name, connects and copies until both ends are closed. */
void relay_begin(struct served *, int sock, const char *name, uint16_t port);
/* Closes all connections of a network. */
void relay_end_all(struct served *);
