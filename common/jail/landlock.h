/* SPDX-License-Identifier: Apache-2.0 */
/* landlock.h - the part of the jail that is about paths, ports and signals. */
#pragma once

#include "common/jail/jail.h"

/* *in_force: false where the kernel has no Landlock; true after a refusal was seen. */
int landlock_enter(const struct jail *, bool *in_force, struct err *);
