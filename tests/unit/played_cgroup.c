/* SPDX-License-Identifier: Apache-2.0 */
/* played_cgroup.c - plain files by way of write(2), mkdirat(2) and unlinkat(2). */
#include "tests/unit/played_cgroup.h"

#include "common/base/auto.h"
#include "executor/builder/limits/cgroup_find.h"
#include "executor/builder/limits/cgroup_mount.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

enum {
	HIERARCHIES = 6,
	FAULTS = 4,
};

ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);
int __wrap_mkdirat(int dir, const char *name, mode_t mode);
int __real_mkdirat(int dir, const char *name, mode_t mode);
int __wrap_unlinkat(int dir, const char *name, int flags);
int __real_unlinkat(int dir, const char *name, int flags);

static struct {
	char base[32];
	struct {
		const char *controller, *name, *files;
	} hierarchies[HIERARCHIES];
	size_t nhierarchies;
	struct {
		const char *path, *text;
		int sys;
		unsigned times;
	} faults[FAULTS];
	size_t nfaults;
	const char *kernel, *kept;
	char written[4096], told[4096];
} played;

/* The path of an open file, relative to the base; NULL: it is elsewhere. */
static const char *
path_of(int fd, const char *below)
{
	static char path[512];
	char link[64], whole[256];
	size_t base = strlen(played.base);

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, whole, sizeof whole - 1);

	if (n < 0 || base == 0 || strncmp(whole, played.base, base) != 0)
		return NULL;
	whole[n] = '\0';
	if (played.kernel != NULL && strncmp(whole, played.kernel, strlen(played.kernel)) == 0)
		return NULL;
	snprintf(path, sizeof path, "%s%s%s", whole + base + ((size_t)n > base), *below ? "/" : "",
	    below);
	return path;
}

/* The path from the root, for the caller's next call. */
static const char *
whole_of(const char *path)
{
	static char whole[512];

	snprintf(whole, sizeof whole, "%s/%s", played.base, path);
	return whole;
}

static void
fill(int fd, const char *text, size_t size)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, size, 0), (ssize_t)size);
	assert_int_equal(pwrite(fd, "\n", 1, (off_t)size), 1);
}

static ssize_t
write_played(int fd, const char *path, const char *text, size_t size)
{
	for (size_t i = 0; i < played.nfaults; i++) {
		if (played.faults[i].times == 0 || strcmp(played.faults[i].path, path) != 0 ||
		    (played.faults[i].sys != 0 && strncmp(played.faults[i].text, text, size) != 0))
			continue;
		played.faults[i].times--;
		if ((errno = played.faults[i].sys) != 0)
			return -1;
		fill(fd, played.faults[i].text, strlen(played.faults[i].text));
		return (ssize_t)size;
	}
	fill(fd, text, size);
	return (ssize_t)size;
}

ssize_t
__wrap_write(int fd, const void *data, size_t size)
{
	const char *path = path_of(fd, "");
	size_t at = strlen(played.written);

	if (path == NULL && played.kernel != NULL && size > 0 && *(const char *)data == '+')
		return (ssize_t)size;
	if (path == NULL)
		return __real_write(fd, data, size);
	snprintf(played.written + at, sizeof played.written - at, "%s=%.*s\n", path, (int)size,
	    (const char *)data);
	return write_played(fd, path, data, size);
}

static void
add_files(const char *path, const char *files)
{
	char name[512];

	for (const char *at = files; *at != '\0'; at += strspn(at, " ")) {
		size_t size = strcspn(at, " ");

		snprintf(name, sizeof name, "%s/%.*s", path, (int)size, at);
		played_put(name, "");
		at += size;
	}
}

static const char *
files_of(const char *path)
{
	for (size_t i = 0; i < played.nhierarchies; i++) {
		size_t size = strlen(played.hierarchies[i].name);

		if (strncmp(path, played.hierarchies[i].name, size) == 0 && path[size] == '/')
			return played.hierarchies[i].files;
	}
	return "";
}

int
__wrap_mkdirat(int dir, const char *name, mode_t mode)
{
	const char *path = path_of(dir, name);
	char copy[512];

	if (path == NULL || __real_mkdirat(dir, name, mode) < 0)
		return path == NULL ? __real_mkdirat(dir, name, mode) : -1;
	snprintf(copy, sizeof copy, "%s", path);
	add_files(copy, files_of(copy));
	return 0;
}

static bool
has_children(const char *path)
{
	auto_dir DIR *list = opendir(whole_of(path));
	size_t n = 0;

	for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;)
		n += entry->d_type == DT_DIR;
	return n > 2; /* it and its parent */
}

static void
remove_files(int *directory)
{
	auto_dir DIR *list = fdopendir(take_fd(directory));

	for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;)
		if (entry->d_type == DT_REG)
			__real_unlinkat(dirfd(list), entry->d_name, 0);
}

/* The kernel's files do not keep a directory. */
int
__wrap_unlinkat(int dir, const char *name, int flags)
{
	const char *path = path_of(dir, name);
	auto_fd int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (path != NULL && fd >= 0) {
		if (has_children(path) || (played.kept != NULL && strcmp(path, played.kept) == 0)) {
			errno = EBUSY;
			return -1;
		}
		remove_files(&fd);
	}
	return __real_unlinkat(dir, name, flags);
}

int
cgroup_find(const char *controller, char path[CGROUP_PATH], int *mount_length)
{
	if (controller == NULL && played.kernel != NULL) {
		*mount_length = (int)strlen(played.kernel);
		return snprintf(path, CGROUP_PATH, "%s", played.kernel) < CGROUP_PATH ? 0 : -1;
	}
	for (size_t i = 0; i < played.nhierarchies; i++) {
		const char *has = played.hierarchies[i].controller;

		if (has != controller &&
		    (has == NULL || controller == NULL || strcmp(has, controller) != 0))
			continue;
		*mount_length =
		    snprintf(path, CGROUP_PATH, "%s/%s", played.base, played.hierarchies[i].name);
		strcat(path, "/own");
		return 0;
	}
	return -1;
}

int
cgroup_mount_writable(struct err *e)
{
	(void)e;
	return 0;
}

/* ---- the test's side ---- */

void
played_begin(void)
{
	memset(&played, 0, sizeof played);
	snprintf(played.base, sizeof played.base, "/tmp/cloister-unit-XXXXXX");
	assert_int_equal(scratch_make(played.base), 0);
}

void
played_end(void)
{
	cgroup_close();
	if (played.base[0] == '\0')
		return;
	assert_int_equal(scratch_remove(played.base), 0);
	memset(&played, 0, sizeof played);
}

void
played_hierarchy(const char *controller, const char *files)
{
	const char *name = controller == NULL ? "unified" : controller;
	char own[64];

	assert_true(played.nhierarchies < HIERARCHIES);
	played.hierarchies[played.nhierarchies].controller = controller;
	played.hierarchies[played.nhierarchies].name = name;
	played.hierarchies[played.nhierarchies++].files = files;
	assert_int_equal(mkdir(whole_of(name), 0755), 0);
	snprintf(own, sizeof own, "%s/own", name);
	assert_int_equal(mkdir(whole_of(own), 0755), 0);
	add_files(name, files);
	add_files(own, files);
}

void
played_kernel(const char *path)
{
	played.kernel = path;
}

static void
add_fault(const char *path, const char *text, int sys, unsigned times)
{
	assert_true(played.nfaults < FAULTS);
	played.faults[played.nfaults].path = path;
	played.faults[played.nfaults].text = text;
	played.faults[played.nfaults].sys = sys;
	played.faults[played.nfaults++].times = times;
}

void
played_refuse(const char *path, const char *text, int sys, unsigned times)
{
	add_fault(path, text, sys, times);
}

void
played_replace(const char *path, const char *text)
{
	add_fault(path, text, 0, 1);
}

void
played_keep(const char *path)
{
	played.kept = path;
}

void
played_put(const char *path, const char *text)
{
	auto_fd int fd = open(whole_of(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

bool
played_has(const char *path)
{
	return access(whole_of(path), F_OK) == 0;
}

const char *
played_base(void)
{
	return played.base;
}

const char *
played_written(void)
{
	memcpy(played.told, played.written, sizeof played.told);
	played.written[0] = '\0';
	return played.told;
}

void
played_open(enum limits_by by)
{
	assert_true(cgroup_open(3));
	assert_int_equal(cgroup_limits_by(), by);
}

void
played_make(struct cgroup *g)
{
	const struct order order = {
		.kind = ORDER_BOX,
		.memory_bytes = 64 << 20,
		.tmp_bytes = 1 << 20,
		.processes = 7,
		.cpu_milli = 500,
	};
	struct err e = { 0 };

	assert_int_equal(cgroup_make(g, &order, 8 << 20, &e), 0);
}
