/* SPDX-License-Identifier: Apache-2.0 */
/* logfile.h - limits the size of the log of a detached supervisor and its daemons. */
#pragma once

#include "common/base/err.h"

/* Checks stderr periodically if it is <state>/supervisor.log. */
void logfile_watch(void);
/* Opens <state>/supervisor.log for appending; the caller owns the descriptor. */
int logfile_append(int state, struct err *);
/* The same for reading; not_found: there is none. */
int logfile_read(int state, struct err *);
