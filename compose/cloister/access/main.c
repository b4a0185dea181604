/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - cloister-access: credentials for HTTP; executed by `cloister token` and `cloister
 * issuer`.
 *
 * A separate program because it connects to the network and writes files that the gateway only
 * reads. The gateway itself opens no connections and cannot write them. Trusts the user who runs
 * it, and an issuer as authenticated by TLS, within bounds.
 */
#include "compose/cloister/access/access.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

struct access access_options;

/* clang-format off */
static struct setting table[] = {
	[SETTINGS_SHARED] =
#define SETTING(name, kind, fallback, low, high, also, doc) \
	{ #name, KIND_##kind, &access_options.name, fallback, low, high, also, doc },
#include "compose/cloister/access/options.def"
	{ 0 },
};

const struct access_command access_commands[] = {
	{ "token", "add", 1, "NAME [--principal=P] [--namespace=N] [--scopes=read,run] [--expires=30d|2027-01-31]",
	  token_on_add },
	{ "token", "rotate", 1, "NAME [--grace=24h] [--expires=30d|2027-01-31]", token_on_rotate },
	{ "token", "list", 0, "", token_on_list },
	{ "token", "remove", 1, "NAME", token_on_remove },
	{ "issuer", "fetch", 1, "URL [--ca=FILE]", issuer_on_fetch },
	{ 0 },
};
/* clang-format on */

int
access_open(struct directory *directory, struct err *e)
{
	if (directory_open(access_options.credentials, access_options.state, directory, e) < 0)
		return -1;
	return flock(directory->fd, LOCK_EX) < 0 ? err_sys(e, "lock the directory of credentials")
	                                         : 0;
}

/* Refused, because the program that made the symlink maintains its target and would overwrite
 * our change. */
int
access_store(const struct directory *directory, const char *name, const char *text, size_t size,
    struct err *e)
{
	struct stat st;

	if (fstatat(directory->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		return err_set(e, ERR_denied,
		    "%s is a symlink, as in a mounted Secret; nothing was written. Run this in "
		    "another directory (--credentials=DIRECTORY) with a copy of the file, then "
		    "update the Secret; the gateway reloads it",
		    name);
	return fdio_store(directory->fd, name, text, size, directory->owner == 0 ? 0640 : 0600, e);
}

static void
show_usage(const char *noun, FILE *to)
{
	static const char *const scopes[][2] = {
#define SCOPE(name, toolsets, hints, doc) { #name, doc },
#include "common/credential/scopes.def"
	};

	for (const struct access_command *c = access_commands; c->noun != NULL; c++)
		if (strcmp(c->noun, noun) == 0)
			fprintf(to, "usage: cloister %s %s %s\n", c->noun, c->verb, c->usage);
	if (strcmp(noun, "token") != 0)
		return;
	fprintf(
	    to, "\nscopes; a token has read, run and monitor unless --scopes says otherwise:\n");
	for (size_t i = 0; i < COUNT(scopes); i++)
		fprintf(to, "  %-8s %s\n", scopes[i][0], scopes[i][1]);
}

/* Has the flag its value in the next word? */
static bool
takes_next(const char *flag)
{
	for (const struct setting *s = table; s->name != NULL; s++) {
		size_t i = 0;

		while (s->name[i] != '\0' &&
		       (s->name[i] == flag[i] || (s->name[i] == '_' && flag[i] == '-')))
			i++;
		if (s->name[i] == '\0' && flag[i] == '\0')
			return s->kind != KIND_FLAG;
	}
	return false;
}

/* Removes the verb and its arguments from the command line; -1: too many words. */
static int
take_words(int *argc, char **argv, char *words[1 + ACCESS_ARGUMENTS])
{
	int rest = 1, found = 0;

	for (int i = 1; i < *argc; i++)
		if (strncmp(argv[i], "--", 2) == 0) {
			argv[rest++] = argv[i];
			if (takes_next(argv[i] + 2) && i + 1 < *argc)
				argv[rest++] = argv[++i];
		} else if (found <= ACCESS_ARGUMENTS)
			words[found++] = argv[i];
		else
			return -1;
	argv[rest] = NULL;
	*argc = rest;
	return found;
}

static const struct access_command *
find(const char *noun, const char *verb, int arguments)
{
	const struct access_command *c = access_commands;

	while (c->noun != NULL && (strcmp(c->noun, noun) != 0 || strcmp(c->verb, verb) != 0 ||
				      c->arguments != arguments))
		c++;
	return c->noun != NULL ? c : NULL;
}

/* argv[0] is "token" or "issuer". */
int
main(int argc, char **argv)
{
	char *words[1 + ACCESS_ARGUMENTS] = { 0 };
	const char *noun = argc > 0 ? argv[0] : "token";
	struct err e;

	settings_shared(table, &access_options.run, &access_options.state, &access_options.config,
	    &access_options.log_level);

	int found = take_words(&argc, argv, words);
	const struct access_command *command = found < 1 ? NULL : find(noun, words[0], found - 1);

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		show_usage(noun, stdout);
		putchar('\n');
		fflush(stdout);
	}
	settings_load("access", "credentials for HTTP", NULL, table, argc, argv);
	if (command == NULL) {
		show_usage(noun, stderr);
		return 2;
	}
	if (command->run(words + 1, &e) == 0)
		return 0;
	fprintf(stderr, "cloister: %s %s: %s\n", noun, words[0], e.text);
	return 1;
}
