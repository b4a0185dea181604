/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h - a number of its own for each builder of a host, and with it uids and names of cgroups.
 */
#pragma once

#include "executor/builder/host.h"

/* A directory of this server alone, for slots where an ordinary user has no other. */
void slot_set_state(const char *path);
/*
 * One among the builders of this host, and so uids that no other gives, for which groups() could
 * be had.  With slot_fd and shelf_fd of an earlier builder it is that one's, when nothing lives any
 * more that came from it; a host where that cannot be has both taken away (-1 and another slot).
 * Between two such lives the slot stays locked and its groups do not: where another root's builder
 * has taken them, it gives the same uids, and this one cannot go on.
 */
int slot_take(struct host *, bool (*groups)(uint32_t slot), struct err *);
