/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_use.c - reads the counters of a cgroup through descriptors. */
#include "executor/builder/limits/cgroup_use.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The same in both versions.  NULL: the file contains a single number. */
static const char *const keys[CGROUP_USES] = {
	[CGROUP_OOM] = "oom_kill",
	[CGROUP_FULL] = "max",
	[CGROUP_CPU] = "usage_usec",
};

uint64_t
cgroup_use_number(int fd, const char *key)
{
	char text[4096];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);

	if (n < 0)
		return 0;
	text[n] = '\0';
	for (char *line = text, *end; line != NULL; line = end) {
		end = strchr(line, '\n');
		if (end != NULL)
			*end++ = '\0';
		if (key == NULL)
			return strtoull(line, NULL, 10);
		if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ' ')
			return strtoull(line + strlen(key), NULL, 10);
	}
	return 0;
}

void
cgroup_use_read(const int fds[CGROUP_USES], struct cgroup_use *use)
{
	uint64_t n[CGROUP_USES];

	for (int i = 0; i < CGROUP_USES; i++)
		n[i] = cgroup_use_number(fds[i], keys[i]);
	*use = (struct cgroup_use){
		.out_of_memory = n[CGROUP_OOM] > 0,
		.max_memory_bytes = n[CGROUP_PEAK],
		.refused = n[CGROUP_FULL],
		.processes = n[CGROUP_PROCESSES],
		.cpu_us = fds[CGROUP_CPU] >= 0 ? n[CGROUP_CPU] : n[CGROUP_CPU_NS] / 1000,
	};
}

uint32_t
cgroup_use_lines(int directory, const char *path)
{
	auto_fd int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	char text[4096];
	uint32_t lines = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, text, sizeof text)) > 0)
		for (ssize_t i = 0; i < n; i++)
			lines += text[i] == '\n';
	return lines;
}
