/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - one execution, from the request to the reply. */
#pragma once

#include "executor/session/session.h"

/* Takes what it needs from *ask.  session NULL: the run gets a workspace of its own.  fresh: the
 * session was made for this run, and the reply says so. */
int run_begin(struct call *, struct execute_code *ask, struct session *, bool fresh, struct err *);
/* In stop(): answers each run that is still active as cancelled. */
void run_end_all(void);
