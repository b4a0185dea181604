/* SPDX-License-Identifier: Apache-2.0 */
/* operator.h - a command that is one message to one daemon, which passes no gateway. */
#pragma once

#include "compose/cloister/commands.h"

#include "common/table/schema.h"

#include <jansson.h>

/* For a row of commands.def whose message schema.def marks OPERATOR. Returns the exit code. */
int operator_command(const struct command *, int argc, char **argv);

/* Sends one message to its daemon, which is started if none runs.  NULL: *e; *refused is set if the
 * daemon, or the schema, refused it. */
json_t *operator_ask(enum msg_id, const json_t *arguments, bool *refused, struct err *e);
/* Prints *e; returns the exit code. */
int operator_fail(bool refused, const struct err *e);
