/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - files of tasks; names are made here, never taken from a client unchecked.
 *
 * A lock of an open file description ends with the process, however that ends: that is how others
 * know that a task runs.
 */
#include "gateway/task/record.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "tasks"

enum {
	NAME = 64,
	FILE_BYTES = 1 << 28,
};

static int base = -1;

void
record_open(int folder)
{
	base = folder;
}

/* ---- names ---- */

void
record_owner(const char *principal, const char *namespace, char owner[RECORD_OWNER])
{
	struct hash h;
	char hex[HASH_HEX];

	hash_begin(&h);
	hash_add(&h, principal, strlen(principal) + 1);
	if (namespace != NULL)
		hash_add(&h, namespace, strlen(namespace) + 1);
	hash_end_hex(&h, hex);
	snprintf(owner, RECORD_OWNER, "%.32s", hex);
}

void
record_id(char id[RECORD_ID])
{
	char digits[RECORD_ID - 5];

	hash_random_hex(digits, sizeof digits);
	snprintf(id, RECORD_ID, "task_%s", digits);
}

bool
record_is_id(const char *id)
{
	return strlen(id) == RECORD_ID - 1 && strncmp(id, "task_", 5) == 0 &&
	       strspn(id + 5, "0123456789abcdef") == RECORD_ID - 6;
}

static void
file_name(char name[NAME], const char *id, const char *end)
{
	snprintf(name, NAME, "%s.%s", id, end);
}

/* ---- folders ---- */

/* Of an owner; -1: there is none. */
static int
open_folder(const char *owner)
{
	char path[NAME];

	snprintf(path, sizeof path, FOLDER "/%s", owner);
	return base < 0 ? -1 : openat(base, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int
make_folder(const char *owner, struct err *e)
{
	char path[NAME];

	snprintf(path, sizeof path, FOLDER "/%s", owner);
	if (base < 0)
		return err_set(e, ERR_unavailable, "this gateway has no folder for tasks");
	if ((mkdirat(base, FOLDER, 0700) < 0 && errno != EEXIST) ||
	    (mkdirat(base, path, 0700) < 0 && errno != EEXIST))
		return err_sys(e, "make %s", path);

	int folder = open_folder(owner);

	return folder < 0 ? err_sys(e, "open %s", path) : folder;
}

/* ---- one task ---- */

static int
lock(int fd, int what)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, what, &whole) < 0)
		return -1;
	return what == F_OFD_GETLK && whole.l_type != F_UNLCK; /* 1: somebody holds it */
}

static int
write_value(int fd, const json_t *value, struct err *e)
{
	auto_free char *text = json_dumps(value, JSON_COMPACT);

	if (text == NULL)
		return err_sys(e, "write a task");
	return fdio_write(fd, text, strlen(text), e);
}

static int
create(int folder, const char *name, struct err *e)
{
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? err_sys(e, "make %s", name) : fd;
}

int
record_begin(const char *owner, const char *id, const json_t *task, struct err *e)
{
	char name[NAME];
	auto_fd int folder = make_folder(owner, e);

	if (folder < 0)
		return -1;
	file_name(name, id, "run");

	auto_fd int fd = create(folder, name, e);

	if (fd < 0)
		return -1;
	if (lock(fd, F_OFD_SETLK) == 0 && write_value(fd, task, e) == 0)
		return take_fd(&fd);
	unlinkat(folder, name, 0);
	return err_add(e, "keep a task");
}

static int
sync_path(const char *path, struct err *e)
{
	auto_fd int fd = openat(base, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? err_sys(e, "sync %s", path) : 0;
}

int
record_sync(const char *owner, const char *id, struct err *e)
{
	char folder[NAME], file[2 * NAME];

	snprintf(folder, sizeof folder, FOLDER "/%s", owner);
	snprintf(file, sizeof file, "%s/%s.run", folder, id);
	if (sync_path(file, e) < 0 || sync_path(folder, e) < 0 || sync_path(FOLDER, e) < 0)
		return -1;
	return sync_path(".", e);
}

/* Of a draft, under its name. */
static int
write_end(int folder, const char *draft, const char *name, const char *task, struct err *e)
{
	auto_fd int fd = create(folder, draft, e);

	if (fd < 0 || fdio_write(fd, task, strlen(task), e) < 0)
		return -1;
	if (fsync(fd) < 0 || renameat(folder, draft, folder, name) < 0 || fsync(folder) < 0)
		return err_sys(e, "keep the end of a task");
	return 0;
}

int
record_end(const char *owner, const char *id, const char *task, struct err *e)
{
	char draft[NAME], name[NAME];
	auto_fd int folder = open_folder(owner);

	file_name(draft, id, "new");
	file_name(name, id, "end");
	if (folder < 0)
		return err_sys(e, "open the folder of tasks");
	unlinkat(folder, draft, 0);
	if (write_end(folder, draft, name, task, e) == 0)
		return 0;
	unlinkat(folder, draft, 0);
	unlinkat(folder, name, 0); /* it may not be there after a crash, and was told to nobody */
	return -1;
}

static json_t *
load(int folder, const char *id, const char *end)
{
	char name[NAME];
	struct blob text = { 0 };
	struct err e;

	file_name(name, id, end);
	if (fdio_load(folder, name, FILE_BYTES, &text, &e) < 0)
		return NULL;

	json_t *value = json_loadb(text.data, text.size, 0, NULL);

	blob_clear(&text);
	return value;
}

static bool
runs(int folder, const char *id)
{
	char name[NAME];

	file_name(name, id, "run");

	auto_fd int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && lock(fd, F_OFD_GETLK) == 1;
}

json_t *
record_read(const char *owner, const char *id, bool *lost)
{
	auto_fd int folder = record_is_id(id) ? open_folder(owner) : -1;

	*lost = false;
	if (folder < 0)
		return NULL;
	if (!runs(folder, id)) {
		json_t *value = load(folder, id, "end");

		if (value != NULL)
			return value;
		*lost = true;
	}
	return load(folder, id, "run");
}

/* ---- all of them ---- */

/* Calls each() with the name of every file in the folder, which is taken. */
static void
walk(int folder, void (*each)(int folder, const char *name, void *self), void *self)
{
	auto_dir DIR *dir = fdopendir(folder);

	if (dir == NULL) {
		close(folder);
		return;
	}
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (entry->d_name[0] != '.')
			each(dirfd(dir), entry->d_name, self);
}

struct taken {
	size_t count;
	uint64_t bytes;
};

static void
add_usage(int folder, const char *name, void *self)
{
	struct taken *all = self;
	struct stat is;

	if (fstatat(folder, name, &is, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	all->count += strstr(name, ".run") != NULL;
	all->bytes += (uint64_t)is.st_size;
}

void
record_usage(const char *owner, size_t *count, uint64_t *bytes)
{
	struct taken all = { 0 };
	int folder = open_folder(owner);

	if (folder >= 0)
		walk(folder, add_usage, &all);
	*count = all.count;
	*bytes = all.bytes;
}

static void
remove_old(int folder, const char *name, void *self)
{
	static const char *const ends[] = { "end", "new", "run" };
	const int64_t *before_s = self;
	size_t size = strcspn(name, ".");
	char id[RECORD_ID];
	struct stat is;

	if (strcmp(name + size, ".run") != 0 || size != RECORD_ID - 1 ||
	    fstatat(folder, name, &is, AT_SYMLINK_NOFOLLOW) < 0 || is.st_mtime >= *before_s)
		return;
	memcpy(id, name, size);
	id[size] = '\0';
	for (size_t i = 0; !runs(folder, id) && i < COUNT(ends); i++) {
		char each[NAME];

		file_name(each, id, ends[i]);
		unlinkat(folder, each, 0);
	}
}

static void
sweep_owner(int folder, const char *name, void *self)
{
	int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (below >= 0)
		walk(below, remove_old, self);
	unlinkat(folder, name, AT_REMOVEDIR); /* where nothing is left of it */
}

void
record_sweep(int64_t age_ms)
{
	int64_t before_s = (int64_t)time(NULL) - age_ms / 1000;
	int folder =
	    base < 0 ? -1 : openat(base, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (folder >= 0)
		walk(folder, sweep_owner, &before_s);
}
