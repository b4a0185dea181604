/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_directory.c - locks the builder's cgroup directory with flock(2).  All processes that see
 * the cgroups see that lock, whatever their root, mount or cgroup namespace.
 *
 * Trusts all processes that may write to the cgroups.  Others cannot open the directory and so
 * cannot lock it.
 */
#include "executor/builder/limits/cgroup_directory.h"

#include "common/base/auto.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

/* The previous holder may have removed the directory meanwhile.  Then this lock has no effect. */
static bool
lock(int above, const char *name, int directory)
{
	struct stat here, there;

	return flock(directory, LOCK_EX | LOCK_NB) == 0 && fstat(directory, &here) == 0 &&
	       fstatat(above, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       here.st_ino == there.st_ino;
}

/* A directory of that name may have been left by another user's builder. */
int
cgroup_directory_open(int above, const char *name, bool *taken)
{
	auto_fd int directory = -1;

	if (mkdirat(above, name, 0700) == 0 || errno == EEXIST)
		directory = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0 || faccessat(directory, ".", W_OK, AT_EACCESS) < 0)
		return -1;
	if (lock(above, name, directory))
		return take_fd(&directory);
	*taken = true;
	return -1;
}

bool
cgroup_directory_clear(int directory)
{
	int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir DIR *dir = again < 0 ? NULL : fdopendir(again);
	bool gone = true;

	for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			gone &= unlinkat(directory, entry->d_name, AT_REMOVEDIR) == 0;
	return gone;
}
