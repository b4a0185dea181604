/* SPDX-License-Identifier: Apache-2.0 */
/*
 * without.c - a builder for tests alone, that leaves one layer out and says it did not: linked over
 * the real objects (--wrap), so that the builder itself has no such switch.  The layer is named by
 * the file `without` beside this program; mutations.py tells which tests must fail then.
 */
#include "executor/builder/confine/filter.h"
#include "executor/builder/confine/guest_landlock.h"
#include "executor/builder/limits/cgroup.h"
#include "executor/builder/limits/locks.h"
#include "executor/builder/link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static char left_out[32];

int __real_filter_load(const struct filter *, struct err *);
int __wrap_filter_load(const struct filter *, struct err *);
int __real_guest_landlock_enter(bool file_helper, bool sockets, bool *scopes, struct err *);
int __wrap_guest_landlock_enter(bool file_helper, bool sockets, bool *scopes, struct err *);
int __real_cgroup_join(const struct cgroup *, struct err *);
int __wrap_cgroup_join(const struct cgroup *, struct err *);
int __real_cgroup_open_doors(struct cgroup *, bool cloned, struct err *);
int __wrap_cgroup_open_doors(struct cgroup *, bool cloned, struct err *);
int __real_caps_drop_all(struct err *);
int __wrap_caps_drop_all(struct err *);
int __real_setns(int fd, int kind);
int __wrap_setns(int fd, int kind);
int __real_unshare(int flags);
int __wrap_unshare(int flags);
int __real_fsconfig(int fd, unsigned command, const char *key, const void *value, int aux);
int __wrap_fsconfig(int fd, unsigned command, const char *key, const void *value, int aux);
int __real_prlimit(pid_t, int which, const struct rlimit *, struct rlimit *);
int __wrap_prlimit(pid_t, int which, const struct rlimit *, struct rlimit *);
int __real_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *);
int __wrap_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *);
uint64_t __real_loop_after(int64_t ms, void (*fire)(void *self), void *self);
uint64_t __wrap_loop_after(int64_t ms, void (*fire)(void *self), void *self);
void __real_locks_look(const struct host *);
void __wrap_locks_look(const struct host *);
int __real_link_pair(int box, int far, struct err *);
int __wrap_link_pair(int box, int far, struct err *);
int __real_close_range(unsigned first, unsigned last, int flags);
int __wrap_close_range(unsigned first, unsigned last, int flags);

/* Before main(), while the host's files are there. */
__attribute__((constructor)) static void
read_name(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	path[n < 0 ? 0 : n] = '\0';
	char *last = strrchr(path, '/');

	if (last == NULL || (size_t)(last - path) + sizeof "/without" > sizeof path)
		abort();
	strcpy(last, "/without");
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, left_out, sizeof left_out - 1) < 0)
		abort();
	close(fd);
}

static bool
without(const char *layer)
{
	return strcmp(left_out, layer) == 0;
}

int
__wrap_filter_load(const struct filter *f, struct err *e)
{
	static const struct filter open = { { { 6, 0, 0, SECCOMP_RET_ALLOW } }, 1 };
	bool lies = without("seccomp") || without("seccomp program");

	return __real_filter_load(lies ? &open : f, e);
}

/* What is asked to see whether one is in force. */
int
__wrap_setns(int fd, int kind)
{
	if (!without("seccomp") || fd >= 0)
		return __real_setns(fd, kind);
	errno = EPERM;
	return -1;
}

int
__wrap_guest_landlock_enter(bool file_helper, bool sockets, bool *scopes, struct err *e)
{
	*scopes = true;
	return without("landlock") ? 0
	                           : __real_guest_landlock_enter(file_helper, sockets, scopes, e);
}

/* A kernel that lacks it. */
int
__wrap_link_pair(int box, int far, struct err *e)
{
	if (!without("veth"))
		return __real_link_pair(box, far, e);
	errno = EOPNOTSUPP;
	return err_sys(e, "make a link to egress");
}

int
__wrap_cgroup_join(const struct cgroup *group, struct err *e)
{
	return without("cgroup") ? 0 : __real_cgroup_join(group, e);
}

/* Nor is it cloned into version 2's. */
int
__wrap_cgroup_open_doors(struct cgroup *group, bool cloned, struct err *e)
{
	int r = __real_cgroup_open_doors(group, cloned, e);

	if (without("cgroup") && group->into >= 0) {
		close(group->into);
		group->into = -1;
	}
	return r;
}

int
__wrap_caps_drop_all(struct err *e)
{
	return without("capabilities") ? 0 : __real_caps_drop_all(e);
}

int
__wrap_unshare(int flags)
{
	return without("user namespace") && flags == CLONE_NEWUSER ? -1 : __real_unshare(flags);
}

/* The options of /proc. */
int
__wrap_fsconfig(int fd, unsigned command, const char *key, const void *value, int aux)
{
	bool hides = key != NULL && (strcmp(key, "subset") == 0 || strcmp(key, "hidepid") == 0);

	return without("private proc") && hides ? 0 : __real_fsconfig(fd, command, key, value, aux);
}

int
__wrap_prlimit(pid_t pid, int which, const struct rlimit *new, struct rlimit *old)
{
	return without("rlimits") ? 0 : __real_prlimit(pid, which, new, old);
}

int
__wrap_close_range(unsigned first, unsigned last, int flags)
{
	return without("descriptors") ? 0 : __real_close_range(first, last, flags);
}

/* A user may watch only so much: here nothing but what the first calls are about, and then of seven
 * each two. */
int
__wrap_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	static unsigned calls;

	if (!without("watches") || operation != EPOLL_CTL_ADD || ++calls < 4 || calls % 7 > 1)
		return __real_epoll_ctl(epoll, operation, fd, event);
	errno = ENOSPC;
	return -1;
}

/* Its time is over the sooner. */
uint64_t
__wrap_loop_after(int64_t ms, void (*fire)(void *self), void *self)
{
	return __real_loop_after(without("patience") ? ms / 20 : ms, fire, self);
}

void
__wrap_locks_look(const struct host *host)
{
	if (!without("look at locks"))
		__real_locks_look(host);
}
