/* SPDX-License-Identifier: Apache-2.0 */
/* test_cgroup_huge.c - sets to 0 the cgroup files that limit huge pages, and no others. */
#include "executor/builder/limits/cgroup_huge.h"

#include "common/base/auto.h"
#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct {
	const char *name;
	bool set;
} knobs[] = {
	{ "hugetlb.2MB.max", true },
	{ "hugetlb.2MB.rsvd.max", true },
	{ "hugetlb.1GB.limit_in_bytes", true },
	{ "hugetlb.1GB.rsvd.limit_in_bytes", true },
	{ "hugetlb.2MB.current", false },
	{ "hugetlb.2MB.events", false },
	{ "hugetlb.2MB.max_usage_in_bytes", false },
	{ "memory.max", false },
	{ "memory.limit_in_bytes", false },
	{ "xhugetlb.2MB.max", false },
};

static char base[] = "/tmp/cloister-unit-XXXXXX";

static int
open_base(void)
{
	assert_int_equal(scratch_make(base), 0);
	return open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void
test_limits_alone_are_set(void **state)
{
	auto_fd int directory = open_base();
	char text[8];

	(void)state;
	for (size_t i = 0; i < COUNT(knobs); i++) {
		auto_fd int knob =
		    openat(directory, knobs[i].name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(write(knob, "max\n", 4), 4);
	}
	assert_int_equal(cgroup_huge_refuse(directory), 4);
	for (size_t i = 0; i < COUNT(knobs); i++) {
		auto_fd int knob = openat(directory, knobs[i].name, O_RDONLY | O_CLOEXEC);
		ssize_t n = read(knob, text, sizeof text);

		assert_int_equal(n, knobs[i].set ? 1 : 4);
		assert_memory_equal(text, knobs[i].set ? "0" : "max\n", (size_t)n);
	}
	scratch_remove(base);
}

static void
test_without_the_controller(void **state)
{
	auto_fd int directory = open_base();

	(void)state;
	assert_int_equal(cgroup_huge_refuse(directory), 0);
	scratch_remove(base);
}

/* ---- the kernel's controller ---- */

/* A cgroup of the unified hierarchy with the controller, or -1. */
static int
make_group(char *path, size_t size)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

	for (size_t i = 0; i < COUNT(mounts); i++) {
		auto_fd int top = open(mounts[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		auto_fd int control = openat(top, "cgroup.subtree_control", O_WRONLY | O_CLOEXEC);

		if (control < 0 || write(control, "+hugetlb", 8) != 8)
			continue;
		snprintf(path, size, "%s/cloister-unit-%d", mounts[i], (int)getpid());
		if (mkdir(path, 0755) == 0)
			return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return -1;
}

static size_t
count_limits(int directory)
{
	auto_fd int list = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *names = fdopendir(take_fd(&list));
	size_t limits = 0;

	assert_non_null(names);
	for (const struct dirent *d; (d = readdir(names)) != NULL;) {
		size_t size = strlen(d->d_name);
		char text[8] = "";

		if (strncmp(d->d_name, "hugetlb.", 8) != 0 ||
		    strcmp(d->d_name + size - 4, ".max") != 0)
			continue;
		auto_fd int knob = openat(directory, d->d_name, O_RDONLY | O_CLOEXEC);
		assert_int_equal(read(knob, text, sizeof text), 2);
		assert_string_equal(text, "0\n");
		limits++;
	}
	closedir(names);
	return limits;
}

static void
test_the_kernel_takes_the_limits(void **state)
{
	char path[128];
	auto_fd int directory = make_group(path, sizeof path);

	(void)state;
	if (directory < 0)
		skip(); /* no such controller here, or it is not ours to use */
	size_t set = cgroup_huge_refuse(directory), limits = count_limits(directory);
	assert_int_equal(rmdir(path), 0);
	assert_true(limits >= 2);
	assert_int_equal(set, limits);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_alone_are_set),
		cmocka_unit_test(test_without_the_controller),
		cmocka_unit_test(test_the_kernel_takes_the_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
