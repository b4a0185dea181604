/* SPDX-License-Identifier: Apache-2.0 */
/* guest_landlock.h - the Landlock domain of a box. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/*
 * Enters the domain.  A guest may read and execute everything in its root, and write to
 * /workspace, /tmp and the devices.  A file helper may access /workspace only.  sockets: a guest
 * may bind and connect TCP sockets, and make AF_UNIX sockets where it may write.  *scopes: the
 * domain also restricts signals and abstract sockets.  -1: the kernel has no Landlock, or refused.
 */
int guest_landlock_enter(bool file_helper, bool sockets, bool *scopes, struct err *);
