/* SPDX-License-Identifier: Apache-2.0 */
/* scarce.c - write(2), pwrite(2) and openat(2) with simulated shortages. */
#include "tests/unit/scarce.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* Of a journal another thread writes. */
static _Atomic size_t room = SIZE_MAX;
static _Atomic int why, files;

ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t at);
ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t at);
int __wrap_openat(int dir, const char *path, int flags, ...);
int __real_openat(int dir, const char *path, int flags, ...);

/* How much of it fits; 0: nothing, and errno says why. */
static size_t
fit(size_t size)
{
	size_t left = room;

	if (left == SIZE_MAX)
		return size;
	if (size > left)
		size = left;
	room = left - size;
	errno = why;
	return size;
}

ssize_t
__wrap_write(int fd, const void *data, size_t size)
{
	size_t fits = fd <= STDERR_FILENO ? size : fit(size);

	return fits == 0 && size > 0 ? -1 : __real_write(fd, data, fits);
}

ssize_t
__wrap_pwrite(int fd, const void *data, size_t size, off_t at)
{
	size_t fits = fit(size);

	return fits == 0 && size > 0 ? -1 : __real_pwrite(fd, data, fits, at);
}

int
__wrap_openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = (flags & O_CREAT) != 0 ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	errno = files;
	return files != 0 ? -1 : __real_openat(dir, path, flags, mode);
}

void
scarce_room(size_t bytes, int sys)
{
	room = bytes;
	why = sys;
}

void
scarce_files(int sys)
{
	files = sys;
}

void
scarce_over(void)
{
	room = SIZE_MAX;
	files = 0;
}
