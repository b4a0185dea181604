/* SPDX-License-Identifier: Apache-2.0 */
/* test_cgroup_huge.c - sets to 0 the cgroup files that limit huge pages, and no others. */
#include "executor/builder/limits/cgroup_huge.h"

#include "common/base/auto.h"
#include "scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_alone_are_set),
		cmocka_unit_test(test_without_the_controller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
