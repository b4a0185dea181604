/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - a client's file; trusts its directory to belong to the user.
 *
 * The client may write the file at any moment and does not lock it. So the only possible check is
 * whether the file is still the one that was read.
 */
#include "compose/cloister/config/store.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FILE_BYTES = 64 << 20 };

static const char *
name_of(const struct store *s)
{
	return strrchr(s->real, '/') + 1;
}

/* A symlink is followed once, here, so that its target is replaced and not the link. */
static int
resolve(struct store *s, struct err *e)
{
	struct stat link;

	s->real = realpath(s->path, NULL);
	if (s->real == NULL && errno == ENOENT && lstat(s->path, &link) == 0)
		return err_set(e, ERR_not_found, "it is a dangling symbolic link; remove it first");
	if (s->real == NULL && errno != ENOENT)
		return err_sys(e, "resolve");
	if (s->real == NULL)
		s->real = strdup(s->path);
	must(s->real != NULL);
	return 0;
}

static int
load(struct store *s, struct err *e)
{
	if (fstatat(s->directory, name_of(s), &s->before, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "stat");
	if (s->before.st_uid != geteuid())
		return err_set(e, ERR_denied,
		    "it belongs to another user (uid %u); run this as that user",
		    (unsigned)s->before.st_uid);
	return fdio_load(s->directory, name_of(s), FILE_BYTES, &s->text, e);
}

int
store_open(struct store *s, const char *path, struct err *e)
{
	*s = (struct store){ .directory = -1, .path = path };
	if (resolve(s, e) < 0)
		return -1;

	auto_free char *directory = strndup(s->real, (size_t)(name_of(s) - s->real));

	s->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->directory >= 0)
		return load(s, e);
	return errno == ENOENT ? 0 : err_sys(e, "open its directory");
}

static int
make_directory(struct store *s, struct err *e)
{
	auto_free char *directory = strndup(s->real, (size_t)(name_of(s) - s->real));

	if (s->directory < 0)
		s->directory = fdio_directory(AT_FDCWD, directory, 0700, e);
	return s->directory < 0 ? -1 : 0;
}

static int
check_unchanged(const struct store *s, struct err *e)
{
	struct stat now = { .st_size = 0 };

	if (fstatat(s->directory, name_of(s), &now, AT_SYMLINK_NOFOLLOW) < 0 && errno != ENOENT)
		return err_sys(e, "stat");
	if (now.st_ino == s->before.st_ino && now.st_size == s->before.st_size &&
	    now.st_mtim.tv_sec == s->before.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == s->before.st_mtim.tv_nsec)
		return 0;
	return err_set(
	    e, ERR_unavailable, "it was written in the meantime; close the client and try again");
}

static bool
exists(const struct store *s, const char *name)
{
	struct stat st;

	return fstatat(s->directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Keeps the group and mode of the old file.  The group is set before its permissions, because
 * the file may hold secrets. */
static int
put(const struct store *s, const char *name, const void *data, size_t size, struct err *e)
{
	if (fdio_store(s->directory, name, data, size, 0600, e) < 0)
		return -1;
	if (s->before.st_ino == 0)
		return 0;
	if (fchownat(s->directory, name, (uid_t)-1, s->before.st_gid, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "%s: set its group", name);
	return fchmodat(s->directory, name, s->before.st_mode & 0777, 0) < 0
	           ? err_sys(e, "%s: set its mode", name)
	           : 0;
}

/* Names the copy mcp.json.20261121T150405Z.backup; if that exists, with .2 and so on before the
 * last part. */
static int
keep_old(struct store *s, char **backup, struct err *e)
{
	char when[32];
	time_t now = time(NULL);
	auto_free char *name = NULL;

	strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", gmtime(&now));
	must(asprintf(&name, "%s.%s.backup", name_of(s), when) > 0);
	for (int n = 2; exists(s, name); n++) {
		free(name);
		must(asprintf(&name, "%s.%s.%d.backup", name_of(s), when, n) > 0);
	}
	if (put(s, name, s->text.data, s->text.size, e) < 0)
		return err_add(e, "keep the old text");
	must(asprintf(backup, "%.*s%s", (int)(name_of(s) - s->real), s->real, name) > 0);
	return 0;
}

int
store_save(struct store *s, const char *text, char **backup, struct err *e)
{
	*backup = NULL;
	if (make_directory(s, e) < 0 || (s->before.st_ino != 0 && keep_old(s, backup, e) < 0) ||
	    check_unchanged(s, e) < 0)
		return -1;
	return put(s, name_of(s), text, strlen(text), e);
}

void
store_close(struct store *s)
{
	if (s->directory >= 0)
		close(s->directory);
	free(s->real);
	blob_clear(&s->text);
}
