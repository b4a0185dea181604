/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - all names in a workspace, one by one. */
#pragma once

#include "executor/builder/files/file_frame.h"

/* Tells the executor at fd of everything in the directory root as ENTRY and SKIPPED, parents before
 * children and otherwise in no order, within the bounds of *order.  0, or -1 with errno. */
int walk_list(int fd, int root, const struct file_frame_head *order, bool *truncated);
