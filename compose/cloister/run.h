/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - `cloister run`: one program through MCP, as a client would. */
#pragma once

int run_file(int argc, char **argv);
