/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h - a unique number for each builder of a host; its uids and cgroup names follow from it. */
#pragma once

#include "executor/builder/host.h"

/* Sets the server's own directory, for slots of an ordinary user who has no other place. */
void slot_set_state(const char *path);
/*
 * Takes a slot that no other builder of this host has, and so uids that no other builder uses, and
 * for which groups() succeeds.  With slot_fd and workspace_table_fd of an earlier builder it takes
 * that builder's slot, after all its processes have ended; if that is impossible, both are set to
 * -1 and another slot is taken.  Between two such builders the slot stays locked but its cgroups do
 * not: if a builder in another root has taken them, it uses the same uids, and this builder cannot
 * continue.
 */
int slot_take(struct host *, bool (*groups)(uint32_t slot), struct err *);
