/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_mount.c - container runtimes mount cgroups read-only, even for root.
 *
 * Trusts the kernel's list of mounts.  A remount with MS_BIND changes the flags of one mount, not
 * those of the file system, so nothing outside this mount namespace changes.
 */
#include "executor/builder/limits/cgroup_mount.h"

#include "common/base/auto.h"
#include "executor/builder/limits/cgroup_find.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

/* The mount point if the line of mountinfo describes a read-only cgroup mount; modifies the line.
 */
static const char *
read_only_cgroup(char *line)
{
	char *type = strstr(line, " - cgroup"), *point = line, *options;

	if (type == NULL)
		return NULL;
	*type = '\0';
	for (int field = 0; field < 4 && point != NULL; field++)
		point = (point = strchr(point, ' ')) == NULL ? NULL : point + 1;
	if (point == NULL || (options = strchr(point, ' ')) == NULL)
		return NULL;
	*options++ = '\0';
	return strncmp(options, "ro", 2) == 0 && strchr(point, '\\') == NULL ? point : NULL;
}

static int
remount_all(FILE *mounts, struct err *e)
{
	const unsigned long flags = MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | MS_NOEXEC;
	char line[3 * CGROUP_PATH];

	while (fgets(line, sizeof line, mounts) != NULL) {
		const char *point = read_only_cgroup(line);

		if (point != NULL && mount(NULL, point, NULL, flags, NULL) < 0)
			return err_sys(e, "make %s writable", point);
	}
	return 0;
}

int
cgroup_mount_writable(struct err *e)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(e, "own mount namespace");

	FILE *mounts = fopen("/proc/self/mountinfo", "re");

	if (mounts == NULL)
		return err_sys(e, "open mountinfo");

	int rc = remount_all(mounts, e);

	fclose(mounts);
	return rc;
}
