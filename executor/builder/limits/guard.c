/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c - kills boxes that exceed their limit of memory without files (cgroup.h), of file locks
 * (locks.h) or of processor time.
 */
#include "executor/builder/limits/locks.h"

#include "common/base/loop.h"

enum {
	CENSUS_MS = 50,
	GUARD_MS = 10, /* interval between two samples of boxes */
};

static struct {
	const struct host *host;
	uint64_t timer;
	int64_t due_ms, last_ms; /* times of the next sample and the previous one */
} guard;

static bool
counts_processes(void)
{
	return cgroup_limits_by() == LIMITS_RLIMIT && guard.host != NULL && guard.host->own_proc;
}

static uint64_t
count_memory(struct life *life)
{
	uint64_t held = program_memory(life, life->order.memory_bytes);

	if (life->held < held)
		life->held = held;
	return held;
}

/* If no cgroup counts the memory, the processes are counted.  This costs more and is done less
 * often. */
static bool
holds_too_much(struct life *life)
{
	if (cgroup_limits_by() != LIMITS_RLIMIT)
		return cgroup_is_over(&life->group);
	return counts_processes() && count_memory(life) > life->order.memory_bytes;
}

static uint64_t
used_us(const struct life *life)
{
	struct cgroup_use use;

	if (cgroup_limits_by() == LIMITS_RLIMIT)
		return counts_processes() ? program_cpu_us(life) : 0;
	cgroup_read(&life->group, &use);
	return use.cpu_us;
}

static void
look_at(struct life *life)
{
	life->over = holds_too_much(life);
	life->late = life->last_us != 0 && used_us(life) > life->last_us;
	if (life->over || life->late)
		life_kill(life);
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
	size_t boxes = 0;

	(void)self;
	guard.timer = 0;
	for (uint32_t i = 1; i <= ORDER_MAX_LIVING; i++) {
		struct life *life = life_of(i);

		if (life == NULL || !life->used)
			continue;
		boxes++;
		if (life->timer != 0)
			pause = between_looks();
		if (!life->over && !life->late)
			look_at(life);
	}
	guard.last_ms = loop_now_ms();
	if (boxes == 0)
		return;
	locks_look(guard.host);
	look_by(guard.last_ms + pause);
}

void
guard_count(struct life *life)
{
	if (!counts_processes() || !life->used || life->dead)
		return;
	count_memory(life);
	life->spent_us = program_cpu_us(life);
}

void
guard_begin(const struct host *host, struct life *box, uint64_t cpu_ms)
{
	int64_t soon = loop_now_ms() + GUARD_MS, next = guard.last_ms + between_looks();

	guard.host = host;
	box->last_us = cpu_ms != 0 ? used_us(box) + cpu_ms * 1000 : 0;
	look_by(soon > next ? soon : next);
}
