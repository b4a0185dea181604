/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - reads the file with the daemons' own parser; changes nothing. */
#include "compose/cloister/policy.h"

#include "compose/cloister/commands.h"
#include "compose/cloister/place.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/rights/rights.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 2, REFUSED = 1 };

struct line {
	const char *words[WORDS], *namespace, *file;
};

/* Takes what the command has; what remains are settings. */
static int
read_line(struct line *l, size_t most, int argc, char **argv, struct err *e)
{
	int rest = 1;
	size_t count = 0;

	*l = (struct line){ 0 };
	if (words_take(&argc, argv, "--namespace", &l->namespace, e) < 0 ||
	    words_take(&argc, argv, "--file", &l->file, e) < 0)
		return -1;
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--", 2) == 0)
			argv[rest++] = argv[i];
		else if (count == most)
			return err_set(
			    e, ERR_invalid_argument, "unexpected argument '%.64s'", argv[i]);
		else
			l->words[count++] = argv[i];
	argv[rest] = NULL;
	place_load("policies", rest, argv);
	return 0;
}

/* file NULL: the one of this place; there need be none. */
static int
load(const char *file, struct rights_book *book, struct err *e)
{
	auto_free char *usual = NULL;
	struct blob text = { 0 };
	int failed;

	*book = (struct rights_book){ 0 };
	must(asprintf(&usual, "%s/policies/" RIGHTS_FILE, place.state) >= 0);
	failed = fdio_load_given(file != NULL ? file : usual, RIGHTS_FILE_MAX, &text, e);
	if (failed < 0 && file == NULL && e->code == ERR_not_found)
		return 0;
	if (failed == 0)
		failed = rights_read(&text, book, e);
	blob_clear(&text);
	return failed < 0 ? err_add(e, "%s", file != NULL ? file : usual) : 0;
}

static int
fail(const struct err *e)
{
	fprintf(stderr, "cloister: %s\n", e->text);
	return REFUSED;
}

static int
with_book(const struct command *c, int argc, char **argv, size_t most,
    int (*run)(const struct rights_book *, const struct line *))
{
	struct rights_book book = { 0 };
	struct line line;
	struct err e;
	int status;

	if (words_help(c, argc, argv))
		return 0;
	if (read_line(&line, most, argc, argv, &e) < 0)
		return words_fail(c, &e);
	status = load(most == 1 ? line.words[0] : line.file, &book, &e) < 0 ? fail(&e)
	                                                                    : run(&book, &line);
	rights_clear(&book);
	return status;
}

static int
check(const struct rights_book *book, const struct line *line)
{
	(void)line;
	printf("%zu polic%s\n", book->count, book->count == 1 ? "y" : "ies");
	return 0;
}

static int
show(const struct rights_book *book, const struct line *line)
{
	(void)line;
	for (size_t i = 0; i < book->count; i++)
		rights_print(&book->items[i], stdout);
	if (book->count == 0)
		puts("no policies: settings alone limit what callers may do");
	return 0;
}

static int
explain(const struct rights_book *book, const struct line *line)
{
	const char *tool = line->words[1];
	struct owner owner;
	struct err e;

	if (line->words[0] == NULL || !owner_set(&owner, line->words[0], line->namespace)) {
		fputs("cloister: PRINCIPAL required, of at most 128 bytes; a namespace has at most "
		      "64\n",
		    stderr);
		return 2;
	}

	const struct rights *rights = rights_find(book, &owner);

	if (rights == NULL)
		puts("no policy is for this caller: settings alone limit what it may do");
	else
		rights_print(rights, stdout);
	if (tool == NULL)
		return 0;
	if (rights != NULL && rights_check(rights, &rights->tools, "tool", tool, &e) < 0)
		return fail(&e);
	printf("%s may be called, if a scope of the credentials has it\n", tool);
	return 0;
}

int
policy_on_check(int argc, char **argv)
{
	return with_book(&commands[COMMAND_policy_check], argc, argv, 1, check);
}

int
policy_on_show(int argc, char **argv)
{
	return with_book(&commands[COMMAND_policy_show], argc, argv, 1, show);
}

int
policy_on_explain(int argc, char **argv)
{
	return with_book(&commands[COMMAND_policy_explain], argc, argv, WORDS, explain);
}
