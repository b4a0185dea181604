/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - `cloister history` and `cloister show`: the caller's runs, from the audit log. */
#pragma once

#include "compose/cloister/transfer.h"

/* The last runs, newest first, as objects; the caller owns the list. */
json_t *history_recent(const struct transfer *, size_t most, struct err *);
/* Both return the exit code of the command. */
int history_list(int argc, char **argv);
int history_show(int argc, char **argv);
