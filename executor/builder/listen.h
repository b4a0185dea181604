/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - the sockets at which egress serves a box. */
#pragma once

#include "executor/builder/order.h"

/* Makes the sockets of ORDER_LISTEN for the box with that network namespace, and sends the answers.
 * far: the namespace of the listeners; -1: none yet.  The caller keeps it until listen_end(). */
int listen_for(int net, int *far, const struct order *, struct err *);
/* Gives both back when all processes of the box have ended. */
void listen_end(int net, int far);
