/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nets.h - a cache of empty network namespaces, one for each box.
 *
 * Making one takes the kernel half a millisecond, longer than the rest of a box.  They are empty,
 * no interface is up, and no process in a box may change one, because the builder's user namespace
 * owns them.  Sockets end with the processes that hold them.  So the namespace of a dead box can be
 * used again.
 */
#pragma once

#include "executor/builder/host.h"

int nets_open(const struct host *, struct err *);
/* A descriptor, owned by nets.c; to be returned with nets_give() when all processes of the box have
 * ended. */
int nets_take(struct err *);
void nets_give(int net);
