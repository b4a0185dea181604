/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_files.c - the files are in a small tmpfs of the box.  Load and idle time are made up,
 * because the host's tell what others do; the host's uptime and its processors' names are no
 * secrets, because a program has the clock and CPUID.
 *
 * Runs in the box's first process, before any guest code.
 */
#include "executor/builder/confine/proc_files.h"

#include "common/base/auto.h"
#include "common/base/blob.h"
#include "common/base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

enum {
	TEXT = 64 << 10,
	MAX_CPUINFO = 1 << 20,
	HERTZ = 100, /* of times in /proc, on every architecture: USER_HZ */
};

struct text {
	char data[TEXT];
	size_t size;
};

struct machine {
	uint64_t kib; /* of memory */
	uint32_t processors;
	int64_t up_s, booted_s; /* since 1970 */
};

static struct blob cpuinfo; /* the host's; data NULL: it has none */

void
proc_files_open(const struct host *host)
{
	struct err e;

	if (fdio_load(host->proc, "cpuinfo", MAX_CPUINFO, &cpuinfo, &e) < 0)
		cpuinfo = (struct blob){ 0 };
}

static void put(struct text *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->data + t->size, sizeof t->data - t->size, fmt, ap);
	va_end(ap);
	if (n > 0 && t->size + (size_t)n < sizeof t->data)
		t->size += (size_t)n;
}

static void
put_meminfo(struct text *t, const struct machine *m)
{
	static const char *const most[] = { "MemFree", "MemAvailable" };
	static const char *const nothing[] = { "Buffers", "Cached", "SwapCached", "Active",
		"Inactive", "SwapTotal", "SwapFree", "Dirty", "Writeback", "AnonPages", "Mapped",
		"Shmem", "KReclaimable", "Slab", "SReclaimable", "SUnreclaim", "PageTables",
		"Committed_AS", "VmallocTotal", "VmallocUsed", "HugePages_Total" };

	put(t, "MemTotal: %" PRIu64 " kB\n", m->kib);
	for (size_t i = 0; i < COUNT(most); i++)
		put(t, "%s: %" PRIu64 " kB\n", most[i], m->kib - m->kib / 32);
	for (size_t i = 0; i < COUNT(nothing); i++)
		put(t, "%s: 0 kB\n", nothing[i]);
}

static void
put_stat(struct text *t, const struct machine *m)
{
	int64_t idle = m->up_s * HERTZ;

	put(t, "cpu  0 0 0 %" PRId64 " 0 0 0 0 0 0\n", idle * m->processors);
	for (uint32_t i = 0; i < m->processors; i++)
		put(t, "cpu%" PRIu32 " 0 0 0 %" PRId64 " 0 0 0 0 0 0\n", i, idle);
	put(t,
	    "intr 0\nctxt 0\nbtime %" PRId64
	    "\nprocesses 1\nprocs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n",
	    m->booted_s);
}

/* The host's words on as many processors. */
static void
put_cpuinfo(struct text *t, const struct machine *m)
{
	const char *at = cpuinfo.data;

	for (uint32_t i = 0; i < m->processors; i++) {
		const char *end = at == NULL ? NULL : strstr(at, "\n\n");

		if (end == NULL)
			put(t, "processor\t: %" PRIu32 "\n\n", i);
		else
			put(t, "%.*s\n\n", (int)(end - at), at);
		at = end == NULL ? NULL : end + 2;
	}
}

static void
put_uptime(struct text *t, const struct machine *m)
{
	put(t, "%" PRId64 ".00 %" PRId64 ".00\n", m->up_s, m->up_s * m->processors);
}

static void
put_loadavg(struct text *t, const struct machine *m)
{
	(void)m;
	put(t, "0.00 0.00 0.00 1/1 1\n");
}

/* As in /sys/devices/system/cpu. */
static void
put_processors(struct text *t, const struct machine *m)
{
	put(t, m->processors == 1 ? "0\n" : "0-%" PRIu32 "\n", m->processors - 1);
}

static const struct {
	const char *name;
	void (*put)(struct text *, const struct machine *);
	bool in_proc;
} files[] = {
	{ "meminfo", put_meminfo, true },
	{ "stat", put_stat, true },
	{ "cpuinfo", put_cpuinfo, true },
	{ "uptime", put_uptime, true },
	{ "loadavg", put_loadavg, true },
	{ "processors", put_processors, false },
};

static struct machine
machine_of(const struct host *host, const struct order *o)
{
	struct timespec up = { 0 }, now = { 0 };
	uint64_t whole = (o->cpu_milli + 999) / 1000;

	clock_gettime(CLOCK_BOOTTIME, &up);
	clock_gettime(CLOCK_REALTIME, &now);
	return (struct machine){ .kib = o->memory_bytes >> 10,
		.processors =
		    whole == 0 || whole > host->processors ? host->processors : (uint32_t)whole,
		.up_s = up.tv_sec,
		.booted_s = now.tv_sec - up.tv_sec };
}

static int
fill(int mount, const struct machine *m, struct err *e)
{
	static struct text text;

	for (size_t i = 0; i < COUNT(files); i++) {
		auto_fd int file =
		    openat(mount, files[i].name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

		text.size = 0;
		files[i].put(&text, m);
		if (file < 0 || fdio_write(file, text.data, text.size, e) < 0)
			return err_sys(e, "make " PROC_FILES "/%s", files[i].name);
	}
	return 0;
}

/* Kernels before 6.15 copy only mounts that have a place. */
static int
place(const struct machine *m, struct err *e)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	auto_fd int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
	auto_fd int mount = -1;

	if (context >= 0 && fsconfig(context, FSCONFIG_SET_STRING, "size", "1m", 0) == 0 &&
	    fsconfig(context, FSCONFIG_SET_STRING, "nr_inodes", "8", 0) == 0 &&
	    fsconfig(context, FSCONFIG_SET_STRING, "mode", "0755", 0) == 0 &&
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = fsmount(context, FSMOUNT_CLOEXEC,
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (mount < 0)
		return err_sys(e, "make a tmpfs");
	if (fill(mount, m, e) < 0)
		return -1;
	if (mount_setattr(mount, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0 ||
	    move_mount(mount, "", AT_FDCWD, PROC_FILES, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount " PROC_FILES);
	return 0;
}

int
proc_files_mount(const struct host *host, const struct order *order, struct err *e)
{
	const struct machine m = machine_of(host, order);
	char from[32], to[32];

	if (place(&m, e) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(files) && files[i].in_proc; i++) {
		snprintf(from, sizeof from, PROC_FILES "/%s", files[i].name);
		snprintf(to, sizeof to, "/proc/%s", files[i].name);

		auto_fd int copy = open_tree(AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

		if (copy < 0 || move_mount(copy, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH) < 0)
			return err_sys(e, "mount %s", to);
	}
	return 0;
}
