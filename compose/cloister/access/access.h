/* SPDX-License-Identifier: Apache-2.0 */
/* access.h - shared by `cloister token` and `cloister issuer`: settings and the directory of
 * credentials. */
#pragma once

#include "common/credential/directory.h"

#include "common/table/settings.h"

struct access {
	char *run, *state, *config, *log_level; /* of every program */
#define SETTING(name, kind, ...) C_##kind name;
#include "compose/cloister/access/options.def"
};

extern struct access access_options;

enum { ACCESS_ARGUMENTS = 2 };

struct access_command {
	const char *noun, *verb;
	int arguments; /* number of arguments */
	const char *usage;
	int (*run)(char *const arguments[ACCESS_ARGUMENTS], struct err *);
};

/* The commands of both; ends with a NULL noun. */
extern const struct access_command access_commands[];

/* Opens the directory that the gateway reads; creates it if missing. This process holds an
 * exclusive lock on it until it exits. */
int access_open(struct directory *, struct err *);
/* Writes a file in it that only the gateway can read; refused if the name is a symlink. */
int access_store(
    const struct directory *, const char *name, const char *text, size_t size, struct err *);

int token_on_add(char *const arguments[ACCESS_ARGUMENTS], struct err *);
int token_on_rotate(char *const arguments[ACCESS_ARGUMENTS], struct err *);
int token_on_list(char *const arguments[ACCESS_ARGUMENTS], struct err *);
int token_on_remove(char *const arguments[ACCESS_ARGUMENTS], struct err *);
int issuer_on_fetch(char *const arguments[ACCESS_ARGUMENTS], struct err *);
