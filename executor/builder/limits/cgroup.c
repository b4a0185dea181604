/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.c - cgroups of boxes: <own group>/cloister-<slot>/<number>, in version 2 or in each
 * controller's hierarchy of version 1.  What differs between the versions is in their tables
 * (cgroup_ops.h).
 *
 * Trusts the host's files.  A limit that cannot be set is reported as a missing layer.  A cgroup
 * that cannot be made is an error.
 */
#include "executor/builder/limits/cgroup.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "executor/builder/limits/cgroup_huge.h"
#include "executor/builder/limits/cgroup_knob.h"
#include "executor/builder/limits/cgroup_mount.h"
#include "executor/builder/limits/cgroup_ops.h"
#include "executor/builder/limits/memory.h"
#include "executor/builder/limits/processors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	MAX_PROCESSES = 16384, /* of all boxes together */
	MAX_WEIGHT = 100,      /* times the weight of one process: the kernel's bound */
};

/* The best first. */
static const struct cgroup_ops *const versions[] = { &cgroup_v2, &cgroup_v1 };

static struct {
	const struct cgroup_ops *ops; /* NULL: no cgroups are delegated */
	struct cgroup_roots roots;
	uint32_t numbers;
} groups = {
	.roots.above = { -1, -1, -1, -1, -1, -1 },
	.roots.ours = { -1, -1, -1, -1, -1, -1 },
};

/* The text that a limit's file takes. */
struct text {
	char text[64];
};

static struct text
text_of(const struct cgroup_file *file, uint64_t value)
{
	struct text text;

	snprintf(text.text, sizeof text.text, "%" PRIu64 "%s", value,
	    file->after != NULL ? file->after : "");
	return text;
}

/* ---- all boxes ---- */

static void
set_whole(const struct cgroup_file *file, uint64_t value)
{
	if (groups.roots.ours[file->root] >= 0)
		cgroup_knob_write(
		    groups.roots.ours[file->root], file->name, text_of(file, value).text);
}

/*
 * The share of a period that boxes may use: a twentieth of every processor is reserved for the
 * processes that end boxes.  The kernel recalculates the weight of a cgroup that is on several
 * processors whenever one of its threads sleeps or wakes, and Linux 6.18 rounds the result in the
 * cgroup's favor.  So a cgroup with many such threads blocks all other processes for seconds.
 * Once its quota is used up it cannot run (escape R-05).
 */
static uint64_t
whole_quota_us(void)
{
	return processors_milli() * (CGROUP_PERIOD_US / 1000) / 20 * 19;
}

/*
 * Limits all boxes together, with every file in a workspace and /tmp, so that the host itself
 * always has room left and each box gets what it was promised.  If processors are short, the boxes
 * weigh as much as one process for each processor.  As a single cgroup they would weigh as much as
 * one process.
 */
static void
bound_all(const struct cgroup_ops *ops)
{
	uint64_t whole = processors_whole();

	set_whole(&ops->memory, memory_most() / 4 * 3);
	set_whole(&ops->processes, MAX_PROCESSES);
	set_whole(&ops->weight, ops->process_weight * (whole < MAX_WEIGHT ? whole : MAX_WEIGHT));
	set_whole(&ops->cpu, whole_quota_us());
	if (groups.roots.ours[ops->huge] >= 0)
		cgroup_huge_refuse(groups.roots.ours[ops->huge]);
}

static void
give_up_all(void)
{
	cgroup_roots_remove_all(&groups.roots);
	groups.ops = NULL;
}

void
cgroup_take_own(void)
{
	struct err e;

	groups.roots.alone = true;
	if (cgroup_mount_writable(&e) < 0)
		log_warn("cgroups may be read-only", LOG_E(&e));
}

bool
cgroup_open(uint32_t slot)
{
	struct cgroup_roots *roots = &groups.roots;

	roots->taken = roots->cpu = false;
	snprintf(roots->name, sizeof roots->name, "cloister-%u", slot);
	for (size_t i = 0; i < COUNT(versions) && groups.ops == NULL && !roots->taken; i++)
		if (versions[i]->open(roots))
			groups.ops = versions[i];
	if (roots->taken || !cgroup_roots_await_clear(roots)) {
		give_up_all();
		return false;
	}
	if (groups.ops != NULL)
		bound_all(groups.ops);
	return true;
}

void
cgroup_close(void)
{
	cgroup_roots_clear(&groups.roots);
	give_up_all();
}

enum limits_by
cgroup_limits_by(void)
{
	return groups.ops == NULL ? LIMITS_RLIMIT : groups.ops->by;
}

bool
cgroup_shares_processors(void)
{
	return groups.ops != NULL && groups.roots.cpu;
}

/* ---- the group of a box ---- */

struct cgroup_path
cgroup_path_of(const struct cgroup *g, const char *name)
{
	struct cgroup_path path;
	int n = snprintf(
	    path.text, sizeof path.text, "%u%s%s", g->number, name[0] != '\0' ? "/" : "", name);

	must(n < (int)sizeof path.text);
	return path;
}

static void
set(struct cgroup *g, const struct cgroup_file *file, uint64_t value, enum layer layer)
{
	int directory = groups.roots.ours[file->root];
	struct cgroup_path path = cgroup_path_of(g, file->name);

	/* The errno of a limit that the kernel replaced is 0: reported as not verified. */
	if (directory >= 0 && cgroup_knob_set(directory, path.text, text_of(file, value).text) == 0)
		g->in_force |= 1ull << layer;
	else
		g->why[layer] = (uint8_t)(directory >= 0 ? errno : ENOENT);
}

static void
set_limits(struct cgroup *g, const struct order *order, uint64_t workspace_bytes)
{
	const struct cgroup_ops *ops = groups.ops;
	uint64_t memory = order->memory_bytes + order->tmp_bytes + workspace_bytes;
	uint64_t quota_us = order->cpu_milli * (CGROUP_PERIOD_US / 1000);
	uint64_t whole_us = whole_quota_us();

	memory -= memory % (uint64_t)sysconf(_SC_PAGESIZE); /* as the kernel does */
	set(g, &ops->memory, memory, LAYER_memory_limit);
	ops->refine(groups.roots.ours[ops->memory.root], g, memory);
	/* The first process is the builder's. */
	set(g, &ops->processes, order->processes + 1, LAYER_process_limit);
	if (order->cpu_milli != 0)
		set(g, &ops->cpu, quota_us < whole_us ? quota_us : whole_us, LAYER_cpu_limit);
}

static int
make_directories(const struct cgroup *g, struct err *e)
{
	for (unsigned i = 0; i < CGROUP_ROOTS; i++)
		if (groups.roots.ours[i] >= 0 &&
		    mkdirat(groups.roots.ours[i], cgroup_path_of(g, "").text, 0755) < 0)
			return err_sys(e, "make cgroup %u", g->number);
	return 0;
}

static int
open_use(int directory, const char *path, bool resets)
{
	int fd = resets ? openat(directory, path, O_RDWR | O_CLOEXEC) : -1;

	return fd >= 0 ? fd : openat(directory, path, O_RDONLY | O_CLOEXEC);
}

/* The usage of a box is read when a caller waits for it, so these files are opened in advance. */
static void
open_uses(struct cgroup *g)
{
	for (int i = 0; i < CGROUP_USES; i++) {
		const struct cgroup_file *file = &groups.ops->uses[i];
		int directory = file->name != NULL ? groups.roots.ours[file->root] : -1;

		/* One of the two files with processor time is enough. */
		if (directory >= 0 && (i != CGROUP_CPU_NS || g->use[CGROUP_CPU] < 0))
			g->use[i] = open_use(
			    directory, cgroup_path_of(g, file->name).text, i == CGROUP_PEAK);
	}
}

int
cgroup_make(struct cgroup *g, const struct order *order, uint64_t workspace_bytes, struct err *e)
{
	*g = (struct cgroup){
		.number = ++groups.numbers,
		.into = -1,
		.memory_bytes = order->memory_bytes,
	};
	for (int i = 0; i < CGROUP_USES; i++)
		g->use[i] = -1;
	g->wanted = 1ull << LAYER_memory_limit | 1ull << LAYER_process_limit;
	if (order->cpu_milli != 0)
		g->wanted |= 1ull << LAYER_cpu_limit;
	if (groups.ops == NULL)
		return 0;
	if (make_directories(g, e) == 0) {
		set_limits(g, order, workspace_bytes);
		open_uses(g);
		return 0;
	}
	cgroup_remove(g);
	return -1;
}

/*
 * If a process joins through cgroup.procs, it comes with all its threads.  For that the kernel
 * (cgroup_attach_lock) waits for an RCU grace period unless another process just did so: 8 ms, in
 * which no other cgroup can be made or removed, so the builder serves no other request.  A single
 * thread that writes itself to `tasks` does not wait (since Linux 5.5).  Version 2 has that only
 * for threaded cgroups.
 */
static int
open_door(struct cgroup *g, unsigned root, struct err *e)
{
	struct cgroup_path door = cgroup_path_of(g, groups.ops->doors[root]);
	int fd = openat(groups.roots.ours[root], door.text, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "open cgroup.procs");
	g->join[g->njoin++] = fd;
	return 0;
}

/* A process can be cloned into a cgroup of version 2 alone. */
static int
open_into(struct cgroup *g, struct err *e)
{
	int unified = groups.roots.ours[CGROUP_UNIFIED];

	if (unified < 0)
		return 0;
	g->into = openat(unified, cgroup_path_of(g, "").text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return g->into < 0 ? err_sys(e, "open cgroup") : 0;
}

static int
open_doors(struct cgroup *g, bool cloned, struct err *e)
{
	for (unsigned i = 0; i < CGROUP_ROOTS; i++)
		if (groups.roots.ours[i] >= 0 && !(cloned && i == CGROUP_UNIFIED) &&
		    open_door(g, i, e) < 0)
			return -1;
	return cloned ? open_into(g, e) : 0;
}

int
cgroup_open_doors(struct cgroup *g, bool cloned, struct err *e)
{
	if (groups.ops == NULL || open_doors(g, cloned, e) == 0)
		return 0;
	cgroup_settle(g);
	return -1;
}

static uint64_t
read_memory(const struct cgroup *g, const struct cgroup_number *number)
{
	struct cgroup_path path = cgroup_path_of(g, number->name);
	auto_fd int fd =
	    openat(groups.roots.ours[groups.ops->memory.root], path.text, O_RDONLY | O_CLOEXEC);

	return cgroup_use_number(fd, number->key);
}

bool
cgroup_is_over(const struct cgroup *g)
{
	const struct cgroup_ops *ops = groups.ops;
	uint64_t held = 0;

	if (ops == NULL)
		return false;

	if (read_memory(g, &ops->memory_used) <= g->memory_bytes)
		return false;
	for (size_t i = 0; i < COUNT(ops->memory_held); i++)
		held += read_memory(g, &ops->memory_held[i]);
	return held > g->memory_bytes;
}

void
cgroup_settle(struct cgroup *g)
{
	while (g->njoin > 0)
		close(g->join[--g->njoin]);
	if (g->into >= 0)
		close(take_fd(&g->into));
}

void
cgroup_count(const struct cgroup *g, uint32_t *processes, uint32_t *threads)
{
	*processes = *threads = 0;
	if (groups.ops == NULL)
		return;

	int directory = groups.roots.ours[groups.ops->threads.root];

	*processes = cgroup_use_lines(directory, cgroup_path_of(g, "cgroup.procs").text);
	*threads = cgroup_use_lines(directory, cgroup_path_of(g, groups.ops->threads.name).text);
}

void
cgroup_read(const struct cgroup *g, struct cgroup_use *use)
{
	cgroup_use_read(g->use, use);
}

bool
cgroup_remove(struct cgroup *g)
{
	bool gone = true;

	for (int i = 0; i < CGROUP_USES; i++)
		if (g->use[i] >= 0)
			close(take_fd(&g->use[i]));
	for (unsigned i = 0; i < CGROUP_ROOTS; i++)
		if (groups.roots.ours[i] >= 0 &&
		    unlinkat(groups.roots.ours[i], cgroup_path_of(g, "").text, AT_REMOVEDIR) < 0 &&
		    errno != ENOENT)
			gone = false;
	return gone;
}
