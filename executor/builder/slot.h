/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h - a unique number for each builder of a host.  Its uids and cgroup names are derived
 * from it. */
#pragma once

#include "executor/builder/host.h"

/* Sets the server's own directory.  It holds the slots of an ordinary user if no other directory
 * is usable. */
void slot_set_state(const char *path);
/*
 * Takes a slot that no other builder of this host has, and for which groups() succeeds.  No other
 * builder uses the uids of that slot.  With slot_fd and workspace_table_fd of an earlier builder
 * it takes that builder's slot, after all its processes have ended.  If that is impossible, both
 * are set to -1 and another slot is taken.  Between two such builders the slot stays locked but
 * its cgroups do not.  If a builder in another root has taken them, it uses the same uids, and
 * this builder cannot continue.
 */
int slot_take(struct host *, bool (*groups)(uint32_t slot), struct err *);
