/* SPDX-License-Identifier: Apache-2.0 */
/* owner_directory.c - directories whose names are made here, never taken from a client. */
#include "executor/kept/owner_directory.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
owner_directory_path(const char *kind, const struct owner *owner, char path[OWNER_DIRECTORY])
{
	const char *instance = daemon_instance();
	char key[OWNER_KEY], hex[HASH_HEX];
	size_t size = owner_key(owner, key);
	struct hash h;

	hash_begin(&h);
	hash_add(&h, instance, strlen(instance) + 1);
	hash_add(&h, key, size);
	hash_end_hex(&h, hex);
	snprintf(path, OWNER_DIRECTORY, "%s/%.32s", kind, hex);
}

static int
open_below(int directory, const char *path)
{
	return directory < 0
	           ? -1
	           : openat(directory, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int
owner_directory_open(int state, const char *kind, const struct owner *owner)
{
	char path[OWNER_DIRECTORY];

	owner_directory_path(kind, owner, path);
	return open_below(state, path);
}

int
owner_directory_make(int state, const char *kind, const struct owner *owner, struct err *e)
{
	char path[OWNER_DIRECTORY];

	owner_directory_path(kind, owner, path);
	if (state < 0)
		return err_set(
		    e, ERR_unavailable, "the executor could not open its directory for %s", kind);
	if ((mkdirat(state, kind, 0700) < 0 && errno != EEXIST) ||
	    (mkdirat(state, path, 0700) < 0 && errno != EEXIST))
		return err_sys(e, "make %s", path);

	int directory = open_below(state, path);

	return directory < 0 ? err_sys(e, "open %s", path) : directory;
}

void
owner_directory_walk(
    int directory, void (*each)(int directory, const char *name, void *self), void *self)
{
	auto_dir DIR *dir = fdopendir(directory);

	if (dir == NULL) {
		close(directory);
		return;
	}
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (entry->d_name[0] != '.')
			each(dirfd(dir), entry->d_name, self);
}

struct visit {
	void (*each)(int directory, void *self);
	void *self;
};

static void
visit_owner(int directory, const char *name, void *self)
{
	const struct visit *visit = self;
	int below = open_below(directory, name);

	if (below >= 0)
		visit->each(below, visit->self);
	unlinkat(directory, name, AT_REMOVEDIR); /* succeeds only if it is empty */
}

void
owner_directory_each(
    int state, const char *kind, void (*each)(int directory, void *self), void *self)
{
	struct visit visit = { each, self };
	int directory = open_below(state, kind);

	if (directory >= 0)
		owner_directory_walk(directory, visit_owner, &visit);
}

struct file_visit {
	void (*each)(int directory, const char *name, void *self);
	void *self;
};

static void
visit_files(int directory, void *self)
{
	const struct file_visit *visit = self;

	owner_directory_walk(directory, visit->each, visit->self);
}

void
owner_directory_walk_all(int state, const char *kind,
    void (*each)(int directory, const char *name, void *self), void *self)
{
	struct file_visit visit = { each, self };

	owner_directory_each(state, kind, visit_files, &visit);
}
