/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - calls execute_code and prints what the program printed.
 *
 * Output is printed as it arrives in progress notifications.  These may omit some of it: from the
 * first gap on, the output is printed from the result, so that nothing is lost or printed twice.
 */
#include "compose/cloister/run.h"

#include "compose/cloister/client.h"
#include "compose/cloister/invocation.h"
#include "compose/cloister/made.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The same as docker run and timeout(1). */
enum {
	EXIT_TIMEOUT = 124,
	EXIT_SIGNAL = 128,
};

struct stream {
	const char *name;
	FILE *to;
	char *shown; /* printed before the result arrived */
	size_t size;
	bool held; /* behind a gap: the rest is printed from the result */
};

struct shown {
	struct stream streams[2];
};

static void
print(FILE *to, const char *text, size_t size)
{
	fwrite(text, 1, size, to);
	fflush(to);
}

static void
remember(struct stream *stream, const char *text, size_t size)
{
	stream->shown = realloc(stream->shown, stream->size + size + 1);
	must(stream->shown != NULL);
	memcpy(stream->shown + stream->size, text, size);
	stream->size += size;
}

/* Bytes before the mark that the executor writes where a program printed too fast.  A program that
 * prints such a mark delays its own output. */
static size_t
before_gap(const char *text, size_t size)
{
	const char *mark = memmem(text, size, "\n[... ", strlen("\n[... "));

	return mark != NULL && memmem(mark, size - (size_t)(mark - text), "too fast", 8) != NULL
	           ? (size_t)(mark - text)
	           : size;
}

/* Prints output as it arrives, up to the first gap. */
static void
show_progress(void *state, const char *channel, bool gap, const json_t *text)
{
	struct shown *shown = state;
	const char *bytes = json_string_value(text);
	size_t whole = json_string_length(text), size = before_gap(bytes, whole);

	for (size_t i = 0; i < COUNT(shown->streams); i++) {
		struct stream *stream = &shown->streams[i];

		if (strcmp(stream->name, channel) != 0)
			continue;
		stream->held |= gap;
		if (stream->held)
			return;
		stream->held = size < whole;
		print(stream->to, bytes, size);
		remember(stream, bytes, size);
	}
}

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

static void
print_problem(const json_t *error)
{
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *hint = json_string_value(json_object_get(error, "hint"));

	/* The program's own description of its failure is in its stderr. */
	if (code == NULL || strcmp(code, "program_failed") == 0)
		return;
	fprintf(stderr, "cloister: %s: %s\n", code,
	    json_string_value(json_object_get(error, "message")) ?: "");
	if (hint != NULL)
		fprintf(stderr, "cloister: %s\n", hint);
}

/* Prints the part that was not shown yet.  The whole lacks its middle if there was too much. */
static void
print_rest(const struct stream *stream, const char *whole, size_t size)
{
	size_t same = 0;

	while (same < size && same < stream->size && whole[same] == stream->shown[same])
		same++;
	print(stream->to, whole + same, size - same);
}

static void
print_output(const json_t *run, const struct shown *shown)
{
	for (size_t i = 0; i < COUNT(shown->streams); i++) {
		const json_t *whole = json_object_get(run, shown->streams[i].name);

		if (whole != NULL)
			print_rest(&shown->streams[i], json_string_value(whole),
			    json_string_length(whole));
	}
}

static int
conclude(const json_t *reply, const struct shown *shown, const struct made *made, bool as_json)
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
		print_output(run, shown);
		print_problem(json_object_get(run, "error"));
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
	struct shown shown = { { { .name = "stdout", .to = stdout },
	    { .name = "stderr", .to = stderr } } };
	const struct client_call call = { .tool = commands[COMMAND_run].tool,
		.arguments = words->arguments,
		.progress = words->as_json ? NULL : show_progress,
		.state = &shown,
		.argc = made->transfer.argc,
		.argv = made->transfer.argv };
	struct err e;
	int status = CLIENT_FAILED;
	json_t *reply =
	    made_begin(made, words->arguments, &e) < 0 ? NULL : client_ask(&call, &status, &e);

	if (reply == NULL)
		fprintf(stderr, "cloister: %s\n", e.text);
	else
		status = conclude(reply, &shown, made, words->as_json);
	json_decref(reply);
	for (size_t i = 0; i < COUNT(shown.streams); i++)
		free(shown.streams[i].shown);
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
