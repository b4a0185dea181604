/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - reads a command line by the parts of its command. */
#pragma once

#include "compose/cloister/commands.h"

#include "common/base/blob.h"

#include <jansson.h>

struct words {
	json_t *arguments; /* of the tool */
	bool as_json;
};

/*
 * Removes from the command line what the parts describe; the rest are settings of cloister serve.
 * An optional value `default` is the same as none. The caller owns out->arguments.
 * -1: *e; invalid_argument if the command line is wrong.
 */
int words_read(const struct command *, int *argc, char **argv, struct words *out, struct err *e);
/*
 * The index of the first word that belongs to the program that the command runs: behind its FILE,
 * the first that is no flag of the command, or "--". argc: there is none.
 */
int words_of_program(const struct command *, int argc, char **argv);
/* The id that tools take: of a short name NAME "name:NAME"; ids stay. */
enum { WORDS_SESSION = 80 };
int words_session(const char *given, char session[WORDS_SESSION], struct err *e);
/* Removes --flag=VALUE or --flag VALUE from the command line, if it is there; *value is NULL if
 * not. */
int words_take(int *argc, char **argv, const char *flag, const char **value, struct err *e);
/* Reads a descriptor to its end; code_too_large if there are more bytes. */
int words_load(int fd, size_t most, struct blob *content, struct err *e);
/* Prints *e, and for a wrong command line the usage; returns the exit code. */
int words_fail(const struct command *, const struct err *e);
/* Prints the help and returns true if one of the arguments is --help. */
bool words_help(const struct command *, int argc, char **argv);
