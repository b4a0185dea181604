/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - the daemons as children of the supervisor: start, watch, restart, stop. */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>

struct kept;

/* Starts all daemons, and from now on restarts each that exits. */
int child_start_all(struct err *);
/* Retries the daemons that were given up. */
void child_retry(void);
/* Sends SIGTERM to one after the other, clients before their servers; SIGKILL to those left after
 * stop_s; then calls done(). */
void child_stop_all(void (*done)(void));
/* Status reported by the daemon with that pid; other pids are ignored. */
void child_says(pid_t, bool ready, const char *status);
/* The descriptors stored for the daemon with that pid; NULL: no such daemon. */
struct kept *child_kept(pid_t);
/* Are all daemons ready? */
bool child_all_ready(void);
/* One object per daemon, for `cloister status`. */
json_t *child_describe(void);
