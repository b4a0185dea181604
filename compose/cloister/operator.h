/* SPDX-License-Identifier: Apache-2.0 */
/* operator.h - a command that is one message to one daemon, which passes no gateway. */
#pragma once

#include "compose/cloister/commands.h"

/* For a row of commands.def whose message schema.def marks OPERATOR. Returns the exit code. */
int operator_command(const struct command *, int argc, char **argv);
