/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - the directories of the store:
 *
 *   store/<owner>/contents/<first digit>/<digest>
 *   store/<owner>/snapshots/<id>
 *   store/<owner>/broken/<id>       unreadable manifests, kept for the operator
 *
 * Trusts the kernel's rename and fsync, and no name or byte that it finds.
 */
#include "snapshotd/store.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "snapshotd/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum {
	MAX_CONTENT = 256 << 20, /* as in schema.def */
	MAX_PATH = 256,
	FANOUT = 16,
	FILE_MODE = 0400,
};

static int store_fd = -1;

/* ---- errors of the disk ---- */

/* Errors of a failing disk, or of something in place of a directory of the store. */
static bool
is_away(const struct err *e)
{
	static const int away[] = { EIO, EROFS, ENOENT, ENOTDIR, ESTALE, EACCES, EPERM, ENODEV };

	for (size_t i = 0; i < COUNT(away); i++)
		if (e->sys == away[i])
			return true;
	return false;
}

int
store_explain(struct err *e)
{
	const char *remedy = err_shortage(e->sys);
	struct statfs fs;

	if (is_away(e)) {
		log_error("the snapshot store cannot be used", LOG_E(e));
		return err_set(e, ERR_unavailable,
		    "the snapshot store cannot be used: %s; its operator must check its "
		    "directory or disk",
		    strerrordesc_np(e->sys));
	}
	if (e->code != ERR_internal || *remedy == '\0')
		return -1;
	if (e->sys == EMFILE || e->sys == ENFILE)
		return err_set(e, ERR_unavailable,
		    "the snapshot store cannot open a file: %s%s, or call again in a moment",
		    strerrordesc_np(e->sys), remedy);
	if (e->sys == EDQUOT)
		return err_set(e, ERR_limit_exceeded,
		    "the disk quota of the snapshot store is used up; delete snapshots that are "
		    "not needed%s",
		    remedy);
	if (fstatfs(store_fd, &fs) == 0 && fs.f_files > 0 && fs.f_ffree == 0)
		return err_set(e, ERR_limit_exceeded,
		    "the disk of the snapshot store is full: all its %" PRIu64
		    " inodes are in use; delete snapshots that are not needed",
		    (uint64_t)fs.f_files);
	return err_set(e, ERR_limit_exceeded,
	    "the disk of the snapshot store is full; delete snapshots that are not needed");
}

/* ---- directories ---- */

static int
open_directory(const char *path, struct err *e)
{
	return fdio_open_beneath(store_fd, path, O_RDONLY | O_DIRECTORY, 0, e);
}

static int
sync_directory(const char *path, struct err *e)
{
	auto_fd int fd = open_directory(path, e);

	if (fd < 0)
		return -1;
	return fsync(fd) < 0 ? err_sys(e, "fsync %s", path) : 0;
}

static int
make_directory(const char *path, struct err *e)
{
	return mkdirat(store_fd, path, 0700) < 0 && errno != EEXIST ? err_sys(e, "mkdir %s", path)
	                                                            : 0;
}

static int
make_directories(const char *owner, struct err *e)
{
	static const char *const parts[] = { "", "/contents", "/snapshots", "/broken" };
	char path[MAX_PATH];

	for (size_t i = 0; i < COUNT(parts); i++) {
		snprintf(path, sizeof path, "%s%s", owner, parts[i]);
		if (make_directory(path, e) < 0)
			return -1;
	}
	for (unsigned i = 0; i < FANOUT; i++) {
		snprintf(path, sizeof path, "%s/contents/%x", owner, i);
		if (make_directory(path, e) < 0)
			return -1;
	}
	snprintf(path, sizeof path, "%s/contents", owner);
	if (sync_directory(path, e) < 0 || sync_directory(owner, e) < 0)
		return -1;
	return sync_directory(".", e);
}

/* Makes all directories that contents will ever need, so that a thread that writes a content has no
 * parent directory to sync. */
int
store_add_owner(const char *owner, struct err *e)
{
	return make_directories(owner, e) < 0 ? store_explain(e) : 0;
}

static int
open_contents(const char *owner, const char *digest, struct err *e)
{
	char path[MAX_PATH];

	snprintf(path, sizeof path, "%s/contents/%.1s", owner, digest);
	return open_directory(path, e);
}

static int
open_snapshots(const char *owner, const char *directory, struct err *e)
{
	char path[MAX_PATH];

	snprintf(path, sizeof path, "%s/%s", owner, directory);
	return open_directory(path, e);
}

/* ---- files ---- */

static int
put(int directory, const char *name, const struct blob *file, struct err *e)
{
	if (directory < 0 || fdio_store(directory, name, file->data, file->size, FILE_MODE, e) < 0)
		return store_explain(e);
	return 0;
}

int
store_put_content(const char *owner, const char *digest, const struct blob *content, struct err *e)
{
	char now[HASH_HEX];

	hash_hex(content->data, content->size, now);
	if (strcmp(now, digest) != 0)
		return err_set(e, ERR_invalid_argument,
		    "content: its SHA-256 is %.16s..., not the %.16s... of sha256", now, digest);

	auto_fd int directory = open_contents(owner, digest, e);

	return put(directory, digest, content, e);
}

int
store_get_content(
    const char *owner, const char *digest, uint64_t size, struct blob *content, struct err *e)
{
	auto_fd int directory = open_contents(owner, digest, e);
	char now[HASH_HEX];

	if (directory < 0)
		return store_explain(e);
	if (fdio_load(directory, digest, MAX_CONTENT, content, e) < 0) {
		if (e->code != ERR_internal || e->sys == EIO)
			err_set(e, ERR_snapshot_corrupt,
			    "content %.16s... of the snapshot cannot be read", digest);
		return store_explain(e);
	}
	hash_hex(content->data, content->size, now);
	if (content->size == size && strcmp(now, digest) == 0)
		return 0;
	blob_clear(content);
	return err_set(e, ERR_snapshot_corrupt,
	    "content %.16s... of the snapshot does not match its digest", digest);
}

void
store_remove_content(const char *owner, const char *digest)
{
	struct err e;
	auto_fd int directory = open_contents(owner, digest, &e);

	if (directory >= 0 && unlinkat(directory, digest, 0) < 0 && errno != ENOENT)
		log_warn("a content could not be removed", LOG_S("sha256", digest),
		    LOG_N("errno", errno));
}

int
store_put_manifest(const char *owner, const char *id, const struct blob *file, struct err *e)
{
	auto_fd int directory = open_snapshots(owner, "snapshots", e);

	return put(directory, id, file, e);
}

int
store_get_manifest(const char *owner, const char *id, struct blob *file, struct err *e)
{
	auto_fd int directory = open_snapshots(owner, "snapshots", e);

	if (directory < 0)
		return store_explain(e);
	if (fdio_load(directory, id, MANIFEST_MAX_BYTES, file, e) == 0)
		return 0;
	if (e->code != ERR_internal || e->sys == EIO)
		err_set(e, ERR_snapshot_corrupt, "the snapshot's manifest cannot be read");
	return store_explain(e);
}

static int
remove_manifest(const char *owner, const char *id, struct err *e)
{
	static const char *const directories[] = { "broken", "snapshots" };

	for (size_t i = 0; i < COUNT(directories); i++) {
		auto_fd int directory = open_snapshots(owner, directories[i], e);

		if (directory < 0)
			return -1;
		if (unlinkat(directory, id, 0) < 0) {
			if (errno != ENOENT)
				return err_sys(e, "unlink a manifest");
		} else if (fsync(directory) < 0)
			return err_sys(e, "fsync a directory of manifests");
	}
	return 0;
}

int
store_remove_manifest(const char *owner, const char *id, struct err *e)
{
	return remove_manifest(owner, id, e) < 0 ? store_explain(e) : 0;
}

int
store_room(uint64_t *bytes, struct err *e)
{
	struct statfs fs;

	if (fstatfs(store_fd, &fs) < 0)
		return err_sys(e, "statfs");
	*bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	return 0;
}

/* ---- what an earlier process left ---- */

/* Calls visit for each name in a directory, and removes drafts. */
static int
each_name(const char *path, const void *self,
    int (*visit)(const void *self, int directory, const char *path, const char *name, struct err *),
    struct err *e)
{
	int fd = open_directory(path, e);
	auto_dir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (fd < 0) /* a missing directory: the disk was full, so it has no entries */
		return e->code == ERR_not_found ? 0 : -1;
	if (dir == NULL)
		return err_sys(e, "%s", path);
	while (errno = 0, (entry = readdir(dir)) != NULL) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (strncmp(name, FDIO_DRAFT, strlen(FDIO_DRAFT)) == 0) {
			if (unlinkat(fd, name, 0) < 0)
				return err_sys(e, "%s: unlink a draft", path);
		} else if (visit(self, fd, path, name, e) < 0)
			return -1;
	}
	/* A manifest that is missed would not protect its contents from collection. */
	return errno == 0 ? 0 : err_sys(e, "%s: read the directory", path);
}

static int
left_alone(const char *path, const char *name)
{
	log_warn("the store ignores a file that is not its own", LOG_S("directory", path),
	    LOG_S("name", name));
	return 0;
}

struct scan {
	const struct store_visitor *visitor;
	char owner[HASH_HEX];
};

static int
see_content(const void *self, int directory, const char *path, const char *name, struct err *e)
{
	const struct scan *scan = self;
	struct stat st;

	if (!hash_is_hex(name) || name[0] != path[strlen(path) - 1] ||
	    fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return left_alone(path, name);
	return scan->visitor->content(scan->owner, name, (uint64_t)st.st_size, e);
}

static bool
is_uuid(const char *text)
{
	for (size_t i = 0; i < 36; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-'
			 : text[i] == 0 || strchr("0123456789abcdef", text[i]) == NULL)
			return false;
	}
	return text[36] == 0;
}

/* Kept for the operator, but no longer blocks a start. */
static int
set_aside(
    const struct scan *scan, int directory, const char *id, const struct err *why, struct err *e)
{
	auto_fd int broken = open_snapshots(scan->owner, "broken", e);

	if (broken < 0)
		return -1;
	log_error("a snapshot's manifest is broken and was set aside", LOG_S("snapshot_id", id),
	    LOG_S("owner", scan->owner), LOG_E(why));
	if (renameat(directory, id, broken, id) < 0)
		return err_sys(e, "set a manifest aside");
	if (fsync(broken) < 0 || fsync(directory) < 0)
		return err_sys(e, "fsync");
	return scan->visitor->manifest(scan->owner, id, NULL, e);
}

static int
see_manifest(const void *self, int directory, const char *path, const char *name, struct err *e)
{
	const struct scan *scan = self;
	struct blob file = { 0 };
	struct err why;

	if (!is_uuid(name))
		return left_alone(path, name);

	bool good = fdio_load(directory, name, MANIFEST_MAX_BYTES, &file, &why) == 0 &&
	            scan->visitor->manifest(scan->owner, name, &file, &why) == 0;

	blob_clear(&file);
	if (good)
		return 0;
	/* Only a fault of the file itself is a reason; memory may be available next time. */
	if (why.code == ERR_internal && why.sys != EIO) {
		*e = why;
		return -1;
	}
	return set_aside(scan, directory, name, &why, e);
}

static int
see_broken(const void *self, int directory, const char *path, const char *name, struct err *e)
{
	const struct scan *scan = self;

	(void)directory;
	if (!is_uuid(name))
		return left_alone(path, name);
	return scan->visitor->manifest(scan->owner, name, NULL, e);
}

static int
see_owner(const void *self, int directory, const char *path, const char *name, struct err *e)
{
	struct scan scan = { .visitor = self };
	char inner[MAX_PATH];

	(void)directory;
	if (!hash_is_hex(name))
		return left_alone(path, name);
	memcpy(scan.owner, name, sizeof scan.owner);
	/* Completes directories that a power loss or a full disk prevented.  Not an error while the
	 * disk is full: snapshots can only be deleted after the start. */
	if (store_add_owner(scan.owner, e) < 0) {
		if (e->code != ERR_limit_exceeded)
			return -1;
		log_warn("directories could not be made", LOG_S("owner", scan.owner), LOG_E(e));
	}
	for (unsigned i = 0; i < FANOUT; i++) {
		snprintf(inner, sizeof inner, "%s/contents/%x", name, i);
		if (each_name(inner, &scan, see_content, e) < 0)
			return -1;
	}
	snprintf(inner, sizeof inner, "%s/broken", name);
	if (each_name(inner, &scan, see_broken, e) < 0)
		return -1;
	snprintf(inner, sizeof inner, "%s/snapshots", name);
	return each_name(inner, &scan, see_manifest, e);
}

int
store_open(int state, const struct store_visitor *visitor, struct err *e)
{
	store_fd = fdio_directory(state, "store", 0700, e);
	if (store_fd < 0 || each_name(".", visitor, see_owner, e) < 0)
		return err_add(e, "store");
	return 0;
}

void
store_close(void)
{
	if (store_fd >= 0)
		close(take_fd(&store_fd));
}
