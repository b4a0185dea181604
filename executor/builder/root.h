/* SPDX-License-Identifier: Apache-2.0 */
/* root.h - the file system that every box starts with, made once. */
#pragma once

#include "executor/builder/host.h"

/*
 * Builds it in memory, makes it this process's root, and leaves the host's behind for good.  Each
 * box gets a copy of this mount namespace and mounts its own /proc, /tmp and /workspace in it.
 */
int root_make(struct host *, struct err *);
