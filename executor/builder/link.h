/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - the addresses that stand for names outside of a box, and the way to them: a pair of veth
 * devices between the box's network namespace and one that no program is in.
 */
#pragma once

#include "common/base/err.h"

/* Connects the two; may be repeated.  In far all those addresses are local; box has a route to
 * them.  Fails with sys EOPNOTSUPP, and has changed nothing, on a kernel without veth. */
int link_pair(int box, int far, struct err *);
/* Makes these addresses local in the box's own namespace. */
int link_alone(int box, struct err *);
