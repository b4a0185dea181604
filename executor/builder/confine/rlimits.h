/* SPDX-License-Identifier: Apache-2.0 */
/* rlimits.h - limits that the kernel enforces per process, or for all processes of a user. */
#pragma once

#include "common/base/err.h"

struct confine;

/* Sets the limits of the calling process and its children permanently.  Without a cgroup it also
 * lowers the priority of a program and binds it to whole processors. */
int rlimits_enter(const struct confine *, struct err *);
