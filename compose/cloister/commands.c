/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c - finds a command in commands.def, and prints its usage. Trusts nothing but the table.
 */
#include "compose/cloister/commands.h"

#include "compose/cloister/nearest.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/table/schema.h"

#include <string.h>

/* clang-format off */
#define COMMAND(id, ...)      static const struct part parts_##id[] = {
#define PART(id, name, kind, value, to, doc) { name, PART_##kind, value, to, doc },
#define END(id)               { 0 } };
#define ABSENT(...)
#include "compose/cloister/commands.def"

const struct command commands[COMMAND_COUNT] = {
#define COMMAND(id, words, function, tool, show, test, doc) \
	{ words, tool, show, test, parts_##id, doc },
#define PART(...)
#define END(id)
#define ABSENT(...)
#include "compose/cloister/commands.def"
};

static const struct {
	const char *word, *words;
} aliases[] = {
#define COMMAND(...)
#define PART(...)
#define END(id)
#define ABSENT(...)
#define ALIAS(word, words)    { word, words },
#include "compose/cloister/commands.def"
};

static const struct {
	const char *word, *advice;
} absent[] = {
#define COMMAND(...)
#define PART(...)
#define END(id)
#define ABSENT(word, doc)     { word, doc },
#include "compose/cloister/commands.def"
};
/* clang-format on */

/* ---- finding a command ---- */

static int
count_words(const char *words)
{
	return strchr(words, ' ') == NULL ? 1 : 2;
}

static bool
matches(const struct command *c, int argc, char **argv)
{
	const char *second = strchr(c->words, ' ');
	size_t first = strcspn(c->words, " ");

	if (strlen(argv[0]) != first || memcmp(argv[0], c->words, first) != 0)
		return false;
	return second == NULL || (argc > 1 && strcmp(argv[1], second + 1) == 0);
}

/* "session": the first word of several commands. */
static bool
lacks_second(const char *word, struct err *e)
{
	size_t size = strlen(word);
	const char *known[2] = { NULL, NULL };

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strncmp(commands[i].words, word, size) == 0 && commands[i].words[size] == ' ')
			known[known[0] != NULL] = commands[i].words;
	if (known[0] == NULL)
		return false;
	err_set(e, ERR_invalid_argument, "'%s' is followed by another word: cloister %s%s%s", word,
	    known[0], known[1] != NULL ? ", cloister " : "", known[1] != NULL ? known[1] : "");
	return true;
}

static const char *
advice_on(const char *word)
{
	for (size_t i = 0; i < COUNT(absent); i++)
		if (strcmp(absent[i].word, word) == 0)
			return absent[i].advice;
	return NULL;
}

static void
refuse(const char *word, struct err *e)
{
	static char firsts[COMMAND_COUNT][32];
	struct nearest near = { .wanted = word };
	const char *advice = advice_on(word);

	if (advice != NULL) {
		err_set(e, ERR_invalid_argument, "no command '%s': %s", word, advice);
		return;
	}
	if (lacks_second(word, e))
		return;
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		snprintf(firsts[i], sizeof firsts[i], "%.*s", (int)strcspn(commands[i].words, " "),
		    commands[i].words);
		nearest_offer(&near, firsts[i]);
	}
	if (near.name == NULL)
		err_set(e, ERR_invalid_argument,
		    "unknown command '%.64s'; `cloister help` lists them", word);
	else
		err_set(e, ERR_invalid_argument,
		    "unknown command '%.64s'; did you mean `cloister %s`?", word, near.name);
}

static const struct command *
find_words(const char *words)
{
	const struct command *c = commands;

	while (strcmp(c->words, words) != 0)
		c++;
	return c;
}

const struct command *
commands_find(int argc, char **argv, int *nwords, struct err *e)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (matches(&commands[i], argc, argv)) {
			*nwords = count_words(commands[i].words);
			return &commands[i];
		}
	for (size_t i = 0; i < COUNT(aliases); i++)
		if (strcmp(aliases[i].word, argv[0]) == 0) {
			*nwords = 1;
			return find_words(aliases[i].words);
		}
	refuse(argv[0], e);
	return NULL;
}

/* ---- usage ---- */

bool
commands_is_flag(const struct part *part)
{
	return part->name[0] == '-';
}

bool
commands_is_first(const struct command *c, const struct part *part)
{
	for (const struct part *other = c->parts; other < part; other++)
		if (strcmp(other->name, part->name) == 0)
			return false;
	return true;
}

static void
print_value(const struct part *part, FILE *to)
{
	if (part->value[0] == '\0')
		return;
	/* "-l NAME", "--language=NAME" */
	fprintf(to, "%c%s", part->name[1] == '-' ? '=' : ' ', part->value);
	for (const struct part *next = part + 1; next->name != NULL; next++)
		if (strcmp(next->name, part->name) == 0)
			fprintf(to, "|%s", next->value);
}

static void
print_part(const struct part *part, FILE *to)
{
	bool optional =
	    part->kind == PART_OPTIONAL || part->kind == PART_SECRET || part->kind == PART_SWITCH ||
	    part->kind == PART_CHOICE || part->kind == PART_CODE || part->kind == PART_INPUT ||
	    part->kind == PART_SESSION ||
	    ((part->kind == PART_OTHER || part->kind == PART_MANY) && commands_is_flag(part));

	fprintf(to, " %s%s", optional ? "[" : "", part->name);
	print_value(part, to);
	if (optional)
		fputc(']', to);
}

void
commands_print_usage(const struct command *c, FILE *to)
{
	fputs(c->words, to);
	for (int flags = 1; flags >= 0; flags--) {
		if (flags == 1 && c->tool != NULL)
			fputs(" [--json]", to);
		for (const struct part *part = c->parts; part->name != NULL; part++)
			if (part->kind != PART_SET && commands_is_flag(part) == (flags == 1) &&
			    commands_is_first(c, part))
				print_part(part, to);
	}
}

void
commands_print_help(const struct command *c, FILE *to)
{
	fputs("usage: cloister ", to);
	commands_print_usage(c, to);
	fprintf(to, "\n\n%s\n", c->doc);
	for (const struct part *part = c->parts; part->name != NULL; part++)
		if (part->kind != PART_SET)
			fprintf(to, "\n  %s%s%s\n        %s\n", part->name,
			    part->value[0] == '\0' ? "" : " ", part->value, part->doc);
	if (c->tool == NULL)
		return;
	if (message_operator(message_find(c->tool)) != PEER_none)
		fputs("\n  --json\n        Print the result as JSON.\n", to);
	else
		fprintf(to,
		    "\n  --json\n        Print the result of the tool %s as JSON.\n\n"
		    "Other flags are settings of `cloister serve`, as --name=value.\n",
		    c->tool);
}
