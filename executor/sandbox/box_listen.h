/* SPDX-License-Identifier: Apache-2.0 */
/* box_listen.h - the sockets of a box's network. */
#pragma once

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

struct box;

/* Makes the sockets of a network in the box: one for DNS, and one for each port (at most
 * BOX_PORTS; they end with 0).  done: exactly once, with their descriptors, which it may take, or
 * with *e. */
enum {
	BOX_PORTS = 8,
	BOX_SOCKETS = 1 + BOX_PORTS,
};
int box_listen(struct box *, const uint16_t ports[BOX_PORTS],
    void (*done)(void *self, int *fds, size_t nfds, const struct err *e), void *self, struct err *);
