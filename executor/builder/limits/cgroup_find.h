/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_find.h - finds this process in the host's cgroup hierarchies. */
#pragma once

enum {
	CGROUP_PATH = 4096,
};

/*
 * Finds the directory of this process's own cgroup: in the version 1 hierarchy with that
 * controller, or, for NULL, in version 2.  Returns 0, its path, and the length of the part that is
 * the mount point. -1: there is none.
 */
int cgroup_find(const char *controller, char path[CGROUP_PATH], int *mount_length);
