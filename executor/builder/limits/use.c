/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use.c - what the cgroup has counted, or else the sum of samples.  Trusts the kernel's counts.
 * Without a cgroup they are as old as the last sample.
 */
#include "executor/builder/limits/use.h"

#include <unistd.h>

void
use_add(struct use *use, const struct rusage *usage)
{
	uint64_t held = (uint64_t)usage->ru_maxrss * 1024;

	use->used_us += (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
	                (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
	if (use->held < held)
		use->held = held;
}

static struct cgroup_use
counted(const struct use *use, const struct cgroup *group)
{
	struct cgroup_use count = { 0 };

	if (group != NULL)
		cgroup_read(group, &count);
	if (cgroup_limits_by() == LIMITS_RLIMIT) {
		count.cpu_us = use->used_us > use->spent_us ? use->used_us : use->spent_us;
		count.max_memory_bytes = use->held;
	}
	return count;
}

static void
fill(struct answer *answer, const struct use *use, const struct cgroup_use *count)
{
	answer->out_of_memory = count->out_of_memory || use->over;
	answer->locks = use->locks;
	answer->out_of_cpu = use->late;
	answer->too_many_processes = count->refused > use->told_refused;
	answer->max_memory_bytes = count->max_memory_bytes;
	answer->cpu_us = count->cpu_us > use->told_us ? count->cpu_us - use->told_us : 0;
}

void
use_note(const struct use *use, const struct cgroup *group, struct answer *answer)
{
	const struct cgroup_use count = counted(use, group);

	fill(answer, use, &count);
}

/* Resets the memory peak.  Both versions accept this; in version 2, where kernels before 6.12
 * cannot do it, it applies to this descriptor only. */
static void
forget_peak(const struct cgroup *g)
{
	if (g->use[CGROUP_PEAK] >= 0 && write(g->use[CGROUP_PEAK], "0", 1) < 0)
		return; /* the peak remains that of the box's whole life, as usage.max_memory_bytes
		           documents */
}

void
use_take(struct use *use, const struct cgroup *group, struct answer *answer)
{
	const struct cgroup_use count = counted(use, group);

	fill(answer, use, &count);
	use->told_us = count.cpu_us;
	use->told_refused = count.refused;
	use->held = 0;
	if (group != NULL)
		forget_peak(group);
}
