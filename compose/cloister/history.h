/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - `cloister history` and `cloister show`: the caller's runs, from the audit log. */
#pragma once

/* Both return the exit code of the command. */
int history_list(int argc, char **argv);
int history_show(int argc, char **argv);
