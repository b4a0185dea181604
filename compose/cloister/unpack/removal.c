/* SPDX-License-Identifier: Apache-2.0 */
/* removal.c - see removal.h.  Trusts no name: a directory may be nested as deep as a path is long.
 */
#include "compose/cloister/unpack/removal.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

enum { DEEPEST = 256 };

static int inside(int directory, int depth, struct err *e);

static int
one(int parent, const char *name, int depth, struct err *e)
{
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_sys(e, "remove %.100s", name);

	auto_fd int directory = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (directory < 0 || inside(directory, depth + 1, e) < 0)
		return directory < 0 ? err_sys(e, "remove %.100s", name) : -1;
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 ? err_sys(e, "remove %.100s", name) : 0;
}

static bool
is_own(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int
inside(int directory, int depth, struct err *e)
{
	int listed = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir DIR *dir = listed < 0 ? NULL : fdopendir(listed);
	int status = 0;

	if (dir == NULL || depth > DEEPEST)
		return err_set(
		    e, ERR_limit_exceeded, "a directory cannot be removed, or is too deep");
	for (struct dirent *entry; status == 0 && (entry = readdir(dir)) != NULL;)
		if (!is_own(entry->d_name))
			status = one(directory, entry->d_name, depth, e);
	return status;
}

int
removal(int parent, const char *name, struct err *e)
{
	return one(parent, name, 0, e);
}

int
removal_inside(int directory, struct err *e)
{
	return inside(directory, 0, e);
}
