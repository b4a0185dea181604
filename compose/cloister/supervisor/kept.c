/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.c - stores descriptors for the next process of a daemon and passes them as LISTEN_FDS.
 *
 * Trusts no input: names are checked, the number is bounded, and a descriptor is only stored, never
 * used.
 */
#include "compose/cloister/supervisor/kept.h"

#include "common/base/err.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FIRST = 3,
	DIGITS = 10,
};

/* A child writes its own pid into its copy: nothing is allocated between fork and exec. */
static char listen_pid[] = "LISTEN_PID=0000000000";

static bool
is_name(const char *name)
{
	size_t size = strlen(name);

	return size > 0 && size < KEPT_NAME &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == size;
}

void
kept_add(struct kept *s, const char *name, int fd)
{
	if (!is_name(name) || s->count == KEPT_MAX) {
		close(fd);
		return;
	}

	struct kept_one *at = &s->all[s->count++];

	snprintf(at->name, sizeof(at->name), "%s", name);
	at->fd = fd;
}

void
kept_remove(struct kept *s, const char *name)
{
	size_t left = 0;

	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->all[i].name, name) == 0)
			close(s->all[i].fd);
		else
			s->all[left++] = s->all[i];
	s->count = left;
}

void
kept_clear(struct kept *s)
{
	while (s->count > 0)
		close(s->all[--s->count].fd);
}

void
kept_announce(void)
{
	must(putenv(listen_pid) == 0);
}

void
kept_describe(const struct kept *s, size_t max)
{
	char number[24], names[KEPT_MAX * KEPT_NAME] = "";
	size_t used = 0;

	for (size_t i = 0; i < s->count; i++)
		used += (size_t)snprintf(
		    names + used, sizeof(names) - used, "%s%s", i > 0 ? ":" : "", s->all[i].name);
	snprintf(number, sizeof(number), "%zu", max);
	must(setenv("FDSTORE", number, 1) == 0);
	snprintf(number, sizeof(number), "%zu", s->count);
	must(setenv("LISTEN_FDS", number, 1) == 0 && setenv("LISTEN_FDNAMES", names, 1) == 0);
}

static void
write_pid(void)
{
	char *at = listen_pid + sizeof(listen_pid) - 1;
	pid_t pid = getpid();

	for (int i = 0; i < DIGITS; i++, pid /= 10)
		*--at = (char)('0' + pid % 10);
}

int
kept_hand_over(const struct kept *s)
{
	int fds[KEPT_MAX];

	/* First moves them away from the numbers that other descriptors need. */
	for (size_t i = 0; i < s->count; i++)
		if ((fds[i] = fcntl(s->all[i].fd, F_DUPFD_CLOEXEC, FIRST + KEPT_MAX)) < 0)
			return -1;
	for (size_t i = 0; i < s->count; i++)
		if (dup2(fds[i], FIRST + (int)i) < 0)
			return -1;
	write_pid();
	return 0;
}
