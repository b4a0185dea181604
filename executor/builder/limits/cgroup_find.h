/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_find.h - where in the host's cgroup hierarchies this process is. */
#pragma once

enum {
	CGROUP_PATH = 4096,
};

/*
 * The directory of this process's own group: of the version 1 hierarchy with that controller, or
 * for NULL of version 2.  0 and its path, and the length of the part that is the mount itself; -1:
 * there is none.
 */
int cgroup_find(const char *controller, char path[CGROUP_PATH], int *mount_length);
