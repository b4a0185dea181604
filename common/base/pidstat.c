/* SPDX-License-Identifier: Apache-2.0 */
/* pidstat.c - reads /proc/PID; trusts the kernel, but no length. */
#include "common/base/pidstat.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINE = 512,
	DEPTH = 4, /* of descendants */
};

static const struct {
	char state;
	const char *means;
} states[] = {
	{ 'R', "running" },
	{ 'S', "sleeping" },
	{ 'D', "in the kernel, cannot be killed" },
	{ 'T', "stopped by a signal" },
	{ 't', "stopped by a debugger" },
	{ 'Z', "zombie" },
};

static bool
read_line(pid_t pid, const char *name, char line[LINE])
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);

	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, LINE - 1);

	line[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/* The state follows the name, which may contain any byte; '\0': no such process. */
static char
state_of(pid_t pid)
{
	char line[LINE];
	const char *end = read_line(pid, "stat", line) ? strrchr(line, ')') : NULL;

	return (char)(end != NULL && end[1] == ' ' ? end[2] : '\0');
}

/* The process itself or its first descendant that is in the kernel or stopped; 0: none. */
static pid_t
find_stuck(pid_t pid, int depth)
{
	char name[64], line[LINE], *rest;
	char state = state_of(pid);
	pid_t found = 0;

	if (state == 'D' || state == 'T' || state == 't')
		return pid;
	snprintf(name, sizeof name, "task/%d/children", (int)pid);
	if (depth == 0 || !read_line(pid, name, line))
		return 0;
	for (char *one = strtok_r(line, " \n", &rest); one != NULL && found == 0;
	     one = strtok_r(NULL, " \n", &rest))
		found = find_stuck((pid_t)strtol(one, NULL, 10), depth - 1);
	return found;
}

static const char *
meaning_of(char state)
{
	for (size_t i = 0; i < COUNT(states); i++)
		if (states[i].state == state)
			return states[i].means;
	return "unknown";
}

void
pidstat_text(pid_t pid, char text[PIDSTAT_TEXT])
{
	pid_t stuck = find_stuck(pid, DEPTH);
	pid_t seen = stuck != 0 ? stuck : pid;
	char state = state_of(seen), where[LINE], which[32] = "";

	if (state == '\0') {
		snprintf(text, PIDSTAT_TEXT, "no such process");
		return;
	}
	/* "0" if it does not wait, or if this process may not read that. */
	if (!read_line(seen, "wchan", where) || strcmp(where, "0") == 0)
		where[0] = '\0';
	if (seen != pid)
		snprintf(which, sizeof which, "process %d below it: ", (int)seen);
	snprintf(text, PIDSTAT_TEXT, "%sstate %c (%s)%s%.60s", which, state, meaning_of(state),
	    where[0] != '\0' ? " in " : "", where);
}
