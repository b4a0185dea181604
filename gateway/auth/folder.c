/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - who may have written a file, and has it changed? */
#include "gateway/auth/folder.h"

#include "common/auto.h"
#include "common/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sodium.h>
#include <stdbool.h>
#include <string.h>

static bool
same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool
same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mode == b->st_mode && same_time(&a->st_mtim, &b->st_mtim) &&
	       same_time(&a->st_ctim, &b->st_ctim);
}

/* A folder that was made before keeps its owner and mode, as far as these will do. */
static int
own(int fd, const char *group_name, struct err *e)
{
	const struct group *group = geteuid() == 0 ? getgrnam(group_name) : NULL;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat");
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return err_set(e, ERR_denied, "belongs to uid %u, neither root nor this one",
		    (unsigned)st.st_uid);
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return err_set(e, ERR_denied, "its mode %03o lets others write; make it 750",
		    (unsigned)st.st_mode & 0777);
	if (group != NULL && st.st_uid == 0 && st.st_gid != group->gr_gid &&
	    (fchown(fd, 0, group->gr_gid) < 0 || fchmod(fd, 0750) < 0))
		return err_sys(e, "give to group %s", group_name);
	return 0;
}

int
folder_open(const char *path, const char *group, struct folder *folder, struct err *e)
{
	auto_fd int fd = fdio_folder(AT_FDCWD, path, 0700, e);
	struct stat st;

	if (fd < 0)
		return -1;
	if (own(fd, group, e) < 0)
		return err_add(e, "%s", path);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat %s", path);
	*folder = (struct folder){ take_fd(&fd), st.st_uid };
	return 0;
}

static int
check(const struct folder *folder, const char *name, const struct stat *st, struct err *e)
{
	if (st->st_uid != 0 && st->st_uid != folder->owner)
		return err_set(e, ERR_denied,
		    "%s: belongs to uid %u, neither root nor the folder's owner", name,
		    (unsigned)st->st_uid);
	if ((st->st_mode & (S_IRWXO | S_IWGRP)) != 0)
		return err_set(e, ERR_denied,
		    "%s: its mode %03o lets others in; make it 640 or 600", name,
		    (unsigned)st->st_mode & 0777);
	return 0;
}

static int
read_file(
    const struct folder *folder, struct folder_file *file, const struct stat *st, struct err *e)
{
	struct blob text;
	int failed;

	if (check(folder, file->name, st, e) < 0 ||
	    fdio_load(folder->fd, file->name, file->limit, &text, e) < 0)
		return -1;
	failed = file->read(&text, e);
	sodium_memzero(text.data, text.size);
	blob_clear(&text);
	return failed < 0 ? err_add(e, "%s", file->name) : 0;
}

static int
look(const struct folder *folder, struct folder_file *file, struct err *e)
{
	struct stat st;

	if (fstatat(folder->fd, file->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return err_sys(e, "stat %s", file->name);
		file->seen = (struct stat){ 0 };
		return file->read(NULL, e);
	}
	if (same(&st, &file->seen))
		return 0;
	file->seen = st;
	return read_file(folder, file, &st, e);
}

int
folder_look(const struct folder *folder, struct folder_file *files, size_t count, struct err *e)
{
	int failed = 0;

	for (size_t i = 0; i < count; i++)
		if (look(folder, &files[i], e) < 0)
			failed = -1;
	return failed;
}
