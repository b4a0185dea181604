/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - reads layers with libarchive and makes their files.
 *
 * A layer is hostile: names with "..", links that lead elsewhere, files in the place of directories
 * and the reverse, sizes without end.  So a parent directory is opened by openat2(2) within the
 * root, and a last component is never followed.
 */
#include "compose/cloister/unpack/tree.h"

#include "compose/cloister/unpack/removal.h"

#include "common/base/auto.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { BLOCK = 1 << 16 };

static const char whiteout[] = ".wh.", opaque[] = ".wh..wh..opq";

/* A path of a layer, within the root, and its last component there. */
struct place {
	char path[PATH_MAX];
	char *leaf; /* in path */
	int parent; /* -1: it is not open */
};

/* ---- paths ---- */

int
tree_open(const struct tree *tree, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, tree->root, path, &how, sizeof how);
}

static bool
is_upward(const char *component, size_t size)
{
	return size == 2 && component[0] == '.' && component[1] == '.';
}

/* Without empty components and ".".  "" is the root. */
static int
read_path(const char *from, struct place *place, struct err *e)
{
	size_t at = 0;

	place->leaf = place->path;
	if (from == NULL)
		return err_set(e, ERR_invalid_argument, "a layer has an entry without a name");
	for (size_t size; *from != '\0'; from += size) {
		from += strspn(from, "/");
		size = strcspn(from, "/");
		if (size == 0 || (size == 1 && from[0] == '.'))
			continue;
		if (is_upward(from, size) || at + size + 2 > sizeof place->path)
			return err_set(e, ERR_path_not_allowed,
			    "a layer has the path '%.100s', which is too long or leads upward",
			    from);
		if (at > 0)
			place->path[at++] = '/';
		memcpy(place->path + at, from, size);
		at += size;
	}
	place->path[at] = '\0';
	if (strrchr(place->path, '/') != NULL)
		place->leaf = strrchr(place->path, '/') + 1;
	return 0;
}

/* Layers may leave out the entries of directories. */
static int
make_parents(const struct tree *tree, char *path, struct err *e)
{
	int at = tree_open(tree, ".");

	for (char *slash = path; at >= 0 && slash != NULL;) {
		char *name = slash == path ? path : slash + 1;

		slash = strchr(name, '/');
		if (slash != NULL)
			*slash = '\0';

		int next = tree_open(tree, path);

		if (next < 0 && errno == ENOENT && mkdirat(at, name, 0755) == 0)
			next = tree_open(tree, path);
		if (slash != NULL)
			*slash = '/';
		close(at);
		at = next;
	}
	return at < 0 ? err_sys(e, "a layer: directory %.100s", path) : at;
}

static int
open_parent(const struct tree *tree, struct place *place, struct err *e)
{
	char above[PATH_MAX];
	size_t size = (size_t)(place->leaf - place->path);

	memcpy(above, place->path, size);
	above[size > 0 ? size - 1 : 0] = '\0';
	place->parent = size == 0 ? tree_open(tree, ".") : tree_open(tree, above);
	if (place->parent < 0 && errno == ENOENT)
		place->parent = make_parents(tree, above, e);
	return place->parent < 0 ? err_sys(e, "a layer: directory %.100s", above) : 0;
}

/* ---- entries ---- */

/* A directory in the place of a link to one is merged into that: /bin of an image that has not
 * merged it into /usr. */
static int
make_directory(const struct tree *tree, const struct place *place, struct err *e)
{
	struct stat st;

	if (fstatat(place->parent, place->leaf, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		auto_fd int there = S_ISLNK(st.st_mode) ? tree_open(tree, place->path) : -1;

		if (S_ISDIR(st.st_mode) ||
		    (there >= 0 && fstat(there, &st) == 0 && S_ISDIR(st.st_mode)))
			return 0;
		if (removal(place->parent, place->leaf, e) < 0)
			return -1;
	}
	return mkdirat(place->parent, place->leaf, 0755) < 0
	           ? err_sys(e, "a layer: directory %.100s", place->path)
	           : 0;
}

static int
copy_blocks(struct tree *tree, struct archive *archive, int file, struct err *e)
{
	const void *data;
	size_t size;
	la_int64_t at;
	int r;

	while ((r = archive_read_data_block(archive, &data, &size, &at)) == ARCHIVE_OK) {
		tree->bytes += size;
		if (tree->bytes > TREE_BYTES)
			return err_set(e, ERR_limit_exceeded,
			    "the image has more than %d GiB of files", (int)(TREE_BYTES >> 30));
		for (size_t done = 0; done < size;) {
			ssize_t n = pwrite(
			    file, (const char *)data + done, size - done, (off_t)at + (off_t)done);

			if (n < 0)
				return err_sys(e, "write a file of the image");
			done += (size_t)n;
		}
	}
	return r == ARCHIVE_EOF ? 0
	                        : err_set(e, ERR_invalid_argument, "a layer: %.150s",
				      archive_error_string(archive));
}

/* Python compares the times of its sources with those in their compiled forms. */
static int
settle(int file, struct archive_entry *entry, struct err *e)
{
	struct timespec times[2] = {
		{ .tv_sec = archive_entry_mtime(entry) },
		{ .tv_sec = archive_entry_mtime(entry) },
	};
	mode_t mode = (archive_entry_perm(entry) & 0111) != 0 ? 0755 : 0644;

	if (ftruncate(file, archive_entry_size(entry)) < 0 || fchmod(file, mode) < 0 ||
	    futimens(file, times) < 0)
		return err_sys(e, "a file of the image");
	return 0;
}

static int
make_file(struct tree *tree, struct archive *archive, struct archive_entry *entry,
    const struct place *place, struct err *e)
{
	auto_fd int file = openat(
	    place->parent, place->leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (file < 0)
		return err_sys(e, "a layer: file %.100s", place->path);
	if (archive_entry_size(entry) < 0 || (uint64_t)archive_entry_size(entry) > TREE_BYTES)
		return err_set(e, ERR_limit_exceeded, "a layer: %.100s is too large", place->path);
	return copy_blocks(tree, archive, file, e) < 0 ? -1 : settle(file, entry, e);
}

/* linkat(2) does not follow a link in the last component. */
static int
make_hard_link(
    const struct tree *tree, const char *target, const struct place *place, struct err *e)
{
	struct place from = { .parent = -1 };

	if (read_path(target, &from, e) < 0 || open_parent(tree, &from, e) < 0)
		return -1;

	auto_fd int parent = from.parent;

	if (linkat(parent, from.leaf, place->parent, place->leaf, 0) < 0)
		return err_sys(e, "a layer: %.100s, a link to %.100s", place->path, from.path);
	return 0;
}

static int
make_other(struct tree *tree, struct archive *archive, struct archive_entry *entry,
    const struct place *place, struct err *e)
{
	const char *link = archive_entry_hardlink(entry);

	if (removal(place->parent, place->leaf, e) < 0)
		return -1;
	if (link != NULL)
		return make_hard_link(tree, link, place, e);
	if (archive_entry_filetype(entry) == AE_IFREG)
		return make_file(tree, archive, entry, place, e);
	if (archive_entry_filetype(entry) != AE_IFLNK)
		return 0; /* boxes have their own devices */
	link = archive_entry_symlink(entry);
	if (link == NULL || symlinkat(link, place->parent, place->leaf) < 0)
		return err_sys(e, "a layer: link %.100s", place->path);
	return 0;
}

static int
make(struct tree *tree, struct archive *archive, struct archive_entry *entry, struct err *e)
{
	struct place place = { .parent = -1 };

	if (++tree->entries > TREE_ENTRIES)
		return err_set(
		    e, ERR_limit_exceeded, "the image has more than %d files", TREE_ENTRIES);
	if (read_path(archive_entry_pathname(entry), &place, e) < 0)
		return -1;
	if (place.path[0] == '\0' || strncmp(place.leaf, whiteout, sizeof whiteout - 1) == 0)
		return 0;
	if (open_parent(tree, &place, e) < 0)
		return -1;

	auto_fd int parent = place.parent;

	(void)parent;
	return archive_entry_hardlink(entry) == NULL && archive_entry_filetype(entry) == AE_IFDIR
	           ? make_directory(tree, &place, e)
	           : make_other(tree, archive, entry, &place, e);
}

/* What a later layer deletes: one name, or all that earlier layers have in its directory. */
static int
erase(struct tree *tree, struct archive *archive, struct archive_entry *entry, struct err *e)
{
	struct place place = { .parent = -1 };

	(void)archive;
	if (read_path(archive_entry_pathname(entry), &place, e) < 0)
		return -1;
	if (strncmp(place.leaf, whiteout, sizeof whiteout - 1) != 0)
		return 0;
	if (open_parent(tree, &place, e) < 0)
		return -1;

	auto_fd int parent = place.parent;
	const char *name = place.leaf + sizeof whiteout - 1;

	if (strcmp(place.leaf, opaque) == 0)
		return removal_inside(parent, e);
	if (*name == '\0' || strcmp(name, ".") == 0 || is_upward(name, strlen(name)))
		return err_set(e, ERR_path_not_allowed, "a layer deletes '%.100s'", place.path);
	return removal(parent, name, e);
}

/* ---- layers ---- */

static struct archive *
open_layer(int layer, struct err *e)
{
	struct archive *archive = archive_read_new();

	must(archive != NULL);
	if (lseek(layer, 0, SEEK_SET) < 0 ||
	    archive_read_support_format_tar(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_gzip(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(archive) != ARCHIVE_OK ||
	    archive_read_open_fd(archive, layer, BLOCK) != ARCHIVE_OK) {
		err_set(e, ERR_invalid_argument, "a layer is no archive of tar: %.150s",
		    archive_error_string(archive));
		archive_read_free(archive);
		return NULL;
	}
	return archive;
}

static int
each(struct tree *tree, int layer,
    int (*take)(struct tree *, struct archive *, struct archive_entry *, struct err *),
    struct err *e)
{
	struct archive *archive = open_layer(layer, e);
	struct archive_entry *entry;
	int r = ARCHIVE_OK, status = 0;

	if (archive == NULL)
		return -1;
	while (status == 0 && (r = archive_read_next_header(archive, &entry)) == ARCHIVE_OK)
		status = take(tree, archive, entry, e);
	if (status == 0 && r != ARCHIVE_EOF)
		status = err_set(
		    e, ERR_invalid_argument, "a layer: %.150s", archive_error_string(archive));
	archive_read_free(archive);
	return status;
}

int
tree_apply(struct tree *tree, int layer, bool later, struct err *e)
{
	if (later && each(tree, layer, erase, e) < 0)
		return -1;
	return each(tree, layer, make, e);
}

int
tree_begin(struct tree *tree, struct err *e)
{
	static const struct {
		const char *name, *target;
	} links[] = {
		{ "bin", "usr/bin" },
		{ "sbin", "usr/sbin" },
		{ "lib", "usr/lib" },
		{ "lib64", "usr/lib64" },
	};

	tree->bytes = tree->entries = 0;
	if (mkdirat(tree->root, "usr", 0755) < 0)
		return err_sys(e, "make /usr");
	for (size_t i = 0; i < COUNT(links); i++)
		if (mkdirat(tree->root, links[i].target, 0755) < 0 ||
		    symlinkat(links[i].target, tree->root, links[i].name) < 0)
			return err_sys(e, "make /%s", links[i].name);
	return 0;
}
