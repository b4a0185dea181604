/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - all names in a workspace, one by one. */
#pragma once

#include "executor/builder/files/slip.h"

/* Tells the executor at fd of everything in the folder root as ENTRY and SKIPPED, parents before
 * children and otherwise in no order, within the bounds of *order.  0, or -1 with errno. */
int walk_list(int fd, int root, const struct slip_head *order, bool *truncated);
