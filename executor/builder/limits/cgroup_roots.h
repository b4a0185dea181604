/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_roots.h - the directories that contain the cgroups of one builder's boxes: one in each
 * hierarchy that the builder uses. */
#pragma once

#include <stdbool.h>

enum {
	CGROUP_UNIFIED, /* version 2's hierarchy; version 1 may count with it, too */
	CGROUP_ROOTS = 6,
};

struct cgroup_roots {
	char name[32];
	bool alone;              /* no other service has processes in the own cgroup */
	bool taken;              /* another builder has the slot */
	bool cpu;                /* there is a controller for processor time */
	int above[CGROUP_ROOTS]; /* the directory that contains ours, or -1 */
	int ours[CGROUP_ROOTS];
};

/* Makes the directory of that name, or takes it over; then *above is taken, too.  -1: failure;
 * taken: another builder holds it. */
int cgroup_roots_add(struct cgroup_roots *, unsigned root, int *above);
/* Removes the directory; one that does not exist is fine. */
void cgroup_roots_remove(struct cgroup_roots *, unsigned root);
void cgroup_roots_remove_all(struct cgroup_roots *);
/* Removes the cgroups of boxes in all of them.  False: a process still lives in one. */
bool cgroup_roots_clear(const struct cgroup_roots *);
/* The same with retries, for what an earlier builder left. */
bool cgroup_roots_await_clear(const struct cgroup_roots *);
