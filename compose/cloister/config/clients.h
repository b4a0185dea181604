/* SPDX-License-Identifier: Apache-2.0 */
/* clients.h - the MCP clients: where their files are, what an entry says, which command adds it. */
#pragma once

#include "common/base/err.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

struct line;

/* How the server is reached: as a program, or by HTTP if url is not NULL. */
struct reach_by {
	const char *program;
	char *const *arguments; /* of `serve`, NULL ended */
	const char *url, *token_variable;
};

struct client {
	const char *name, *title;
	bool toml;
	const char *section; /* the key that holds the servers */
	/* The user's file: below the directory that this variable names, or else below this
	 * directory of the home. */
	const char *variable, *directory, *file;
	const char *project; /* the project's file, below its directory; NULL: there is none */
	bool typed;          /* an entry says whether it is "stdio" or "http" */
	const char *token; /* how a reference to a variable begins; NULL: it has a key of its own */
	bool programs_only; /* its file cannot name a server by URL */
	/* Builds the line that adds the entry; NULL: the client has no such command. */
	void (*command)(const cJSON *entry, const struct reach_by *, bool project, struct line *);
	/* The line that removes it again; NULL if command is. */
	void (*removal)(bool project, struct line *);
	const char *hint;  /* what to try if the client's command fails */
	const char *after; /* what its user does next */
};

const struct client *clients_find(const char *name);
/* The client after that one, or the first of NULL; NULL: there is none. */
const struct client *clients_next(const struct client *);
void clients_list(FILE *);
/* The path of its file, of the current project or of the user, for free(); NULL with *e. */
char *clients_path(const struct client *, bool project, struct err *);
/* The entry of this server, for cJSON_Delete(); NULL with *e if the client cannot have one. */
cJSON *clients_entry(const struct client *, const struct reach_by *, struct err *);
/* Prints a file of this client that holds the entry and nothing else. */
void clients_print(const struct client *, const cJSON *entry, FILE *);
