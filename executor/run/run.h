/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - an execution. */
#pragma once

#include "executor/session/session.h"

/* Takes what it needs of *ask.  session NULL: in a workspace of its own; fresh: it was made for
 * this, and the reply says so. */
int run_begin(struct call *, struct execute_code *ask, struct session *, bool fresh, struct err *);
/* In stop(): says of each run that is still under way that it was cancelled. */
void run_end_all(void);
