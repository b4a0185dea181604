/* SPDX-License-Identifier: Apache-2.0 */
/* orders.h - what the builder does for each kind of order. */
#pragma once

#include "executor/builder/host.h"
#include "executor/builder/order.h"

/* Compiles the seccomp programs, and starts the OCI launcher. */
int orders_open(const struct host *, struct err *);
/* Executes an order that order_check() has passed.  Takes ownership of the descriptors.  The
 * answer is sent now or later (answer.h). */
void orders_execute(const struct order *, int *fds, size_t nfds);
