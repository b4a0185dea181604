/* SPDX-License-Identifier: Apache-2.0 */
/* bound.h - runs and their bound names: the handlers, and the connections that egress passes. */
#pragma once

#include "common/bus/bus.h"

/* In open(): the names that have credentials; borrowed until bound_close(). */
void bound_know(const struct texts *names);
/* In start(). */
int bound_open(struct err *);
void bound_close(void);

int bound_on_serve_bound(struct call *, void *request, struct err *);
