/* SPDX-License-Identifier: Apache-2.0 */
/* disk.c - room in the state directory, or where it will be made. */
#include "compose/cloister/doctor/checks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	PATH = 4096,
	NEEDED_MB = 64,
	ENOUGH_MB = 1024,
};

/* The nearest directory that exists. */
static void
climb(char path[PATH])
{
	while (access(path, F_OK) < 0 && errno == ENOENT && path[1] != '\0') {
		char *slash = strrchr(path, '/');

		path[slash == path || slash == NULL ? 1 : slash - path] = '\0';
	}
}

void
disk_check(const struct machine *m, struct diagnosis *f)
{
	char path[PATH];
	struct statvfs room;

	snprintf(path, sizeof path, "%s", m->state);
	climb(path);
	diagnosis_remedy(f, "df -h %.300s", path);
	if (statvfs(path, &room) < 0 || access(path, W_OK | X_OK) < 0) {
		diagnosis_set(f, DIAGNOSIS_missing, "%.200s: %s", path, strerror(errno));
		diagnosis_remedy(f, "ls -ld %.300s", path);
		return;
	}

	unsigned long long free_mb = (unsigned long long)room.f_bavail * room.f_frsize >> 20;

	diagnosis_set(f,
	    free_mb < NEEDED_MB   ? DIAGNOSIS_missing
	    : free_mb < ENOUGH_MB ? DIAGNOSIS_weaker
				  : DIAGNOSIS_ok,
	    "%llu MiB free for %.200s", free_mb, m->state);
}
