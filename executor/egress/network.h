/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - serves the networks of runs (served.h). */
#pragma once

#include "common/bus/bus.h"

/* In start(). */
int network_open(struct err *);
void network_close(void);

int network_on_serve_network(struct call *, void *request, struct err *);
int network_on_end_network(struct call *, void *request, struct err *);
