/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp.h - the last step into the jail. */
#pragma once

#include "common/jail/jail.h"

int seccomp_enter(const struct jail *, struct err *);
