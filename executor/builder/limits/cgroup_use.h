/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_use.h - reads the counters of a box's cgroup through open descriptors.  The builder opens
 * them when it makes the cgroup, and the executor has copies.  So a caller that waits for the end
 * of a run need not wait for a reply of the builder.
 *
 * Trusts the kernel's counts.
 */
#pragma once

#include "executor/builder/order.h"

struct cgroup_use {
	bool out_of_memory;
	uint64_t refused; /* processes and threads that were refused because there were too many */
	uint64_t processes; /* processes and threads in it now, including the builder's own */
	uint64_t cpu_us, max_memory_bytes; /* 0: the kernel does not report it */
};

/* A descriptor of -1 means that the value is not counted.  It is reported as zero. */
void cgroup_use_read(const int fds[CGROUP_USES], struct cgroup_use *);
/* Returns the number after the key of a line.  key NULL: the file contains a single number.  0:
 * there is none. */
uint64_t cgroup_use_number(int fd, const char *key);
/* Returns the number of lines of a file: in cgroup.procs, of processes.  0: it cannot be read. */
uint32_t cgroup_use_lines(int directory, const char *path);
