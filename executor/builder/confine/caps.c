/* SPDX-License-Identifier: Apache-2.0 */
/* caps.c - uses the system calls directly (capabilities(7)).  Trusts only what it reads back. */
#include "executor/builder/confine/caps.h"

#include "common/base/auto.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int
caps_keep(const int *caps, size_t n, struct err *e)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { 0 };

	for (size_t i = 0; i < n; i++) {
		data[caps[i] / 32].effective |= 1u << caps[i] % 32;
		data[caps[i] / 32].permitted |= 1u << caps[i] % 32;
	}
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if ((data[cap / 32].permitted & 1u << cap % 32) == 0 &&
		    prctl(PR_CAPBSET_DROP, cap) < 0)
			return err_sys(e, "drop capability %d", cap);
	return syscall(SYS_capset, &head, data) < 0 ? err_sys(e, "capset") : 0;
}

/* exec keeps only ambient capabilities.  Root would keep all of them anyway. */
int
caps_pass_on(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(data); i++)
		data[i].inheritable = data[i].permitted;
	if (syscall(SYS_capset, &head, data) < 0)
		return -1;
	for (int cap = 0; cap < 64; cap++)
		if ((data[cap / 32].permitted & 1u << cap % 32) != 0 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -1;
	return 0;
}

int
caps_drop_all(struct err *e)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (prctl(PR_SET_SECUREBITS, SECURE_ALL_BITS | SECURE_ALL_LOCKS) < 0)
		return err_sys(e, "lock securebits");
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap) < 0)
			return err_sys(e, "drop capability %d", cap);
	if (syscall(SYS_capset, &head, none) < 0)
		return err_sys(e, "drop capabilities");
	return 0;
}

bool
caps_none(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	for (size_t i = 0; i < COUNT(data); i++)
		if ((data[i].effective | data[i].permitted | data[i].inheritable) != 0)
			return false;
	for (int cap = 0, has; (has = prctl(PR_CAPBSET_READ, cap)) >= 0; cap++)
		if (has != 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) != 0)
			return false;
	return true;
}
