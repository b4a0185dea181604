/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - calls execute_code and exits as the program did. */
#include "compose/cloister/run.h"

#include "compose/cloister/client.h"
#include "compose/cloister/invocation.h"
#include "compose/cloister/made.h"
#include "compose/cloister/output.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The same as docker run and timeout(1). */
enum {
	EXIT_TIMEOUT = 124,
	EXIT_SIGNAL = 128,
};

/* ---- the result ---- */

static int
signal_number(const char *name)
{
	for (int n = 1; n < NSIG; n++) {
		const char *known = sigabbrev_np(n);

		if (known != NULL && strncmp(name, "SIG", 3) == 0 && strcmp(known, name + 3) == 0)
			return n;
	}
	return 0;
}

static int
exit_code(const json_t *run)
{
	const char *name = json_string_value(json_object_get(run, "signal"));
	const json_t *code = json_object_get(run, "exit_code");

	if (json_is_true(json_object_get(run, "timed_out")))
		return EXIT_TIMEOUT;
	if (name != NULL)
		return EXIT_SIGNAL + signal_number(name);
	if (!json_is_integer(code) || json_integer_value(code) < 0)
		return CLIENT_FAILED;
	return (int)json_integer_value(code);
}

static int
conclude(const json_t *reply, const struct output *output, const struct made *made, bool as_json)
{
	const json_t *error = json_object_get(reply, "error");
	json_t *run = client_value(reply);

	if (!json_is_object(run)) {
		json_decref(run);
		fprintf(stderr, "cloister: %s\n",
		    json_string_value(json_object_get(error, "message")) ?: "no result");
		return CLIENT_FAILED;
	}
	if (as_json) {
		json_dumpf(run, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		output_rest(output, run);
		output_problem(json_object_get(run, "error"));
	}

	/* A program's own exit code says more than a file that could not be kept. */
	bool kept = (as_json && made->directory == NULL) || made_end(made, reply, run) == 0;
	int code = exit_code(run);

	if (code == 0 && !kept)
		code = CLIENT_FAILED;

	json_decref(run);
	return code;
}

/* ---- the command ---- */

static int
run_code(const struct words *words, struct made *made)
{
	struct output output = output_begin();
	const struct client_call call = { .tool = commands[COMMAND_run].tool,
		.arguments = words->arguments,
		.progress = words->as_json ? NULL : output_progress,
		.state = &output,
		.argc = made->transfer.argc,
		.argv = made->transfer.argv };
	struct err e;
	int status = CLIENT_FAILED;
	json_t *reply =
	    made_begin(made, words->arguments, &e) < 0 ? NULL : client_ask(&call, &status, &e);

	if (reply == NULL)
		fprintf(stderr, "cloister: %s\n", e.text);
	else
		status = conclude(reply, &output, made, words->as_json);
	json_decref(reply);
	output_end(&output);
	return status;
}

static bool
reads_program(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "-") == 0 || strcmp(argv[i], "/dev/stdin") == 0)
			return true;
	return false;
}

static int
run_words(const struct command *command, int argc, char **argv, json_t *arguments)
{
	const bool by_stdin = reads_program(argc, argv);
	struct words words;
	struct made made = { 0 };
	struct err e;

	if (words_take(&argc, argv, "--out", &made.directory, &e) < 0)
		return words_fail(command, &e);
	if (words_read(command, &argc, argv, &words, &e) < 0)
		return words_fail(command, &e);

	made.transfer = (struct transfer){ argc, argv };

	int status = invocation_set(words.arguments, arguments, by_stdin, &e) < 0
	                 ? words_fail(command, &e)
	                 : run_code(&words, &made);

	json_decref(words.arguments);
	return status;
}

int
run_file(int argc, char **argv)
{
	const struct command *command = &commands[COMMAND_run];
	struct err e;
	json_t *arguments = invocation_arguments(command, &argc, argv, &e);

	if (arguments == NULL)
		return words_fail(command, &e);

	int status =
	    words_help(command, argc, argv) ? 0 : run_words(command, argc, argv, arguments);

	json_decref(arguments);
	return status;
}
