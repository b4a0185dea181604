/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.c - cgroups of boxes: <own group>/cloister-<slot>/<number>, in version 2 or in each
 * controller's hierarchy of version 1.
 *
 * Trusts the host's files.  A limit that cannot be set is reported as a missing layer.  A cgroup
 * that cannot be made is an error.  If version 1 does not count processor time, an empty version 2
 * hierarchy beside it is used for that.
 */
#include "executor/builder/limits/cgroup.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "executor/builder/limits/cgroup_directory.h"
#include "executor/builder/limits/cgroup_find.h"
#include "executor/builder/limits/cgroup_huge.h"
#include "executor/builder/limits/cgroup_mount.h"
#include "executor/builder/limits/memory.h"
#include "executor/builder/limits/processors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define TCP_LIMIT "memory.kmem.tcp.limit_in_bytes"

enum hierarchy {
	UNIFIED,
	MEMORY,
	PIDS,
	CPU,
	CPUACCT,
	HUGETLB,
	HIERARCHIES,
};

enum {
	KNOB = 64,
	MIB = 1 << 20,
	PERIOD_US = 100000,
	MAX_PROCESSES = 16384, /* of all boxes together */
	MAX_WEIGHT = 100,      /* times the weight of one process: the kernel's bound */
	CLEAR_TRIES = 50,      /* of 10 ms */
};

static const char *const controllers[HIERARCHIES] = {
	[MEMORY] = "memory",
	[PIDS] = "pids",
	[CPU] = "cpu",
	[CPUACCT] = "cpuacct",
	[HUGETLB] = "hugetlb",
};

static struct {
	enum limits_by by;
	bool cpu;   /* version 2: it has the cpu controller too */
	bool taken; /* another builder has the slot */
	bool alone; /* no other service has processes in the own cgroup */
	char name[32];
	int above[HIERARCHIES]; /* the directory that contains ours, or -1 */
	int ours[HIERARCHIES];
	uint32_t numbers;
} groups = {
	.above = { -1, -1, -1, -1, -1, -1 },
	.ours = { -1, -1, -1, -1, -1, -1 },
};

static int
write_knob(int directory, const char *path, const char *value)
{
	auto_fd int fd = openat(directory, path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, value, strlen(value)) < 0 ? -1 : 0;
}

static int
read_knob(int directory, const char *path, char *text, size_t size)
{
	auto_fd int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	if (n < 0)
		return -1;
	text[n] = '\0';
	return 0;
}

static uint64_t
read_number(int directory, const char *path, const char *key)
{
	auto_fd int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);

	return cgroup_use_number(fd, key);
}

/* ---- finding a place ---- */

/* Takes ownership of *above if it succeeds. */
static int
make_ours(enum hierarchy h, int *above)
{
	int ours = cgroup_directory_open(*above, groups.name, &groups.taken);

	if (ours < 0)
		return -1;
	groups.above[h] = take_fd(above);
	groups.ours[h] = ours;
	return 0;
}

static void
give_up(enum hierarchy h)
{
	if (groups.ours[h] < 0)
		return;
	/* Done while the lock is held: afterwards the directory may belong to another builder. */
	unlinkat(groups.above[h], groups.name, AT_REMOVEDIR);
	close(groups.ours[h]);
	close(groups.above[h]);
	groups.ours[h] = groups.above[h] = -1;
}

static bool
clear_all(void)
{
	bool gone = true;

	for (int h = 0; h < HIERARCHIES; h++)
		if (groups.ours[h] >= 0)
			gone &= cgroup_directory_clear(groups.ours[h]);
	return gone;
}

/* Processes that a killed builder left die with it, but not always at once.  A process that
 * stays alive was not left by it. */
static bool
await_clear(void)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	for (int i = 0; i < CLEAR_TRIES; i++) {
		if (clear_all())
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void
move_processes(int directory, char *text)
{
	for (char *line; (line = strsep(&text, "\n")) != NULL;)
		if (*line != '\0')
			write_knob(directory, "daemon/cgroup.procs", line);
}

/*
 * A version 2 cgroup that contains processes cannot give controllers to cgroups in it.  If its
 * only processes are the executor and this process (a service of its own), or the operator says
 * that no other service is in it, they move one level down.
 */
static void
move_down(int directory)
{
	char text[4096];
	int us = 0, others = 0;

	if (read_knob(directory, "cgroup.procs", text, sizeof text) < 0)
		return;
	for (char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
		long pid = strtol(at, NULL, 10);

		pid == getpid() || pid == getppid() ? us++ : others++;
	}
	if ((!groups.alone && (us != 2 || others != 0)) ||
	    (mkdirat(directory, "daemon", 0755) < 0 && errno != EEXIST))
		return;
	move_processes(directory, text);
}

static int
delegate(int directory)
{
	if (write_knob(directory, "cgroup.subtree_control", "+memory +pids") < 0)
		return -1;
	groups.cpu = write_knob(directory, "cgroup.subtree_control", "+cpu") == 0;
	return 0;
}

static bool
open_unified_at(const char *path, bool own)
{
	auto_fd int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return false;
	if (delegate(directory) < 0) {
		if (!own || errno != EBUSY)
			return false;
		move_down(directory);
		if (delegate(directory) < 0)
			return false;
	}
	write_knob(directory, "cgroup.subtree_control", "+hugetlb");
	if (make_ours(UNIFIED, &directory) < 0)
		return false;
	if (delegate(groups.ours[UNIFIED]) == 0)
		return true;
	give_up(UNIFIED);
	return false;
}

/* Finds the own cgroup or the nearest one above it that gives its children memory and pids. */
static bool
open_unified(void)
{
	char path[CGROUP_PATH];
	int root;

	if (cgroup_find(NULL, path, &root) < 0)
		return false;
	for (bool own = true; !groups.taken && (int)strlen(path) >= root; own = false) {
		if (open_unified_at(path, own))
			return true;
		*strrchr(path, '/') = '\0'; /* a mount point begins with one */
	}
	return false;
}

static bool
open_plain(enum hierarchy h)
{
	char path[CGROUP_PATH];
	int root;

	if (cgroup_find(controllers[h], path, &root) < 0)
		return false;
	auto_fd int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return directory >= 0 && make_ours(h, &directory) == 0;
}

static bool
open_version1(void)
{
	if (!open_plain(MEMORY) || !open_plain(PIDS)) {
		give_up(MEMORY);
		return false;
	}
	open_plain(CPU);
	if (!open_plain(CPUACCT))
		open_plain(UNIFIED);
	open_plain(HUGETLB);
	return true;
}

static void
set_whole(enum hierarchy h, const char *knob, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRIu64, value);
	if (groups.ours[h] >= 0)
		write_knob(groups.ours[h], knob, text);
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
	return processors_milli() * (PERIOD_US / 1000) / 20 * 19;
}

/*
 * Limits all boxes together, with every file in a workspace and /tmp, so that the host itself
 * always has room left and each box gets what it was promised.  If processors are short, the boxes
 * weigh as much as one process for each processor.  As a single cgroup they would weigh as much as
 * one process.
 */
static void
bound_all(void)
{
	bool v2 = groups.by == LIMITS_CGROUP2;
	uint64_t memory = memory_most() / 4 * 3, whole = processors_whole();
	uint64_t weight = whole < MAX_WEIGHT ? whole : MAX_WEIGHT;

	set_whole(v2 ? UNIFIED : MEMORY, v2 ? "memory.max" : "memory.limit_in_bytes", memory);
	set_whole(v2 ? UNIFIED : PIDS, "pids.max", MAX_PROCESSES);
	set_whole(v2 ? UNIFIED : CPU, v2 ? "cpu.weight" : "cpu.shares", (v2 ? 100 : 1024) * weight);
	set_whole(v2 ? UNIFIED : CPU, v2 ? "cpu.max" : "cpu.cfs_quota_us", whole_quota_us());
	if (groups.ours[v2 ? UNIFIED : HUGETLB] >= 0)
		cgroup_huge_refuse(groups.ours[v2 ? UNIFIED : HUGETLB]);
}

static void
give_up_all(void)
{
	for (int h = 0; h < HIERARCHIES; h++)
		give_up((enum hierarchy)h);
	groups.by = LIMITS_RLIMIT;
}

void
cgroup_take_own(void)
{
	struct err e;

	groups.alone = true;
	if (cgroup_mount_writable(&e) < 0)
		log_warn("cgroups may be read-only", LOG_E(&e));
}

bool
cgroup_open(uint32_t slot)
{
	groups.taken = false;
	snprintf(groups.name, sizeof groups.name, "cloister-%u", slot);
	if (open_unified())
		groups.by = LIMITS_CGROUP2;
	else if (!groups.taken && open_version1())
		groups.by = LIMITS_CGROUP1;
	if (groups.taken || !await_clear()) {
		give_up_all();
		return false;
	}
	if (groups.by != LIMITS_RLIMIT)
		bound_all();
	return true;
}

void
cgroup_close(void)
{
	clear_all();
	give_up_all();
}

enum limits_by
cgroup_limits_by(void)
{
	return groups.by;
}

bool
cgroup_shares_processors(void)
{
	return groups.by == LIMITS_CGROUP2 ? groups.cpu : groups.ours[CPU] >= 0;
}

/* ---- the group of a box ---- */

struct path {
	char text[KNOB];
};

static struct path
path_of(const struct cgroup *g, const char *knob)
{
	struct path path;
	int n = snprintf(
	    path.text, sizeof path.text, "%u%s%s", g->number, knob[0] != '\0' ? "/" : "", knob);

	must(n < (int)sizeof path.text);
	return path;
}

static void
set(struct cgroup *g, enum hierarchy h, const char *knob, uint64_t value, enum layer layer)
{
	char text[64];

	snprintf(text, sizeof text, "%" PRIu64, value);
	if (strcmp(knob, "cpu.max") == 0)
		snprintf(text, sizeof text, "%" PRIu64 " %d", value, PERIOD_US);
	if (groups.ours[h] >= 0 && write_knob(groups.ours[h], path_of(g, knob).text, text) == 0)
		g->in_force |= 1ull << layer;
	else
		g->why[layer] = (uint8_t)(groups.ours[h] >= 0 ? errno : ENOENT);
}

/* Optional, because not all kernels have these files: without swap, a program that reaches the
 * limit is killed instead of slowed down. */
static void
set_swapless(const struct cgroup *g, uint64_t memory)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRIu64, memory);
	if (groups.by == LIMITS_CGROUP2) {
		write_knob(groups.ours[UNIFIED], path_of(g, "memory.swap.max").text, "0");
		write_knob(groups.ours[UNIFIED], path_of(g, "memory.oom.group").text, "1");
	} else if (write_knob(groups.ours[MEMORY], path_of(g, "memory.memsw.limit_in_bytes").text,
		       text) < 0)
		write_knob(groups.ours[MEMORY], path_of(g, "memory.swappiness").text, "0");
}

/* Version 1 counts them only in a group with a limit. */
static void
set_buffers(const struct cgroup *g)
{
	if (groups.by == LIMITS_CGROUP1)
		write_knob(groups.ours[MEMORY], path_of(g, TCP_LIMIT).text, "67108864");
}

static void
set_limits(struct cgroup *g, const struct order *order, uint64_t workspace_bytes)
{
	bool v2 = groups.by == LIMITS_CGROUP2;
	uint64_t memory = order->memory_bytes + order->tmp_bytes + workspace_bytes;
	uint64_t quota_us = order->cpu_milli * (PERIOD_US / 1000), whole_us = whole_quota_us();

	set(g, v2 ? UNIFIED : MEMORY, v2 ? "memory.max" : "memory.limit_in_bytes", memory,
	    LAYER_memory_limit);
	set_swapless(g, memory);
	set_buffers(g);
	/* The first process is the builder's. */
	set(g, v2 ? UNIFIED : PIDS, "pids.max", order->processes + 1, LAYER_process_limit);
	if (order->cpu_milli != 0)
		set(g, v2 ? UNIFIED : CPU, v2 ? "cpu.max" : "cpu.cfs_quota_us",
		    quota_us < whole_us ? quota_us : whole_us, LAYER_cpu_limit);
}

static int
make_directories(const struct cgroup *g, struct err *e)
{
	for (int h = 0; h < HIERARCHIES; h++)
		if (groups.ours[h] >= 0 && mkdirat(groups.ours[h], path_of(g, "").text, 0755) < 0)
			return err_sys(e, "make cgroup %u", g->number);
	return 0;
}

/* The usage of a box is read when a caller waits for it, so these files are opened in advance. */
static const struct {
	enum hierarchy hierarchies[2]; /* of version 1, of version 2 */
	const char *knobs[2];
} uses[CGROUP_USES] = {
	[CGROUP_OOM] = { { MEMORY, UNIFIED }, { "memory.oom_control", "memory.events" } },
	[CGROUP_PEAK] = { { MEMORY, UNIFIED }, { "memory.max_usage_in_bytes", "memory.peak" } },
	[CGROUP_FULL] = { { PIDS, UNIFIED }, { "pids.events", "pids.events" } },
	[CGROUP_PROCESSES] = { { PIDS, UNIFIED }, { "pids.current", "pids.current" } },
	[CGROUP_CPU] = { { UNIFIED, UNIFIED }, { "cpu.stat", "cpu.stat" } },
	[CGROUP_CPU_NS] = { { CPUACCT, CPUACCT }, { "cpuacct.usage", "cpuacct.usage" } },
};

static int
open_use(int directory, const char *path, bool resets)
{
	int fd = resets ? openat(directory, path, O_RDWR | O_CLOEXEC) : -1;

	return fd >= 0 ? fd : openat(directory, path, O_RDONLY | O_CLOEXEC);
}

static void
open_uses(struct cgroup *g)
{
	int v = groups.by == LIMITS_CGROUP2;

	for (int i = 0; i < CGROUP_USES; i++) {
		int directory = groups.ours[uses[i].hierarchies[v]];

		/* One of the two files with processor time is enough. */
		if (directory >= 0 && (i != CGROUP_CPU_NS || g->use[CGROUP_CPU] < 0))
			g->use[i] = open_use(
			    directory, path_of(g, uses[i].knobs[v]).text, i == CGROUP_PEAK);
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
	if (groups.by == LIMITS_RLIMIT)
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
open_door(struct cgroup *g, enum hierarchy h, struct err *e)
{
	const char *door = h == UNIFIED ? "cgroup.procs" : "tasks";
	int fd = openat(groups.ours[h], path_of(g, door).text, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "open cgroup.procs");
	g->join[g->njoin++] = fd;
	return 0;
}

int
cgroup_open_doors(struct cgroup *g, bool cloned, struct err *e)
{
	if (groups.by == LIMITS_RLIMIT)
		return 0;
	for (int h = cloned ? MEMORY : UNIFIED; h < HIERARCHIES; h++)
		if (groups.ours[h] >= 0 && open_door(g, (enum hierarchy)h, e) < 0) {
			cgroup_settle(g);
			return -1;
		}
	if (!cloned || groups.ours[UNIFIED] < 0)
		return 0;
	g->into =
	    openat(groups.ours[UNIFIED], path_of(g, "").text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->into >= 0)
		return 0;
	err_sys(e, "open cgroup");
	cgroup_settle(g);
	return -1;
}

bool
cgroup_is_over(const struct cgroup *g)
{
	bool v2 = groups.by == LIMITS_CGROUP2;
	int memory = groups.ours[v2 ? UNIFIED : MEMORY];
	const char *all = v2 ? "memory.current" : "memory.usage_in_bytes";
	uint64_t own;

	if (groups.by == LIMITS_RLIMIT ||
	    read_number(memory, path_of(g, all).text, NULL) <= g->memory_bytes)
		return false;
	own = read_number(memory, path_of(g, "memory.stat").text, v2 ? "anon" : "total_rss");
	own += v2 ? read_number(memory, path_of(g, "memory.stat").text, "kernel")
	          : read_number(memory, path_of(g, "memory.kmem.usage_in_bytes").text, NULL);
	return own > g->memory_bytes;
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
	bool v2 = groups.by == LIMITS_CGROUP2;
	int directory = groups.ours[v2 ? UNIFIED : PIDS];
	const char *all = v2 ? "cgroup.threads" : "tasks";

	*processes = cgroup_use_lines(directory, path_of(g, "cgroup.procs").text);
	*threads = cgroup_use_lines(directory, path_of(g, all).text);
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
	for (int h = 0; h < HIERARCHIES; h++)
		if (groups.ours[h] >= 0 &&
		    unlinkat(groups.ours[h], path_of(g, "").text, AT_REMOVEDIR) < 0 &&
		    errno != ENOENT)
			gone = false;
	return gone;
}
