/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box.c - the executor's side of a box, which is a builder request.
 *
 * The end of a box is reported after the ends of its programs.  The reply to a run need not wait
 * for that: when the builder has sent SIGKILL to all processes of a box, no more data comes from
 * it.  Trusts the builder.
 */
#include "executor/sandbox/box.h"
#include "executor/sandbox/place.h"
#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/containers.h"

enum {
	OURS = 1,      /* the processes of a box that are ours: its init */
	LINGER_MS = 1, /* time for the reply to be sent, which the death of a box would delay */
};

/* A runtime that does not detach passes on the output of its container. */
static const bool holds_output[CONTAINER_COUNT] = {
#define CONTAINER(name, control, detached, ...) [CONTAINER_##name] = !(detached),
#include "executor/builder/containers.def"
};

static void
on_started(void *self, const struct answer *answer, int *fds, size_t nfds)
{
	struct box *box = self;
	size_t n = 0;

	for (int i = 0; i < CGROUP_USES; i++)
		if ((answer->uses & 1u << i) != 0 && n < nfds)
			box->use[i] = take_fd(&fds[n++]);
}

bool
box_is_counted(const struct box *box)
{
	return box->use[CGROUP_PROCESSES] >= 0;
}

/* The number of processes and threads in the box; 0: it cannot be read. */
static uint64_t
count(struct box *box)
{
	struct cgroup_use use;

	if (!box_is_counted(box))
		return 0;
	cgroup_use_read(box->use, &use);
	box->past.too_many_processes = use.refused > box->told_refused;
	box->past.max_memory_bytes = use.max_memory_bytes;
	box->past.cpu_us = use.cpu_us > box->told_us ? use.cpu_us - box->told_us : 0;
	box->read_us = use.cpu_us;
	box->read_refused = use.refused;
	box->read_tasks = use.processes;
	return use.processes;
}

void
box_mark(struct box *box)
{
	box->told_us = box->read_us;
	box->told_refused = box->read_refused;
	if (box->past.processes > 0)
		box->told_processes = box->past.processes;
	else if (box->read_tasks < box->told_tasks)
		/* Processes have ended, or threads.  The wait for one that is no news is short. */
		box->told_processes = OURS + 1;
	/* The cgroup's own count has processes that nobody has waited for, and these will go. */
	box->told_tasks = box->past.threads > 0 ? box->past.threads : box->read_tasks;
	box->past.processes = box->past.threads = 0;
}

void
box_mark_start(struct box *box)
{
	box->told_processes = (box->told_processes > 0 ? box->told_processes : OURS) + 1;
}

bool
box_may_have_grown(const struct box *box)
{
	return box->read_tasks > box->told_tasks;
}

bool
box_grew(const struct box *box)
{
	return box->past.processes > box->told_processes;
}

bool
box_count(struct box *box)
{
	return count(box) > 0;
}

bool
box_is_deserted(struct box *box)
{
	uint64_t processes = count(box);

	box->deserted = processes > 0 && processes <= OURS + 1;
	return box->deserted;
}

/* The callback may free its program, but no other one. */
static void
tell_programs(struct box *box, const struct answer *answer, void (*tell)(struct program *))
{
	box->past = *answer;
	box->telling = true;
	for (struct program *p = box->programs, *next; p != NULL; p = next) {
		next = program_next(p);
		tell(p);
	}
	box->telling = false;
	box_settle(box);
}

static void
on_used(void *self, const struct answer *answer)
{
	struct box *box = self;

	if (!box->told)
		tell_programs(box, answer, program_box_used);
}

static void
on_killed(void *self, const struct answer *answer)
{
	struct box *box = self;

	box->told = true;
	tell_programs(box, answer, program_box_told);
}

static void
on_ended(void *self, const struct answer *answer)
{
	struct box *box = self;

	box->builder_request = NULL;
	box->told = true;
	loop_unset(box->timer);
	box->timer = 0;
	tell_programs(box, answer, program_box_told);
}

void
box_settle(struct box *box)
{
	if (box->builder_request != NULL || box->programs != NULL || box->telling)
		return;
	box->ended(box->self, &box->past.error);
	for (int i = 0; i < CGROUP_USES; i++)
		if (box->use[i] >= 0)
			close(box->use[i]);
	free(box);
}

static void
kill_now(void *self)
{
	struct box *box = self;

	box->timer = 0;
	builder_request_kill(box->builder_request);
}

void
box_kill(struct box *box)
{
	if (box->killed || box->builder_request == NULL)
		return;
	box->killed = true;
	for (struct program *p = box->programs; p != NULL; p = program_next(p))
		program_box_killed(p);
	if (box->deserted)
		box->timer = loop_after(LINGER_MS, kill_now, box);
	else
		builder_request_kill(box->builder_request);
}

bool
box_is_ending(const struct box *box)
{
	return box->killed || box->builder_request == NULL;
}

struct box *
box_make(const struct box_limits *limits, const struct workspace *workspace,
    void (*ended)(void *self, const struct err *e), void *self, struct err *e)
{
	static const struct builder_request_events events = {
		.started = on_started,
		.used = on_used,
		.killed = on_killed,
		.ended = on_ended,
	};
	struct box *box = calloc(1, sizeof *box);
	struct order order = {
		.kind = ORDER_BOX,
		.workspace = workspace_id(workspace),
		.memory_bytes = limits->memory_bytes,
		.tmp_bytes = limits->tmp_bytes,
		.cpu_milli = limits->cpu_milli,
		.processes = limits->processes,
		.open_files = limits->open_files,
		.container = (uint32_t)limits->container,
		.environment = (uint32_t)limits->environment,
	};

	if (box == NULL) {
		err_sys(e, "box");
		return NULL;
	}
	*box = (struct box){
		.ended = ended,
		.self = self,
		.holds_output =
		    limits->container < COUNT(holds_output) && holds_output[limits->container],
	};
	for (int i = 0; i < CGROUP_USES; i++)
		box->use[i] = -1;
	box->builder_request = builder_request_start(&order, NULL, 0, &events, box, e);
	if (box->builder_request == NULL) {
		free(box);
		return NULL;
	}
	return box;
}
