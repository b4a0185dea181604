/* SPDX-License-Identifier: Apache-2.0 */
/* uninstall.h - `cloister uninstall`. */
#pragma once

/* Returns the exit code of the command: 0, 1 if something could not be undone, 2 for a wrong line.
 */
int uninstall(int argc, char **argv);
