/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - how much memory this process and its group may use. */
#pragma once

#include <stdint.h>

/* The machine's bytes, or the least limit of this process's group and of those above it. */
uint64_t memory_most(void);
/* The least of `most` and of the limits in the knobs from path up to its first `root` bytes; writes
 * to path. */
uint64_t memory_least(char *path, int root, const char *knob, uint64_t most);
