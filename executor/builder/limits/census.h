/* SPDX-License-Identifier: Apache-2.0 */
/* census.h - resource usage of the processes of a box, where no cgroup counts it. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Private memory in bytes of n processes (at most 64) and all their descendants.  Pages shared
 * between them count once.  The result is exact only if it would exceed `enough`, because an exact
 * count takes the kernel longer.  proc: a /proc in which the processes have the pids that this
 * process knows.
 */
uint64_t census_memory(int proc, const pid_t *first, size_t n, uint64_t enough);
struct census {
	uint64_t cpu_us;    /* that these processes, and the children they waited for, have used */
	uint32_t processes; /* that have not ended */
};
/* Counts n processes and all their descendants. */
struct census census_take(int proc, const pid_t *first, size_t n);
