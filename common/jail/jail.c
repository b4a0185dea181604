/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jail.c - drops privileges in the order that the kernel requires, and verifies that they are gone.
 *
 * Trusts the kernel's state, not the return values of its own calls: the report was read from the
 * process after the last step.
 */
#include "common/jail/jail.h"

#include "common/base/auto.h"
#include "common/jail/landlock.h"
#include "common/jail/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum {
	MAX_STATUS = 1 << 20, /* bytes: lists all groups of the user, at most 65536 */
};

/* Credentials and filters are per thread, so a thread made earlier would be outside the jail. */
static int
alone(struct err *e)
{
	auto_dir DIR *tasks = opendir("/proc/self/task");
	int n = 0;

	if (tasks == NULL)
		return err_sys(e, "open /proc/self/task");
	for (const struct dirent *d; (d = readdir(tasks)) != NULL;)
		n += d->d_name[0] != '.';
	return n == 1 ? 0 : err_set(e, ERR_internal, "%d threads before the jail, 1 is allowed", n);
}

static int
empty_bounding_set(struct err *e)
{
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return err_sys(e, "drop capability %lu of the bounding set", cap);
	/* With these bits no uid, not even 0, gains a capability again. A change from uid 0
	 * still drops them. */
	if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NO_CAP_AMBIENT_RAISE | SECURE_ALL_LOCKS,
		0, 0, 0) < 0)
		return err_sys(e, "set securebits");
	return 0;
}

static int
change_ids(const struct jail *j, struct err *e)
{
	if (setgroups(j->ngroups, j->groups) < 0)
		return err_sys(e, "setgroups");
	if (setresgid(j->gid, j->gid, j->gid) < 0)
		return err_sys(e, "setresgid %u", j->gid);
	if (setresuid(j->uid, j->uid, j->uid) < 0)
		return err_sys(e, "setresuid %u", j->uid);
	return 0;
}

/* All three ids are checked, because a real or saved id would permit a way back. */
static int
read_ids(const struct jail *j, struct err *e)
{
	uid_t uid[3];
	gid_t gid[3];

	if (getresuid(&uid[0], &uid[1], &uid[2]) < 0 || getresgid(&gid[0], &gid[1], &gid[2]) < 0)
		return err_sys(e, "read ids back");
	for (size_t i = 0; i < COUNT(uid); i++)
		if (uid[i] != j->uid || gid[i] != j->gid)
			return err_set(e, ERR_internal, "uid %u or gid %u is not the daemon's",
			    uid[i], gid[i]);
	return 0;
}

static int
check_ids(const struct jail *j, struct err *e)
{
	if (setresuid(0, 0, 0) == 0 || seteuid(0) == 0 || setresgid(0, 0, 0) == 0)
		return err_set(e, ERR_internal, "root privileges could be regained");
	if (read_ids(j, e) < 0)
		return -1;
	if (getgroups(0, NULL) != (int)j->ngroups)
		return err_set(e, ERR_internal, "groups did not change");
	return 0;
}

/* The kernel clears the parent-death signal when ids change, and a supervisor relies on it. */
static int
keep_death_signal(int number, pid_t parent, struct err *e)
{
	if (number == 0)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) < 0)
		return err_sys(e, "set the signal for the parent's death");
	if (getppid() != parent)
		return err_set(e, ERR_unavailable, "the parent has died");
	return 0;
}

static int
drop_root(const struct jail *j, struct err *e)
{
	int signal = 0;
	pid_t parent = getppid();

	if (j->uid == 0 || j->gid == 0)
		return err_set(e, ERR_internal, "a daemon must not run as root");
	if (prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0) < 0)
		return err_sys(e, "read the signal for the parent's death");
	if (empty_bounding_set(e) < 0 || change_ids(j, e) < 0)
		return -1;
	return check_ids(j, e) < 0 ? -1 : keep_death_signal(signal, parent, e);
}

static int
drop_capabilities(struct err *e)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
		return err_sys(e, "clear ambient capabilities");
	if (syscall(SYS_capset, &header, none) < 0)
		return err_sys(e, "capset");
	return 0;
}

static int
close_doors(struct err *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "set no_new_privs");
#ifndef SANITIZED /* its leak check attaches to its own process */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(e, "set dumpable");
#endif
	return 0;
}

/* At most the hard limit, which an ordinary user cannot raise. */
static int
limit(int resource, const char *name, uint64_t value, struct err *e)
{
	struct rlimit was;

	if (getrlimit(resource, &was) < 0)
		return err_sys(e, "getrlimit %s", name);
	if (value > was.rlim_max)
		value = was.rlim_max;
	if (setrlimit(resource, &(struct rlimit){ value, value }) < 0)
		return err_sys(e, "setrlimit %s", name);
	return 0;
}

static int
set_limits(const struct jail *j, struct err *e)
{
	if (limit(RLIMIT_CORE, "core", 0, e) < 0 ||
	    limit(RLIMIT_NOFILE, "nofile", j->open_files, e) < 0)
		return -1;
#ifndef SANITIZED /* it reserves terabytes of addresses */
	if (j->memory_bytes != 0)
		return limit(RLIMIT_AS, "as", j->memory_bytes, e);
#endif
	return 0;
}

/* Compares the number after "\nName:\t". */
static bool
is(const char *status, const char *name, int base, unsigned long long value)
{
	const char *at = strstr(status, name);

	return at != NULL && strtoull(at + strlen(name), NULL, base) == value;
}

/* status: /proc/self/status, opened before Landlock and read now. */
static int
read_back(int status, bool was_root, struct jail_report *r, struct err *e)
{
	static char text[MAX_STATUS];
	size_t size = 0;
	ssize_t n;

	while ((n = read(status, text + size, sizeof text - 1 - size)) > 0)
		size += (size_t)n;
	if (n < 0 || size == 0)
		return err_sys(e, "read /proc/self/status");
	r->uid = was_root;
	r->capabilities = is(text, "\nCapInh:\t", 16, 0) && is(text, "\nCapPrm:\t", 16, 0) &&
	                  is(text, "\nCapEff:\t", 16, 0) && is(text, "\nCapAmb:\t", 16, 0) &&
	                  (!was_root || is(text, "\nCapBnd:\t", 16, 0));
	r->no_new_privs = is(text, "\nNoNewPrivs:\t", 10, 1);
	r->seccomp = is(text, "\nSeccomp:\t", 10, 2);
	if (!r->capabilities || !r->no_new_privs)
		return err_set(e, ERR_internal, "the kernel reports privileges that were dropped");
	return 0;
}

int
jail_enter(const struct jail *j, struct jail_report *r, struct err *e)
{
	bool was_root = geteuid() == 0;

	*r = (struct jail_report){ 0 };
	if (alone(e) < 0)
		return err_add(e, "jail");
	auto_fd int status = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	if (status < 0)
		return err_sys(e, "jail: open /proc/self/status");
	if ((was_root ? drop_root(j, e) : read_ids(j, e)) < 0 || drop_capabilities(e) < 0 ||
	    close_doors(e) < 0 || landlock_enter(j, &r->landlock, e) < 0 || set_limits(j, e) < 0 ||
	    seccomp_enter(j, e) < 0 || read_back(status, was_root, r, e) < 0)
		return err_add(e, "jail");
	return 0;
}
