/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - `cloister config`: prints or writes the entry that a client needs.
 *
 * Trusts the user who runs it.  --write runs the client's own command if there is one, or else
 * edits one file, the client's own.
 */
#include "compose/cloister/config/config.h"

#include "compose/cloister/config/clients.h"
#include "compose/cloister/config/edit.h"
#include "compose/cloister/config/line.h"
#include "compose/cloister/config/store.h"
#include "compose/cloister/place.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>

static const char usage[] =
    "usage: cloister config CLIENT [--write|--remove] [--project] [-- SETTING...]\n       cloister "
    "config CLIENT --http URL [--token-env NAME] [--write] [--project]\nPrints the entry that a "
    "client "
    "needs to use this server. CLIENT is one of\n%s.\n  --write           add it: by the client's "
    "own command (claude, codex), or to its file,\n                    after a backup\n  --project "
    "        for the project in the current directory, not for the user\n  --http URL        URL "
    "of a running server, such as http://127.0.0.1:8765/mcp\n  --token-env NAME  environment "
    "variable that holds the bearer token\n  -- SETTING...     settings of `cloister serve`, such "
    "as -- --toolsets=core,monitor\n";

struct wish {
	const struct client *client;
	bool write, remove, project;
	struct reach_by by;
	cJSON *entry;
	char *path;          /* of the client's file */
	struct line command; /* empty if the client has none */
};

/* ---- the command line ---- */

static int
show_usage(FILE *to, int status)
{
	char *names = NULL;
	size_t size;
	FILE *list = open_memstream(&names, &size);

	must(list != NULL);
	clients_list(list);
	fclose(list);
	fprintf(to, usage, names);
	free(names);
	return status;
}

static bool
take_option(struct wish *w, int option)
{
	switch (option) {
	case 'w':
		w->write = true;
		return true;
	case 'r':
		w->remove = true;
		return true;
	case 'p':
		w->project = true;
		return true;
	case 'u':
		w->by.url = optarg;
		return true;
	case 't':
		w->by.token_variable = optarg;
		return true;
	default:
		return false;
	}
}

/* -1: wrong arguments; 1: only help was requested. */
static int
read_line(struct wish *w, int argc, char **argv)
{
	static const struct option options[] = {
		{ "write", no_argument, NULL, 'w' },
		{ "remove", no_argument, NULL, 'r' },
		{ "project", no_argument, NULL, 'p' },
		{ "http", required_argument, NULL, 'u' },
		{ "token-env", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *name = NULL;
	int option;

	/* "-": arguments that are not options are returned in their order; arguments after "--"
	 * are not parsed. */
	while ((option = getopt_long(argc, argv, "-", options, NULL)) != -1) {
		if (option == 'h')
			return 1;
		if (option == 1 && name == NULL)
			name = optarg;
		else if (!take_option(w, option))
			return -1;
	}
	w->by.arguments = argv + optind;
	w->client = name == NULL ? NULL : clients_find(name);
	if (name != NULL && w->client == NULL)
		fprintf(stderr, "cloister: config: no client is called '%.64s'\n", name);
	return w->client == NULL ? -1 : 0;
}

static bool
has_control(const char *text)
{
	for (; *text != '\0'; text++)
		if (iscntrl((unsigned char)*text))
			return true;
	return false;
}

static bool
is_text(const char *text)
{
	return utf8_valid(text, strlen(text)) && !has_control(text);
}

static bool
is_url(const char *text)
{
	size_t scheme = strncmp(text, "https://", 8) == 0 ? 8 : 7;

	return (scheme == 8 || strncmp(text, "http://", 7) == 0) && text[scheme] != '\0' &&
	       text[scheme] != '/' && strpbrk(text, " \"<>\\^`{|}") == NULL && !has_control(text);
}

static bool
is_variable(const char *name)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

	return *name != '\0' && !isdigit((unsigned char)*name) &&
	       name[strspn(name, letters)] == '\0';
}

static int
check(const struct wish *w, struct err *e)
{
	const struct reach_by *by = &w->by;

	if (by->url != NULL && !is_url(by->url))
		return err_set(e, ERR_invalid_argument,
		    "--http: '%.100s' is not a URL such as https://host/mcp", by->url);
	if (by->token_variable != NULL && by->url == NULL)
		return err_set(e, ERR_invalid_argument, "--token-env requires --http");
	if (by->token_variable != NULL && !is_variable(by->token_variable))
		return err_set(e, ERR_invalid_argument,
		    "--token-env: '%.64s' is not the name of an environment variable; do not pass "
		    "the token itself",
		    by->token_variable);
	if (by->url != NULL && by->arguments[0] != NULL)
		return err_set(e, ERR_invalid_argument,
		    "settings after -- apply to a program that the client starts; they cannot be "
		    "used with --http");
	if (w->remove && (w->write || by->url != NULL || by->arguments[0] != NULL))
		return err_set(
		    e, ERR_invalid_argument, "--remove takes no settings, --http or --write");
	for (char *const *argument = by->arguments; *argument != NULL; argument++)
		if (!is_text(*argument))
			return err_set(e, ERR_invalid_argument,
			    "a setting is not UTF-8 or has a control character in it");
	return is_text(by->program)
	           ? 0
	           : err_set(e, ERR_invalid_argument,
			 "the path of this program is not UTF-8 or has a control character in it");
}

/* ---- actions ---- */

static void
print(const struct wish *w)
{
	clients_print(w->client, w->entry, stdout);
	if (w->client->command == NULL) {
		fprintf(stderr, "This belongs in %s; --write adds it.\n", w->path);
		return;
	}
	fprintf(stderr, "This belongs in %s; --write runs: ", w->path);
	line_print(&w->command, stderr);
	fputc('\n', stderr);
}

static int
save(const struct wish *w, struct store *s, struct err *e)
{
	auto_free char *text = NULL, *backup = NULL;

	if (edit_entry(&s->text, w->client->section, w->entry, &text, e) < 0)
		return -1;
	if (text == NULL) {
		printf("%s has this entry already\n", s->path);
		return 0;
	}
	if (store_save(s, text, &backup, e) < 0)
		return -1;
	printf("wrote %s%s%s\nNow %s.\n", s->path, backup != NULL ? "; backup: " : "",
	    backup != NULL ? backup : "", w->client->after);
	return 0;
}

static int
write_file(const struct wish *w, struct err *e)
{
	struct store s;
	int status = store_open(&s, w->path, e) < 0 ? -1 : save(w, &s, e);

	store_close(&s);
	return status;
}

static int
add_to_file(const struct wish *w)
{
	struct err e;

	if (write_file(w, &e) == 0)
		return 0;

	bool refused = e.code == ERR_invalid_argument;

	/* The path is not part of the error, because a long path would leave no room for the
	 * text. */
	fprintf(stderr, "cloister: config: %s: %s%s\n", w->path, e.text,
	    refused ? "; nothing was written, add this by hand:" : "");
	if (refused)
		clients_print(w->client, w->entry, stdout);
	return 1;
}

static int
add_by_command(const struct wish *w)
{
	struct err e;

	if (line_run(&w->command, &e) == 0) {
		printf("Now %s.\n", w->client->after);
		return 0;
	}
	/* The project's file is strict JSON, made to be edited.  The user's file is not: it is the
	 * client's own state (Claude Code) or TOML (Codex). */
	if (e.code == ERR_not_found && w->project)
		return add_to_file(w);
	fprintf(stderr, "cloister: config: %s; ", e.text);
	if (e.code != ERR_not_found) {
		fprintf(stderr, "%s\n", w->client->hint);
		return 1;
	}
	fputs("run this where the client is installed: ", stderr);
	line_print(&w->command, stderr);
	fprintf(stderr, "; or add this to %s:\n", w->path);
	clients_print(w->client, w->entry, stdout);
	return 1;
}

/* ---- removal ---- */

/* Does the client's file name this server?  A file that cannot be read does not. */
static bool
has_entry(const struct client *c, const struct blob *text)
{
	auto_free char *without = NULL, *table = NULL;
	struct err e;

	must(asprintf(&table, "[%s.cloister]", c->section) > 0);
	return c->toml ? text->data != NULL && strstr(text->data, table) != NULL
	               : edit_remove(text, c->section, &without, &e) == 0 && without != NULL;
}

static int
drop(const struct client *c, struct store *s, struct err *e)
{
	auto_free char *text = NULL, *backup = NULL;

	if (edit_remove(&s->text, c->section, &text, e) < 0)
		return -1;
	if (text == NULL) {
		printf("%s has no entry of cloister\n", s->path);
		return 0;
	}
	if (store_save(s, text, &backup, e) < 0)
		return -1;
	printf("removed cloister from %s; backup: %s\n", s->path, backup);
	return 0;
}

/* The client's own command, if it has one and that is in PATH; the user's file of such a client is
 * not for others to edit. */
static int
drop_by_command(const struct client *c, bool project, struct store *s, struct err *e)
{
	struct line line = { 0 };

	c->removal(project, &line);

	int status = line_run(&line, e);

	line_clear(&line);
	if (status < 0 && e->code == ERR_not_found && project)
		return drop(c, s, e);
	return status;
}

/* Removes the entry that the file has, if it has one. */
static int
remove_entry(const struct client *c, bool project, const char *path, struct err *e)
{
	struct store s;
	int status = store_open(&s, path, e);

	if (status == 0 && c->removal != NULL && has_entry(c, &s.text))
		status = drop_by_command(c, project, &s, e);
	else if (status == 0)
		status = drop(c, &s, e);
	store_close(&s);
	return status;
}

static int
remove_or_complain(const struct client *c, bool project, const char *path)
{
	struct err e;

	if (remove_entry(c, project, path, &e) == 0)
		return 0;
	fprintf(stderr, "cloister: config: %s: %s; the entry cloister stays in it\n", path, e.text);
	return 1;
}

int
config_remove_all(void)
{
	int status = 0;

	for (const struct client *c = clients_next(NULL); c != NULL; c = clients_next(c)) {
		struct err e;
		struct store s;
		auto_free char *path = clients_path(c, false, &e);
		bool there = path != NULL && store_open(&s, path, &e) == 0 && has_entry(c, &s.text);

		if (path != NULL)
			store_close(&s);
		if (there)
			status |= remove_or_complain(c, false, path);
	}
	return status;
}

/* ---- the command ---- */

static int
prepare(struct wish *w, struct err *e)
{
	if (check(w, e) < 0)
		return -1;
	w->path = clients_path(w->client, w->project, e);
	w->entry = w->path == NULL ? NULL : clients_entry(w->client, &w->by, e);
	if (w->entry == NULL)
		return -1;
	if (w->client->command != NULL)
		w->client->command(w->entry, &w->by, w->project, &w->command);
	return 0;
}

static int
act(const struct wish *w)
{
	if (w->remove)
		return remove_or_complain(w->client, w->project, w->path);
	if (w->write)
		return w->client->command != NULL ? add_by_command(w) : add_to_file(w);
	print(w);
	return 0;
}

int
config_run(int argc, char **argv)
{
	struct wish w = { .client = NULL };
	char self[PLACE_PATH];
	struct err e;
	int line = read_line(&w, argc, argv), status = 1;

	if (line != 0)
		return show_usage(line > 0 ? stdout : stderr, line > 0 ? 0 : 2);
	w.by.program = self;
	if (place_self(self, &e) < 0 || prepare(&w, &e) < 0)
		fprintf(stderr, "cloister: config: %s\n", e.text);
	else
		status = act(&w);
	line_clear(&w.command);
	cJSON_Delete(w.entry);
	free(w.path);
	return status;
}
