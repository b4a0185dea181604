/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - an MCP client of one call: starts `cloister serve`, and calls one tool or reads one
 * resource. */
#pragma once

#include "common/base/err.h"

#include <jansson.h>

#include <stdbool.h>

/* 125 is the same as in docker run: the command failed, not the program. */
enum { CLIENT_FAILED = 125, CLIENT_USAGE = 2 };

/* Text of the running program, as it arrives.  gap: text of the channel was left out before it. */
typedef void client_progress(void *state, const char *channel, bool gap, const json_t *text);

struct client_call {
	const char *tool;
	const char *uri;           /* of a resource, in place of the tool; NULL: none */
	json_t *arguments;         /* borrowed */
	client_progress *progress; /* NULL: not asked for */
	void *state;
	int argc; /* settings of cloister serve, from argv[1] on */
	char **argv;
};

/*
 * Returns the JSON-RPC reply, which the caller owns. NULL: *e, and *status is the exit code of the
 * command: CLIENT_USAGE if the server refused its settings, otherwise CLIENT_FAILED.
 */
json_t *client_ask(const struct client_call *, int *status, struct err *e);
/*
 * The value in the reply's result: structured content, or the JSON or else the text of its first
 * block, or the text of a resource. The caller owns it. NULL: the reply is an error.
 */
json_t *client_value(const json_t *reply);
