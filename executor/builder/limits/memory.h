/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - the memory limit of this process and its cgroup. */
#pragma once

#include <stdint.h>

/* Returns the machine's memory in bytes, or the lowest limit of this process's cgroup and those
 * above it. */
uint64_t memory_most(void);
/* Returns the lowest of `most` and the limits in the knobs from path up to its first `root`
 * bytes.  Modifies path. */
uint64_t memory_least(char *path, int root, const char *knob, uint64_t most);
