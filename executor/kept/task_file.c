/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_file.c - files of tasks; names are made here, never taken from a client unchecked.
 *
 * A lock of an open file description ends with the process, however the process ends.  A later
 * process sees from the missing lock that the task no longer runs.
 */
#include "executor/kept/task_file.h"

#include "executor/kept/owner_directory.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIRECTORY "tasks"

enum {
	NAME = 64,
	FILE_BYTES = 1 << 28,
};

static int base = -1;

void
task_file_open(int directory)
{
	base = directory;
}

/* ---- names ---- */

static bool
is_id(const char *id)
{
	return strlen(id) == TASK_FILE_ID - 1 && strspn(id, "0123456789abcdef") == TASK_FILE_ID - 1;
}

static void
file_name(char name[NAME], const char *id, const char *end)
{
	snprintf(name, NAME, "%s.%s", id, end);
}

/* ---- one task ---- */

static int
lock(int fd, int what)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, what, &whole) < 0)
		return -1;
	return what == F_OFD_GETLK && whole.l_type != F_UNLCK; /* 1: a process holds the lock */
}

static int
create(int directory, const char *name, struct err *e)
{
	int fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? err_sys(e, "make %s", name) : fd;
}

int
task_file_begin(const struct owner *owner, const char *id, const struct blob *task, struct err *e)
{
	char name[NAME];
	auto_fd int directory = owner_directory_make(base, DIRECTORY, owner, e);

	if (directory < 0)
		return -1;
	file_name(name, id, "run");

	auto_fd int fd = create(directory, name, e);

	if (fd < 0)
		return -1;
	if (lock(fd, F_OFD_SETLK) == 0 && fdio_write(fd, task->data, task->size, e) == 0)
		return take_fd(&fd);
	unlinkat(directory, name, 0);
	return err_add(e, "store a task");
}

static int
sync_path(const char *path, struct err *e)
{
	auto_fd int fd = openat(base, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? err_sys(e, "sync %s", path) : 0;
}

int
task_file_sync(const struct owner *owner, const char *id, struct err *e)
{
	char directory[NAME], file[2 * NAME];

	owner_directory_path(DIRECTORY, owner, directory);
	snprintf(file, sizeof file, "%s/%s.run", directory, id);
	if (sync_path(file, e) < 0 || sync_path(directory, e) < 0 || sync_path(DIRECTORY, e) < 0)
		return -1;
	return sync_path(".", e);
}

/* Writes a draft and renames it. */
static int
write_end(
    int directory, const char *draft, const char *name, const struct blob *task, struct err *e)
{
	auto_fd int fd = create(directory, draft, e);

	if (fd < 0 || fdio_write(fd, task->data, task->size, e) < 0)
		return -1;
	if (fsync(fd) < 0 || renameat(directory, draft, directory, name) < 0 ||
	    fsync(directory) < 0)
		return err_sys(e, "store the result of a task");
	return 0;
}

int
task_file_end(const struct owner *owner, const char *id, const struct blob *task, struct err *e)
{
	char draft[NAME], name[NAME];
	auto_fd int directory = owner_directory_open(base, DIRECTORY, owner);

	file_name(draft, id, "new");
	file_name(name, id, "end");
	if (directory < 0)
		return err_sys(e, "open the directory of tasks");
	unlinkat(directory, draft, 0);
	if (write_end(directory, draft, name, task, e) == 0)
		return 0;
	unlinkat(directory, draft, 0);
	unlinkat(directory, name, 0); /* it may be lost in a crash; no client knows its id */
	return -1;
}

static int
load(int directory, const char *id, const char *end, struct blob *task, struct err *e)
{
	char name[NAME];

	file_name(name, id, end);
	return fdio_load(directory, name, FILE_BYTES, task, e);
}

static bool
runs(int directory, const char *id)
{
	char name[NAME];

	file_name(name, id, "run");

	auto_fd int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && lock(fd, F_OFD_GETLK) == 1;
}

/* Seconds since the task began; -1: there is none. */
static int64_t
age_s(int directory, const char *id)
{
	char name[NAME];
	struct stat is;

	file_name(name, id, "run");
	if (fstatat(directory, name, &is, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	return is.st_mtime > time(NULL) ? 0 : (int64_t)(time(NULL) - is.st_mtime);
}

int
task_file_read(const struct owner *owner, const char *id, int64_t ttl_ms, struct blob *task,
    bool *lost, struct err *e)
{
	auto_fd int directory = is_id(id) ? owner_directory_open(base, DIRECTORY, owner) : -1;
	int64_t age = directory < 0 ? -1 : age_s(directory, id);

	*lost = false;
	if (age < 0 || age > ttl_ms / 1000)
		return err_set(e, ERR_not_found, "there is no such task, or it has expired");
	if (!runs(directory, id)) {
		if (load(directory, id, "end", task, e) == 0)
			return 0;
		*lost = true;
	}
	return load(directory, id, "run", task, e);
}

void
task_file_drop(const struct owner *owner, const char *id)
{
	auto_fd int directory = owner_directory_open(base, DIRECTORY, owner);
	char name[NAME];

	file_name(name, id, "run");
	if (directory >= 0)
		unlinkat(directory, name, 0);
}

/* ---- all of them ---- */

struct taken {
	size_t count;
	uint64_t bytes;
};

static void
add_usage(int directory, const char *name, void *self)
{
	struct taken *all = self;
	struct stat is;

	if (fstatat(directory, name, &is, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	all->count += strstr(name, ".run") != NULL;
	all->bytes += (uint64_t)is.st_size;
}

void
task_file_usage(const struct owner *owner, size_t *count, uint64_t *bytes)
{
	struct taken all = { 0 };
	int directory = owner_directory_open(base, DIRECTORY, owner);

	if (directory >= 0)
		owner_directory_walk(directory, add_usage, &all);
	*count = all.count;
	*bytes = all.bytes;
}

static void
remove_old(int directory, const char *name, void *self)
{
	static const char *const ends[] = { "end", "new", "run" };
	const int64_t *before_s = self;
	size_t size = strcspn(name, ".");
	char id[TASK_FILE_ID];
	struct stat is;

	if (strcmp(name + size, ".run") != 0 || size != TASK_FILE_ID - 1 ||
	    fstatat(directory, name, &is, AT_SYMLINK_NOFOLLOW) < 0 || is.st_mtime >= *before_s)
		return;
	memcpy(id, name, size);
	id[size] = '\0';
	for (size_t i = 0; !runs(directory, id) && i < COUNT(ends); i++) {
		char each[NAME];

		file_name(each, id, ends[i]);
		unlinkat(directory, each, 0);
	}
}

void
task_file_sweep(int64_t age_ms)
{
	int64_t before_s = (int64_t)time(NULL) - age_ms / 1000;

	owner_directory_walk_all(base, DIRECTORY, remove_old, &before_s);
}
