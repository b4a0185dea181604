/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_use.h - what the group of a box counts, by descriptors that are open: the builder opens
 * them as it makes the group, and the executor has copies, so that who waits for the end of a run
 * need not wait for the builder to be asked.
 *
 * Trusts the kernel's counts.
 */
#pragma once

#include "executor/builder/order.h"

struct cgroup_use {
	bool out_of_memory;
	uint64_t refused;                  /* processes and threads, for there were too many */
	uint64_t processes;                /* and threads that are in it now, ours among them */
	uint64_t cpu_us, max_memory_bytes; /* 0: cannot tell */
};

/* -1 among the descriptors: that is not counted, and told as zero. */
void cgroup_use_read(const int fds[CGROUP_USES], struct cgroup_use *);
/* The number behind the key of a line, or of a file of one number for NULL; 0: there is none. */
uint64_t cgroup_use_number(int fd, const char *key);
