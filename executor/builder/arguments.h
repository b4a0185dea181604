/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - the builder's command line, which the executor writes from its settings. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/*
 * Reads the command line without the program's name: groups of arguments, each followed by "--".
 *
 *   runtime NAME EXTENSION PATH ARGUMENT...   without a driver; numbers from language_COUNT on
 *   python PATH                               replaces the path of runtimes.def
 *   zygote PATH MODULE,...                    numbers from 1 on
 *   container NAME PATH                       of containers.def
 *   show PATH                                 of hidden.def
 *   state PATH                                this server's own directory (host.h)
 *   cgroup own                                cgroup_take_own()
 *   require LAYERS                            launcher_require(); bits, in hexadecimal
 *   loopback                                  boxes have a loopback and may make sockets
 *   ca PATH                                   the operator's certificates (trust.h)
 */
int arguments_read(int argc, char **argv, struct err *);
/* True if the command line names a program below this directory, or has a "show" for it. */
bool arguments_show(const char *directory);
/* True if the command line has "loopback". */
bool arguments_loopback(void);
/* The path behind "ca"; NULL: none. */
const char *arguments_ca(void);
