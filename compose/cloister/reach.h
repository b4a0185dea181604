/* SPDX-License-Identifier: Apache-2.0 */
/* reach.h - the client side of the supervisor's socket; starts a supervisor. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/* Takes a lease, held until the descriptor is closed. not_found: no supervisor runs. */
int reach_lease(struct err *);
/* Passes a lease to the running supervisor. */
int reach_give(int lease, struct err *);
int reach_stay(struct err *);
/* Tells the supervisor a line about settings that are not in force; it is not needed for anything.
 */
void reach_differ(const char *line);
/* One line of JSON, from malloc. */
char *reach_status(struct err *);
/* Returns when all daemons have stopped. */
int reach_down(struct err *);

/* Starts a detached supervisor. lease: its first lease; it stops when idle. -1: it has no lease and
 * runs until `cloister down`. */
int reach_start(int lease, struct err *);
/* Do daemons run that this user's supervisor did not start? */
bool reach_daemons_run(void);
/* Does a supervisor have the directory, or was it killed? Daemons that run end with it. */
bool reach_supervised(int run);
