/* SPDX-License-Identifier: Apache-2.0 */
/* filter_load.c - loads a finished program into the kernel.  In a file of its own, because a
 * zygote has no libseccomp. */
#include "executor/builder/confine/filter.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

int
filter_load(const struct filter *f, struct err *e)
{
	struct sock_fprog program = { f->size, (struct sock_filter *)(uintptr_t)f->code };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return err_sys(e, "seccomp");
	return 0;
}
