/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nets.h - a cache of network namespaces without a trace of use, one for each box.
 *
 * Making one takes the kernel half a millisecond, longer than the rest of a box.  A namespace can
 * be reused after the end of its box if no socket is left in it and no packet was ever sent in it:
 * its counters are those of a new one.  No process in a box can configure it, because the builder's
 * user namespace owns it.
 */
#pragma once

#include "executor/builder/host.h"

/* With host->loopback: tries it, and sets loopback_errno. */
int nets_open(struct host *, struct err *);
/* Returns a descriptor that nets.c owns.  Return it with nets_give() when all processes of the
 * box have ended. */
int nets_take(struct err *);
void nets_give(int net);
/* Is the loopback of each one up? */
bool nets_have_loopback(void);
/* What the builder makes in between is in that namespace. */
void nets_enter(int net);
void nets_leave(void);
