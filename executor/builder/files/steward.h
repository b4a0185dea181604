/* SPDX-License-Identifier: Apache-2.0 */
/* steward.h - the steward's parts; the executor knows it by slip.h and order.h alone. */
#pragma once

#include "executor/builder/files/slip.h"

/* Serves the folder root until fd is closed: 0; 1 if the channel breaks.  steward_main() does so
 * with /workspace. */
int steward_serve(int fd, int root);

/* Opens path beneath dir, through no link; -1 with errno. */
int steward_open(int dir, const char *path, int flags);
enum slip_fault steward_fault(int sys);
/* Waits until the executor takes it; -1: it is gone. */
int steward_tell(int fd, const struct slip *);
