/* SPDX-License-Identifier: Apache-2.0 */
/* root.h - the template of the file system of every box.  It is made once. */
#pragma once

#include "executor/builder/host.h"

/*
 * Builds the template in memory, makes it this process's root, and detaches the host's root
 * permanently.  Each box gets a copy of this mount namespace and mounts its own /proc, /tmp and
 * /workspace in it.
 */
int root_make(struct host *, struct err *);
