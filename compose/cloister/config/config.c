/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - prints what a client's file must say to reach this server, or says it there.
 *
 * Trusts who runs it.  Writes one file, the client's own, only when told to, and only what it must.
 */
#include "compose/cloister/config/config.h"

#include "compose/cloister/config/clients.h"
#include "compose/cloister/config/merge.h"
#include "compose/cloister/config/store.h"
#include "compose/cloister/place.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>

static const char usage[] =
    "usage: cloister config CLIENT [--write] [--project] [-- SETTING...]\n"
    "       cloister config CLIENT --http URL [--token-env NAME] [--write] [--project]\n"
    "Prints what the file of a client must say to use this server; CLIENT is one of\n"
    "%s.\n"
    "  --write           put it into that file, beside what it says already; the old one is kept\n"
    "  --project         the file of the project in the current folder, not that of the user\n"
    "  --http URL        for a server that runs there, as in http://127.0.0.1:8765/mcp\n"
    "  --token-env NAME  of the environment variable that holds the bearer token\n"
    "  -- SETTING...     settings of `cloister serve`, as in -- --toolsets=core,monitor\n";

struct wish {
	const struct client *client;
	bool write, project;
	struct reach_by by;
};

/* ---- the line ---- */

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

/* -1: the line is not as it should be; 1: only help is wanted. */
static int
read_line(struct wish *w, int argc, char **argv)
{
	static const struct option options[] = {
		{ "write", no_argument, NULL, 'w' },
		{ "project", no_argument, NULL, 'p' },
		{ "http", required_argument, NULL, 'u' },
		{ "token-env", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *name = NULL;
	int option;

	/* "-": what is no option comes as one, in its place; what stands behind "--" stays. */
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
		    "--http: '%.100s' is no URL as in https://host/mcp", by->url);
	if (by->token_variable != NULL && by->url == NULL)
		return err_set(e, ERR_invalid_argument, "--token-env is for --http");
	if (by->token_variable != NULL && !is_variable(by->token_variable))
		return err_set(e, ERR_invalid_argument,
		    "--token-env: '%.64s' is no name of a variable; the token itself does not "
		    "belong "
		    "here",
		    by->token_variable);
	if (by->url != NULL && by->arguments[0] != NULL)
		return err_set(e, ERR_invalid_argument,
		    "settings behind -- are for a program that the client starts, not for --http");
	for (char *const *argument = by->arguments; *argument != NULL; argument++)
		if (has_control(*argument))
			return err_set(
			    e, ERR_invalid_argument, "a setting has a control character in it");
	return has_control(by->program)
	           ? err_set(e, ERR_invalid_argument,
			 "the path of this program has a control character in it")
	           : 0;
}

/* ---- what it does ---- */

static int
merge(const struct wish *w, const struct blob *old, char **text, struct err *e)
{
	json_auto_t *entry = clients_entry(w->client, &w->by, e);
	struct merge m = { .text = old->data != NULL ? (const char *)old->data : "",
		.size = old->size,
		.section = w->client->section,
		.name = "cloister",
		.entry = entry,
		.comments = w->client->comments };

	if (entry == NULL)
		return -1;
	return w->client->toml ? merge_toml(&m, text, e) : merge_json(&m, text, e);
}

static int
print(const struct wish *w, const char *path, struct err *e)
{
	static const struct blob nothing;
	auto_free char *text = NULL;

	if (merge(w, &nothing, &text, e) < 0)
		return -1;
	fputs(text, stdout);
	fprintf(stderr, "This belongs into %s; --write puts it there.\n", path);
	return 0;
}

static int
save(const struct wish *w, struct store *s, struct err *e)
{
	auto_free char *text = NULL, *backup = NULL;

	if (merge(w, &s->text, &text, e) < 0)
		return -1;
	if (text == NULL) {
		printf("%s says it already\n", s->path);
		return 0;
	}
	if (store_save(s, text, &backup, e) < 0)
		return -1;
	printf("wrote %s%s%s\nNow %s.\n", s->path, backup != NULL ? "; as it was before: " : "",
	    backup != NULL ? backup : "", w->client->after);
	return 0;
}

static int
write_file(const struct wish *w, const char *path, struct err *e)
{
	struct store s;
	int status = store_open(&s, path, e) < 0 ? -1 : save(w, &s, e);

	store_close(&s);
	return status;
}

/* The path stands outside of the text, where a long one would leave no room for the reason. */
static void
complain(const struct wish *w, const char *path, const struct err *e)
{
	bool file = w->write && path != NULL;

	fprintf(stderr, "cloister: config: %s%s%s%s\n", file ? path : "", file ? ": " : "", e->text,
	    file && e->code == ERR_invalid_argument ? "; nothing was written: mend it, or put in "
						      "by hand what this prints without --write"
						    : "");
}

int
config_run(int argc, char **argv)
{
	struct wish w = { .client = NULL };
	char self[PLACE_PATH];
	struct err e;
	int line = read_line(&w, argc, argv);

	if (line != 0)
		return show_usage(line > 0 ? stdout : stderr, line > 0 ? 0 : 2);
	w.by.program = self;

	auto_free char *path = place_self(self, &e) < 0 || check(&w, &e) < 0
	                           ? NULL
	                           : clients_path(w.client, w.project, &e);

	if (path != NULL && (w.write ? write_file(&w, path, &e) : print(&w, path, &e)) == 0)
		return 0;
	complain(&w, path, &e);
	return 1;
}
