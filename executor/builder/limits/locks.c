/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.c - reads /proc/locks, counts by box, kills the box with most locks.
 *
 * Theory of operation.  The list is that of the builder's pid namespace: locks of processes in
 * boxes, and locks without an owner (OFD), which no box can take.  Reading it costs the kernel
 * time that grows with the square of the amount read, and meanwhile blocks all processes of the
 * host that lock a file.  So it is read up to a bound.  A list that ends before the bound is short
 * enough.  Otherwise only the newest locks are seen, and the box with most of these is killed.  If
 * another box has more in total, the next check finds it.
 *
 * A lock ends with the process that took it, because processes of a box cannot share open files
 * (guest.def: CLONE_FILES).  So the owner exists, and its parents lead to the box.
 */
#include "executor/builder/limits/locks.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/box.h"
#include "executor/builder/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	LOOK_MS = 500,
	MOST_BYTES = 1 << 20, /* read from the list: 16,000 locks and more */
	WORTH = 100,          /* a box with fewer locks is not killed, whatever the others have */
	KNOWN = 1024,         /* processes whose box is cached, by pid */
	MOST_PARENTS = 4096,
};

struct known {
	pid_t pid;
	const struct locks_owner *owner; /* NULL: belongs to no box */
};

struct count {
	int proc;
	const struct locks_owner *owners;
	size_t n;
	struct known known[KNOWN];
	uint32_t locks[ORDER_MAX_LIVING + 1]; /* per box */
};

static struct {
	pid_t pid; /* of the process that reads the list; 0: none */
	int pidfd, said;
	int64_t due_ms; /* not before this time */
} look;

/* The second word after the name, which may contain any bytes.  0: there is none. */
static pid_t
parent_of(int proc, pid_t pid)
{
	char path[32], text[512], *at;
	ssize_t n;

	snprintf(path, sizeof path, "%d/stat", pid);
	auto_fd int file = openat(proc, path, O_RDONLY | O_CLOEXEC);

	if (file < 0 || (n = read(file, text, sizeof text - 1)) <= 0)
		return 0;
	text[n] = '\0';
	at = strrchr(text, ')');
	return at != NULL && strlen(at) > 4 ? (pid_t)strtol(at + 4, NULL, 10) : 0;
}

static const struct locks_owner *
find_owner(const struct count *c, pid_t pid)
{
	for (int i = 0; i < MOST_PARENTS && pid > 1; i++) {
		for (size_t o = 0; o < c->n; o++)
			if (c->owners[o].first == pid)
				return &c->owners[o];
		pid = parent_of(c->proc, pid);
	}
	return NULL;
}

static const struct locks_owner *
owner_of(struct count *c, pid_t pid)
{
	struct known *known = &c->known[(unsigned)pid % KNOWN];

	if (known->pid != pid)
		*known = (struct known){ pid, find_owner(c, pid) };
	return known->owner;
}

/* "7: -> POSIX  ADVISORY  WRITE 4711 00:1c:1234 5 5", proc_locks(5).  The pid is the third word
 * from there. */
static void
count_line(struct count *c, const char *line)
{
	const char *at = strstr(line, "POSIX ");
	const struct locks_owner *owner;
	long pid;

	for (int word = 0; word < 3 && at != NULL; word++)
		if ((at = strchr(at, ' ')) != NULL)
			at += strspn(at, " ");
	pid = at == NULL ? 0 : strtol(at, NULL, 10);
	owner = pid > 1 ? owner_of(c, (pid_t)pid) : NULL;
	if (owner != NULL)
		c->locks[owner->box]++;
}

static void
count_lines(struct count *c, char *text)
{
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		count_line(c, line);
}

static struct locks_most
most_of(const struct count *c)
{
	struct locks_most most = { .locks = WORTH };

	for (size_t i = 0; i < c->n; i++)
		if (c->locks[c->owners[i].box] > most.locks)
			most =
			    (struct locks_most){ c->owners[i].box, c->locks[c->owners[i].box], 0 };
	return most;
}

struct locks_most
locks_count(int proc, const struct locks_owner *owners, size_t n)
{
	static struct count count;
	static char text[MOST_BYTES + 1];
	auto_fd int file = openat(proc, "locks", O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t got;

	/* One page at once. */
	while (file >= 0 && have < MOST_BYTES &&
	       (got = read(file, text + have, MOST_BYTES - have)) > 0)
		have += (size_t)got;
	if (have < MOST_BYTES)
		return (struct locks_most){ 0 };
	count = (struct count){ .proc = proc, .owners = owners, .n = n };
	count_lines(&count, text);
	return most_of(&count);
}

/* Runs in the fork.  No descriptor of a box stays open in it while it waits. */
static void
say_who(int proc, int to, const struct locks_owner *owners, size_t n)
{
	struct locks_most most = { 0 };

	if (dup2(proc, 0) == 0 && dup2(to, 1) == 1 && close_range(2, ~0u, 0) == 0)
		most = locks_count(0, owners, n);
	if (most.box != 0)
		most.first = processes_find(most.box)->pid;
	_exit(write(1, &most, sizeof most) == (ssize_t)sizeof most ? 0 : 1);
}

/* The box may have ended meanwhile, and another box may have its number. */
static void
end(const struct locks_most *most)
{
	struct process *box = processes_find(most->box);

	if (box == NULL || box->pid != most->first || box->use.over)
		return;
	box->use.over = true;
	box->use.locks = most->locks;
	look.due_ms = 0; /* there may be more such boxes */
	process_kill(box);
}

static void
bury(void)
{
	while (waitpid(look.pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(look.pidfd);
	close(look.said);
	look.pid = 0;
}

static void
on_end(void *self, uint32_t events)
{
	struct locks_most most;
	bool said = read(look.said, &most, sizeof most) == (ssize_t)sizeof most;

	(void)self;
	(void)events;
	loop_forget(look.pidfd);
	bury();
	if (said && most.box != 0)
		end(&most);
}

/* A box consists of its first process and all processes that were started in it from outside. */
static size_t
gather(struct locks_owner *owners)
{
	struct process *p;
	size_t n = 0;

	for (uint32_t id = 0; (p = processes_next(&id)) != NULL;) {
		struct box *box = box_of(p->box != NULL ? p->box : p);

		if (box != NULL && p->pid > 0 && (box->used || p->box != NULL))
			owners[n++] = (struct locks_owner){ p->pid, box->process.order.id };
	}
	return n;
}

/* Returns 0 in the fork. */
static pid_t
fork_off(void)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&look.pidfd,
		.exit_signal = SIGCHLD,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

static void
begin(const struct host *host, int said[2])
{
	static struct locks_owner owners[ORDER_MAX_LIVING];
	size_t n = gather(owners);
	pid_t pid = fork_off();
	struct err e;

	if (pid == 0)
		say_who(host->proc, said[1], owners, n);
	close(said[1]);
	look.said = said[0];
	look.pid = pid > 0 ? pid : 0;
	if (pid < 0)
		close(said[0]);
	else if (loop_watch(look.pidfd, EPOLLIN, on_end, NULL, &e) < 0)
		bury();
}

void
locks_look(const struct host *host)
{
	int64_t now = loop_now_ms();
	int said[2];

	if (!host->own_proc || look.pid != 0 || now < look.due_ms || pipe2(said, O_CLOEXEC) < 0)
		return;
	look.due_ms = now + LOOK_MS;
	begin(host, said);
}
