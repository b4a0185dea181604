/* SPDX-License-Identifier: Apache-2.0 */
/* lease.h - the lease of one client on its user's daemons. */
#pragma once

#include "common/base/err.h"

enum { LEASE_ENDING = -2 };

/* Takes a lease, with a new supervisor if none runs. Returns it; 0: none is needed, because
 * somebody else runs the daemons; -1: *e; LEASE_ENDING: *e, until the daemons of a supervisor that
 * ended have ended, too. */
int lease_take(struct err *);
/* Takes the lease (negative: none yet) into a child process that renews it for a gateway. Returns
 * the gateway's descriptor. */
int lease_keep(int lease, struct err *);
