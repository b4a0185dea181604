/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_knob.c - control files.  Trusts the kernel's files. */
#include "executor/builder/limits/cgroup_knob.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

int
cgroup_knob_write(int directory, const char *path, const char *text)
{
	auto_fd int fd = openat(directory, path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

int
cgroup_knob_read(int directory, const char *path, char *text, size_t size)
{
	auto_fd int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	if (n < 0)
		return -1;
	text[n] = '\0';
	return 0;
}

int
cgroup_knob_set(int directory, const char *path, const char *text)
{
	auto_fd int fd = openat(directory, path, O_RDWR | O_CLOEXEC);
	char now[64];

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -1;

	ssize_t n = pread(fd, now, sizeof now - 1, 0);

	if (n < 0)
		return -1;
	now[n] = '\0';
	now[strcspn(now, "\n")] = '\0';
	if (strcmp(now, text) == 0)
		return 0;
	errno = 0;
	return -1;
}
