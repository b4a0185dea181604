/* SPDX-License-Identifier: Apache-2.0 */
/* processors.c - reads quotas of cgroups.  Trusts the host's files.  A quota that cannot be read,
 * or that is no positive number ("max", -1), means no limit. */
#include "executor/builder/limits/processors.h"

#include "common/base/auto.h"
#include "executor/builder/limits/cgroup_find.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LEAST_MILLI = 10,
	KNOB = 64,
};

static long long
read_numbers(const char *directory, const char *knob, long long *second)
{
	char name[CGROUP_PATH + KNOB], text[KNOB], *end;

	snprintf(name, sizeof name, "%s/%s", directory, knob);
	auto_fd int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	long long first = strtoll(text, &end, 10);

	if (second != NULL)
		*second = strtoll(end, NULL, 10);
	return first;
}

uint64_t
processors_least(char *path, int root, const char *quota, const char *period, uint64_t most)
{
	for (;;) {
		long long each = 0, us = read_numbers(path, quota, &each);

		if (period != NULL)
			each = read_numbers(path, period, NULL);
		if (us > 0 && each > 0 && (uint64_t)us < most * (uint64_t)each / 1000)
			most = (uint64_t)us * 1000 / (uint64_t)each;
		if ((int)strlen(path) <= root)
			return most > LEAST_MILLI ? most : LEAST_MILLI;
		*strrchr(path, '/') = '\0'; /* a mount point begins with a slash */
	}
}

static uint64_t
affinity_milli(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (uint64_t)CPU_COUNT(&set) * 1000;
	return (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * 1000;
}

uint64_t
processors_milli(void)
{
	static const struct {
		const char *controller, *quota, *period;
	} hierarchies[] = { { NULL, "cpu.max", NULL },
		{ "cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us" } };
	uint64_t most = affinity_milli();
	char path[CGROUP_PATH];
	int root;

	for (size_t i = 0; i < COUNT(hierarchies); i++)
		if (cgroup_find(hierarchies[i].controller, path, &root) == 0)
			most = processors_least(
			    path, root, hierarchies[i].quota, hierarchies[i].period, most);
	return most;
}

uint64_t
processors_whole(void)
{
	return (processors_milli() + 999) / 1000;
}
