/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_find.c - reads /proc/self/mountinfo and /proc/self/cgroup.
 *
 * Trusts the kernel's files; skips mount points with escaped characters in their names.
 */
#include "executor/builder/limits/cgroup_find.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct mount {
	char root[CGROUP_PATH], point[CGROUP_PATH], type[32], options[CGROUP_PATH];
};

/* True if word is in the comma-separated list. */
static bool
has_word(const char *list, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = list; (at = strstr(at, word)) != NULL; at += size)
		if ((at == list || at[-1] == ',') &&
		    (at[size] == ',' || at[size] == '\0' || at[size] == '\n'))
			return true;
	return false;
}

static bool
is_wanted(const struct mount *m, const char *controller)
{
	if (strchr(m->point, '\\') != NULL)
		return false;
	if (controller == NULL)
		return strcmp(m->type, "cgroup2") == 0;
	return strcmp(m->type, "cgroup") == 0 && has_word(m->options, controller);
}

static int
find_mount(const char *controller, struct mount *m)
{
	char line[3 * CGROUP_PATH];
	FILE *file = fopen("/proc/self/mountinfo", "re");
	int found = -1;

	while (file != NULL && found < 0 && fgets(line, sizeof line, file) != NULL) {
		const char *rest = strstr(line, " - ");

		if (sscanf(line, "%*d %*d %*s %4095s %4095s", m->root, m->point) == 2 &&
		    rest != NULL && sscanf(rest, " - %31s %*s %4095s", m->type, m->options) == 2 &&
		    is_wanted(m, controller))
			found = 0;
	}
	if (file != NULL)
		fclose(file);
	return found;
}

/* Lines are number:controllers:path; version 2's is 0::path. */
static int
find_own(const char *controller, char own[CGROUP_PATH])
{
	char line[2 * CGROUP_PATH];
	FILE *file = fopen("/proc/self/cgroup", "re");
	int found = -1;

	while (file != NULL && found < 0 && fgets(line, sizeof line, file) != NULL) {
		char *names = strchr(line, ':');
		char *path = names == NULL ? NULL : strchr(names + 1, ':');

		if (path == NULL)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (controller == NULL ? names[1] == '\0' : has_word(names + 1, controller))
			found = snprintf(own, CGROUP_PATH, "%s", path) < CGROUP_PATH ? 0 : -1;
	}
	if (file != NULL)
		fclose(file);
	return found;
}

int
cgroup_find(const char *controller, char path[CGROUP_PATH], int *mount_length)
{
	struct mount m;
	char own[CGROUP_PATH];

	if (find_mount(controller, &m) < 0 || find_own(controller, own) < 0)
		return -1;
	/* A container may see its own cgroup as the mount's root.  Then the path begins with
	 * that root. */
	size_t skip = strcmp(m.root, "/") == 0 ? 0 : strlen(m.root);
	const char *below = strncmp(own, m.root, skip) == 0 ? own + skip : "";

	if (strcmp(below, "/") == 0 || strncmp(below, "/..", 3) == 0)
		below = "";
	*mount_length = (int)strlen(m.point);
	return snprintf(path, CGROUP_PATH, "%s%s", m.point, below) < CGROUP_PATH ? 0 : -1;
}
