/* SPDX-License-Identifier: Apache-2.0 */
/* clients.h - programs that can be told of this server: where their files are, and what they say.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct client {
	const char *name, *title;
	bool toml;
	bool comments;       /* its JSON may have comments, and commas before a closing bracket */
	const char *section; /* what the servers stand in */
	/* Its user's file: below the folder that this variable names, or else below this one of the
	 * home. */
	const char *variable, *folder, *file;
	const char *project; /* that of a project, below its folder; NULL: it has none */
	bool typed;          /* an entry says whether it is "stdio" or "http" */
	const char *token;  /* what a variable's name in a header begins with; NULL: it has a key */
	bool programs_only; /* its file cannot name a server by URL */
	const char *after;  /* what its user does next */
};

/* How the server is reached: as a program, or by HTTP where url is not NULL. */
struct reach_by {
	const char *program;
	char *const *arguments; /* of `serve`, NULL ended */
	const char *url, *token_variable;
};

const struct client *clients_find(const char *name);
void clients_list(FILE *);
/* The path of its file, of malloc; in the folder of the project that is the current one, or of its
 * user.  NULL with *e. */
char *clients_path(const struct client *, bool project, struct err *);
/* What the file says of this server; NULL with *e: the client cannot be told so. */
json_t *clients_entry(const struct client *, const struct reach_by *, struct err *);
