/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use.c - resource usage of a box, for answers about the end of a run.
 *
 * A session's box runs many statements.  Each is charged with the usage since the previous one, so
 * the work of a thread between two statements is charged to the next.  Trusts the kernel's counts.
 * Without a cgroup they are as old as the last sample.
 */
#include "executor/builder/life.h"

#include "executor/builder/lives.h"

void
use_add(struct life *box, const struct rusage *usage)
{
	uint64_t held = (uint64_t)usage->ru_maxrss * 1024;

	box->used_us += (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
	                (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
	if (box->held < held)
		box->held = held;
}

void
use_offer(struct life *box)
{
	int fds[CGROUP_USES];
	size_t n = 0;

	for (int i = 0; i < CGROUP_USES && box->has_group && box->order.kind == ORDER_BOX; i++)
		if (box->group.use[i] >= 0) {
			box->answer.uses |= 1u << i;
			fds[n++] = box->group.use[i];
		}
	lives_answer(&box->answer, fds, n);
	box->answer.uses = 0;
}

static struct cgroup_use
use_of(const struct life *life)
{
	struct cgroup_use use = { 0 };

	if (life->has_group)
		cgroup_read(&life->group, &use);
	if (cgroup_limits_by() == LIMITS_RLIMIT && life->order.kind == ORDER_BOX) {
		use.cpu_us = life->used_us > life->spent_us ? life->used_us : life->spent_us;
		use.max_memory_bytes = life->held;
	}
	return use;
}

static void
fill(struct answer *answer, const struct life *life, const struct cgroup_use *use)
{
	answer->out_of_memory = use->out_of_memory || life->over;
	answer->locks = life->locks;
	answer->out_of_cpu = life->late;
	answer->too_many_processes = use->refused > life->told_refused;
	answer->max_memory_bytes = use->max_memory_bytes;
	answer->cpu_us = use->cpu_us > life->told_us ? use->cpu_us - life->told_us : 0;
}

void
use_note(const struct life *life, struct answer *answer)
{
	const struct cgroup_use use = use_of(life);

	fill(answer, life, &use);
}

void
use_tell(struct life *box)
{
	struct answer answer = { .kind = ANSWER_USED, .id = box->order.id };

	guard_count(box);

	const struct cgroup_use use = use_of(box);

	fill(&answer, box, &use);
	lives_answer(&answer, NULL, 0);
	box->told_us = use.cpu_us;
	box->told_refused = use.refused;
	box->held = 0;
	if (box->has_group)
		cgroup_forget_peak(&box->group);
}
