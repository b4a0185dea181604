/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nets.h - a cache of empty network namespaces, one for each box.
 *
 * Making one takes the kernel half a millisecond, longer than the rest of a box.  A used namespace
 * can be reused after the end of its box: it is empty, no interface is up, and no process in a box
 * can change it, because the builder's user namespace owns it.  Its sockets end with the processes
 * that hold them.
 */
#pragma once

#include "executor/builder/host.h"

int nets_open(const struct host *, struct err *);
/* Returns a descriptor that nets.c owns.  Return it with nets_give() when all processes of the
 * box have ended. */
int nets_take(struct err *);
void nets_give(int net);
