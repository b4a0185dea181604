/* SPDX-License-Identifier: Apache-2.0 */
/* reach.h - a client's side of the supervisor's socket, and how one is started. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/* A lease, held until the descriptor is closed.  not_found: no supervisor is there. */
int reach_lease(struct err *);
/* Hands a lease to the supervisor that is there. */
int reach_give(int lease, struct err *);
int reach_stay(struct err *);
/* One line of JSON, of malloc. */
char *reach_status(struct err *);
/* Returns when all has stopped. */
int reach_down(struct err *);

/* Starts a supervisor that does not belong to this process.  lease: its first, or -1; then it ends
 * when nobody has needed it for a while, otherwise it stays. */
int reach_start(int lease, struct err *);
/* Has somebody else started the daemons? */
bool reach_daemons_run(void);
