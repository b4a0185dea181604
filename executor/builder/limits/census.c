/* SPDX-License-Identifier: Apache-2.0 */
/*
 * census.c - adds up /proc/PID of a family of processes.
 *
 * Trusts the kernel's files; processes come and go while it counts, and one that is missed is there
 * the next time.
 */
#include "executor/builder/limits/census.h"

#include "common/auto.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	MOST = 8192, /* processes of a family; its limit is below */
	TEXT = 4096,
};

struct family {
	pid_t members[MOST];
	size_t count;
};

static bool
read_text(int proc, const char *path, char text[TEXT])
{
	auto_fd int file = openat(proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, text, TEXT - 1);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The number behind a word at a line's beginning, in kilobytes. */
static uint64_t
kilobytes(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at == NULL ? 0 : strtoull(at + strlen(word), NULL, 10);
}

static void
add_children(struct family *f, int proc, pid_t pid)
{
	char path[64], text[TEXT], *end;

	snprintf(path, sizeof path, "%d/task/%d/children", pid, pid);
	if (!read_text(proc, path, text))
		return;
	for (char *at = text; f->count < MOST; at = end) {
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			return;
		f->members[f->count++] = child;
	}
}

static uint64_t
add_up(const struct family *f, int proc, const char *name, const char *own, const char *shared)
{
	uint64_t all = 0;

	for (size_t i = 0; i < f->count; i++) {
		char path[64], text[TEXT];

		snprintf(path, sizeof path, "%d/%s", f->members[i], name);
		if (read_text(proc, path, text))
			all += kilobytes(text, own) + kilobytes(text, shared);
	}
	return all << 10;
}

uint64_t
census_memory(int proc, const pid_t *first, size_t n, uint64_t enough)
{
	static struct family f;
	uint64_t all;

	for (f.count = 0; f.count < n; f.count++)
		f.members[f.count] = first[f.count];
	for (size_t i = 0; i < f.count; i++)
		add_children(&f, proc, f.members[i]);
	/* Here a page that a fork shares counts for both. */
	all = add_up(&f, proc, "status", "\nRssAnon:", "\nRssShmem:");
	if (all <= enough)
		return all;
	return add_up(&f, proc, "smaps_rollup", "\nPss_Anon:", "\nPss_Shmem:");
}
