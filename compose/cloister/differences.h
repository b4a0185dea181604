/* SPDX-License-Identifier: Apache-2.0 */
/*
 * differences.h - settings that this command was given and that running daemons do not have, and
 * daemons of another version.
 *
 * Daemons are shared by all clients of a user and keep the settings and the build of their start.
 */
#pragma once

#include "common/base/err.h"

/*
 * Reports them on stderr, and to the supervisor for its log and `cloister status`, in one line that
 * names each and the command that applies them.  -1 with *e: one of them would be stricter
 * (tightens.def), and the setting accept_running is off.  0: there are none, or they are accepted.
 */
int differences_check(struct err *e);
/* The line, from malloc; NULL: there are none. */
char *differences_line(void);
