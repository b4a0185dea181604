/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - an MCP client of one call: starts `cloister serve`, calls execute_code, prints the
 * result.
 *
 * On a terminal, output is shown as it arrives in progress notifications, which may omit some of
 * it. Otherwise the whole output is printed from the result.
 */
#include "compose/cloister/run.h"

#include "compose/cloister/place.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/table/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
	CODE_BYTES = 1 << 20,
	/* The same as docker run and timeout(1). */
	EXIT_TIMEOUT = 124,
	EXIT_CLOISTER = 125,
	EXIT_SIGNAL = 128,
};

struct request {
	const char *file, *language;
	bool as_json;
};

struct server {
	pid_t pid;
	FILE *in, *out;
};

struct stream {
	const char *name;
	FILE *to;
	char *shown; /* printed before the result arrived */
	size_t size;
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

/* ---- the server ---- */

static void
become_server(int in, int out, int argc, char **argv)
{
	char self[PLACE_PATH];
	struct err e;
	const char **line = calloc((size_t)argc + 4, sizeof(*line));

	if (line == NULL || place_self(self, &e) < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0)
		_exit(EXIT_CLOISTER);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* Its log is only of interest if the call fails. */
	setenv("CLOISTER_GATEWAY_LOG_LEVEL", "warn", 0);
	line[0] = self;
	line[1] = "serve";
	for (int i = 1; i < argc; i++)
		line[i + 1] = argv[i];
	/* A person gets the whole output; a model would get a part. */
	line[argc + 1] = "--result-bytes=0";
	line[argc + 2] = "--error-bytes=0";
	execv(self, (char *const *)line);
	_exit(EXIT_CLOISTER);
}

static int
start_server(struct server *server, int argc, char **argv, struct err *e)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	server->pid = fork();
	if (server->pid < 0)
		return err_sys(e, "fork");
	if (server->pid == 0)
		become_server(to[0], from[1], argc, argv);
	close(to[0]);
	close(from[1]);
	server->in = fdopen(to[1], "w");
	server->out = fdopen(from[0], "r");
	must(server->in != NULL && server->out != NULL);
	return 0;
}

static void
end_server(struct server *server)
{
	fclose(server->in);
	fclose(server->out);
	while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR) {
	}
}

/* ---- the call ---- */

static int
send_call(struct server *server, const struct blob *code, const char *language, struct err *e)
{
	json_t *text = json_stringn(code->data, code->size);

	if (text == NULL)
		return err_set(e, ERR_invalid_argument, "the program is not UTF-8");

	json_t *call = json_pack("{s:s, s:i, s:s, s:{s:s, s:{s:o, s:s}, s:{s:s, s:{}, s:i}}}",
	    "jsonrpc", "2.0", "id", 1, "method", "tools/call", "params", "name", "execute_code",
	    "arguments", "code", text, "language", language, "_meta",
	    "io.modelcontextprotocol/protocolVersion", "2026-07-28",
	    "io.modelcontextprotocol/clientCapabilities", "progressToken", 1);
	int status = json_dumpf(call, server->in, JSON_COMPACT);

	json_decref(call);
	if (status < 0 || fputc('\n', server->in) == EOF || fflush(server->in) != 0)
		return err_sys(e, "write to cloister serve");
	return 0;
}

/* Prints output as it arrives if it goes to a terminal. */
static void
show_progress(const json_t *message, struct shown *shown)
{
	const json_t *params = json_object_get(message, "params");
	const json_t *text = json_object_get(params, "message");
	const char *channel = json_string_value(
	    json_object_get(json_object_get(params, "_meta"), "cloister/channel"));

	for (size_t i = 0; i < COUNT(shown->streams) && channel != NULL; i++) {
		struct stream *stream = &shown->streams[i];

		if (strcmp(stream->name, channel) != 0 || !isatty(fileno(stream->to)))
			continue;
		print(stream->to, json_string_value(text), json_string_length(text));
		remember(stream, json_string_value(text), json_string_length(text));
	}
}

/* The reply; the caller owns it. */
static json_t *
await_reply(struct server *server, struct shown *shown, struct err *e)
{
	auto_free char *line = NULL;
	size_t room = 0;
	ssize_t size;

	while ((size = getline(&line, &room, server->out)) > 0) {
		json_t *message = json_loadb(line, (size_t)size, JSON_ALLOW_NUL, NULL);

		if (message == NULL) {
			err_set(e, ERR_internal, "cloister serve sent invalid JSON");
			return NULL;
		}
		if (json_object_get(message, "id") != NULL)
			return message;
		show_progress(message, shown);
		json_decref(message);
	}
	err_set(e, ERR_unavailable, "cloister serve exited without a reply");
	return NULL;
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
		return EXIT_CLOISTER;
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

/* Prints the part that was not shown yet.  Progress may omit parts, and does if there is much
 * output. */
static void
print_rest(const struct stream *stream, const char *whole, size_t size)
{
	bool begins = stream->size <= size && memcmp(whole, stream->shown ?: "", stream->size) == 0;

	if (!begins)
		fprintf(stderr,
		    "\ncloister: the text above omits parts of %s; the whole follows:\n",
		    stream->name);
	print(stream->to, whole + (begins ? stream->size : 0), size - (begins ? stream->size : 0));
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

/* The value with the outcome. For a failed run it is only in the text. */
static json_t *
content_of(const json_t *result)
{
	const json_t *content = json_object_get(result, "structuredContent");
	const json_t *first = json_array_get(json_object_get(result, "content"), 0);
	const char *text = json_string_value(json_object_get(first, "text"));

	if (content != NULL)
		return json_deep_copy(content);
	return text == NULL ? NULL : json_loads(text, JSON_ALLOW_NUL, NULL);
}

static int
conclude(const json_t *reply, const struct shown *shown, bool as_json)
{
	const json_t *error = json_object_get(reply, "error");
	json_t *run = content_of(json_object_get(reply, "result"));

	if (run == NULL) {
		fprintf(stderr, "cloister: %s\n",
		    json_string_value(json_object_get(error, "message")) ?: "no result");
		return EXIT_CLOISTER;
	}
	if (as_json) {
		json_dumpf(run, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		print_output(run, shown);
		print_problem(json_object_get(run, "error"));
	}

	int code = exit_code(run);

	json_decref(run);
	return code;
}

/* ---- the command ---- */

static int
load_code(const char *file, struct blob *code, struct err *e)
{
	if (strcmp(file, "-") == 0)
		file = "/dev/stdin";

	auto_fd int fd = open(file, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n = 1;

	if (fd < 0)
		return err_sys(e, "open %s", file);
	code->data = malloc(CODE_BYTES + 1);
	if (code->data == NULL)
		return err_sys(e, "%s", file);
	for (; n > 0 && have <= CODE_BYTES; have += (size_t)n) {
		n = read(fd, (char *)code->data + have, CODE_BYTES + 1 - have);
		if (n < 0)
			return err_sys(e, "read %s", file);
	}
	if (have > CODE_BYTES)
		return err_set(
		    e, ERR_code_too_large, "%s is over the limit of %d bytes", file, CODE_BYTES);
	code->size = have;
	return 0;
}

/* From the file name, such as "a.js"; otherwise Python. */
static const char *
language_of(const char *file)
{
	const char *dot = strrchr(file, '.');
	int known = dot == NULL ? -1 : word_parse(SET_language, dot + 1, strlen(dot + 1));

	return word_text(SET_language, known < 0 ? language_python : known);
}

/* Removes the file and its options from the command line; the rest are settings. */
static struct request
take_request(int *argc, char **argv)
{
	static const char language[] = "--language=";
	struct request asked = { 0 };
	int rest = 1;

	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			asked.as_json = true;
		else if (strncmp(argv[i], language, sizeof language - 1) == 0)
			asked.language = argv[i] + sizeof language - 1;
		else if (asked.file == NULL && strncmp(argv[i], "--", 2) != 0)
			asked.file = argv[i];
		else
			argv[rest++] = argv[i];
	}
	argv[rest] = NULL;
	*argc = rest;
	if (asked.file != NULL && asked.language == NULL)
		asked.language = language_of(asked.file);
	return asked;
}

static int
run_code(const struct blob *code, const struct request *asked, int argc, char **argv)
{
	struct server server = { 0 };
	struct err e;
	struct shown shown = { { { "stdout", stdout, NULL, 0 }, { "stderr", stderr, NULL, 0 } } };

	signal(SIGPIPE, SIG_IGN);
	if (start_server(&server, argc, argv, &e) < 0) {
		fprintf(stderr, "cloister: %s\n", e.text);
		return EXIT_CLOISTER;
	}

	json_t *reply = send_call(&server, code, asked->language, &e) < 0
	                    ? NULL
	                    : await_reply(&server, &shown, &e);
	int status = EXIT_CLOISTER;

	if (reply == NULL)
		fprintf(stderr, "cloister: %s\n", e.text);
	else
		status = conclude(reply, &shown, asked->as_json);
	json_decref(reply);
	for (size_t i = 0; i < COUNT(shown.streams); i++)
		free(shown.streams[i].shown);
	end_server(&server);
	return status;
}

int
run_file(int argc, char **argv)
{
	struct request asked = take_request(&argc, argv);
	struct blob code = { 0 };
	struct err e;
	int status = EXIT_CLOISTER;

	if (asked.file == NULL) {
		fputs("usage: cloister run [--json] [--language=NAME] [--setting=value...] "
		      "FILE|-\n",
		    stderr);
		return 2;
	}
	if (load_code(asked.file, &code, &e) < 0)
		fprintf(stderr, "cloister: %s\n", e.text);
	else
		status = run_code(&code, &asked, argc, argv);
	blob_clear(&code);
	return status;
}
