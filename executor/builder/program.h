/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - programs in boxes; what main.c and zygotes.c need beside life.h. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * The command line, without the program's name: groups of arguments, each with "--" behind it.
 *
 *   runtime NAME EXTENSION PATH ARGUMENT...   one without a driver; numbers from language_COUNT on
 *   python PATH                               instead of that of runtimes.def
 *   zygote PATH MODULE,...                    numbers from 1 on
 *   container NAME PATH                       of containers.def
 *   show PATH                                 of hidden.def
 *   state PATH                                a directory of this server alone (host.h)
 */
int program_settings(int argc, char **argv, struct err *);
/* The arguments of a runtime, NULL at the end; *extension NULL: it has a driver. */
const char *const *program_command(uint32_t runtime, const char **extension);

/* Does it want to see what lies below this directory? */
bool program_wants(const char *directory);

/* From a zygote: a child of it ended; it ended itself. */
void program_reaped_by(uint32_t zygote, pid_t, int status, const struct rusage *);
void program_zygote_ended(uint32_t zygote);
