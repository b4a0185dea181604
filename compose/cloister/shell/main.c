/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cloister-shell - `cloister shell`: a prompt whose statements run in a session.
 *
 * Each statement is a call of its own, so nothing but the session connects them.  Ctrl-C reaches
 * the server of the call, too, which ends and so stops the statement; the session's variables stay.
 */
#include "compose/cloister/client.h"
#include "compose/cloister/made.h"
#include "compose/cloister/output.h"
#include "compose/cloister/place.h"
#include "compose/cloister/shell/prompt.h"
#include "compose/cloister/shell/unfinished.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/table/schema.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	AGAIN_MS = 200,
	AGAIN = 25,
};

static const char usage[] =
    "usage: cloister shell [--language=NAME] [--namespace=NAME] [SESSION]\n"
    "A prompt whose statements run in a session: your session of this name, which is made if\n"
    "needed, of this id, or a new one that ends with the prompt. Ctrl-C stops a statement, Ctrl-D\n"
    "or `exit` ends. Files and pictures that a statement makes are named; pictures without a file\n"
    "are saved here. Lines that begin with a percent sign are for the prompt: %help lists them.\n"
    "Other flags are settings of `cloister serve`.\n";

static const char help[] = "%language NAME  python, node or shell, for what follows\n"
			   "%help           this\n"
			   "exit, Ctrl-D    end\n";

struct shell {
	struct transfer transfer;
	char session[WORDS_SESSION];
	const char *language, *namespace;
	bool own; /* the session was made for this prompt */
	struct texts names;
	struct prompt *prompt;
	bool interrupted; /* the last statement was */
	char *text;       /* the statement so far */
	size_t size;
};

/* ---- the session ---- */

static int
open_session(struct shell *s, const char *given, struct err *e)
{
	json_t *made;

	if (given != NULL)
		return words_session(given, s->session, e);
	made = transfer_call(&s->transfer, "create_session",
	    json_pack("{s:s*, s:s*}", "language", s->language, "namespace", s->namespace), e);
	if (made == NULL)
		return -1;
	snprintf(s->session, sizeof s->session, "%s",
	    json_string_value(json_object_get(made, "session_id")) ?: "");
	json_decref(made);
	s->own = true;
	return 0;
}

static void
close_session(const struct shell *s)
{
	struct err e;

	if (s->own)
		json_decref(transfer_call(&s->transfer, "terminate_session",
		    json_pack("{s:s}", "session_id", s->session), &e));
}

/* ---- a statement ---- */

static void
print_result(const json_t *run)
{
	const json_t *result = json_object_get(run, "result");

	if (result == NULL || json_is_null(result))
		return;

	auto_free char *text = json_dumps(result, JSON_ENCODE_ANY | JSON_COMPACT);

	must(text != NULL);
	utf8_tame(text);
	puts(text);
}

static void
keep_names(struct shell *s, const json_t *run)
{
	const json_t *names = json_object_get(run, "variables"), *name;
	size_t i;

	json_array_foreach(names, i, name)
	{
		bool known = false;

		for (size_t k = 0; k < s->names.count; k++)
			known |= strcmp(s->names.items[k], json_string_value(name) ?: "") == 0;
		if (!known && json_string_value(name) != NULL)
			must(texts_add(&s->names, json_string_value(name)) == 0);
	}
}

static void
show_notes(const json_t *run)
{
	const json_t *notes = json_object_get(run, "notes"), *note;
	size_t i;

	json_array_foreach(notes, i, note)
	    fprintf(stderr, "cloister: %s\n", json_string_value(note) ?: "");
}

static void
conclude(struct shell *s, const json_t *reply, const struct output *output)
{
	struct made made = { .transfer = s->transfer, .in_session = true, .pictures = "." };
	json_t *run = client_value(reply);

	if (json_is_object(run)) {
		output_rest(output, run);
		output_problem(json_object_get(run, "error"));
		print_result(run);
		show_notes(run);
		keep_names(s, run);
		made_end(&made, reply, run);
	} else {
		fprintf(stderr, "cloister: %s\n",
		    json_string_value(json_object_get(json_object_get(reply, "error"), "message"))
			?: "no result");
	}
	json_decref(run);
}

static bool
is_busy(const json_t *reply)
{
	json_t *run = client_value(reply);
	const char *code =
	    json_string_value(json_object_get(json_object_get(run, "error"), "code"));
	bool busy = code != NULL && strcmp(code, "session_busy") == 0;

	json_decref(run);
	return busy;
}

/* A statement that was interrupted may take a moment to end. */
static json_t *
ask(struct shell *s, const struct client_call *call, struct err *e)
{
	const struct timespec pause = { 0, AGAIN_MS * 1000000L };
	int status;
	json_t *reply = client_ask(call, &status, e);

	for (int i = 0; s->interrupted && i < AGAIN && reply != NULL && is_busy(reply); i++) {
		json_decref(reply);
		nanosleep(&pause, NULL);
		reply = client_ask(call, &status, e);
	}
	s->interrupted = prompt_was_interrupted() && reply == NULL;
	return reply;
}

static void
run_statement(struct shell *s)
{
	struct output output = output_begin();
	json_t *arguments = json_pack("{s:s, s:s, s:s*, s:s*}", "code", s->text, "session_id",
	    s->session, "language", s->language, "namespace", s->namespace);
	const struct client_call call = { .tool = "execute_code",
		.arguments = arguments,
		.progress = output_progress,
		.state = &output,
		.argc = s->transfer.argc,
		.argv = s->transfer.argv };
	struct err e = { 0 };
	json_t *reply = arguments == NULL ? NULL : ask(s, &call, &e);

	if (reply != NULL)
		conclude(s, reply, &output);
	else if (s->interrupted)
		fputs("cloister: interrupted\n", stderr);
	else
		fprintf(stderr, "cloister: %s\n", arguments == NULL ? "that is not UTF-8" : e.text);
	json_decref(reply);
	json_decref(arguments);
	output_end(&output);
}

/* ---- lines ---- */

static int
language_of(const struct shell *s)
{
	const char *name = s->language != NULL ? s->language : "python";
	int language = word_parse(SET_language, name, strlen(name));

	return language < 0 ? language_python : language;
}

static void
add_line(struct shell *s, const char *line)
{
	size_t size = strlen(line);

	s->text = realloc(s->text, s->size + size + 2);
	must(s->text != NULL);
	memcpy(s->text + s->size, line, size + 1);
	s->size += size;
	if (size == 0 || line[size - 1] != '\n')
		s->text[s->size++] = '\n', s->text[s->size] = '\0';
}

static void
set_language(struct shell *s, const char *name)
{
	int language = word_parse(SET_language, name, strlen(name));

	if (language < 0)
		fputs("cloister: %language: python, node or shell\n", stderr);
	else
		s->language = word_text(SET_language, language);
}

/* true: the line was for the prompt. */
static bool
obey(struct shell *s, char *line)
{
	static const char language[] = "%language ";

	line[strcspn(line, "\n")] = '\0';
	if (strcmp(line, "%help") == 0)
		fputs(help, stdout);
	else if (strncmp(line, language, sizeof language - 1) == 0)
		set_language(s, line + sizeof language - 1);
	else
		return false;
	return true;
}

static bool
is_blank(const char *text)
{
	return text[strspn(text, " \t\n")] == '\0';
}

/* The statement is whole. */
static void
finish_statement(struct shell *s)
{
	auto_free char *line = strdup(s->text);

	must(line != NULL);
	if (!is_blank(s->text)) {
		prompt_remember(s->prompt, s->text);
		if (!obey(s, line))
			run_statement(s);
	}
	s->size = 0;
}

static bool
ends(const struct shell *s, const char *line)
{
	return s->size == 0 && (strcmp(line, "exit\n") == 0 || strcmp(line, "exit()\n") == 0 ||
				   strcmp(line, "quit\n") == 0 || strcmp(line, "quit()\n") == 0);
}

static const char *
prompt_of(const struct shell *s)
{
	static const char *const prompts[] = {
		[language_python] = ">>>",
		[language_node] = "js>",
		[language_shell] = "$",
	};

	return prompts[language_of(s)];
}

static void
converse(struct shell *s)
{
	for (;;) {
		const char *line = NULL;
		char text[32];

		snprintf(text, sizeof text, "%s ", s->size > 0 ? "..." : prompt_of(s));

		enum prompt_end end = prompt_read(s->prompt, text, &line);

		if (end == PROMPT_INTERRUPTED) {
			s->size = 0;
			continue;
		}
		if (end == PROMPT_END || ends(s, line))
			break;
		add_line(s, line);
		if (!unfinished(language_of(s), s->text))
			finish_statement(s);
	}
	/* What was begun at the end of a file is a statement. */
	if (s->size > 0)
		finish_statement(s);
}

/* ---- the command ---- */

/* Takes what is its own; the rest are settings.  Returns the session, or NULL. */
static const char *
read_line(struct shell *s, int argc, char **argv, struct err *e)
{
	const char *session = NULL;
	int rest = 1;

	if (words_take(&argc, argv, "--language", &s->language, e) < 0 ||
	    words_take(&argc, argv, "--namespace", &s->namespace, e) < 0)
		return NULL;
	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-' && session == NULL)
			session = argv[i];
		else
			argv[rest++] = argv[i];
	argv[rest] = NULL;
	s->transfer = (struct transfer){ rest, argv };
	return session;
}

static int
run(struct shell *s, const char *session, struct err *e)
{
	auto_fd int state = place_open_state(e);

	if (open_session(s, session, e) < 0)
		return -1;
	s->prompt = prompt_open(state, &s->names, e);
	if (s->prompt == NULL)
		return -1;
	converse(s);
	close_session(s);
	return 0;
}

int
main(int argc, char **argv)
{
	struct shell s = { 0 };
	struct err e = { 0 };
	char *none[] = { argv[0], NULL };

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0) {
			fputs(usage, stdout);
			return 0;
		}
	place_load("a prompt in a session", 1, none);

	const char *session = read_line(&s, argc, argv, &e);
	int status = e.code == ERR_none ? run(&s, session, &e) : -1;

	if (status < 0)
		fprintf(stderr, "cloister: %s\n", e.text);
	prompt_close(s.prompt);
	texts_clear(&s.names);
	free(s.text);
	/* libedit frees neither name nor help of a function that was added. */
	fflush(NULL);
	_exit(status < 0 ? CLIENT_FAILED : 0);
}
