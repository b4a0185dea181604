/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - checks that the entries of a snapshot can be restored; trusts none of them. */
#include "snapshotd/tree.h"

#include "common/base/auto.h"
#include "common/base/hash.h"

#include <inttypes.h>
#include <string.h>

enum {
	MAX_PATH = 4095, /* real bytes, as the kernel counts them */
	MAX_NAME = 255,
};

static int
digit(char c)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *at = c != 0 ? strchr(digits, c) : NULL;

	return at != NULL ? (int)(at - digits) : -1;
}

/* Returns the number of real bytes; -1 if a %XX is not canonical and could hide a '/'. */
static ptrdiff_t
real_size(const char *text, size_t size)
{
	size_t real = 0;

	for (size_t i = 0; i < size; i++, real++) {
		int high, low, byte;

		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return -1;
		if (text[i] != '%')
			continue;
		if (size - i < 3 || (high = digit(text[i + 1])) < 0 ||
		    (low = digit(text[i + 2])) < 0)
			return -1;
		byte = high * 16 + low;
		if (byte == 0 || (byte >= 0x20 && byte < 0x7f && byte != '%'))
			return -1;
		i += 2;
	}
	return (ptrdiff_t)real;
}

static bool
is_path(const char *path)
{
	ptrdiff_t whole = real_size(path, strlen(path));

	if (whole < 0 || whole > MAX_PATH)
		return false;
	for (;;) {
		size_t size = strcspn(path, "/");

		if (size == 0 || (size <= 2 && strncmp(path, "..", size) == 0) ||
		    real_size(path, size) > MAX_NAME)
			return false;
		if (path[size] == 0)
			return true;
		path += size + 1;
	}
}

static int
by_path(const void *key, const void *entry)
{
	return strcmp(key, ((const struct tree_entry *)entry)->path);
}

/* Is its parent directory an earlier entry? */
static bool
has_directory(const struct tree_entry *entries, size_t i)
{
	const char *slash = strrchr(entries[i].path, '/');

	if (slash == NULL)
		return true;

	auto_free char *directory = strndup(entries[i].path, (size_t)(slash - entries[i].path));
	const struct tree_entry *at =
	    directory == NULL ? NULL : bsearch(directory, entries, i, sizeof *entries, by_path);

	return at != NULL && at->type == file_type_directory;
}

/* Is a hard link another name of a file of the tree that is not a hard link itself? */
static bool
has_file(const struct tree_entry *entries, size_t count, const struct tree_entry *t)
{
	const struct tree_entry *file =
	    bsearch(t->same_as, entries, count, sizeof *entries, by_path);

	return t->type == file_type_regular && file != NULL && file->type == file_type_regular &&
	       file->same_as == NULL && file->sha256 != NULL && file->size == t->size &&
	       strcmp(file->sha256, t->sha256) == 0;
}

static const char *
what_is_wrong(const struct tree_entry *entries, size_t count, size_t i)
{
	const struct tree_entry *t = &entries[i];

	if (!is_path(t->path))
		return "is not an encoded relative path";
	if (i > 0 && strcmp(entries[i - 1].path, t->path) >= 0)
		return "is not sorted after the path before it";
	if (!has_directory(entries, i))
		return "is in no directory of the tree";
	if ((t->sha256 != NULL) != (t->type == file_type_regular) ||
	    (t->sha256 != NULL && !hash_is_hex(t->sha256)))
		return "is a file without a digest, or has a digest and is not a file";
	if ((t->target != NULL) != (t->type == file_type_link))
		return "is a link without a target, or has a target and is not a link";
	if (t->target != NULL) {
		ptrdiff_t size = real_size(t->target, strlen(t->target));

		if (size < 1 || size > MAX_PATH)
			return "has a target that is not encoded";
	}
	if (t->same_as != NULL && !has_file(entries, count, t))
		return "is a hard link to no file of the tree with its content";
	return t->size != 0 && t->type != file_type_regular ? "has a size and is not a file" : NULL;
}

int
tree_check(
    const struct tree_entry *entries, size_t count, uint64_t *files, uint64_t *bytes, struct err *e)
{
	*files = *bytes = 0;
	for (size_t i = 0; i < count; i++) {
		const char *wrong = what_is_wrong(entries, count, i);

		if (wrong != NULL)
			return err_set(e, ERR_invalid_argument, "entries[%zu].path %s", i, wrong);
		if (entries[i].type != file_type_regular)
			continue;
		if (entries[i].size > INT64_MAX - *bytes)
			return err_set(e, ERR_limit_exceeded,
			    "entries: more than %" PRId64 " bytes", INT64_MAX);
		++*files;
		*bytes += entries[i].same_as == NULL ? entries[i].size : 0;
	}
	return 0;
}
