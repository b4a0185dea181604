/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_helper.c - the file helper: reads and writes files of one workspace for the executor, in a
 * sandbox.
 *
 * It has the uid of the program that made the files and sees only /workspace, so it need not trust
 * a name, a link or a size there: if deceived, it can access no more than that program could.
 * Nevertheless it resolves names beneath the workspace and follows no link, so that its reports
 * are correct.  It trusts the executor to request only sizes that the executor can handle.
 */
#include "executor/builder/files/file_helper.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "executor/builder/files/file_helper_io.h"
#include "executor/builder/files/walk.h"
#include "executor/builder/media.h"
#include "executor/builder/order.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

/* A file that is being received.  It is written to a temporary file in the same directory, which
 * is renamed when it is complete, or appended to an existing file. */
struct incoming {
	int fd, directory; /* -1: not open yet */
	struct file_frame_head order;
	char temporary[32], *path, *name; /* temporary "": none; name: the last part of path */
	uint64_t left;
	size_t made; /* length of the part of path that names the first directory made for it; 0:
	                none was made */
};

struct file_helper {
	int fd, root;
	struct incoming incoming;
};

/* Sends the one answer to each order.  Nothing else is sent for it. */
static int
tell_done(struct file_helper *s, struct file_frame_head head)
{
	static struct file_frame p;

	p.head = head;
	p.head.kind = FILE_FRAME_DONE;
	return file_helper_tell(s->fd, &p);
}

static int
tell_size(struct file_helper *s, uint64_t size)
{
	return tell_done(s, (struct file_frame_head){ .size = size });
}

/* ---- files out ---- */

/* Opens a regular file for reading.  Other file types are neither waited for nor read. */
static int
open_regular(int root, const char *path, struct stat *st)
{
	auto_fd int fd = file_helper_open(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, st) < 0)
		return -1;
	if (!S_ISREG(st->st_mode)) {
		errno = S_ISDIR(st->st_mode) ? EISDIR : ENXIO;
		return -1;
	}
	return take_fd(&fd);
}

/* Sends at most left bytes from that offset, or as many as there are, and counts them. */
static int
send_bytes(struct file_helper *s, int fd, uint64_t offset, uint64_t left, uint64_t *sent)
{
	static struct file_frame data;
	ssize_t n = 1;

	data.head = (struct file_frame_head){ .kind = FILE_FRAME_DATA };
	/* Counts the bytes, because the size can change while the file is read. */
	for (*sent = 0; n > 0 && *sent < left; *sent += (uint64_t)n) {
		size_t most =
		    left - *sent < sizeof data.rest ? (size_t)(left - *sent) : sizeof data.rest;

		n = pread(fd, data.rest, most, (off_t)(offset + *sent));
		if (n <= 0)
			return (int)n;
		data.head.tail_size = (uint32_t)n;
		if (file_helper_tell(s->fd, &data) < 0)
			return -1;
	}
	return 0;
}

static int
read_file(struct file_helper *s, struct file_frame *p, const char *path)
{
	uint64_t offset = p->head.offset, limit = p->head.size, length = p->head.limit, sent = 0;
	struct stat st;
	char more;
	auto_fd int fd = open_regular(s->root, path, &st);

	if (fd < 0)
		return -1;

	uint64_t size = (uint64_t)st.st_size, rest = offset < size ? size - offset : 0;

	if (rest > 0 && (length > 0 || rest <= limit) &&
	    send_bytes(s, fd, offset, length > 0 ? length : limit, &sent) < 0)
		return -1;
	/* The file may have grown in the meantime. */
	if (length == 0 &&
	    (rest > limit || (sent == limit && pread(fd, &more, 1, (off_t)(offset + sent)) > 0))) {
		errno = EFBIG;
		return -1;
	}
	return tell_size(s, size);
}

/* Sends the type that the first bytes show, or an empty one if it is unknown. */
static int
tell_type(struct file_helper *s, struct file_frame *p, const char *path)
{
	static struct file_frame out;
	static uint8_t start[MEDIA_BYTES];
	struct stat st;
	auto_fd int fd = open_regular(s->root, path, &st);
	ssize_t n = fd < 0 ? -1 : pread(fd, start, sizeof start, 0);

	(void)p;
	if (n < 0)
		return -1;

	const char *type = media_type(start, (size_t)n);

	out.head = (struct file_frame_head){ .kind = FILE_FRAME_DATA };
	must(file_frame_pack(&out, NULL, type, strlen(type)));
	return file_helper_tell(s->fd, &out) < 0 ? -1 : tell_size(s, (uint64_t)st.st_size);
}

/* ---- files in ---- */

/* Opens the directory that contains path, and makes missing directories on the way.  *name is
 * the last part of path.  *made is the length of the part that names the first directory that
 * had to be made. */
static int
open_parent(int root, char *path, char **name, size_t *made)
{
	auto_fd int at = file_helper_open(root, ".", O_PATH | O_DIRECTORY);
	char *part = path;

	for (char *slash; at >= 0 && (slash = strchr(part, '/')) != NULL; part = slash + 1) {
		*slash = 0;
		/* Sets the mode explicitly: the umask was set by another process and can have
		 * any value. */
		if (mkdirat(at, part, 0755) == 0 && fchmodat(at, part, 0755, 0) == 0 && *made == 0)
			*made = (size_t)(slash - path);

		int inner = file_helper_open(at, part, O_PATH | O_DIRECTORY);

		*slash = '/';
		close(at);
		at = inner;
	}
	*name = part;
	return take_fd(&at);
}

/* Removes an incomplete file and the directories made for it. */
static void
drop_incoming(struct file_helper *s)
{
	struct incoming *in = &s->incoming;

	if (in->fd >= 0) {
		/* If the file cannot be truncated, it keeps a few bytes, which its owner sends
		 * again. */
		if (in->order.kind == FILE_FRAME_APPEND)
			(void)!ftruncate(in->fd, (off_t)in->order.offset);
		else
			unlinkat(in->directory, in->temporary, 0);
		close(in->fd);
	}
	if (in->directory >= 0)
		close(in->directory);
	while (in->made > 0) {
		char *slash = strrchr(in->path, '/');

		*slash = 0;
		unlinkat(s->root, in->path, AT_REMOVEDIR);
		if ((size_t)(slash - in->path) <= in->made)
			break;
	}
	free(in->path);
	*in = (struct incoming){ .fd = -1, .directory = -1 };
}

/* For utimensat(2): leaves the access time unchanged and sets the modification time. */
static void
times_of(int64_t mtime_ns, struct timespec times[2])
{
	int64_t s = mtime_ns / 1000000000, ns = mtime_ns % 1000000000;

	times[0] = (struct timespec){ .tv_nsec = UTIME_OMIT };
	times[1] = (struct timespec){ s - (ns < 0), ns + (ns < 0 ? 1000000000 : 0) };
}

static int
stamp(int fd, const struct file_frame_head *order)
{
	struct timespec times[2];

	if (fchmod(fd, order->mode) < 0)
		return -1;
	times_of(order->mtime_ns, times);
	return order->kind == FILE_FRAME_WRITE ? 0 : futimens(fd, times);
}

static int
finish_file(struct file_helper *s)
{
	struct incoming *in = &s->incoming;
	const struct file_frame_head order = in->order;

	if (order.kind != FILE_FRAME_APPEND &&
	    (stamp(in->fd, &order) < 0 ||
		renameat2(in->directory, in->temporary, in->directory, in->name,
		    order.overwrite ? 0 : RENAME_NOREPLACE) < 0))
		return -1;
	/* The file and its directories are kept. */
	close(take_fd(&in->fd));
	in->made = 0;
	drop_incoming(s);
	return order.kind == FILE_FRAME_FILE ? 0 : tell_size(s, order.offset + order.size);
}

/* Checks whether something is in the way.  This is checked before the content is sent; the
 * rename checks again. */
static int
check_place(const struct incoming *in)
{
	struct stat st;

	if (fstatat(in->directory, in->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	if (!S_ISDIR(st.st_mode) && in->order.overwrite)
		return 0;
	errno = S_ISDIR(st.st_mode) ? EISDIR : EEXIST;
	return -1;
}

static int
begin_file(struct file_helper *s, struct file_frame *p, const char *path)
{
	struct incoming *in = &s->incoming;
	uint64_t any;

	drop_incoming(s);
	in->order = p->head;
	in->left = p->head.size;
	if ((in->path = strdup(path)) == NULL ||
	    (in->directory = open_parent(s->root, in->path, &in->name, &in->made)) < 0 ||
	    check_place(in) < 0 || getrandom(&any, sizeof any, 0) != sizeof any)
		return -1;
	snprintf(in->temporary, sizeof in->temporary, ".cloister-%016llx", (unsigned long long)any);
	in->fd = openat(in->directory, in->temporary,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (in->fd < 0)
		return -1;
	return in->left == 0 ? finish_file(s) : 0;
}

/* A file that has another name, or that a process has mapped, grows for those too: it is one
 * file. */
static int
begin_piece(struct file_helper *s, struct file_frame *p, const char *path)
{
	struct incoming *in = &s->incoming;
	struct stat st;

	drop_incoming(s);
	auto_fd int fd =
	    file_helper_open(s->root, path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_APPEND);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = ENXIO;
		return -1;
	}
	if ((uint64_t)st.st_size != p->head.offset) {
		p->head.size = (uint64_t)st.st_size; /* for the reply */
		errno = ESPIPE;
		return -1;
	}
	in->order = p->head;
	in->left = p->head.size;
	in->fd = take_fd(&fd);
	return in->left == 0 ? finish_file(s) : 0;
}

static int
add_data(struct file_helper *s, struct file_frame *p, const char *path)
{
	struct incoming *in = &s->incoming;
	struct err e;

	(void)path;
	if (in->fd < 0)
		return 0; /* the rest of a file that failed, which was reported */
	if (p->head.tail_size > in->left) {
		errno = EFBIG;
		return -1;
	}
	if (fdio_write(in->fd, file_frame_tail(p), p->head.tail_size, &e) < 0) {
		errno = e.sys;
		return -1;
	}
	in->left -= p->head.tail_size;
	return in->left == 0 ? finish_file(s) : 0;
}

/* ---- a workspace that is filled from a snapshot ---- */

static int
make_directory(struct file_helper *s, struct file_frame *p, const char *path)
{
	size_t made = 0;
	char *name;

	(void)p;

	auto_fd int directory = open_parent(s->root, strdupa(path), &name, &made);

	return directory < 0 ? -1 : mkdirat(directory, name, 0700);
}

/* Copies a target or a path from the tail. */
static int
copy_tail(struct file_frame *p, char to[FILE_FRAME_MAX_PATH])
{
	if (p->head.tail_size >= FILE_FRAME_MAX_PATH) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(to, file_frame_tail(p), p->head.tail_size);
	to[p->head.tail_size] = 0;
	return 0;
}

static int
make_link(struct file_helper *s, struct file_frame *p, const char *path)
{
	char target[FILE_FRAME_MAX_PATH], *name;
	struct timespec times[2];
	size_t made = 0;
	auto_fd int directory = open_parent(s->root, strdupa(path), &name, &made);

	if (copy_tail(p, target) < 0 || directory < 0 || symlinkat(target, directory, name) < 0)
		return -1;
	times_of(p->head.mtime_ns, times);
	return utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW);
}

/* Only to a regular file of this workspace, which had none before it was filled. */
static int
make_hard_link(struct file_helper *s, struct file_frame *p, const char *path)
{
	char file[FILE_FRAME_MAX_PATH], *from, *to;
	size_t made = 0;
	struct stat st;

	if (copy_tail(p, file) < 0)
		return -1;

	auto_fd int above = open_parent(s->root, file, &from, &made);
	auto_fd int directory = open_parent(s->root, strdupa(path), &to, &made);

	if (above < 0 || directory < 0 || fstatat(above, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : S_ISLNK(st.st_mode) ? ELOOP : ENXIO;
		return -1;
	}
	return linkat(above, from, directory, to, 0);
}

static int
stamp_directory(struct file_helper *s, struct file_frame *p, const char *path)
{
	auto_fd int directory = file_helper_open(s->root, path, O_RDONLY | O_DIRECTORY);

	return directory < 0 ? -1 : stamp(directory, &p->head);
}

/* ---- orders ---- */

static int
list_files(struct file_helper *s, struct file_frame *p, const char *path)
{
	bool truncated = false;

	(void)path;
	if (walk_list(s->fd, s->root, &p->head, &truncated) < 0)
		return -1;
	return tell_done(s, (struct file_frame_head){ .truncated = truncated });
}

static int
sync_orders(struct file_helper *s, struct file_frame *p, const char *path)
{
	(void)p;
	(void)path;
	return tell_size(s, 0);
}

/* Each function sends its own reply.  It returns -1 with errno if it failed, and then the
 * failure is sent. */
static int (*const orders[FILE_FRAME_KINDS])(
    struct file_helper *, struct file_frame *, const char *path) = {
	[FILE_FRAME_LIST] = list_files,
	[FILE_FRAME_READ] = read_file,
	[FILE_FRAME_TYPE] = tell_type,
	[FILE_FRAME_WRITE] = begin_file,
	[FILE_FRAME_APPEND] = begin_piece,
	[FILE_FRAME_FILE] = begin_file,
	[FILE_FRAME_MKDIR] = make_directory,
	[FILE_FRAME_LINK] = make_link,
	[FILE_FRAME_HARD_LINK] = make_hard_link,
	[FILE_FRAME_STAMP] = stamp_directory,
	[FILE_FRAME_SYNC] = sync_orders,
	[FILE_FRAME_DATA] = add_data,
};

static int
obey(struct file_helper *s, struct file_frame *p)
{
	char path[FILE_FRAME_MAX_PATH];

	if (orders[p->head.kind] == NULL)
		return -1;
	file_frame_path(p, path);
	if (orders[p->head.kind](s, p, path) == 0)
		return 0;

	struct file_frame_head head = { .fault = file_helper_fault(errno) };

	if (head.fault == FILE_FRAME_MISPLACED)
		head.size = p->head.size;
	drop_incoming(s);
	return tell_done(s, head);
}

int
file_helper_serve(int fd, int root)
{
	static struct file_frame p;
	struct file_helper s = {
		.fd = fd, .root = root, .incoming = { .fd = -1, .directory = -1 }
	};
	int n;

	while ((n = file_frame_receive(fd, &p)) != 0) {
		struct pollfd readable = { .fd = fd, .events = POLLIN };

		if (n < 0 && errno == EAGAIN) {
			poll(&readable, 1, -1);
			continue;
		}
		if (n < 0 || obey(&s, &p) < 0)
			break;
	}
	drop_incoming(&s);
	return n == 0 ? 0 : 1;
}

int
file_helper_main(int fd)
{
	auto_fd int root = open("/workspace", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return root < 0 ? 1 : file_helper_serve(fd, root);
}
