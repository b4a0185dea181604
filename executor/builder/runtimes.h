/* SPDX-License-Identifier: Apache-2.0 */
/* runtimes.h - the table of programs that execute code: those of runtimes.def, and those of the
 * settings. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RUNTIMES_MAX_ARGS = 16,
};

/* Adds one without a driver: its name, its extension, and the command.  Numbers begin with
 * language_COUNT.  Keeps the pointers. */
int runtimes_add(const char *const *args, size_t n, struct err *);
/* Adds an interpreter of Python, that of an environment; the first replaces the path of
 * runtimes.def.  Keeps the pointer. */
int runtimes_add_python(const char *path, struct err *);
/* The same for an interpreter of an image, whose files are in that directory of the host. */
int runtimes_add_image(const char *path, const char *directory, struct err *);
/* The directory with the files of the environment's image; NULL: it has none. */
const char *runtimes_image(uint32_t environment);
/* NULL: there is no such environment. */
const char *runtimes_python(uint32_t environment);
/* From now on runtimes_check() gives this reason for python. */
void runtimes_refuse_python(uint32_t environment, const struct err *why);
bool runtimes_have(uint32_t number);
/* Fails with runtime_missing if the host does not have its program. */
int runtimes_check(uint32_t number, uint32_t environment, struct err *);
/* Returns the command of at most RUNTIMES_MAX_ARGS words, terminated by NULL.  *extension NULL: it
 * has a driver. */
const char *const *runtimes_command(uint32_t number, uint32_t environment, const char **extension);
/* Returns the "NAME=value" that its program finds in its environment, or NULL. */
const char *runtimes_variable(uint32_t number);
/* True if a command names a file below this directory. */
bool runtimes_name(const char *directory);
