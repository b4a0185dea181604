/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - a command line: built argument by argument, shown, and run without a shell. */
#pragma once

#include "common/base/err.h"

#include <stddef.h>
#include <stdio.h>

/* One string after the other, each with its zero byte; all zero: no argument yet. */
struct line {
	char *text;
	size_t size;
};

void line_add(struct line *, const char *argument);
/* Prints it so that a POSIX shell reads the same arguments; no newline. */
void line_print(const struct line *, FILE *);
/* Runs the program, found in PATH, with this process's input and output, and waits for it.  -1 with
 * not_found if it is not in PATH, unavailable if it cannot be started or does not exit with 0. */
int line_run(const struct line *, struct err *);
void line_clear(struct line *);
