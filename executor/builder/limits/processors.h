/* SPDX-License-Identifier: Apache-2.0 */
/* processors.h - the processor time that this process and its cgroup may use. */
#pragma once

#include <stdint.h>

/* Returns thousandths of a processor: of those that this process may run on, or the lowest quota
 * of its cgroup and those above it.  At least 10. */
uint64_t processors_milli(void);
/* The same in whole processors, rounded up. */
uint64_t processors_whole(void);
/* Returns the lowest of `most` and the quotas of the directories from path up to its first `root`
 * bytes, in thousandths.  period NULL: `quota` is a file of version 2, with both numbers.  Modifies
 * path. */
uint64_t processors_least(
    char *path, int root, const char *quota, const char *period, uint64_t most);
