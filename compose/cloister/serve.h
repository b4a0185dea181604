/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - `cloister serve`: an MCP server on the standard streams, with daemons behind it. */
#pragma once

#include <stdbool.h>

int serve_run(int argc, char **argv);
/* Whether the command was started by the name of a replaced system, as a link to it, and serves:
 * without a command, with flags only, or with `serve`.  serve_as_system() then serves with its
 * toolset. */
bool serve_is_system(int argc, char **argv);
int serve_as_system(int argc, char **argv);
