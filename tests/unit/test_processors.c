/* SPDX-License-Identifier: Apache-2.0 */
/* test_processors.c - the lowest processor quota of a cgroup and its ancestors. */
#include "scratch.h"

#include "executor/builder/limits/processors.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char base[] = "/tmp/test-processors-XXXXXX";

static int
begin(void **state)
{
	char path[64];

	(void)state;
	if (scratch_make(base) < 0)
		return -1;
	snprintf(path, sizeof path, "%s/a", base);
	return mkdir(path, 0700);
}

static int
end(void **state)
{
	(void)state;
	return scratch_remove(base);
}

static void
put(const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof path, "%s%s", base, name);
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static uint64_t
least(const char *quota, const char *period)
{
	char path[64];

	snprintf(path, sizeof path, "%s/a", base);
	return processors_least(path, (int)strlen(base), quota, period, 4000);
}

static void
reads_version2(void **state)
{
	(void)state;
	assert_int_equal(least("max", NULL), 4000); /* no file */
	put("/a/max", "max 100000\n");
	assert_int_equal(least("max", NULL), 4000);
	put("/max", "150000 100000\n");
	assert_int_equal(least("max", NULL), 1500);
	put("/a/max", "25000 50000\n");
	assert_int_equal(least("max", NULL), 500);
	put("/a/max", "900000 100000\n");
	assert_int_equal(least("max", NULL), 1500);
	put("/a/max", "1 100000\n");
	assert_int_equal(least("max", NULL), 10);
	put("/a/max", "100000 0\n");
	assert_int_equal(least("max", NULL), 1500);
}

static void
reads_version1(void **state)
{
	(void)state;
	put("/a/quota", "-1\n");
	put("/a/period", "100000\n");
	assert_int_equal(least("quota", "period"), 4000);
	put("/a/quota", "250000\n");
	assert_int_equal(least("quota", "period"), 2500);
}

static void
knows_this_machine(void **state)
{
	(void)state;
	assert_in_range(processors_milli(), 10, (uint64_t)sysconf(_SC_NPROCESSORS_CONF) * 1000);
	assert_int_equal(processors_whole(), (processors_milli() + 999) / 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_version2, begin, end),
		cmocka_unit_test_setup_teardown(reads_version1, begin, end),
		cmocka_unit_test(knows_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
