/* SPDX-License-Identifier: Apache-2.0 */
/* access.h - what `cloister token` and `cloister issuer` share: settings, and the folder. */
#pragma once

#include "common/credential/folder.h"

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
	int arguments; /* that it wants */
	const char *usage;
	int (*run)(char *const arguments[ACCESS_ARGUMENTS], struct err *);
};

/* Of both; ends with a NULL noun. */
extern const struct access_command access_commands[];

/* The folder that the gateway reads, made if need be, and held by this process alone until it ends.
 */
int access_open(struct folder *, struct err *);
/* A file there, for the gateway to read and nobody else; refused where its name is a link. */
int access_store(
    const struct folder *, const char *name, const char *text, size_t size, struct err *);

int token_on_add(char *const arguments[ACCESS_ARGUMENTS], struct err *);
int token_on_list(char *const arguments[ACCESS_ARGUMENTS], struct err *);
int token_on_remove(char *const arguments[ACCESS_ARGUMENTS], struct err *);
int issuer_on_fetch(char *const arguments[ACCESS_ARGUMENTS], struct err *);
