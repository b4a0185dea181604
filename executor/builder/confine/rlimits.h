/* SPDX-License-Identifier: Apache-2.0 */
/* rlimits.h - limits that the kernel enforces per process, or for all processes of a user. */
#pragma once

#include "executor/builder/host.h"
#include "executor/builder/limits/cgroup.h"

/* Sets the limits of the calling process and its children permanently. */
int rlimits_enter(const struct host *, const struct order *, bool file_helper, struct err *);
/* For a program: if no cgroup (NULL: there is none) gives it its share of the processors, lowers
 * its priority and binds it to whole processors. */
int rlimits_share(const struct host *, const struct order *, const struct cgroup *, struct err *);
