/* SPDX-License-Identifier: Apache-2.0 */
/* logs.h - `cloister logs`. */
#pragma once

/* Returns the exit code of the command: 0, 1 if there is no log, 2 for a wrong command line. */
int logs_show(int argc, char **argv);
