/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.c - the table of languages.
 *
 * Trusts the operator, whose setting names programs.  They run in boxes like all others, so the
 * checks here only find errors that would otherwise fail the first call without a reason.
 */
#include "executor/runtime.h"

#include "executor/builder/order.h"
#include "executor/options.h"

#include "common/base/auto.h"
#include "common/table/schema.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
	MAX_WORDS = 12,
	MAX_NAME = 16,
	MAX_EXTENSION = 16,
};

static const char blanks[] = " \t\r";
static const char typescript[] = "typescript";

static const char *const builtin[language_COUNT][MAX_WORDS] = {
/* clang-format off */
#define RUNTIME(language, ...) [language_##language] = { __VA_ARGS__, NULL },
#include "executor/builder/runtimes.def"
	/* clang-format on */
};

static struct row {
	struct runtime_row row;
	const char *argv[MAX_WORDS + 1];
	const char *words[2 * MAX_WORDS];
} table[ORDER_MAX_RUNTIMES];

static size_t count;

/* ---- the operator's ---- */

static int
check_name(const char *name, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_+-";

	if (!islower((unsigned char)name[0]) || strlen(name) > MAX_NAME ||
	    name[strspn(name, allowed)] != 0)
		return err_set(e, ERR_invalid_argument,
		    "the name \"%.32s\" is invalid: use 1 to %d characters of a-z 0-9 _ + -, "
		    "beginning with a letter",
		    name, MAX_NAME);
	for (size_t i = 0; i < count; i++)
		if (strcmp(table[i].row.name, name) == 0)
			return err_set(
			    e, ERR_invalid_argument, "the language \"%s\" exists already", name);
	return 0;
}

static int
check_extension(const char *extension, struct err *e)
{
	size_t size = strlen(extension);

	for (size_t i = 1; i < size; i++)
		if (!isalnum((unsigned char)extension[i]))
			size = 0;
	if (size < 2 || size > MAX_EXTENSION || extension[0] != '.')
		return err_set(e, ERR_invalid_argument,
		    "the extension \"%.32s\" is invalid: use a dot and 1 to %d letters or digits",
		    extension, MAX_EXTENSION - 1);
	return 0;
}

/* A shell gets the words of a check, so they must contain nothing that it would interpret. */
static int
check_words(const char *const *words, size_t n, const char *what, struct err *e)
{
	static const char *const visible[] = { "/usr/", "/bin/", "/sbin/" };
	bool seen = false;

	if (n == 0)
		return err_set(e, ERR_invalid_argument, "the %s is missing", what);
	for (size_t i = 0; i < COUNT(visible); i++)
		seen |= strncmp(words[0], visible[i], strlen(visible[i])) == 0;
	if (!seen)
		return err_set(e, ERR_invalid_argument,
		    "%.128s: the %s must be an absolute path below /usr, /bin or /sbin, because "
		    "boxes see only these",
		    words[0], what);
	for (size_t i = 0; i < n; i++)
		for (const char *c = words[i]; *c != 0; c++)
			if (!isalnum((unsigned char)*c) && strchr("_./+=:,@%-", *c) == NULL)
				return err_set(e, ERR_invalid_argument,
				    "%.128s: only letters, digits and _ . / + = : , @ %% - are "
				    "allowed",
				    words[i]);
	return 0;
}

/* sh -c SCRIPT NAME file: the check prints only if it fails, and then the program is not run. */
static int
add_check(struct row *r, size_t run, const char *const *check, size_t n, struct err *e)
{
	char script[4096] = "out=$(", *at = script + strlen(script);
	char *end = script + sizeof script - 64;

	for (size_t i = 0; i < n && at < end; i++)
		at += snprintf(at, (size_t)(end - at), "%s ", check[i]);
	if (at < end)
		at += snprintf(at, (size_t)(end - at),
		    "\"$1\" 2>&1) || { echo \"$out\" >&2; exit 2; }; exec ");
	for (size_t i = 0; i < run && at < end; i++)
		at += snprintf(at, (size_t)(end - at), "%s ", r->words[i + 2]);
	if (at >= end)
		return err_set(
		    e, ERR_invalid_argument, "the check and the program are too long together");
	memcpy(at, "\"$1\"", sizeof "\"$1\"");

	const char *argv[] = { "/bin/sh", "-c", strdup(script), r->words[0], NULL };

	memcpy(r->argv, argv, sizeof argv);
	return argv[2] != NULL ? 0 : err_sys(e, "runtimes");
}

/* NAME EXTENSION PROGRAM ARGUMENT... [-- CHECK ARGUMENT...] */
static int
add_row(struct row *r, size_t n, struct err *e)
{
	size_t run = 0;

	if (n < 3)
		return err_set(
		    e, ERR_invalid_argument, "a name, an extension and a program are required");
	while (2 + run < n && strcmp(r->words[2 + run], "--") != 0)
		run++;

	const char *const *check = r->words + 2 + run + 1;
	size_t ncheck = 2 + run < n ? n - run - 3 : 0;

	if (check_name(r->words[0], e) < 0 || check_extension(r->words[1], e) < 0 ||
	    check_words(r->words + 2, run, "program", e) < 0)
		return -1;
	if (run > MAX_WORDS)
		return err_set(
		    e, ERR_invalid_argument, "the program has more than %d words", MAX_WORDS);
	memcpy(r->argv, r->words + 2, run * sizeof *r->argv);
	if (2 + run < n &&
	    (check_words(check, ncheck, "check", e) < 0 || add_check(r, run, check, ncheck, e) < 0))
		return -1;
	r->row = (struct runtime_row){
		.name = r->words[0],
		.program = r->words[2],
		.argv = r->argv,
		.extension = r->words[1],
		.present = access(r->words[2], X_OK) == 0,
	};
	count++;
	return 0;
}

static int
read_row(char *text, size_t number, struct err *e)
{
	struct row *r = &table[count];
	size_t n = 0;
	char *word;

	if (count == ORDER_MAX_RUNTIMES)
		return err_set(e, ERR_invalid_argument, "runtimes: more than %d languages",
		    ORDER_MAX_RUNTIMES - (int)language_COUNT);
	while ((word = strsep(&text, blanks)) != NULL)
		if (*word != 0 && n < COUNT(r->words))
			r->words[n++] = word;
	if (n == COUNT(r->words))
		return err_set(
		    e, ERR_invalid_argument, "runtimes, row %zu: too many words", number);
	if (n > 0 && add_row(r, n, e) < 0)
		return err_add(e, "runtimes, row %zu", number);
	return 0;
}

/* ---- all of it ---- */

static void
add_builtin(size_t language)
{
	struct row *r = &table[language];

	memcpy(r->argv, builtin[language], sizeof builtin[language]);
	if (language == language_python)
		r->argv[0] = options.python;
	r->row = (struct runtime_row){
		.name = word_text(SET_language, (int)language),
		.program = r->argv[0],
		.argv = r->argv,
		.driver = true,
		.present = r->argv[0] != NULL && access(r->argv[0], X_OK) == 0,
	};
}

int
runtime_open(struct err *e)
{
	char *rest = options.runtimes, *row;

	for (count = 0; count < language_COUNT; count++)
		add_builtin(count);
	for (size_t number = 1; (row = strsep(&rest, ";\n")) != NULL; number++)
		if (read_row(row, number, e) < 0)
			return -1;
	return 0;
}

size_t
runtime_count(void)
{
	return count;
}

const struct runtime_row *
runtime_at(size_t number)
{
	must(number < count);
	return &table[number].row;
}

/* Other names by which models call our languages; a row of the settings may take such a name. */
static const char *
own_name(const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(table[i].row.name, name) == 0)
			return name;

	int language = runtime_is_typed(name) ? (int)language_node
	                                      : word_parse(SET_language, name, strlen(name));

	return language >= 0 ? table[language].row.name : name;
}

int
runtime_find(const char *asked, struct err *e)
{
	const char *name = own_name(asked);
	char names[ORDER_MAX_RUNTIMES * (MAX_NAME + 2) + 1];
	size_t size = 0;

	names[0] = 0;
	for (size_t i = 0; i < count; i++) {
		const struct runtime_row *row = &table[i].row;

		if (strcmp(row->name, name) == 0 && row->present)
			return (int)i;
		if (strcmp(row->name, name) == 0)
			return err_set(e, ERR_runtime_missing,
			    "language: the program that runs %s is not installed on this server",
			    name);
		size += (size_t)snprintf(
		    names + size, sizeof names - size, "%s%s", i > 0 ? ", " : "", row->name);
	}
	return err_set(e, ERR_invalid_argument, "language: '%.16s' is not one of %s", name, names);
}

bool
runtime_is_typed(const char *asked)
{
	return asked != NULL && (strcasecmp(asked, typescript) == 0 || strcmp(asked, "ts") == 0);
}

const char *
runtime_name(size_t number, bool typed)
{
	return typed ? typescript : runtime_at(number)->name;
}
