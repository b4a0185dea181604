/* SPDX-License-Identifier: Apache-2.0 */
/* test_cgroup_mount.c - read-only cgroups, as in a container, for the builder and for others. */
#include "executor/builder/limits/cgroup_mount.h"

#include "common/base/auto.h"
#include "executor/builder/limits/cgroup_find.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The hierarchy that this machine has: the path of this process in it, and its mount point. */
static bool
find(char path[CGROUP_PATH], char point[CGROUP_PATH])
{
	int length;

	if (cgroup_find(NULL, path, &length) < 0 && cgroup_find("memory", path, &length) < 0)
		return false;
	snprintf(point, CGROUP_PATH, "%.*s", length, path);
	return true;
}

static bool
is_writable(const char *directory)
{
	char name[CGROUP_PATH + 32];

	snprintf(name, sizeof name, "%s/cgroup.procs", directory);
	auto_fd int fd = open(name, O_WRONLY | O_CLOEXEC);

	return fd >= 0;
}

/* In a process of its own, whose mounts end with it; returns the number of the failed step. */
static int
in_container(void)
{
	char path[CGROUP_PATH], point[CGROUP_PATH];
	struct err e;

	if (!find(path, point) || !is_writable(path))
		return 0; /* nothing to compare with */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(NULL, point, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
		return 1;
	auto_fd int outer = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

	if (is_writable(path))
		return 2;
	if (cgroup_mount_writable(&e) < 0 || !is_writable(path))
		return 3;
	/* Other processes of the container still see it read-only. */
	if (setns(outer, CLONE_NEWNS) < 0)
		return 4;
	return is_writable(path) ? 5 : 0;
}

static void
is_writable_for_the_builder_only(void **state)
{
	int status = -1;
	pid_t child = geteuid() == 0 ? fork() : -1;

	(void)state;
	if (child == 0)
		_exit(in_container());
	if (child < 0)
		return;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void
needs_root(void **state)
{
	struct err e = { 0 };

	(void)state;
	if (geteuid() == 0)
		return;
	assert_int_equal(cgroup_mount_writable(&e), -1);
	assert_int_equal(e.sys, EPERM);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_writable_for_the_builder_only),
		cmocka_unit_test(needs_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
