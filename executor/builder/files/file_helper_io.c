/* SPDX-License-Identifier: Apache-2.0 */
/* file_helper_io.c - paths beneath the workspace, and frames to the executor.  Trusts no name and
 * no link in a workspace. */
#include "executor/builder/files/file_helper_io.h"

#include "common/base/fdio.h"

#include <errno.h>
#include <poll.h>

int
file_helper_open(int dir, const char *path, int flags)
{
	struct err e;
	int fd = fdio_open_beneath(dir, path, (unsigned)flags, 0, &e);

	if (fd < 0)
		errno = e.sys;
	return fd;
}

enum file_frame_fault
file_helper_fault(int sys)
{
	switch (sys) {
	case ENOENT:
		return FILE_FRAME_ABSENT;
	case ELOOP:
	case EXDEV:
		return FILE_FRAME_IS_LINK;
	case EISDIR:
		return FILE_FRAME_IS_DIRECTORY;
	case ENXIO:
		return FILE_FRAME_IS_SPECIAL;
	case ENOTDIR:
		return FILE_FRAME_NOT_DIRECTORY;
	case EEXIST:
		return FILE_FRAME_EXISTS;
	case EFBIG:
		return FILE_FRAME_TOO_LARGE;
	case ENAMETOOLONG:
		return FILE_FRAME_TOO_LONG;
	case ENOSPC:
	case EDQUOT:
		return FILE_FRAME_NO_ROOM;
	case EACCES:
	case EPERM:
		return FILE_FRAME_NO_ACCESS;
	case ESPIPE:
		return FILE_FRAME_MISPLACED;
	default:
		return FILE_FRAME_FAILED;
	}
}

int
file_helper_tell(int fd, const struct file_frame *p)
{
	while (file_frame_send(fd, p) < 0) {
		struct pollfd writable = { .fd = fd, .events = POLLOUT };

		if (errno != EAGAIN || (poll(&writable, 1, -1) < 0 && errno != EINTR))
			return -1;
	}
	return 0;
}
