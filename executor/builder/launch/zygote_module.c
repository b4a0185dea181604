/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote_module.c - the part of a zygote that forks: an extension module for Python.  It uses the
 * limited API, so that any Python on the host can be a zygote.
 *
 * serve() forks for each order of the builder.  The child is in the box's pid namespace from the
 * beginning.  It passes through all of confine.c before any Python code runs in it, and then
 * returns from serve() with descriptors 0 to 3 in their places.  The parent never returns.  It
 * waits for its children and reports their statuses to the builder.
 *
 * It uses libc's fork, not clone3, so that the fork handlers of libraries run (locks, random
 * states), except where zygote.py has a better way.
 *
 * Trusts the builder, whose descriptor is its only input.
 */
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "executor/builder/launch/environment.h"
#include "executor/builder/launch/zygote.h"
#include "executor/builder/trust.h"
#include "executor/guest/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct {
	struct zygote_start start;
	uint64_t cpu_milli; /* of a fork's box */
	int children;       /* readable when a child has ended */
	int own_pids;
	bool forking;
	char *arena; /* address of the interpreter's next arena; NULL: mmap chooses */
	char *arenas_end;
} zygote;

/* If the builder no longer reads, the zygote has nothing left to do. */
static void
say(const struct zygote_word *word, int fd)
{
	if (fdio_send(ZYGOTE_SOCKET, word, sizeof *word, &fd, fd >= 0 ? 1 : 0) < 0)
		_exit(1);
}

static void
bury(void)
{
	struct signalfd_siginfo info;
	struct zygote_word word = { .said = ZYGOTE_REAPED };

	if (read(zygote.children, &info, sizeof info) < 0 && errno != EAGAIN)
		_exit(1);
	while ((word.pid = wait4(-1, &word.status, WNOHANG, &word.usage)) > 0)
		say(&word, -1);
}

/* ---- an order ---- */

struct birth {
	struct zygote_order order;
	struct confine confine;
	int fds[ZYGOTE_MAX_FDS];
	size_t nfds;
};

/* Assigns the received descriptors.  False: too few were sent. */
static bool
arrange(struct birth *b)
{
	struct confine *c = &b->confine;
	size_t n = 0;

	*c = (struct confine){
		.kind = CONFINE_PROGRAM,
		.host = &zygote.start.host,
		.order = &b->order.order,
		.group = &b->order.group,
		.filter = &zygote.start.filter,
		.workspace = -1,
		.tmp = -1,
		.due = b->order.due,
		.forked = true,
	};
	for (size_t i = 0; i < ORDER_MAX_FDS; i++)
		c->fds[i] = b->fds[n++];
	c->report = b->fds[n++];
	for (int h = 0; h < HOST_NAMESPACES; h++)
		c->spaces[h] = (b->order.spaces & 1u << h) != 0 ? b->fds[n++] : -1;
	for (size_t i = 0; i < b->order.group.njoin; i++)
		b->order.group.join[i] = b->fds[n++];
	return n == b->nfds && c->spaces[HOST_PID] >= 0;
}

static bool
receive(struct birth *b)
{
	ssize_t n;

	b->nfds = COUNT(b->fds);
	do
		n = fdio_receive(ZYGOTE_SOCKET, &b->order, sizeof b->order, b->fds, &b->nfds, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof b->order && b->order.group.njoin <= CGROUP_MAX_JOIN &&
	       (size_t)ORDER_MAX_FDS + 1 + (size_t)__builtin_popcount(b->order.spaces) +
	               b->order.group.njoin ==
	           b->nfds &&
	       arrange(b);
}

/* A process cannot be forked into a dead box: then there is no child, and the builder gets an
 * error. */
static pid_t
fork_into(const struct confine *confine)
{
	static const struct sigaction plain = { .sa_handler = SIG_DFL };
	pid_t pid = -1;

	zygote.forking = true;
	PyOS_BeforeFork();
	if (setns(confine->spaces[HOST_PID], CLONE_NEWPID) == 0) {
		pid = fork();
		if (pid == 0) {
			sigset_t none;

			sigemptyset(&none);
			sigaction(SIGCHLD, &plain, NULL);
			sigprocmask(SIG_SETMASK, &none, NULL);
			confine_enter(confine);
			PyOS_AfterFork_Child();
			zygote.forking = false;
			zygote.cpu_milli = confine->order->cpu_milli;
			return 0;
		}
		if (setns(zygote.own_pids, CLONE_NEWPID) < 0)
			_exit(1);
	}
	PyOS_AfterFork_Parent();
	zygote.forking = false;
	return pid;
}

/* Returns true in the child. */
static bool
give_birth(void)
{
	struct birth b;
	struct zygote_word word = { .said = ZYGOTE_BORN };
	int pidfd = -1;

	if (!receive(&b))
		_exit(1);
	word.pid = fork_into(&b.confine);
	if (word.pid == 0)
		return true;
	word.error = errno;
	if (word.pid > 0)
		pidfd = (int)syscall(SYS_pidfd_open, word.pid, 0);
	say(&word, pidfd);
	if (pidfd >= 0)
		close(pidfd);
	for (size_t i = 0; i < b.nfds; i++)
		close(b.fds[i]);
	return false;
}

/* ---- memory ---- */

enum {
	HUGE = 2 << 20,
	COLLAPSE = 25, /* MADV_COLLAPSE, Linux 6.1 */
	ARENAS = 256 << 20,
};

/* PyObjectArenaAllocator of Python's "Memory Management", which the limited API leaves out. */
struct arena_allocator {
	void *context;
	void *(*take)(void *context, size_t size);
	void (*give)(void *context, void *at, size_t size);
};
extern void PyObject_SetArenaAllocator(struct arena_allocator *) __attribute__((weak));

static char *
huge_page_from(char *at)
{
	return (char *)(((uintptr_t)at + HUGE - 1) / HUGE * HUGE);
}

static void *
take_arena(void *context, size_t size)
{
	void *at = zygote.arena;

	(void)context;
	if (at != NULL && size <= (size_t)(zygote.arenas_end - zygote.arena)) {
		zygote.arena += size;
		return at;
	}
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

static void
give_arena(void *context, void *at, size_t size)
{
	(void)context;
	munmap(at, size);
}

/*
 * The interpreter allocates memory for small objects in arenas of a megabyte, and mmap puts most
 * of these between libraries, where no huge page fits.  From here on arenas are contiguous.
 */
static PyObject *
line_up(PyObject *self, PyObject *arguments)
{
	static struct arena_allocator ours = { NULL, take_arena, give_arena };
	void *all = MAP_FAILED;

	(void)self, (void)arguments;
	if (PyObject_SetArenaAllocator != NULL)
		all = mmap(NULL, ARENAS, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all != MAP_FAILED) {
		zygote.arena = huge_page_from(all);
		zygote.arenas_end = (char *)all + ARENAS;
		PyObject_SetArenaAllocator(&ours);
	}
	Py_RETURN_NONE;
}

/* Removes memory that the zygote did not need, so that it is neither visible to its forks nor
 * charged to them. */
static void
end_line(void)
{
	char *rest = huge_page_from(zygote.arena);

	if (rest < zygote.arenas_end)
		munmap(rest, (size_t)(zygote.arenas_end - rest));
	zygote.arena = NULL;
}

/*
 * A fork copies a page table entry for each page written before it, and the end of the fork drops
 * each entry.  If these pages are gathered in huge pages, there is one entry for 512 pages.  Pages
 * that a fork then writes are still copied one by one.  If the kernel has no huge pages, or no
 * contiguous memory, nothing changes.
 */
static void
gather(void)
{
	char line[4352]; /* one line, with a path */
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
		char *at;
		unsigned long from = strtoul(line, &at, 16), to = strtoul(at + 1, &at, 16);

		if (strncmp(at, " rw-p ", 6) != 0 || strchr(at, '/') != NULL)
			continue;
		for (from = (uintptr_t)huge_page_from((char *)from); from + HUGE <= to;
		     from += HUGE)
			madvise((void *)from, HUGE, COLLAPSE);
	}
	if (maps != NULL)
		fclose(maps);
}

/* ---- the module ---- */

/* A program can be stopped and continued thousands of times a second, so its parent is not
 * notified of this.  From here on no signal is delivered either. */
static bool
open_all(void)
{
	const struct sigaction ends_only = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };
	struct err e;
	sigset_t all, child;

	sigfillset(&all);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	/* Uses pread because the zygotes share the file offset. */
	if (pread(ZYGOTE_START, &zygote.start, sizeof zygote.start, 0) !=
		(ssize_t)sizeof zygote.start ||
	    sigaction(SIGCHLD, &ends_only, NULL) < 0 || sigprocmask(SIG_BLOCK, &all, NULL) < 0)
		return false;
	close(ZYGOTE_START);
	zygote.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	zygote.own_pids = host_space(&zygote.start.host, HOST_PID, &e);
	return zygote.children >= 0 && zygote.own_pids >= 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
	       prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

static bool
is_in_place(const char *text)
{
	for (char **at = environ; *at != NULL; at++)
		if (strcmp(*at, text) == 0)
			return true;
	return false;
}

/* The interpreter, whose directory is in PATH; NULL: it is not known. */
static const char *
executable(void)
{
	static char path[4096];
	PyObject *name = PySys_GetObject("executable"); /* borrowed */
	PyObject *bytes = name != NULL ? PyUnicode_EncodeFSDefault(name) : NULL;
	const char *text = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
	bool fits = text != NULL && (size_t)snprintf(path, sizeof path, "%s", text) < sizeof path;

	Py_XDECREF(bytes);
	PyErr_Clear();
	return fits ? path : NULL;
}

/* Returns the environment that a start from the file would have, as a list of strings, or None
 * if it equals the zygote's. */
static PyObject *
surroundings(void)
{
	environment_trust(access(TRUST_ADDED, F_OK) == 0);

	const char *const *all = environment_make(zygote.cpu_milli, executable(), NULL),
			  *const *at = all;
	PyObject *list;

	while (*at != NULL && is_in_place(*at))
		at++;
	if (*at == NULL)
		Py_RETURN_NONE;
	list = PyList_New(0);
	for (; list != NULL && *all != NULL; all++) {
		PyObject *text = PyUnicode_FromString(*all);

		if (text == NULL || PyList_Append(list, text) < 0)
			Py_CLEAR(list);
		Py_XDECREF(text);
	}
	return list;
}

static PyObject *
serve(PyObject *self, PyObject *arguments)
{
	const struct zygote_word ready = { .said = ZYGOTE_READY };
	struct pollfd fds[2];

	(void)self, (void)arguments;
	if (!open_all()) {
		PyErr_SetString(PyExc_OSError, "this process is not a zygote of the builder");
		return NULL;
	}
	end_line();
	gather();
	say(&ready, -1);
	fds[0] = (struct pollfd){ .fd = ZYGOTE_SOCKET, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = zygote.children, .events = POLLIN };
	for (;;) {
		if (poll(fds, COUNT(fds), -1) < 0 && errno != EINTR)
			_exit(1);
		if (fds[1].revents != 0)
			bury();
		if (fds[0].revents != 0 && give_birth())
			return surroundings();
	}
}

/* The executor sends this at once or never. */
static PyObject *
wanted(PyObject *self, PyObject *arguments)
{
	static const uint8_t said[GUEST_HEAD] = { GUEST_WANTED };
	uint8_t head[GUEST_HEAD];

	(void)self, (void)arguments;
	if (recv(GUEST_CONTROL_FD, head, sizeof head, MSG_DONTWAIT | MSG_PEEK) !=
		(ssize_t)sizeof head ||
	    memcmp(head, said, sizeof head) != 0)
		Py_RETURN_FALSE;
	return PyBool_FromLong(recv(GUEST_CONTROL_FD, head, sizeof head, MSG_DONTWAIT) > 0);
}

static PyObject *
calm(PyObject *self, PyObject *ms)
{
	struct pollfd control = { .fd = GUEST_CONTROL_FD, .events = POLLIN };

	(void)self;
	return PyBool_FromLong(poll(&control, 1, (int)PyLong_AsLong(ms)) == 0);
}

static PyObject *
call_hook(PyObject *hook, PyObject *arguments)
{
	(void)arguments;
	if (zygote.forking)
		Py_RETURN_NONE;
	return PyObject_CallObject(hook, NULL);
}

static PyObject *
spared(PyObject *self, PyObject *hook)
{
	static PyMethodDef method = { "spared", call_hook, METH_NOARGS, NULL };

	(void)self;
	return PyCFunction_New(&method, hook);
}

static PyObject *
call_address(PyObject *address, PyObject *argument)
{
	void (*function)(void *) = (void (*)(void *))PyLong_AsVoidPtr(address);

	(void)argument;
	if (function != NULL)
		function(NULL);
	Py_RETURN_NONE;
}

static PyObject *
direct(PyObject *self, PyObject *address)
{
	static PyMethodDef method = { "direct", call_address, METH_O, NULL };

	(void)self;
	return PyCFunction_New(&method, address);
}

static PyMethodDef methods[] = {
	{ "line_up", line_up, METH_NOARGS,
	    "Makes the arenas that the interpreter allocates from now on contiguous." },
	{ "serve", serve, METH_NOARGS,
	    "Forks when the builder orders it; returns in each fork, with its environment if that "
	    "differs." },
	{ "wanted", wanted, METH_NOARGS, "In a fork: true if a caller is already waiting for it." },
	{ "calm", calm, METH_O,
	    "In a fork: true if no input arrives for this number of milliseconds." },
	{ "spared", spared, METH_O,
	    "Wraps a fork hook so that it does nothing when the zygote forks." },
	{ "direct", direct, METH_O, "The C function at this address, which is called with NULL." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	.m_base = PyModuleDef_HEAD_INIT,
	.m_name = "_zygote",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit__zygote(void);

__attribute__((visibility("default"))) PyMODINIT_FUNC
PyInit__zygote(void)
{
	return PyModule_Create(&module);
}
