/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_directory.h - the group that those of one builder's boxes are in: whose it is, and what is
 * left in it. */
#pragma once

#include <stdbool.h>

/*
 * Makes it, or takes what an earlier builder left: a descriptor, the caller's, with a lock that
 * lasts as long as a copy of it.  -1: it cannot be had; *taken: another builder holds it.
 */
int cgroup_directory_open(int above, const char *name, bool *taken);
/* Removes the groups of boxes in it.  false: something still lives in one. */
bool cgroup_directory_clear(int directory);
