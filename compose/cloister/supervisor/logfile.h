/* SPDX-License-Identifier: Apache-2.0 */
/* logfile.h - keeps the log of a detached supervisor and its daemons within bounds. */
#pragma once

#include "common/base/err.h"

/* Looks at stderr from time to time where that is <state>/supervisor.log. */
void logfile_watch(void);
/* Opens <state>/supervisor.log for appending; the caller's. */
int logfile_append(int state, struct err *);
