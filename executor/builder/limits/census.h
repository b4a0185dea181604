/* SPDX-License-Identifier: Apache-2.0 */
/* census.h - what the processes of a box use, where no cgroup counts it. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Bytes of memory of their own that n processes, at most 64, and all that come from them hold;
 * shared pages count once between them.  Exact only where it would be over `enough`, since that
 * takes the kernel longer.  proc: a /proc in which they have the pids that this process knows.
 */
uint64_t census_memory(int proc, const pid_t *first, size_t n, uint64_t enough);
/* Processor time that they have used. */
uint64_t census_cpu_us(int proc, const pid_t *first, size_t n);
