/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - `cloister serve`: an MCP server on the standard streams, with daemons behind it. */
#pragma once

int serve_run(int argc, char **argv);
