/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp.h - the last step into the jail. */
#pragma once

#include "common/base/err.h"
#include "common/jail/rights.h"

int seccomp_enter(const struct jail *, struct err *);
/* In a jail that permits seccomp(2): from now on each of these calls kills this process. They end
 * with -1. */
int seccomp_narrow(const int *calls, struct err *);
