/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_directory.h - the cgroup that contains the cgroups of one builder's boxes: its owner
 * and its remaining contents. */
#pragma once

#include <stdbool.h>

/*
 * Makes the directory, or takes over the one that an earlier builder left.  Returns a descriptor
 * that the caller owns, with a lock that lasts as long as a copy of the descriptor.  -1: failure;
 * *taken: another builder holds it.
 */
int cgroup_directory_open(int above, const char *name, bool *taken);
/* Removes the cgroups of boxes in it.  False: a process still lives in one. */
bool cgroup_directory_clear(int directory);
