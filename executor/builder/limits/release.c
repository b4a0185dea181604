/* SPDX-License-Identifier: Apache-2.0 */
/*
 * release.c - forks a process that closes a full tmpfs last, so that the kernel frees its contents
 * while that process exits.
 *
 * Theory of operation.  The fork has copies of the descriptors, closes all others, and waits until
 * this process has closed its own.  It waits on a pipe that only this process can write to.
 * However the fork ends, its descriptors are closed.  If it is killed too early, or the fork
 * fails, this process closes the tmpfs last and waits.
 *
 * The fork runs only the lines below and reads no other input.
 */
#include "executor/builder/limits/release.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

enum {
	MOST = 8,             /* processes at once */
	FEW_FILES = 200,      /* take less time than a fork */
	FEW_BYTES = 4 << 20,  /* likewise */
	MOST_BYTES = 1 << 30, /* not freed yet, of all but one */
};

struct release {
	pid_t pid; /* 0: none */
	int pidfd;
	uint64_t bytes;
};

static struct release releases[MOST];

/* True if it contains enough to be worth a process.  Also returns the number of bytes. */
static bool
is_much(int root, uint64_t *bytes)
{
	struct statfs fs;

	if (root < 0 || fstatfs(root, &fs) < 0)
		return false;
	*bytes = (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
	return fs.f_files - fs.f_ffree > FEW_FILES || *bytes > FEW_BYTES;
}

/* Memory accounting treats this as free already. */
static struct release *
find(uint64_t bytes)
{
	struct release *room = NULL;
	uint64_t all = 0;

	for (size_t i = 0; i < COUNT(releases); i++) {
		if (releases[i].pid == 0)
			room = &releases[i];
		else
			all += releases[i].bytes;
	}
	return all == 0 || all + bytes <= MOST_BYTES ? room : NULL;
}

/* A new process of a box has all of the builder's descriptors for a moment too.  But there these
 * would be closed only after slow work, and the end of a program would be noticed as late. */
static void
hold(const int *fds, size_t n, int closed)
{
	char none;
	int to = 1;
	bool held = dup2(closed, 0) == 0;

	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			held = dup2(fds[i], to++) >= 0 && held;
	if (held && close_range((unsigned)to, ~0u, 0) == 0)
		while (read(0, &none, 1) < 0 && errno == EINTR)
			;
	_exit(0);
}

static void
bury(struct release *r)
{
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(r->pidfd);
	*r = (struct release){ 0 };
}

static void
on_end(void *self, uint32_t events)
{
	struct release *r = self;

	(void)events;
	loop_forget(r->pidfd);
	bury(r);
}

/* Writes the pid to *r.  False: there is no process. */
static bool
begin(struct release *r, const int *fds, size_t n, int closed)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&r->pidfd,
		.exit_signal = SIGCHLD,
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);

	if (pid == 0)
		hold(fds, n, closed);
	r->pid = pid > 0 ? pid : 0;
	return pid > 0;
}

static void
close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

void
release_close(const int *fds, size_t n)
{
	uint64_t bytes;
	int gate[2] = { -1, -1 };
	struct release *r = n <= RELEASE_FDS && is_much(fds[0], &bytes) ? find(bytes) : NULL;
	bool begun = r != NULL && pipe2(gate, O_CLOEXEC) == 0 && begin(r, fds, n, gate[0]);
	struct err e;

	close_all(fds, n);
	close_all(gate, COUNT(gate));
	if (!begun)
		return;
	r->bytes = bytes;
	if (loop_watch(r->pidfd, EPOLLIN, on_end, r, &e) < 0)
		bury(r);
}
