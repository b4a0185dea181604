/* SPDX-License-Identifier: Apache-2.0 */
/*
 * census.c - adds up /proc/PID of a process and its descendants.
 *
 * Trusts the kernel's files.  Processes start and end while it counts.  A missed one is counted
 * the next time.
 */
#include "executor/builder/limits/census.h"

#include "common/base/auto.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST = 8192, /* processes of a family; the process limit is lower */
	TEXT = 4096,
	NUMBER = 8, /* bytes of a pid in a list */
};

struct family {
	pid_t members[MOST];
	size_t count;
};

/* The kernel returns at most one page at once. */
static bool
read_text(int proc, const char *path, char *text, size_t size)
{
	auto_fd int file = openat(proc, path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n;

	while (file >= 0 && have < size - 1 && (n = read(file, text + have, size - 1 - have)) > 0)
		have += (size_t)n;
	text[have] = '\0';
	return have > 0;
}

/* The number after a word at the beginning of a line, in kilobytes. */
static uint64_t
kilobytes(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at == NULL ? 0 : strtoull(at + strlen(word), NULL, 10);
}

static void
add_children_of(struct family *f, int tasks, const char *thread)
{
	static char text[MOST * NUMBER];
	char path[NAME_MAX + 16], *end;

	snprintf(path, sizeof path, "%s/children", thread);
	if (!read_text(tasks, path, text, sizeof text))
		return;
	for (char *at = text; f->count < MOST; at = end) {
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			return;
		f->members[f->count++] = child;
	}
}

/* The kernel lists a child only for the thread that made it. */
static void
add_children(struct family *f, int proc, pid_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "%d/task", pid);
	auto_fd int tasks = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir DIR *dir = tasks < 0 ? NULL : fdopendir(tasks);

	if (dir == NULL)
		return;
	take_fd(&tasks);
	for (const struct dirent *d; (d = readdir(dir)) != NULL;)
		if (d->d_name[0] != '.')
			add_children_of(f, dirfd(dir), d->d_name);
}

static uint64_t
held_by(int proc, pid_t pid, const char *name, const char *own, const char *shared)
{
	char path[64], text[TEXT];

	snprintf(path, sizeof path, "%d/%s", pid, name);
	if (!read_text(proc, path, text, sizeof text))
		return 0;
	return (kilobytes(text, own) + kilobytes(text, shared)) << 10;
}

/* This counts a page that a fork shares for both processes. */
static uint64_t
at_most(int proc, pid_t pid)
{
	return held_by(proc, pid, "status", "\nRssAnon:", "\nRssShmem:");
}

/* A process can restrict this file to processes that may trace it.  Then all its memory counts. */
static uint64_t
exactly(int proc, pid_t pid)
{
	uint64_t held = held_by(proc, pid, "smaps_rollup", "\nPss_Anon:", "\nPss_Shmem:");

	return held > 0 ? held : at_most(proc, pid);
}

static uint64_t
add_up(const struct family *f, int proc, uint64_t (*held)(int proc, pid_t pid))
{
	uint64_t all = 0;

	for (size_t i = 0; i < f->count; i++)
		all += held(proc, f->members[i]);
	return all;
}

/* Adds the time of the process and of its children that were waited for: the 12th word after its
 * name, which may contain any bytes, and the next three.  The word after the name is its state. */
static void
add_process(struct census *c, int proc, pid_t pid)
{
	char path[64], text[TEXT], *at;

	snprintf(path, sizeof path, "%d/stat", pid);
	if (!read_text(proc, path, text, sizeof text) || (at = strrchr(text, ')')) == NULL)
		return;
	if (strncmp(at, ") Z", 3) != 0 && strncmp(at, ") X", 3) != 0)
		c->processes++;
	for (int word = 1; word <= 12 && at != NULL; word++)
		at = strchr(at + 1, ' ');
	for (int i = 0; i < 4 && at != NULL; i++)
		c->cpu_us += strtoull(at, &at, 10) * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

static const struct family *
gather(int proc, const pid_t *first, size_t n)
{
	static struct family f;

	for (f.count = 0; f.count < n; f.count++)
		f.members[f.count] = first[f.count];
	for (size_t i = 0; i < f.count; i++)
		add_children(&f, proc, f.members[i]);
	return &f;
}

struct census
census_take(int proc, const pid_t *first, size_t n)
{
	const struct family *f = gather(proc, first, n);
	struct census c = { 0 };

	for (size_t i = 0; i < f->count; i++)
		add_process(&c, proc, f->members[i]);
	return c;
}

uint64_t
census_memory(int proc, const pid_t *first, size_t n, uint64_t enough)
{
	const struct family *f = gather(proc, first, n);
	uint64_t all = add_up(f, proc, at_most);

	return all <= enough ? all : add_up(f, proc, exactly);
}
