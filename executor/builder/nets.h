/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nets.h - empty network namespaces, one for each box that lives.
 *
 * To make one takes the kernel half a millisecond, more than all else of a box together.  There is
 * nothing in them, no interface is up, and nobody in a box may change one (they are the builder's
 * user namespace's); sockets end with the processes that hold them.  So one whose box is dead is as
 * good as new.
 */
#pragma once

#include "executor/builder/host.h"

int nets_open(const struct host *, struct err *);
/* A descriptor, which stays this file's; given back when nothing of the box lives. */
int nets_take(struct err *);
void nets_give(int net);
