/* SPDX-License-Identifier: Apache-2.0 */
/* confine.c - Landlock and seccomp of the jail (common/jail), for a program that root may start. */
#include "compose/cloister/unpack/confine.h"

#include "common/base/auto.h"
#include "common/jail/landlock.h"
#include "common/jail/seccomp.h"

#include <linux/capability.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const int syscalls[] = {
#define ALLOW(name) SCMP_SYS(name),
#include "compose/cloister/unpack/syscalls.def"
	-1,
};

static int
drop_capabilities(struct err *e)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capset, &header, none) < 0)
		return err_sys(e, "capset");
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? err_sys(e, "no_new_privs") : 0;
}

int
confine(int from, int to, struct err *e)
{
	const struct jail_path paths[] = {
		{ from, JAIL_READ },
		{ to, JAIL_READ | JAIL_WRITE },
	};
	struct jail jail = {
		.paths = paths,
		.npaths = COUNT(paths),
		.confined = true,
		.files = true,
		.syscalls = syscalls,
	};
	bool in_force = false;

	if (drop_capabilities(e) < 0 || landlock_enter(&jail, &in_force, e) < 0 ||
	    seccomp_enter(&jail, e) < 0)
		return -1;
	if (!in_force)
		fputs("cloister: --image: this kernel has no Landlock; seccomp alone confines the "
		      "unpacking\n",
		    stderr);
	return 0;
}
