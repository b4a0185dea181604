/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - the lowest limit of a cgroup and its ancestors. */
#include "scratch.h"

#include "executor/builder/limits/memory.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char base[] = "/tmp/test-memory-XXXXXX";

static int
begin(void **state)
{
	char path[64];

	(void)state;
	if (scratch_make(base) < 0)
		return -1;
	for (const char *const *at = (const char *const[]){ "/a", "/a/b", NULL }; *at != NULL;
	     at++) {
		snprintf(path, sizeof path, "%s%s", base, *at);
		if (mkdir(path, 0700) < 0)
			return -1;
	}
	return 0;
}

static int
end(void **state)
{
	(void)state;
	return scratch_remove(base);
}

static void
put(const char *directory, const char *text)
{
	char path[64];

	snprintf(path, sizeof path, "%s%s/knob", base, directory);
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static uint64_t
least(uint64_t most)
{
	char path[64];

	snprintf(path, sizeof path, "%s/a/b", base);
	return memory_least(path, (int)strlen(base), "knob", most);
}

static void
takes_the_least(void **state)
{
	(void)state;
	assert_int_equal(least(1000), 1000); /* no knob anywhere */
	put("/a/b", "max\n");
	assert_int_equal(least(1000), 1000);
	put("/a", "700\n");
	assert_int_equal(least(1000), 700);
	put("/a/b", "900\n");
	assert_int_equal(least(1000), 700);
	put("", "600\n");
	assert_int_equal(least(1000), 600);
	put("/a/b", "9223372036854771712\n"); /* version 1: none */
	assert_int_equal(least(500), 500);
}

static void
knows_this_machine(void **state)
{
	uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	assert_in_range(memory_most(), 1 << 20, all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(takes_the_least, begin, end),
		cmocka_unit_test(knows_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
