/* SPDX-License-Identifier: Apache-2.0 */
/* fence.h - the Landlock domain of a box. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/*
 * Of a guest: reads and runs what its root holds, writes in /workspace, /tmp and to the devices;
 * of a steward: /workspace and nothing else.  *scopes: signals and abstract sockets end at the
 * domain, too.  -1: the kernel has no Landlock, or refused.
 */
int fence_enter(bool steward, bool *scopes, struct err *);
