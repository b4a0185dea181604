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
/* Processor time that these processes have used. */
uint64_t census_cpu_us(int proc, const pid_t *first, size_t n);
