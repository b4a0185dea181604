/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fdio.c - descriptors: whole reads and writes, atomic files, paths that cannot leave.
 *
 * File names may come from a guest, and directories may change concurrently. So a path that must
 * stay inside a directory is resolved by the kernel in one call, never checked first and opened
 * later.
 */
#include "common/base/fdio.h"

#include "common/base/auto.h"
#include "common/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
	MAX_FDS = 16,
	OPEN_RETRIES = 64,
};

int
fdio_read(int fd, void *data, size_t size, struct err *e)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = read(fd, (char *)data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read");
		if (n == 0)
			return err_set(e, ERR_internal, "read: end of file after %zu of %zu bytes",
			    done, size);
		done += (size_t)n;
	}
	return 0;
}

int
fdio_write(int fd, const void *data, size_t size, struct err *e)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, (const char *)data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "write");
		done += (size_t)n;
	}
	return 0;
}

/* Errors that are caused by the path itself get a specific code. */
static int
open_failed(const char *path, struct err *e)
{
	err_sys(e, "open %s", path);
	if (e->sys == ENOENT || e->sys == ENOTDIR)
		e->code = ERR_not_found;
	if (e->sys == ELOOP || e->sys == EXDEV || e->sys == ENAMETOOLONG)
		e->code = ERR_path_not_allowed;
	return -1;
}

static int
open_how(int dir, const char *path, const struct open_how *how, struct err *e)
{
	/* EAGAIN: a directory on the way was renamed meanwhile. A guest could cause that for
	 * ever. */
	for (int i = 0; i < OPEN_RETRIES; i++) {
		long fd = syscall(SYS_openat2, dir, path, how, sizeof *how);

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	return open_failed(path, e);
}

int
fdio_open_beneath(int dir, const char *path, uint64_t flags, mode_t mode, struct err *e)
{
	const struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return open_how(dir, path, &how, e);
}

int
fdio_open_inside(int dir, const char *path, struct err *e)
{
	/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
	const struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};

	return open_how(dir, path, &how, e);
}

/* Reads up to the end of the file, because fstat(2) reports no size for files of proc and
 * cgroup. */
static int
load(int fd, size_t room, size_t limit, struct blob *to, struct err *e)
{
	struct blob b = { 0 };

	for (;;) {
		auto_free char *grown = realloc(b.data, room + 1);

		if (grown == NULL) {
			blob_clear(&b);
			return err_sys(e, "read");
		}
		b.data = take_ptr(grown);

		ssize_t n = read(fd, (char *)b.data + b.size, room - b.size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || b.size + (size_t)n > limit) {
			blob_clear(&b);
			return n < 0 ? err_sys(e, "read")
			             : err_set(e, ERR_limit_exceeded, "over the limit of %zu bytes",
					   limit);
		}
		b.size += (size_t)n;
		if (n == 0)
			break;
		if (b.size == room)
			room *= 2;
	}
	((char *)b.data)[b.size] = 0;
	*to = b;
	return 0;
}

int
fdio_check_private(int fd, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat");
	if ((st.st_mode & 077) != 0)
		return err_set(e, ERR_denied, "other users may read it; its mode must be 0600");
	return 0;
}

int
fdio_load_open(int fd, const char *name, size_t limit, struct blob *to, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "fstat %s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_path_not_allowed, "%s: not a regular file", name);
	if (st.st_size > 0 && (uint64_t)st.st_size > limit)
		return err_set(
		    e, ERR_limit_exceeded, "%s: over the limit of %zu bytes", name, limit);
	/* One byte more than the file has, so that the read that finds the end needs no more
	 * memory. */
	if (load(fd, st.st_size > 0 ? (size_t)st.st_size + 1 : 4096, limit, to, e) < 0)
		return err_add(e, "%s", name);
	return 0;
}

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
static int
load_name(int dir, const char *name, int flags, size_t limit, struct blob *to, struct err *e)
{
	auto_fd int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);

	return fd < 0 ? open_failed(name, e) : fdio_load_open(fd, name, limit, to, e);
}

int
fdio_load(int dir, const char *name, size_t limit, struct blob *to, struct err *e)
{
	return load_name(dir, name, O_NOFOLLOW, limit, to, e);
}

int
fdio_load_given(const char *path, size_t limit, struct blob *to, struct err *e)
{
	return load_name(AT_FDCWD, path, 0, limit, to, e);
}

static bool
same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool
fdio_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mode == b->st_mode && same_time(&a->st_mtim, &b->st_mtim) &&
	       same_time(&a->st_ctim, &b->st_ctim);
}

static int
sync_directory(int dir, struct err *e)
{
	/* dir itself may be O_PATH, which cannot be synced. */
	auto_fd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "open directory");
	return fsync(fd) < 0 ? err_sys(e, "fsync directory") : 0;
}

static int
write_durably(int dir, const char *name, const void *data, size_t size, mode_t mode, struct err *e)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(e, "open");
	if (fchmod(fd, mode) < 0)
		return err_sys(e, "fchmod");
	if (fdio_write(fd, data, size, e) < 0)
		return -1;
	return fsync(fd) < 0 ? err_sys(e, "fsync") : 0;
}

int
fdio_store(int dir, const char *name, const void *data, size_t size, mode_t mode, struct err *e)
{
	char draft[sizeof FDIO_DRAFT + 16] = FDIO_DRAFT;

	hash_random_hex(draft + sizeof FDIO_DRAFT - 1, 17);

	int result = write_durably(dir, draft, data, size, mode, e);

	if (result == 0 && renameat(dir, draft, dir, name) < 0)
		result = err_sys(e, "rename");
	if (result < 0) {
		unlinkat(dir, draft, 0);
		return err_add(e, "%s", name);
	}
	return sync_directory(dir, e) < 0 ? err_add(e, "%s", name) : 0;
}

/* Opens one component of a path, and creates it if it is missing. */
static int
enter(int dir, const char *part, bool last, mode_t mode, struct err *e)
{
	bool made = mkdirat(dir, part, mode) == 0;

	if (!made && errno != EEXIST)
		return err_sys(e, "mkdir %s", part);

	/* A symlink on the way may be the system's (/var/run). As the last component it would be
	 * a trap. */
	auto_fd int fd =
	    openat(dir, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (last ? O_NOFOLLOW : 0));

	if (fd < 0)
		return err_sys(e, "open %s", part);
	/* Independent of the umask, and with a setgid bit, which mkdir drops. */
	if (made && fchmod(fd, mode) < 0)
		return err_sys(e, "chmod %s", part);
	return take_fd(&fd);
}

int
fdio_directory(int dir, const char *path, mode_t mode, struct err *e)
{
	auto_free char *parts = strdup(path);
	char *rest = NULL;

	if (parts == NULL)
		return err_sys(e, "%s", path);

	auto_fd int at = openat(dir, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return err_sys(e, "open the directory of %s", path);
	for (char *part = strtok_r(parts, "/", &rest), *next; part != NULL; part = next) {
		next = strtok_r(NULL, "/", &rest);

		int inner = enter(at, part, next == NULL, mode, e);

		if (inner < 0)
			return err_add(e, "%s", path);
		close(at);
		at = inner;
	}
	return take_fd(&at);
}

/* Memory and alignment for the descriptors of one message. */
union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

ssize_t
fdio_send(int sock, const void *data, size_t size, const int *fds, size_t nfds)
{
	union control control = { .room = { 0 } };
	struct iovec part = { (void *)data, size };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	must(nfds <= MAX_FDS);
	if (nfds > 0) {
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(nfds * sizeof *fds);
		memcpy(CMSG_DATA(&control.head), fds, nfds * sizeof *fds);
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(nfds * sizeof *fds);
	}
	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Stores the descriptors that fit. Closes the rest, but counts them, too. */
static size_t
take_descriptors(struct msghdr *msg, int *fds, size_t room)
{
	size_t got = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++, got++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (got < room)
				fds[got] = fd;
			else
				close(fd);
		}
	}
	return got;
}

ssize_t
fdio_receive(int sock, void *data, size_t size, int *fds, size_t *nfds, int flags)
{
	union control control;
	struct iovec part = { data, size };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};
	size_t room = nfds != NULL ? *nfds : 0;
	ssize_t n;

	do
		n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (nfds != NULL)
		*nfds = 0;
	if (n < 0)
		return -1;

	size_t got = take_descriptors(&msg, fds, room);

	if (got > room || (msg.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0) {
		for (size_t i = 0; i < (got < room ? got : room); i++)
			close(fds[i]);
		errno = got > room || (msg.msg_flags & MSG_TRUNC) != 0 ? EMSGSIZE : EMFILE;
		return -1;
	}
	if (nfds != NULL)
		*nfds = got;
	return n;
}
