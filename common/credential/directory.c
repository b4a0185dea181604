/* SPDX-License-Identifier: Apache-2.0 */
/* directory.c - checks the owner and mode of files, and detects changes. */
#include "common/credential/directory.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sodium.h>
#include <string.h>
#include <sys/statvfs.h>

static const char name[] = "credentials", reader[] = "cloister-gateway";

/* An existing directory keeps its owner and mode if they are acceptable. */
static int
own(int fd, struct err *e)
{
	const struct group *group = geteuid() == 0 ? getgrnam(reader) : NULL;
	struct statvfs fs;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat");
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return err_set(e, ERR_denied,
		    "belongs to uid %u; must belong to root or to this user", (unsigned)st.st_uid);
	if (fstatvfs(fd, &fs) < 0)
		return err_sys(e, "statvfs");
	/* A mounted Secret is a directory of mode 1777 in which no user can write, and its owner
	 * cannot be changed. */
	if ((fs.f_flag & ST_RDONLY) != 0)
		return 0;
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return err_set(e, ERR_denied, "mode %03o permits others to write; make it 750",
		    (unsigned)st.st_mode & 0777);
	/* New files in it inherit the group. */
	if (group != NULL && st.st_uid == 0 && st.st_gid != group->gr_gid &&
	    (fchown(fd, 0, group->gr_gid) < 0 || fchmod(fd, S_ISGID | 0750) < 0))
		return err_sys(e, "chown to group %s", reader);
	return 0;
}

/* Other daemons have their state below `state`, too, and enter it with their own uids. */
static int
make(const char *given, const char *state, struct err *e)
{
	if (given[0] != '\0')
		return fdio_directory(AT_FDCWD, given, 0700, e);

	auto_fd int base = fdio_directory(AT_FDCWD, state, geteuid() == 0 ? 0755 : 0700, e);

	return base < 0 ? -1 : fdio_directory(base, name, 0700, e);
}

int
directory_open(const char *given, const char *state, struct directory *directory, struct err *e)
{
	auto_fd int fd = make(given, state, e);
	struct stat st;

	if (fd < 0)
		return err_add(e, "credentials");
	if (own(fd, e) < 0)
		return err_add(e, "credentials: %s", given[0] != '\0' ? given : state);
	if (fstat(fd, &st) < 0)
		return err_sys(e, "credentials");
	*directory = (struct directory){ take_fd(&fd), st.st_uid };
	return 0;
}

static int
check(const struct directory *directory, const struct directory_file *file, const struct stat *st,
    struct err *e)
{
	mode_t forbidden = file->open ? S_IWGRP | S_IWOTH : S_IRWXO | S_IWGRP;

	if (st->st_uid != 0 && st->st_uid != directory->owner)
		return err_set(e, ERR_denied,
		    "%s: belongs to uid %u, must belong to root or to the directory's owner",
		    file->name, (unsigned)st->st_uid);
	if ((st->st_mode & forbidden) != 0)
		return err_set(e, ERR_denied,
		    file->open ? "%s: mode %03o permits others to write; make it 644"
			       : "%s: mode %03o permits access by others; make it 640 or 600",
		    file->name, (unsigned)st->st_mode & 0777);
	return 0;
}

static int
read_file(const struct directory *directory, struct directory_file *file, struct err *e)
{
	auto_fd int fd = fdio_open_inside(directory->fd, file->name, e);
	struct stat st;
	struct blob text;
	int failed;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat %s", file->name);
	if (check(directory, file, &st, e) < 0 ||
	    fdio_load_open(fd, file->name, file->limit, &text, e) < 0)
		return -1;
	failed = file->read(&text, e);
	sodium_memzero(text.data, text.size);
	blob_clear(&text);
	return failed < 0 ? err_add(e, "%s", file->name) : 0;
}

static int
look(const struct directory *directory, struct directory_file *file, struct err *e)
{
	struct stat st;

	/* Follows symlinks: the target changes while the link does not. */
	if (fstatat(directory->fd, file->name, &st, 0) < 0) {
		if (errno != ENOENT)
			return err_sys(e, "stat %s", file->name);
		file->seen = (struct stat){ 0 };
		return file->read(NULL, e);
	}
	if (fdio_same(&st, &file->seen))
		return 0;
	file->seen = st;
	return read_file(directory, file, e);
}

int
directory_look(
    const struct directory *directory, struct directory_file *files, size_t count, struct err *e)
{
	int failed = 0;

	for (size_t i = 0; i < count; i++)
		if (look(directory, &files[i], e) < 0)
			failed = -1;
	return failed;
}
