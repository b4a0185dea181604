/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_v1.c - version 1: a hierarchy for each controller, of which memory and pids must exist.
 *
 * Trusts the host's files.  If version 1 does not count processor time, an empty version 2
 * hierarchy beside it is used for that.
 */
#include "common/base/auto.h"
#include "executor/builder/limits/cgroup_find.h"
#include "executor/builder/limits/cgroup_knob.h"
#include "executor/builder/limits/cgroup_ops.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#define TCP_LIMIT "memory.kmem.tcp.limit_in_bytes"

/* Roots in addition to CGROUP_UNIFIED. */
enum {
	MEMORY = CGROUP_UNIFIED + 1,
	PIDS,
	CPU,
	CPUACCT,
	HUGETLB,
};

static const char *const controllers[CGROUP_ROOTS] = {
	[MEMORY] = "memory",
	[PIDS] = "pids",
	[CPU] = "cpu",
	[CPUACCT] = "cpuacct",
	[HUGETLB] = "hugetlb",
};

static bool
open_root(struct cgroup_roots *roots, unsigned root)
{
	char path[CGROUP_PATH];
	int length;

	if (cgroup_find(controllers[root], path, &length) < 0)
		return false;
	auto_fd int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return directory >= 0 && cgroup_roots_add(roots, root, &directory) == 0;
}

static bool
open_all(struct cgroup_roots *roots)
{
	if (!open_root(roots, MEMORY) || !open_root(roots, PIDS)) {
		cgroup_roots_remove(roots, MEMORY);
		return false;
	}
	roots->cpu = open_root(roots, CPU);
	if (!open_root(roots, CPUACCT))
		open_root(roots, CGROUP_UNIFIED);
	open_root(roots, HUGETLB);
	return true;
}

/* Without swap, a program that reaches the limit is killed instead of slowed down.  The kernel
 * counts buffers of TCP only in a group with a limit for them. */
static void
refine(int directory, const struct cgroup *g, uint64_t memory_bytes)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRIu64, memory_bytes);
	if (cgroup_knob_write(
		directory, cgroup_path_of(g, "memory.memsw.limit_in_bytes").text, text) < 0)
		cgroup_knob_write(directory, cgroup_path_of(g, "memory.swappiness").text, "0");
	cgroup_knob_write(directory, cgroup_path_of(g, TCP_LIMIT).text, "67108864");
}

const struct cgroup_ops cgroup_v1 = {
	.by = LIMITS_CGROUP1,
	.memory = { MEMORY, "memory.limit_in_bytes", NULL },
	.processes = { PIDS, "pids.max", NULL },
	.cpu = { CPU, "cpu.cfs_quota_us", NULL },
	.weight = { CPU, "cpu.shares", NULL },
	.process_weight = 1024,
	.huge = HUGETLB,
	.uses = {
		[CGROUP_OOM] = { MEMORY, "memory.oom_control", NULL },
		[CGROUP_PEAK] = { MEMORY, "memory.max_usage_in_bytes", NULL },
		[CGROUP_FULL] = { PIDS, "pids.events", NULL },
		[CGROUP_PROCESSES] = { PIDS, "pids.current", NULL },
		[CGROUP_CPU] = { CGROUP_UNIFIED, "cpu.stat", NULL },
		[CGROUP_CPU_NS] = { CPUACCT, "cpuacct.usage", NULL },
	},
	.memory_used = { "memory.usage_in_bytes", NULL },
	.memory_held = { { "memory.stat", "total_rss" }, { "memory.kmem.usage_in_bytes", NULL } },
	.threads = { PIDS, "tasks", NULL },
	.doors = {
		[CGROUP_UNIFIED] = "cgroup.procs",
		[MEMORY] = "tasks",
		[PIDS] = "tasks",
		[CPU] = "tasks",
		[CPUACCT] = "tasks",
		[HUGETLB] = "tasks",
	},
	.open = open_all,
	.refine = refine,
};
