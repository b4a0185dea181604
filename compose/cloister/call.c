/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - calls one tool and prints the result, as text or JSON.
 *
 * The daemons keep the state (sessions, limits, records), so a call sees what other clients of this
 * user in the same namespace did. If no daemons run, the call starts them and says so, because
 * then there is little to see.
 */
#include "compose/cloister/call.h"

#include "compose/cloister/argument.h"
#include "compose/cloister/client.h"
#include "compose/cloister/nearest.h"
#include "compose/cloister/place.h"
#include "compose/cloister/reach.h"
#include "compose/cloister/show.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TOOL_FAILED = 1 };

struct order {
	const struct command *command;
	const char *tool;
	struct words words;
	bool quiet;
};

/* ---- the daemons ---- */

/* A copy, because place_split() changes the line. */
static void
locate(int argc, char **argv)
{
	auto_free char **copy = calloc((size_t)argc + 1, sizeof(*copy));

	must(copy != NULL);
	memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	place_split("call", argc, copy);
}

static void
note_stopped(int argc, char **argv)
{
	struct err e;

	locate(argc, argv);

	auto_free char *status = reach_status(&e);

	if (status == NULL && !reach_daemons_run())
		fputs("cloister: the daemons were not running and start now; variables of "
		      "sessions and limits of an earlier start are gone\n",
		    stderr);
}

/* ---- the result ---- */

/* The value of a refused call: {"error": {...}}. */
static const json_t *
problem_of(const json_t *value)
{
	const json_t *problem = json_object_get(value, "error");

	return json_object_size(value) == 1 && json_is_object(problem) ? problem : NULL;
}

/* test: "object.member", which is false if the call worked and the outcome is bad. */
static bool
passes(const json_t *value, const char *test)
{
	char object[32];

	if (test == NULL)
		return true;
	snprintf(object, sizeof object, "%.*s", (int)strcspn(test, "."), test);
	value = json_object_get(json_object_get(value, object), strchr(test, '.') + 1);
	return !json_is_false(value);
}

/* The part of a result that was asked for: what a run gave, or all. */
static void
print_value(const json_t *value)
{
	const json_t *result = json_object_get(value, "result"),
		     *output = json_object_get(value, "stdout");
	const json_t *shown = result != NULL && !json_is_null(result) ? result
	                      : output != NULL                        ? output
	                                                              : value;

	if (!json_is_string(shown)) {
		json_dumpf(shown, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
		putchar('\n');
		return;
	}
	fwrite(json_string_value(shown), 1, json_string_length(shown), stdout);
	if (shown != output)
		putchar('\n');
}

static int
conclude(const json_t *reply, const json_t *value, const struct order *o)
{
	bool failed = json_is_true(json_object_get(json_object_get(reply, "result"), "isError"));

	if (o->words.as_json) {
		json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
		putchar('\n');
	} else if (failed && problem_of(value) != NULL) {
		show_problem(problem_of(value));
	} else if (o->quiet) {
		print_value(value);
	} else {
		show_value(value, o->command->show);
		show_removed(value);
	}
	return failed || !passes(value, o->command->test) ? TOOL_FAILED : 0;
}

static void
list_tools(void)
{
	fputs("cloister: the tools are", stderr);
	for (size_t id = 1; id < MSG_COUNT; id++)
		if (messages[id].title != NULL)
			fprintf(stderr, " %s", messages[id].name);
	fputc('\n', stderr);
}

/* A tool of another server is not in schema.def, so only the gateway can refuse a name. */
static void
suggest(const char *tool)
{
	struct nearest near = { .wanted = tool };

	for (size_t id = 1; id < MSG_COUNT; id++)
		if (messages[id].title != NULL)
			nearest_offer(&near, messages[id].name);
	if (near.name != NULL && near.distance > 0)
		fprintf(stderr, "cloister: did you mean '%s'?\n", near.name);
	if (near.name == NULL || near.distance > 0)
		list_tools();
}

static int
call(const struct order *o, int argc, char **argv)
{
	const struct client_call asked = {
		.tool = o->tool, .arguments = o->words.arguments, .argc = argc, .argv = argv
	};
	struct err e;
	int status;

	note_stopped(argc, argv);

	json_t *reply = client_ask(&asked, &status, &e);
	json_t *value = reply == NULL ? NULL : client_value(reply);

	if (reply == NULL)
		fprintf(stderr, "cloister: %s\n", e.text);
	else if (value != NULL)
		status = conclude(reply, value, o);
	else {
		show_problem(json_object_get(reply, "error"));
		suggest(o->tool);
		status = TOOL_FAILED;
	}
	json_decref(value);
	json_decref(reply);
	return status;
}

int
call_command(const struct command *c, int argc, char **argv)
{
	struct order o = { .command = c, .tool = c->tool };
	struct err e;

	if (words_help(c, argc, argv))
		return 0;
	if (words_read(c, &argc, argv, &o.words, &e) < 0)
		return words_fail(c, &e);

	int status = call(&o, argc, argv);

	json_decref(o.words.arguments);
	return status;
}

/* ---- any tool ---- */

static int
add_object(json_t *arguments, json_t *object, struct err *e)
{
	int status = json_is_object(object) ? json_object_update(arguments, object) : -1;

	json_decref(object);
	return status == 0 ? 0 : err_set(e, ERR_invalid_argument, "not a JSON object");
}

static int
add_argument(json_t *arguments, const char *tool, char *text, struct err *e)
{
	char *value = strchr(text, '=');

	if (strcmp(text, "-") == 0)
		return add_object(arguments, json_loadf(stdin, JSON_ALLOW_NUL, NULL), e);
	if (text[0] == '{')
		return add_object(arguments, json_loads(text, JSON_ALLOW_NUL, NULL), e);
	if (value == NULL)
		return err_set(e, ERR_invalid_argument,
		    "'%.64s' is neither NAME=VALUE nor a JSON object", text);
	*value = '\0';
	return argument_set(arguments, message_find(tool), text, value + 1, e);
}

/* Removes the tool and its arguments from the command line; the rest are settings. */
static int
read_call(struct order *o, int *argc, char **argv, struct err *e)
{
	int rest = 1;

	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			o->words.as_json = true;
		else if (strcmp(argv[i], "--quiet") == 0)
			o->quiet = true;
		else if (argv[i][0] == '-' && argv[i][1] == '-')
			argv[rest++] = argv[i];
		else if (o->tool == NULL)
			o->tool = argv[i];
		else if (add_argument(o->words.arguments, o->tool, argv[i], e) < 0)
			return -1;
	}
	argv[rest] = NULL;
	*argc = rest;
	return o->tool != NULL ? 0 : err_set(e, ERR_invalid_argument, "TOOL required");
}

/* `call TOOL --help`: prints the help of a tool of this server. */
static bool
help_of_tool(int argc, char **argv)
{
	enum msg_id tool = MSG_none;
	bool asked = false;

	for (int i = 1; i < argc; i++) {
		asked |= strcmp(argv[i], "--help") == 0;
		if (tool == MSG_none && argv[i][0] != '-')
			tool = message_find(argv[i]);
	}
	if (asked && tool != MSG_none && messages[tool].title != NULL)
		argument_help(tool, stdout);
	return asked && tool != MSG_none && messages[tool].title != NULL;
}

int
call_any(int argc, char **argv)
{
	struct order o = { .command = &commands[COMMAND_call] };
	struct err e;
	int status;

	if (help_of_tool(argc, argv) || words_help(o.command, argc, argv))
		return 0;
	o.words.arguments = json_object();
	must(o.words.arguments != NULL);
	if (read_call(&o, &argc, argv, &e) < 0)
		status = words_fail(o.command, &e);
	else
		status = call(&o, argc, argv);
	json_decref(o.words.arguments);
	return status;
}
