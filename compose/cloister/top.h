/* SPDX-License-Identifier: Apache-2.0 */
/* top.h - `cloister top`: daemons, queue, sessions and the last runs, on a screen that is drawn
 * again and again. */
#pragma once

/* Returns the exit code of the command. */
int top_show(int argc, char **argv);
