/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - commands.def as data. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdio.h>

enum part_kind {
	PART_NEEDED,
	PART_OPTIONAL,
	PART_FILE,
	PART_CODE,
	PART_INPUT,
	PART_SESSION,
	PART_MANY,
	PART_SECRET,
	PART_SWITCH,
	PART_CHOICE,
	PART_SET,
	PART_OTHER,
};

struct part {
	const char *name; /* NULL: the end of the parts */
	enum part_kind kind;
	const char *value, *to, *doc;
};

struct command {
	const char *words, *tool, *show, *test;
	const struct part *parts;
	const char *doc;
};

/* clang-format off */
enum command_id {
#define COMMAND(id, ...) COMMAND_##id,
#define PART(...)
#define END(id)
#define ABSENT(...)
#include "compose/cloister/commands.def"
	COMMAND_COUNT
};
/* clang-format on */

extern const struct command commands[COMMAND_COUNT];

/*
 * The command that the words after the program's name form, and the number of these words. NULL:
 * *e says why, and names the nearest command or what replaces the word.
 */
const struct command *commands_find(int argc, char **argv, int *nwords, struct err *e);
/* Is it a flag, not a positional argument? */
bool commands_is_flag(const struct part *);
/* Is it the first row of its name? A flag with several choices has one row for each. */
bool commands_is_first(const struct command *, const struct part *);
/* "session kill --id=SESSION [--json]" */
void commands_print_usage(const struct command *, FILE *);
/* The usage and the doc of the command and of each part. */
void commands_print_help(const struct command *, FILE *);
