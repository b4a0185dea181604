/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logfile.c - the files of the log: their names, and how they are opened and renamed.
 *
 * Root opens audit.log before the jail, and gives it to the daemon's uid.
 */
#include "auditd/logfile.h"

#include "common/base/auto.h"
#include "common/journal/chain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NEXT "audit.next"

/* ---- names ---- */

void
logfile_name(uint64_t first, char name[LOGFILE_NAME])
{
	snprintf(name, LOGFILE_NAME, "audit-%020" PRIu64 ".log", first);
}

/* 0: it is no closed segment. */
static uint64_t
number_in(const char *name)
{
	char again[LOGFILE_NAME];
	uint64_t first = strncmp(name, "audit-", 6) == 0 ? strtoull(name + 6, NULL, 10) : 0;

	logfile_name(first, again);
	return strcmp(name, again) == 0 ? first : 0;
}

static int
smaller_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int
keep_number(uint64_t **firsts, size_t *count, uint64_t first, struct err *e)
{
	uint64_t *more = reallocarray(*firsts, *count + 1, sizeof *more);

	if (more == NULL)
		return err_sys(e, "list of segments");
	more[(*count)++] = first;
	*firsts = more;
	return 0;
}

int
logfile_list(int directory, uint64_t **firsts, size_t *count, struct err *e)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int status = 0;

	*firsts = NULL;
	*count = 0;
	if (dir == NULL)
		return err_sys(e, "list of segments");
	while (status == 0 && (entry = readdir(dir)) != NULL)
		if (number_in(entry->d_name) > 0)
			status = keep_number(firsts, count, number_in(entry->d_name), e);
	if (*count > 0)
		qsort(*firsts, *count, sizeof **firsts, smaller_first);
	return status;
}

/* ---- opening ---- */

/*
 * Makes what is read from now on durable.  A process that was killed before its fdatasync left
 * records in memory only.  After a failed fdatasync, the kernel shows data that the disk lacks.
 */
static int
forget_memory(int fd, uint64_t size, struct err *e)
{
	uint64_t from = size > CHAIN_TAIL_MAX ? size - CHAIN_TAIL_MAX : 0;

	if (fdatasync(fd) < 0)
		return err_sys(e, "fdatasync");
	/* A file system without a page cache ignores this. */
	posix_fadvise(fd, (off_t)from, 0, POSIX_FADV_DONTNEED);
	return 0;
}

static int
lock_file(int fd, struct err *e)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &whole) < 0
	           ? err_sys(e, "lock, is another auditd writing to it?")
	           : 0;
}

/* Root gives the file to the owner of the directory, who reads it again when it is closed. */
static int
give(int state, int fd, struct err *e)
{
	struct stat st;

	if (geteuid() != 0)
		return 0;
	return fstat(state, &st) < 0 || fchown(fd, st.st_uid, st.st_gid) < 0
	           ? err_sys(e, "give the file to its daemon")
	           : 0;
}

static int
check(int state, int fd, struct err *e)
{
	struct stat st;

	if (fd < 0)
		return err_sys(e, "open");
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat");
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return err_set(
		    e, ERR_internal, "not a regular file, or has more than one hard link");
	if (lock_file(fd, e) < 0 || give(state, fd, e) < 0 ||
	    forget_memory(fd, (uint64_t)st.st_size, e) < 0)
		return -1;
	/* The name must survive a power loss, like the records. */
	if (fsync(state) < 0)
		return err_sys(e, "fsync of its directory");
	return 0;
}

int
logfile_open(int state, struct err *e)
{
	auto_fd int fd =
	    openat(state, LOGFILE_OPEN, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return check(state, fd, e) < 0 ? -1 : take_fd(&fd);
}

/* ---- changing names ---- */

/* A removed file is lost with its last descriptor, even if all of it is on the disk. */
int
logfile_check_name(int fd, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat");
	if (st.st_nlink > 0)
		return 0;
	errno = ENOENT;
	return err_sys(e, "somebody removed " LOGFILE_OPEN);
}

int
logfile_next(int state, struct err *e)
{
	auto_fd int fd =
	    openat(state, NEXT, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return err_sys(e, "open " NEXT);
	return lock_file(fd, e) < 0 ? -1 : take_fd(&fd);
}

/* The first name is durable before the second one changes, so that no file is without a name. */
int
logfile_rename(int state, const struct logfile *old, bool *renamed, struct err *e)
{
	char name[LOGFILE_NAME];

	logfile_name(old->first, name);
	if (ftruncate(old->fd, (off_t)old->size) < 0 || fsync(old->fd) < 0)
		return err_sys(e, "close a segment");
	*renamed = true;
	if (renameat(state, LOGFILE_OPEN, state, name) < 0 || fsync(state) < 0 ||
	    renameat(state, NEXT, state, LOGFILE_OPEN) < 0 || fsync(state) < 0)
		return err_sys(e, "rename " LOGFILE_OPEN " to %s", name);
	return 0;
}
