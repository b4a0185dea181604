/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.c - lists a hostile tree: any number of names, any depth, any type of file.
 *
 * Memory is bounded by the request, not by the tree: the list of unread directories holds at most
 * as many as names may be reported, and nothing is recursive.  A file's content is read once and
 * counted in bytes read, because its size can be wrong (sparse) or change.
 */
#include "executor/builder/files/walk.h"

#include "common/base/auto.h"
#include "common/base/err.h"
#include "common/base/hash.h"
#include "executor/builder/files/file_helper_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

enum {
	MAX_WAITING = 64 << 20, /* bytes of the paths of unread directories */
	LINKED = 256,           /* cached digests of files with several names */
	HOLES = 64 << 20,       /* bytes read of files beyond the space that they occupy */
};

struct linked {
	ino_t inode;
	uint64_t size;
	uint8_t digest[HASH_BYTES];
};

struct walk {
	int fd;
	uint64_t names, hash_limit, hash_left; /* how much more is reported and read */
	char **waiting;                        /* paths of directories */
	size_t count, room, bytes;
	bool truncated;
	struct linked linked[LINKED]; /* at inode % LINKED */
	struct file_frame out;
};

static int
tell(struct walk *w, const char *path, const void *tail, size_t size)
{
	if (w->names == 0) {
		w->truncated = true;
		return 0;
	}
	w->names--;
	must(file_frame_pack(&w->out, path, tail, size));
	return file_helper_tell(w->fd, &w->out);
}

static int
skip(struct walk *w, const char *path, enum file_frame_fault why)
{
	w->out.head = (struct file_frame_head){ .kind = FILE_FRAME_SKIPPED, .fault = why };
	return tell(w, path, NULL, 0);
}

static int
skip_special(struct walk *w, const char *path, mode_t mode)
{
	w->out.head = (struct file_frame_head){
		.kind = FILE_FRAME_SKIPPED,
		.fault = FILE_FRAME_IS_SPECIAL,
		.type = S_ISFIFO(mode)   ? FILE_FRAME_FIFO
		        : S_ISSOCK(mode) ? FILE_FRAME_SOCKET
		                         : FILE_FRAME_DEVICE,
	};
	return tell(w, path, NULL, 0);
}

/* Clamped: some file systems store seconds that do not fit in 64 bits of nanoseconds. */
static int64_t
nanoseconds(const struct timespec *t)
{
	const int64_t most = INT64_MAX / 1000000000 - 1;
	int64_t s = t->tv_sec > most ? most : t->tv_sec < -most ? -most : t->tv_sec;

	return s * 1000000000 + t->tv_nsec;
}

static void
describe(struct walk *w, enum file_frame_type type, const struct stat *st)
{
	w->out.head = (struct file_frame_head){
		.kind = FILE_FRAME_ENTRY,
		.type = type,
		.mode = st->st_mode & 0777,
		.mtime_ns = nanoseconds(&st->st_mtim),
		.size = type == FILE_FRAME_REGULAR ? (uint64_t)st->st_size : 0,
	};
}

/* The digest of the bytes read, and their number.  False if that exceeds a limit or the file
 * cannot be read. */
static bool
hash_file(struct walk *w, int fd)
{
	static uint8_t part[256 << 10];
	struct file_frame_head *h = &w->out.head;
	struct hash hash;
	uint64_t size = 0;
	ssize_t n;

	hash_begin(&hash);
	while ((n = read(fd, part, sizeof part)) > 0) {
		size += (uint64_t)n;
		if (size > w->hash_limit || (uint64_t)n > w->hash_left)
			return false;
		w->hash_left -= (uint64_t)n;
		hash_add(&hash, part, (size_t)n);
	}
	if (n < 0)
		return false;
	hash_end(&hash, h->digest);
	h->size = size;
	h->hashed = 1;
	return true;
}

/* A file with several names is read once for all of them. */
static void
hash_linked(struct walk *w, int fd, const struct stat *st)
{
	struct file_frame_head *h = &w->out.head;
	struct linked *known = &w->linked[st->st_ino % LINKED];

	if (known->inode == st->st_ino) {
		memcpy(h->digest, known->digest, sizeof h->digest);
		h->size = known->size;
		h->hashed = 1;
	} else if (hash_file(w, fd)) {
		*known = (struct linked){ .inode = st->st_ino, .size = h->size };
		memcpy(known->digest, h->digest, sizeof known->digest);
	}
}

/* True if the file consists mostly of holes.  Such a file costs its owner nothing and its reader
 * its full size. */
static bool
is_hollow(const struct stat *st)
{
	return st->st_size > (off_t)st->st_blocks * 512 + HOLES;
}

/* True if it has extended attributes that a program can set: user.*, and access lists. */
static bool
is_attributed(int fd)
{
	static char names[64 << 10];
	ssize_t size = flistxattr(fd, names, sizeof names);

	for (const char *name = names; name < names + size; name += strlen(name) + 1)
		if (strncmp(name, "user.", 5) == 0 || strncmp(name, "system.", 7) == 0)
			return true;
	return false;
}

static int
list_regular(struct walk *w, int directory, const char *name, const char *path)
{
	auto_fd int fd = file_helper_open(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return skip(w, path, file_helper_fault(errno));
	if (!S_ISREG(st.st_mode))
		return skip_special(w, path, st.st_mode);
	describe(w, FILE_FRAME_REGULAR, &st);
	w->out.head.attributed = is_attributed(fd);
	if ((uint64_t)st.st_size > w->hash_limit || is_hollow(&st))
		return tell(w, path, NULL, 0);
	if (st.st_nlink > 1) {
		w->out.head.inode = st.st_ino;
		hash_linked(w, fd, &st);
	} else {
		hash_file(w, fd);
	}
	return tell(w, path, NULL, 0);
}

static int
list_directory(struct walk *w, const struct stat *st, const char *path)
{
	size_t size = strlen(path) + 1;

	describe(w, FILE_FRAME_DIRECTORY, st);
	if (tell(w, path, NULL, 0) < 0)
		return -1;
	if (w->truncated || w->bytes + size > MAX_WAITING) {
		w->truncated = true;
		return 0;
	}
	if (w->count == w->room) {
		size_t room = w->room * 2 + 64;
		char **grown = realloc(w->waiting, room * sizeof *grown);

		if (grown == NULL)
			return -1;
		w->waiting = grown;
		w->room = room;
	}
	if ((w->waiting[w->count] = strdup(path)) == NULL)
		return -1;
	w->count++;
	w->bytes += size;
	return 0;
}

static int
list_link(struct walk *w, int directory, const char *name, const struct stat *st, const char *path)
{
	char target[FILE_FRAME_MAX_PATH];
	ssize_t n = readlinkat(directory, name, target, sizeof target);

	if (n < 0 || n == sizeof target)
		return skip(w, path, n < 0 ? file_helper_fault(errno) : FILE_FRAME_TOO_LONG);
	describe(w, FILE_FRAME_SYMLINK, st);
	return tell(w, path, target, (size_t)n);
}

/* The file as which a driver shows the running program (guest/python/as_file.py,
 * guest/node/as_file.js).  It is there after a run only if the run was killed. */
static bool
is_program(const char *above, const char *name, const struct stat *st)
{
	return *above == '\0' && st->st_mode == (S_IFREG | S_ISVTX | 0444) &&
	       strncmp(name, "code", 4) == 0;
}

static int
list_name(struct walk *w, int directory, const char *above, const char *name)
{
	char path[FILE_FRAME_MAX_PATH];
	struct stat st;
	int size = snprintf(path, sizeof path, "%s%s%s", above, *above != 0 ? "/" : "", name);

	if ((size_t)size >= sizeof path)
		return skip(w, above, FILE_FRAME_TOO_LONG);
	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return skip(w, path, file_helper_fault(errno));
	if (is_program(above, name, &st))
		return 0;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return list_regular(w, directory, name, path);
	case S_IFDIR:
		return list_directory(w, &st, path);
	case S_IFLNK:
		return list_link(w, directory, name, &st, path);
	default:
		return skip_special(w, path, st.st_mode);
	}
}

static int
list_names(struct walk *w, int root, const char *path)
{
	int fd = file_helper_open(root, *path != 0 ? path : ".", O_RDONLY | O_DIRECTORY);
	auto_dir DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (directory == NULL)
		return *path == 0 ? -1 : skip(w, path, file_helper_fault(errno));
	while (!w->truncated && (entry = readdir(directory)) != NULL) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (list_name(w, fd, path, name) < 0)
			return -1;
	}
	return 0;
}

/* Only stored bytes count.  The rest is holes, which can add up to any size. */
static uint64_t
bytes_of(int root)
{
	struct statfs fs;

	return fstatfs(root, &fs) < 0
	           ? 0
	           : (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize + HOLES;
}

int
walk_list(int fd, int root, const struct file_frame_head *order, bool *truncated)
{
	static struct walk w;
	int result = 0;

	w = (struct walk){
		.fd = fd,
		.names = order->limit,
		.hash_limit = order->size,
		.hash_left = bytes_of(root),
	};
	result = list_names(&w, root, "");
	while (w.count > 0) {
		auto_free char *path = w.waiting[--w.count];

		w.bytes -= strlen(path) + 1;
		if (result == 0 && !w.truncated)
			result = list_names(&w, root, path);
	}
	free(w.waiting);
	*truncated = w.truncated;
	return result;
}
