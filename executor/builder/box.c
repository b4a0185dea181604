/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.c - boxes: from an order to the end of the last process in it.
 *
 * Theory of operation.  A box is made in one step (spawn.c): cgroups, a socket for the reports of
 * its first process, clone3.  Programs wait until it has reported its layers and are started then.
 * When the first process has ended, all others have, too.  The box ends after its programs, whose
 * statuses may not be known yet.
 *
 * Trusts the order's numbers, which order_check() passed.
 */
#include "executor/builder/box.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/answer.h"
#include "executor/builder/image.h"
#include "executor/builder/launch/init.h"
#include "executor/builder/limits/census.h"
#include "executor/builder/limits/release.h"
#include "executor/builder/listen.h"
#include "executor/builder/nets.h"
#include "executor/builder/oci/launcher.h"
#include "executor/builder/processes.h"
#include "executor/builder/spawn.h"
#include "executor/builder/workspace_table.h"

enum {
	GRACE_MS = 5000, /* time that the executor's clock has before this one ends a box */
	SOON_MS = 300,   /* more than the grace of a run in sandbox/program_grace.c */
	TMP_FILES = 65536,
	MAX_COUNTED = 64, /* first processes in a box that are counted */
};

static const struct host *host;

void
box_open(const struct host *h)
{
	host = h;
}

struct box *
box_of(struct process *p)
{
	return p != NULL && p->kind == &box_kind ? (struct box *)p : NULL;
}

/* ---- the end ---- */

static void
close_all(struct process *p)
{
	struct box *box = box_of(p);

	for (int n = 0; n < HOST_NAMESPACES; n++)
		if (box->spaces[n] >= 0 && n != HOST_NET && n != HOST_MNT)
			close(box->spaces[n]);
	release_close((int[]){ box->tmp, box->spaces[HOST_MNT] }, 2);
	listen_end(box->net, box->far);
	loop_unset(box->timer);
}

static void
fail_waiting(struct box *box)
{
	struct err e = box->process.answer.error;
	struct process *next;

	if (e.code == ERR_none)
		err_set(&e, ERR_unavailable, "the box ended before the program was started");
	for (struct process *p = take_ptr(box->waiting); p != NULL; p = next) {
		next = take_ptr(p->next);
		process_fail(p, &e);
	}
}

static void
ended(struct process *p)
{
	struct box *box = box_of(p);

	process_forget(p);
	loop_unset(box->timer);
	box->timer = 0;
	process_reap(p);
	mounts_forget(&box->mounts);
	fail_waiting(box);
	process_bury(p);
}

static void
kill_late(void *self)
{
	struct box *box = self;

	process_kill(&box->process);
}

void
box_end_soon(struct box *box)
{
	if (box->process.dead)
		return;
	loop_unset(box->timer);
	box->timer = loop_after(SOON_MS, kill_late, box);
}

/* ---- usage ---- */

/* The first process, and all that were started in the box from outside. */
static size_t
first_processes(struct box *box, pid_t pids[MAX_COUNTED])
{
	struct process *p;
	size_t n = 1;

	pids[0] = box->process.pid;
	for (uint32_t id = 0; n < MAX_COUNTED && (p = processes_next(&id)) != NULL;)
		if (p->box == &box->process && p->pid > 0)
			pids[n++] = p->pid;
	return n;
}

/* Its processes now, and the processor time of these and of those that ended. */
static struct census
box_sample(struct box *box)
{
	pid_t pids[MAX_COUNTED];
	struct census census = { 0 };

	if (!host->own_proc)
		return census;
	census = census_take(host->proc, pids, first_processes(box, pids));
	census.cpu_us += box->process.use.used_us;
	return census;
}

uint64_t
box_sample_memory(struct box *box)
{
	pid_t pids[MAX_COUNTED];
	uint64_t held;

	if (!host->own_proc)
		return 0;
	held = census_memory(
	    host->proc, pids, first_processes(box, pids), box->process.order.memory_bytes);
	if (box->process.use.held < held)
		box->process.use.held = held;
	return held;
}

uint64_t
box_sample_cpu_us(struct box *box)
{
	return box_sample(box).cpu_us;
}

/* Samples where no cgroup counts; returns the number of processes, 0: unknown. */
static uint32_t
sample_all(struct box *box)
{
	struct census census;

	if (cgroup_limits_by() != LIMITS_RLIMIT || !box->used || box->process.dead)
		return 0;
	box_sample_memory(box);
	census = box_sample(box);
	box->process.use.spent_us = census.cpu_us;
	return census.processes;
}

static void
sample(struct process *p)
{
	sample_all(box_of(p));
}

void
box_tell_count(struct box *box)
{
	struct process *p = &box->process;
	struct answer answer = { .kind = ANSWER_COUNTED, .id = p->order.id };

	answer.processes = sample_all(box);
	if (cgroup_limits_by() != LIMITS_RLIMIT)
		cgroup_count(&p->group, &answer.processes, &answer.threads);
	use_note(&p->use, process_group(p), &answer);
	answer_send(&answer, NULL, 0);
}

static void
tell_used(struct process *p)
{
	struct answer answer = { .kind = ANSWER_USED, .id = p->order.id };

	sample(p);
	use_take(&p->use, process_group(p), &answer);
	answer_send(&answer, NULL, 0);
}

void
box_set_clock(struct box *box, uint64_t wall_ms)
{
	loop_unset(box->timer);
	box->timer = 0;
	if (wall_ms == 0) {
		tell_used(&box->process);
		return;
	}
	box->timer = loop_after((int64_t)wall_ms + GRACE_MS, kill_late, box);
	box->used = true;
}

/* ---- the beginning ---- */

static void
take_namespaces(struct process *p, uint32_t which, const int *fds, size_t nfds)
{
	struct box *box = box_of(p);
	size_t i = 0;

	for (int n = 0; n < HOST_NAMESPACES && i < nfds; n++)
		if ((which & 1u << n) != 0)
			box->spaces[n] = fds[i++];
	box->spaces[HOST_NET] = box->net;
}

/* Sends STARTED with descriptors of its counters. */
static void
tell_started(struct process *p)
{
	int fds[CGROUP_USES];
	size_t n = 0;

	for (int i = 0; i < CGROUP_USES && p->has_group; i++)
		if (p->group.use[i] >= 0) {
			p->answer.uses |= 1u << i;
			fds[n++] = p->group.use[i];
		}
	answer_send(&p->answer, fds, n);
	p->answer.uses = 0;
}

static void
started(struct process *p)
{
	struct box *box = box_of(p);
	struct process *next;

	if (image_mount(p->order.environment, box->spaces[HOST_MNT], &p->answer.error) < 0) {
		p->answer.kind = ANSWER_ENDED; /* never started */
		process_kill(p);
		return;
	}
	tell_started(p);
	mounts_settle(&box->mounts, box->spaces[HOST_MNT]);
	for (struct process *program = take_ptr(box->waiting); program != NULL; program = next) {
		next = take_ptr(program->next);
		program->kind->begin(program);
	}
}

bool
box_join(struct box *box, struct process *program)
{
	program->box = &box->process;
	process_add(program);
	if (box->process.answer.kind == ANSWER_STARTED)
		return true;
	program->next = box->waiting;
	box->waiting = program;
	return false;
}

struct box *
box_new(const struct order *order, struct err *e)
{
	struct box *box = (struct box *)process_new(&box_kind, order, e);

	if (box == NULL)
		return NULL;
	box->net = box->far = box->tmp = -1;
	box->mounts.owner = host_uid(host, order->workspace);
	box->mounts.base_bytes = order->memory_bytes / 2;
	for (int n = 0; n < HOST_NAMESPACES; n++)
		box->spaces[n] = -1;
	return box;
}

static int
prepare(struct box *box, struct spawn *spawn, struct err *e)
{
	const struct order *o = &box->process.order;

	if (o->container != 0 && launcher_check(host, o->container, e) < 0)
		return -1;
	launcher_make_room(&spawn->room);
	box->net = spawn->net = nets_take(e);
	if (box->net < 0)
		return -1;
	box->tmp = spawn->tmp =
	    workspace_table_tmpfs(o->tmp_bytes, TMP_FILES, host_uid(host, o->workspace), e);
	return box->tmp < 0 ? -1 : 0;
}

int
box_start(struct box *box, struct err *e)
{
	struct spawn spawn = {
		.kind = CONFINE_BOX,
		.host = host,
		.room = box->process.order,
		.began_us = loop_now_us(),
		.run = init_run,
	};

	if (prepare(box, &spawn, e) < 0)
		return err_add(e, "%s", step_name(STEP_prepare));
	return spawn_pid1(&box->process, &spawn, e);
}

int
box_order(const struct order *order, struct err *e)
{
	struct box *box = box_new(order, e);

	if (box == NULL)
		return -1;
	if (box_start(box, e) < 0) {
		process_discard(&box->process);
		return -1;
	}
	process_add(&box->process);
	process_watch(&box->process);
	return 0;
}

const struct process_kind box_kind = {
	.size = sizeof(struct box),
	.filters = 0, /* its pid 1 keeps the builder's */
	.tells_kill = true,
	.take_namespaces = take_namespaces,
	.started = started,
	.ended = ended,
	.sample = sample,
	.close = close_all,
};
