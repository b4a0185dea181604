/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - the first box of a builder.  It runs no code and shows which layers this host has. */
#pragma once

#include "executor/builder/host.h"
#include "executor/builder/order.h"

/* Before the event loop runs: makes a box and a program in it, and ends them.  Returns the
 * program's layers, which later ones must have, too (host->due), or the reason why this host
 * cannot run boxes. */
int trial_run(struct host *, struct layers *, struct err *);
