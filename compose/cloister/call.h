/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - commands that call one tool and print its result. */
#pragma once

#include "compose/cloister/commands.h"

/* A command of commands.def without a function. Exits with 0; 1: the tool failed; 2: usage; 125:
 * cloister failed. */
int call_command(const struct command *, int argc, char **argv);
/* `cloister call TOOL`. */
int call_any(int argc, char **argv);
