/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_syscalls.h - the syscalls.def of one daemon as two lists for its struct daemon, which end
 * with -1: `syscalls`, which are allowed beside those of common/jail/syscalls.def, and `refused`.
 * Included by its main.c, which defines SYSCALLS as the path of its syscalls.def.
 */
#pragma once

#include <seccomp.h>

static const int syscalls[] = {
#define ALLOW(name) SCMP_SYS(name),
#define REFUSE(name)
#include SYSCALLS
#undef ALLOW
#undef REFUSE
	-1,
};

static const int refused[] = {
#define ALLOW(name)
#define REFUSE(name) SCMP_SYS(name),
#include SYSCALLS
#undef ALLOW
#undef REFUSE
	-1,
};
