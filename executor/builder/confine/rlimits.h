/* SPDX-License-Identifier: Apache-2.0 */
/* rlimits.h - bounds that the kernel keeps for each process, or for all of a user. */
#pragma once

#include "common/base/err.h"

struct cage;

/* Of the calling process, and so of its children, for good.  Without a cgroup a program also goes
 * behind others, on whole processors. */
int rlimits_enter(const struct cage *, struct err *);
