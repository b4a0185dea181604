/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - enumerates all names in a workspace. */
#pragma once

#include "executor/builder/files/file_frame.h"

/* Sends the executor at fd everything in the directory root as ENTRY and SKIPPED, within the
 * bounds of *order.  Parents precede children; the order is otherwise undefined.  0, or -1 with
 * errno. */
int walk_list(int fd, int root, const struct file_frame_head *order, bool *truncated);
