/* SPDX-License-Identifier: Apache-2.0 */
/* effective.h - `cloister config` without a client: the settings with which the daemons start. */
#pragma once

/* One YAML document. Returns the exit code. */
int effective_print(int argc, char **argv);
