/* SPDX-License-Identifier: Apache-2.0 */
/* settings_table.h - the rows of a program's settings, and how they are printed. */
#pragma once

#include "common/table/setting.h"

#include <stddef.h>
#include <stdio.h>

enum { SETTINGS_NAME = 128 };

struct settings_table {
	const char *daemon;
	const struct setting *table[2]; /* common, own */
};

/* Row i of both tables in sequence; NULL after the last one. */
const struct setting *settings_table_row(const struct settings_table *, size_t i);
/* "CLOISTER_EXECUTOR_"; returns its length. */
size_t settings_table_prefix(const char *daemon, char out[SETTINGS_NAME]);

/* --help on stdout. */
void settings_print_help(const struct settings_table *, const char *summary);
/* All values as a section of YAML, without config. */
void settings_print_all(const struct settings_table *, FILE *to);
/* One line of it. */
void settings_print_row(const struct setting *, FILE *to);
