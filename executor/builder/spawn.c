/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.c - from an order to a clone in new namespaces, with a cgroup of its own.
 *
 * Trusts the workspace that the order names.
 */
#include "executor/builder/spawn.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/workspace_table.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Returns twice, like fork. */
static pid_t
clone_pid1(const struct process *p, int *pidfd)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
	};

	if (p->group.into >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)p->group.into;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* Descriptors opened here for the new process.  They are closed in this process once the new one
 * has them. */
struct parts {
	struct confine confine;
	int report[2];
};

static void
parts_close(struct parts *parts)
{
	int *fds[] = { &parts->confine.workspace, &parts->report[0], &parts->report[1] };

	for (size_t i = 0; i < COUNT(fds); i++)
		if (*fds[i] >= 0)
			close(take_fd(fds[i]));
}

static int
prepare(struct process *p, const struct spawn *spawn, struct parts *parts, struct err *e)
{
	uint64_t bytes;

	parts->confine.workspace = workspace_table_lend(p->order.workspace, &bytes, e);
	if (parts->confine.workspace < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, parts->report) <
	    0)
		return err_sys(e, "socketpair");
	parts->confine.report = parts->report[1];
	/* A file helper has a cgroup too: files are charged to the process that writes them, and
	 * all workspaces together have a limit. */
	if (cgroup_make(&p->group, &spawn->room, bytes, e) < 0)
		return -1;
	p->has_group = true;
	parts->confine.group = &p->group;
	return cgroup_open_doors(&p->group, true, e);
}

static struct parts
parts_of(const struct process *p, const struct spawn *spawn)
{
	struct parts parts = {
		.confine = { .kind = spawn->kind,
		    .host = spawn->host,
		    .order = &p->order,
		    .filter = spawn->filter,
		    .spaces = { -1, -1, -1, -1, -1, -1, -1 },
		    .workspace = -1,
		    .tmp = spawn->tmp,
		    .due = spawn->host->due },
		.report = { -1, -1 },
	};

	parts.confine.spaces[HOST_NET] = spawn->net;
	for (size_t i = 0; i < spawn->nfds; i++)
		parts.confine.fds[i] = spawn->fds[i];
	return parts;
}

int
spawn_pid1(struct process *p, const struct spawn *spawn, struct err *e)
{
	__attribute__((cleanup(parts_close))) struct parts parts = parts_of(p, spawn);
	int64_t prepared;

	if (prepare(p, spawn, &parts, e) < 0)
		return err_add(e, "%s", step_name(STEP_prepare));
	prepared = loop_now_us();
	p->pid = clone_pid1(p, &p->pidfd);
	if (p->pid < 0)
		return err_sys(e, "%s", step_name(STEP_clone));
	if (p->pid == 0) {
		confine_enter(&parts.confine);
		spawn->run();
		_exit(1);
	}
	p->answer.step_us[STEP_prepare] = (uint32_t)(prepared - spawn->began_us);
	p->answer.step_us[STEP_clone] = (uint32_t)(loop_now_us() - prepared);
	p->report = take_fd(&parts.report[0]);
	cgroup_settle(&p->group);
	return 0;
}
