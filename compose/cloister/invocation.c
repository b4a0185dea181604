/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invocation.c - what a program is started with.
 *
 * The user is trusted.  Standard input is read to its end before the program starts, because the
 * tool takes it as a whole.  A terminal and a device are not read.
 */
#include "compose/cloister/invocation.h"

#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/codec/base64.h"
#include "common/table/schema.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	INPUT_BYTES = 1 << 20, /* of schema.def */
	HURRY_MS = 2000,
};

json_t *
invocation_arguments(const struct command *c, int *argc, char **argv, struct err *e)
{
	json_t *arguments = json_array();
	int first = words_of_program(c, *argc, argv), i = first;

	must(arguments != NULL);
	if (i < *argc && strcmp(argv[i], "--") == 0)
		i++;
	for (; i < *argc; i++)
		if (json_array_append_new(arguments, json_string(argv[i])) < 0) {
			err_set(e, ERR_invalid_argument, "an argument is not UTF-8");
			json_decref(arguments);
			return NULL;
		}
	argv[first] = NULL;
	*argc = first;
	return arguments;
}

static bool
is_input(void)
{
	struct stat st;

	return fstat(STDIN_FILENO, &st) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static int
set_input(json_t *of_tool, struct err *e)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	struct blob input = { 0 };

	if (poll(&fd, 1, HURRY_MS) == 0)
		fputs("cloister: waiting for the end of stdin; </dev/null gives the program none\n",
		    stderr);

	int status = words_load(STDIN_FILENO, INPUT_BYTES, &input, e);

	if (status < 0) {
		err_add(e, "stdin");
	} else if (input.size > 0) {
		auto_free char *text = malloc(base64_room(input.size));

		must(text != NULL);
		base64_write(text, input.data, input.size);
		json_object_set_new(of_tool, "stdin_base64", json_string(text));
	}
	blob_clear(&input);
	return status;
}

int
invocation_set(json_t *of_tool, json_t *arguments, bool program_is_stdin, struct err *e)
{
	if (json_array_size(arguments) > 0)
		json_object_set(of_tool, "arguments", arguments);
	/* Statements of a session share one standard input, which is empty. */
	bool reads = !program_is_stdin && json_object_get(of_tool, "session_id") == NULL;

	return reads && is_input() ? set_input(of_tool, e) : 0;
}
