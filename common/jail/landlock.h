/* SPDX-License-Identifier: Apache-2.0 */
/* landlock.h - the part of the jail for paths, ports and signals. */
#pragma once

#include "common/base/err.h"
#include "common/jail/rights.h"

/* The version of Landlock that the running kernel has; 0: none. */
int landlock_abi(void);

/* *in_force: false if the kernel has no Landlock; true after a refusal was observed. */
int landlock_enter(const struct jail *, bool *in_force, struct err *);
