/* SPDX-License-Identifier: Apache-2.0 */
/* pidstat.h - what the kernel says of a process that does not do what it should. */
#pragma once

#include <sys/types.h>

enum { PIDSTAT_TEXT = 160 };

/*
 * "state S (sleeping)", or "state D (in the kernel, cannot be killed) in bpf_prog_pack_alloc".  If
 * one of its descendants is in state D, that one: it holds up the others.  For a process that is
 * gone: "no such process".
 */
void pidstat_text(pid_t, char text[PIDSTAT_TEXT]);
