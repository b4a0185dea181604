/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vault.c - calls the gateway's methods for secrets, which are no tools: a person may call them, a
 * model may not.
 *
 * Trusts the user.  A value is overwritten after it was sent.
 */
#include "compose/cloister/vault.h"

#include "compose/cloister/client.h"
#include "compose/cloister/commands.h"
#include "compose/cloister/show.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { MAX_VALUE = 65536, FAILED = 1 };

struct vault_line {
	const struct command *command;
	char *name, *value, *namespace;
	bool json;
	int argc; /* settings of cloister serve */
	char **argv;
};

/* ---- the command line ---- */

/* 1: it is --namespace, and *i is at its last word. */
static int
take_namespace(struct vault_line *l, int argc, char **argv, int *i)
{
	static const char flag[] = "--namespace";
	const size_t size = sizeof flag - 1;

	if (strncmp(argv[*i], flag, size) != 0)
		return 0;
	if (argv[*i][size] == '=')
		l->namespace = argv[*i] + size + 1;
	else if (argv[*i][size] == '\0' && *i + 1 < argc)
		l->namespace = argv[++*i];
	else
		return 0;
	return 1;
}

static int
read_line(struct vault_line *l, int argc, char **argv, int words, struct err *e)
{
	int rest = 1, n = 0;

	for (int i = 1; i < argc; i++) {
		if (take_namespace(l, argc, argv, &i))
			continue;
		if (strcmp(argv[i], "--json") == 0)
			l->json = true;
		else if (strncmp(argv[i], "--", 2) == 0)
			argv[rest++] = argv[i];
		else if (n++ == 0 && words > 0)
			l->name = argv[i];
		else if (n == 2 && words > 1)
			l->value = argv[i];
		else
			return err_set(
			    e, ERR_invalid_argument, "'%.64s' is one word too many", argv[i]);
	}
	argv[rest] = NULL;
	l->argc = rest;
	l->argv = argv;
	return words == 0 || l->name != NULL ? 0
	                                     : err_set(e, ERR_invalid_argument, "NAME required");
}

/* ---- the value ---- */

/* The terminal shows nothing of what is typed; the old state is in *was. */
static bool
hide(struct termios *was)
{
	struct termios silent;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, was) < 0)
		return false;
	silent = *was;
	silent.c_lflag &= ~(tcflag_t)ECHO;
	return tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0;
}

static int
read_all(char *to, size_t room, bool line, size_t *size, struct err *e)
{
	ssize_t n = 1;

	for (*size = 0; n > 0 && *size < room; *size += (size_t)n) {
		n = read(STDIN_FILENO, to + *size, room - *size);
		if (n < 0)
			return err_sys(e, "read the value from stdin");
		if (line && n > 0 && to[*size + (size_t)n - 1] == '\n')
			room = 0; /* a terminal gives a line at a time */
	}
	if (*size > 0 && to[*size - 1] == '\n')
		--*size;
	return *size <= MAX_VALUE ? 0
	                          : err_set(e, ERR_limit_exceeded,
					"the value is over the limit of %d bytes", MAX_VALUE);
}

static int
read_value(char *to, size_t *size, struct err *e)
{
	struct termios was;
	bool hidden = hide(&was);

	if (hidden)
		fputs("value: ", stderr);

	int status = read_all(to, MAX_VALUE + 2, hidden, size, e);

	if (hidden) {
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &was);
		fputc('\n', stderr);
	}
	return status;
}

/* A word of the command line is overwritten, so that later `ps` does not show it. */
static int
get_value(struct vault_line *l, char *to, size_t *size, struct err *e)
{
	if (l->value == NULL)
		return read_value(to, size, e);
	fputs("cloister: warning: other users can see a value in the command line, and the "
	      "shell's history keeps it; leave it out to be asked for it\n",
	    stderr);
	*size = strlen(l->value);
	if (*size > MAX_VALUE)
		return err_set(
		    e, ERR_limit_exceeded, "the value is over the limit of %d bytes", MAX_VALUE);
	memcpy(to, l->value, *size);
	sodium_memzero(l->value, *size);
	return 0;
}

static int
add_value(struct vault_line *l, json_t *params, struct err *e)
{
	size_t size,
	    room = sodium_base64_ENCODED_LEN(MAX_VALUE + 2, sodium_base64_VARIANT_ORIGINAL);
	char *value = malloc(MAX_VALUE + 2), *text = malloc(room);
	int status = -1;

	must(value != NULL && text != NULL);
	if (get_value(l, value, &size, e) == 0) {
		sodium_bin2base64(
		    text, room, (uint8_t *)value, size, sodium_base64_VARIANT_ORIGINAL);
		status = json_object_set_new(params, "value", json_string(text));
	}
	sodium_memzero(value, MAX_VALUE + 2);
	sodium_memzero(text, room);
	free(value);
	free(text);
	return status;
}

/* ---- the call ---- */

static int
conclude(const struct vault_line *l, const json_t *reply)
{
	const json_t *problem = json_object_get(reply, "error");
	json_t *value = json_object_get(reply, "result");

	if (problem != NULL) {
		show_problem(problem);
		return FAILED;
	}
	json_object_del(value, "_meta");
	json_object_del(value, "resultType");
	if (l->json) {
		json_dumpf(value, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		show_value(value, l->command->show);
	}
	return 0;
}

static int
call(const struct vault_line *l, const char *method, json_t *params)
{
	const struct client_call asked = {
		.method = method, .arguments = params, .argc = l->argc, .argv = l->argv
	};
	struct err e;
	int status;
	json_t *reply = client_ask(&asked, &status, &e);

	if (reply == NULL)
		fprintf(stderr, "cloister: %s\n", e.text);
	else
		status = conclude(l, reply);
	json_decref(reply);
	return status;
}

/* words: how many the command takes, of NAME and VALUE. */
static int
run(enum command_id id, const char *method, int words, json_t *params, int argc, char **argv)
{
	struct vault_line l = { .command = &commands[id] };
	struct err e;
	int status = 0;

	must(params != NULL);
	if (words_help(l.command, argc, argv)) {
		json_decref(params);
		return 0;
	}
	if (read_line(&l, argc, argv, words, &e) < 0)
		status = -1;
	if (status == 0 && l.name != NULL)
		json_object_set_new(params, "name", json_string(l.name));
	if (status == 0 && l.namespace != NULL)
		json_object_set_new(params, "namespace", json_string(l.namespace));
	if (status == 0 && words > 1)
		status = add_value(&l, params, &e);
	status = status < 0 ? words_fail(l.command, &e) : call(&l, method, params);
	json_decref(params);
	return status;
}

int
vault_on_add(int argc, char **argv)
{
	return run(COMMAND_vault_add, "cloister/vault/add", 2, json_object(), argc, argv);
}

int
vault_on_rotate(int argc, char **argv)
{
	return run(COMMAND_vault_rotate, "cloister/vault/add", 2, json_pack("{s:b}", "exists", 1),
	    argc, argv);
}

int
vault_on_list(int argc, char **argv)
{
	return run(COMMAND_vault_list, "cloister/vault/list", 0, json_object(), argc, argv);
}

int
vault_on_delete(int argc, char **argv)
{
	return run(COMMAND_vault_delete, "cloister/vault/delete", 1, json_object(), argc, argv);
}

int
vault_on_rekey(int argc, char **argv)
{
	return run(COMMAND_vault_rekey, "cloister/vault/rekey", 0, json_object(), argc, argv);
}
