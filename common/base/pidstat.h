/* SPDX-License-Identifier: Apache-2.0 */
/* pidstat.h - why a process does not react, as the kernel reports it. */
#pragma once

#include <sys/types.h>

enum { PIDSTAT_TEXT = 160 };

/*
 * "state S (sleeping)", or "state D (in the kernel, cannot be killed) in bpf_prog_pack_alloc". If a
 * descendant is in the kernel or stopped, describes that one, because it blocks the others. For a
 * process that does not exist: "no such process".
 */
void pidstat_text(pid_t, char text[PIDSTAT_TEXT]);
