/* SPDX-License-Identifier: Apache-2.0 */
/*
 * played_cgroup.h - hierarchies of plain files in place of the kernel's cgroups.
 *
 * A new directory has the files of its hierarchy, a written text replaces the earlier one and ends
 * with a newline, and each write is recorded.  Paths are relative to the directory that contains
 * the hierarchies.  The own cgroup is "own" in each of them.
 */
#pragma once

#include "executor/builder/limits/cgroup.h"

#include <stdbool.h>

void played_begin(void);
/* Call it at any time. */
void played_end(void);
/* controller NULL: version 2, whose directory is "unified"; files: separated by blanks. */
void played_hierarchy(const char *controller, const char *files);
/* A cgroup of the kernel's version 2, in place of a played one.  Its controllers are feigned. */
void played_kernel(const char *path);
/* The next writes to that file: refused with that errno so many times, or replaced. */
void played_refuse(const char *path, const char *text, int sys, unsigned times);
void played_replace(const char *path, const char *text);
/* The directory cannot be removed; NULL: each can. */
void played_keep(const char *path);
void played_put(const char *path, const char *text);
bool played_has(const char *path);
const char *played_base(void);
/* The writes since the previous call, as lines of path=text.  Valid until the next call. */
const char *played_written(void);

/* Slot 3 and a box of 64 MiB, 1 MiB in /tmp, 8 MiB in its workspace, 7 processes and half a
 * processor. */
void played_open(enum limits_by);
void played_make(struct cgroup *);
