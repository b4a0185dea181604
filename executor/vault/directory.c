/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory.c - secrets in files.  Trusts the operator for the directory; names are checked, and a
 * link that leads out of the directory is refused.
 */
#include "executor/vault/directory.h"

#include "executor/vault/options.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PATH = 160 };

static int root = -1;

int
directory_open(struct err *e)
{
	root = open(options.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_sys(e, "open the directory '%s'", options.directory);
	daemon_allow(root, JAIL_READ);
	return 0;
}

/* The second path exists for the namespace "default" only. */
static bool
path_of(char path[MAX_PATH], const char *namespace, const char *name, int number)
{
	if (number == 0)
		snprintf(path, MAX_PATH, "%s/%s", namespace, name);
	else
		snprintf(path, MAX_PATH, "%s", name[0] != '\0' ? name : ".");
	return number == 0 || strcmp(namespace, "default") == 0;
}

static bool
is_directory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

static int
load(const char *path, struct blob *value, struct err *e)
{
	auto_fd int fd = fdio_open_inside(root, path, e);

	if (fd < 0)
		return e->sys == ENOENT || e->sys == ENOTDIR || e->code == ERR_not_found ? 0 : -1;
	if (is_directory(fd)) /* a namespace */
		return 0;
	if (fdio_load_open(fd, path, NAME_MAX_VALUE + 1, value, e) < 0)
		return -1;
	if (value->size > 0 && ((char *)value->data)[value->size - 1] == '\n')
		value->size--;
	return 1;
}

int
directory_reveal(const struct name *name, struct blob *value, struct err *e)
{
	char path[MAX_PATH];
	int status = 0;

	for (int i = 0; i < 2 && status == 0; i++)
		if (path_of(path, name->namespace, name->name, i))
			status = load(path, value, e);
	return status;
}

static int
see_all(DIR *dir, int (*see)(void *self, const char *name, struct err *), void *self, struct err *e)
{
	const struct dirent *entry;

	while ((entry = readdir(dir)) != NULL)
		if (entry->d_type != DT_DIR && see(self, entry->d_name, e) < 0)
			return -1;
	return 0;
}

int
directory_each(const char *namespace, int (*see)(void *self, const char *name, struct err *),
    void *self, struct err *e)
{
	char path[MAX_PATH];
	int status = 0;

	for (int i = 0; i < 2 && status == 0; i++) {
		if (!path_of(path, namespace, "", i))
			continue;

		int fd = fdio_open_beneath(root, path, O_RDONLY | O_DIRECTORY, 0, e);
		auto_dir DIR *dir = fd < 0 ? NULL : fdopendir(fd);

		if (dir != NULL)
			status = see_all(dir, see, self, e);
	}
	return status;
}

void
directory_close(void)
{
	if (root >= 0)
		close(take_fd(&root));
}
