/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_v2.c - version 2: one hierarchy, in which a cgroup must give controllers to those in it.
 *
 * Trusts the host's files.
 */
#include "common/base/auto.h"
#include "executor/builder/limits/cgroup_find.h"
#include "executor/builder/limits/cgroup_knob.h"
#include "executor/builder/limits/cgroup_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define PERIOD " 100000"
_Static_assert(CGROUP_PERIOD_US == 100000, "PERIOD is that number as a text");

static void
move_processes(int directory, char *text)
{
	for (char *line; (line = strsep(&text, "\n")) != NULL;)
		if (*line != '\0')
			cgroup_knob_write(directory, "daemon/cgroup.procs", line);
}

/*
 * A cgroup that contains processes cannot give controllers to cgroups in it.  If its only
 * processes are the executor and this process (a service of its own), or the operator says that no
 * other service is in it, they move one level down.
 */
static void
move_down(int directory, bool alone)
{
	char text[4096];
	int us = 0, others = 0;

	if (cgroup_knob_read(directory, "cgroup.procs", text, sizeof text) < 0)
		return;
	for (char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
		long pid = strtol(at, NULL, 10);

		pid == getpid() || pid == getppid() ? us++ : others++;
	}
	if ((!alone && (us != 2 || others != 0)) ||
	    (mkdirat(directory, "daemon", 0755) < 0 && errno != EEXIST))
		return;
	move_processes(directory, text);
}

static int
delegate(int directory, bool *cpu)
{
	if (cgroup_knob_write(directory, "cgroup.subtree_control", "+memory +pids") < 0)
		return -1;
	*cpu = cgroup_knob_write(directory, "cgroup.subtree_control", "+cpu") == 0;
	return 0;
}

static bool
open_at(struct cgroup_roots *roots, const char *path, bool own)
{
	auto_fd int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return false;
	if (delegate(directory, &roots->cpu) < 0) {
		if (!own || errno != EBUSY)
			return false;
		move_down(directory, roots->alone);
		if (delegate(directory, &roots->cpu) < 0)
			return false;
	}
	cgroup_knob_write(directory, "cgroup.subtree_control", "+hugetlb");
	if (cgroup_roots_add(roots, CGROUP_UNIFIED, &directory) < 0)
		return false;
	if (delegate(roots->ours[CGROUP_UNIFIED], &roots->cpu) == 0)
		return true;
	cgroup_roots_remove(roots, CGROUP_UNIFIED);
	return false;
}

/* Finds the own cgroup or the nearest one above it that gives its children memory and pids. */
static bool
open_nearest(struct cgroup_roots *roots)
{
	char path[CGROUP_PATH];
	int root;

	if (cgroup_find(NULL, path, &root) < 0)
		return false;
	for (bool own = true; !roots->taken && (int)strlen(path) >= root; own = false) {
		if (open_at(roots, path, own))
			return true;
		*strrchr(path, '/') = '\0'; /* a mount point begins with one */
	}
	return false;
}

/* Without swap, a program that reaches the limit is killed instead of slowed down. */
static void
refine(int directory, const struct cgroup *g, uint64_t memory_bytes)
{
	(void)memory_bytes;
	cgroup_knob_write(directory, cgroup_path_of(g, "memory.swap.max").text, "0");
	cgroup_knob_write(directory, cgroup_path_of(g, "memory.oom.group").text, "1");
}

const struct cgroup_ops cgroup_v2 = {
	.by = LIMITS_CGROUP2,
	.memory = { CGROUP_UNIFIED, "memory.max", NULL },
	.processes = { CGROUP_UNIFIED, "pids.max", NULL },
	.cpu = { CGROUP_UNIFIED, "cpu.max", PERIOD },
	.weight = { CGROUP_UNIFIED, "cpu.weight", NULL },
	.process_weight = 100,
	.huge = CGROUP_UNIFIED,
	.uses = {
		[CGROUP_OOM] = { CGROUP_UNIFIED, "memory.events", NULL },
		[CGROUP_PEAK] = { CGROUP_UNIFIED, "memory.peak", NULL },
		[CGROUP_FULL] = { CGROUP_UNIFIED, "pids.events", NULL },
		[CGROUP_PROCESSES] = { CGROUP_UNIFIED, "pids.current", NULL },
		[CGROUP_CPU] = { CGROUP_UNIFIED, "cpu.stat", NULL },
	},
	.memory_used = { "memory.current", NULL },
	.memory_held = { { "memory.stat", "anon" }, { "memory.stat", "kernel" } },
	.threads = { CGROUP_UNIFIED, "cgroup.threads", NULL },
	.doors = { [CGROUP_UNIFIED] = "cgroup.procs" },
	.open = open_nearest,
	.refine = refine,
};
