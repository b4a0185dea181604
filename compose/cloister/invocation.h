/* SPDX-License-Identifier: Apache-2.0 */
/* invocation.h - the arguments and the standard input of the program of `cloister run`. */
#pragma once

#include "compose/cloister/commands.h"

#include <jansson.h>

/* Removes the program's arguments from the command line.  The caller owns the array. */
json_t *invocation_arguments(const struct command *, int *argc, char **argv, struct err *e);
/*
 * Sets `arguments` and what is piped or redirected to this process, unless the program itself came
 * that way, as arguments of the tool.
 */
int invocation_set(json_t *of_tool, json_t *arguments, bool program_is_stdin, struct err *e);
