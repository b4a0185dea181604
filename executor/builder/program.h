/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - programs in boxes: functions for main.c and zygotes.c in addition to life.h. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * Reads the command line without the program's name: groups of arguments, each followed by "--".
 *
 *   runtime NAME EXTENSION PATH ARGUMENT...   without a driver; numbers from language_COUNT on
 *   python PATH                               replaces the path of runtimes.def
 *   zygote PATH MODULE,...                    numbers from 1 on
 *   container NAME PATH                       of containers.def
 *   show PATH                                 of hidden.def
 *   state PATH                                this server's own directory (host.h)
 */
int program_settings(int argc, char **argv, struct err *);
/* Returns the arguments of a runtime, terminated by NULL.  *extension NULL: it has a driver. */
const char *const *program_command(uint32_t runtime, const char **extension);

/* True if the command line names a program below this directory, or has a "show" for it. */
bool program_wants(const char *directory);

/* Called by zygotes.c: a child of a zygote ended; the zygote itself ended. */
void program_reaped_by(uint32_t zygote, pid_t, int status, const struct rusage *);
void program_zygote_ended(uint32_t zygote);
