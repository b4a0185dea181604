/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c - kills boxes that exceed their limit of memory without files (cgroup.h), of file locks
 * (locks.h) or of processor time.
 */
#include "executor/builder/limits/guard.h"

#include "common/base/loop.h"
#include "executor/builder/limits/locks.h"
#include "executor/builder/processes.h"

enum {
	CENSUS_MS = 50,
	GUARD_MS = 10, /* interval between two samples of boxes */
};

static struct {
	const struct host *host;
	uint64_t timer;
	int64_t due_ms, last_ms; /* times of the next sample and the previous one */
} guard;

/* If no cgroup counts the memory, the processes are counted.  This costs more and is done less
 * often. */
static bool
holds_too_much(struct box *box)
{
	if (cgroup_limits_by() != LIMITS_RLIMIT)
		return cgroup_is_over(&box->process.group);
	return box_sample_memory(box) > box->process.order.memory_bytes;
}

static uint64_t
used_us(struct box *box)
{
	struct cgroup_use use;

	if (cgroup_limits_by() == LIMITS_RLIMIT)
		return box_sample_cpu_us(box);
	cgroup_read(&box->process.group, &use);
	return use.cpu_us;
}

static void
look_at(struct box *box)
{
	struct use *use = &box->process.use;

	use->over = holds_too_much(box);
	use->late = box->last_us != 0 && used_us(box) > box->last_us;
	if (use->over || use->late)
		process_kill(&box->process);
}

static int64_t
between_looks(void)
{
	return cgroup_limits_by() == LIMITS_RLIMIT ? CENSUS_MS : GUARD_MS;
}

static void look_at_all(void *self);

/* Never moves the sample to a later time: otherwise no sample would be taken while code starts
 * to run continuously. */
static void
look_by(int64_t due_ms)
{
	if (guard.timer != 0 && guard.due_ms <= due_ms)
		return;
	loop_unset(guard.timer);
	guard.due_ms = due_ms;
	guard.timer = loop_after(due_ms - loop_now_ms(), look_at_all, NULL);
}

/* Samples all boxes in which code has run, and less often if no code is known to run now. */
static void
look_at_all(void *self)
{
	int64_t pause = between_looks() * 10;
	struct process *p;
	size_t boxes = 0;

	(void)self;
	guard.timer = 0;
	for (uint32_t id = 0; (p = processes_next(&id)) != NULL;) {
		struct box *box = box_of(p);

		if (box == NULL || !box->used)
			continue;
		boxes++;
		if (box->timer != 0)
			pause = between_looks();
		if (!p->use.over && !p->use.late)
			look_at(box);
	}
	guard.last_ms = loop_now_ms();
	if (boxes == 0)
		return;
	locks_look(guard.host);
	look_by(guard.last_ms + pause);
}

void
guard_begin(const struct host *host, struct box *box, uint64_t cpu_ms)
{
	int64_t soon = loop_now_ms() + GUARD_MS, next = guard.last_ms + between_looks();

	guard.host = host;
	box->last_us = cpu_ms != 0 ? used_us(box) + cpu_ms * 1000 : 0;
	look_by(soon > next ? soon : next);
}
