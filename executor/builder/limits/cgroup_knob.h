/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_knob.h - writes and reads a control file, which is named below a directory. */
#pragma once

#include <stddef.h>

/* -1 with errno: there is no such file, or the kernel refuses the text. */
int cgroup_knob_write(int directory, const char *path, const char *text);
/* The text ends with a zero byte; what does not fit is left out.  -1 with errno. */
int cgroup_knob_read(int directory, const char *path, char *text, size_t size);
/* Writes the text and reads it back.  -1 with errno; errno 0: the file contains another text. */
int cgroup_knob_set(int directory, const char *path, const char *text);
