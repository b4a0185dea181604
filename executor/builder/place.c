/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - the first process of a box, or a file helper: from an order to a clone in new
 * namespaces.
 *
 * Trusts the workspace that the order names.  Only a file helper gets a descriptor from the order.
 */
#include "executor/builder/life.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/launch/init.h"
#include "executor/builder/nets.h"
#include "executor/builder/oci/launcher.h"
#include "executor/builder/workspace_table.h"
#include "executor/guest/protocol.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum {
	TMP_FILES = 65536,
};

static struct {
	const struct host *host;
	struct filter file_helper;
} place;

int
place_open(const struct host *host, struct err *e)
{
	place.host = host;
	return nets_open(host, e) < 0 || filter_make(&place.file_helper, FILTER_FILE_HELPER, e) < 0
	           ? -1
	           : 0;
}

/* Returns twice, like fork. */
static pid_t
clone_life(const struct life *life, int *pidfd)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
	};

	if (life->group.into >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)life->group.into;
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
parts_close(struct parts *p)
{
	int *fds[] = { &p->confine.workspace, &p->confine.tmp, &p->report[0], &p->report[1] };

	for (size_t i = 0; i < COUNT(fds); i++)
		if (*fds[i] >= 0)
			close(take_fd(fds[i]));
}

static int
prepare_box(struct life *life, struct parts *p, struct err *e)
{
	const struct order *o = &life->order;

	life->net = p->confine.spaces[HOST_NET] = nets_take(e);
	if (life->net < 0)
		return -1;
	p->confine.tmp =
	    workspace_table_tmpfs(o->tmp_bytes, TMP_FILES, host_uid(place.host, o->workspace), e);
	return p->confine.tmp < 0 ? -1 : 0;
}

static int
prepare(struct life *life, struct parts *p, struct err *e)
{
	const struct order *o = &life->order;
	struct order room = *o;
	uint64_t bytes;

	if (o->kind == ORDER_FILE_HELPER)
		room = (struct order){ .memory_bytes = o->memory_bytes };
	if (o->container != 0 && launcher_check(place.host, o->container, e) < 0)
		return -1;
	launcher_make_room(&room);
	p->confine.workspace = workspace_table_lend(o->workspace, &bytes, e);
	if (p->confine.workspace < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, p->report) < 0)
		return err_sys(e, "socketpair");
	p->confine.report = p->report[1];
	if (o->kind == ORDER_BOX && prepare_box(life, p, e) < 0)
		return -1;
	/* A file helper has a cgroup too: files are charged to the process that writes them, and
	 * all workspaces together have a limit. */
	if (cgroup_make(&life->group, &room, bytes, e) < 0)
		return -1;
	life->has_group = true;
	p->confine.group = &life->group;
	return cgroup_open_doors(&life->group, true, e);
}

static void
become(const struct confine *confine)
{
	confine_enter(confine);
	if (confine->kind == CONFINE_PLACE)
		init_run();
	_exit(file_helper_main(GUEST_CONTROL_FD));
}

int
place_start(struct life *life, const int *fds, size_t nfds, struct err *e)
{
	bool file_helper = life->order.kind == ORDER_FILE_HELPER;
	__attribute__((cleanup(parts_close))) struct parts p = {
		.confine = { .kind = file_helper ? CONFINE_FILE_HELPER : CONFINE_PLACE,
		    .host = place.host,
		    .order = &life->order,
		    .filter = file_helper ? &place.file_helper : NULL,
		    .spaces = { -1, -1, -1, -1, -1, -1, -1 },
		    .workspace = -1,
		    .tmp = -1,
		    .due = program_due() },
		.report = { -1, -1 },
	};
	int64_t began = loop_now_us(), prepared;

	for (size_t i = 0; i < nfds; i++)
		p.confine.fds[i] = fds[i];
	if (prepare(life, &p, e) < 0)
		return err_add(e, "%s", step_name(STEP_prepare));
	prepared = loop_now_us();
	life->pid = clone_life(life, &life->pidfd);
	if (life->pid < 0)
		return err_sys(e, "%s", step_name(STEP_clone));
	if (life->pid == 0)
		become(&p.confine);
	life->answer.step_us[STEP_prepare] = (uint32_t)(prepared - began);
	life->answer.step_us[STEP_clone] = (uint32_t)(loop_now_us() - prepared);
	life->report = take_fd(&p.report[0]);
	life->tmp = take_fd(&p.confine.tmp);
	cgroup_settle(&life->group);
	return 0;
}
