/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jail.h - drops a daemon's privileges before it reads external data, and verifies that they are
 * gone.
 *
 * Order: one thread only; bounding set (emptying it needs a capability); groups, gid and uid, then
 * an attempt to regain them and a read back; all other capabilities; no_new_privs; not dumpable;
 * Landlock; rlimits; seccomp last, which is inherited by every ZeroMQ thread made later.
 */
#pragma once

#include "common/base/err.h"
#include "common/jail/rights.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The layers in force, read back from the kernel. */
struct jail_report {
	bool uid, capabilities, no_new_privs, landlock, seccomp;
};

int jail_enter(const struct jail *, struct jail_report *, struct err *);
