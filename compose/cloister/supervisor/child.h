/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - the daemons as children of the supervisor: started, watched, started again, stopped. */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>

struct kept;

/* Starts them all, and from now on each again that ends. */
int child_start_all(struct err *);
/* Those that were given up are tried again. */
void child_retry(void);
/* SIGTERM to one after the other, askers before those they ask; SIGKILL to what is left after a
 * while; then done(). */
void child_stop_all(void (*done)(void));
/* What the daemon of that pid says of itself; pids of others are ignored. */
void child_says(pid_t, bool ready, const char *status);
/* What is kept for the daemon of that pid; NULL: nothing is. */
struct kept *child_kept(pid_t);
/* Is each of them up and ready? */
bool child_all_ready(void);
/* One object for each, for `cloister status`. */
json_t *child_describe(void);
