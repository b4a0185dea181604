/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - delimiter, quote, escape and the like, from arguments; trusts nothing. */
#include "validator/csv/options.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <string.h>

enum { NONE = '\0' };

static const char *const names[][2] = { { "tab", "\t" }, { "\\t", "\t" }, { "comma", "," },
	{ "semicolon", ";" }, { "pipe", "|" }, { "space", " " } };

/* As an argument writes it: itself, or its name. NONE: absent, more than one, or not ASCII. */
static char
read_character(const char *given)
{
	if (given == NULL)
		return NONE;
	for (size_t i = 0; i < COUNT(names); i++)
		if (strcmp(given, names[i][0]) == 0)
			given = names[i][1];
	if (strlen(given) != 1 || (unsigned char)*given >= 128)
		return NONE;
	return *given;
}

static bool
is_mark(char c)
{
	return ispunct((unsigned char)c) || c == ' ' || c == '\t';
}

static int
read_delimiter(struct table *t, struct err *e)
{
	const char *given = t->ask->delimiter;

	t->delimiter = read_character(given);
	if (given != NULL && (t->delimiter == NONE || strchr("\"\r\n", t->delimiter) != NULL))
		return err_set(e, ERR_invalid_argument,
		    "delimiter: must be one ASCII character other than a quote and the end of a "
		    "line, or tab, comma, semicolon, pipe or space");
	return 0;
}

static int
read_quote(struct table *t, struct err *e)
{
	const char *given = t->ask->quote;

	t->quote = '"';
	if (given == NULL)
		return 0;
	t->quote = read_character(given);
	if (strcmp(given, "none") == 0)
		t->quote = NONE;
	else if (!is_mark(t->quote))
		return err_set(e, ERR_invalid_argument,
		    "quote: must be one ASCII character such as ', or none");
	return 0;
}

static int
read_mark(const char *name, const char *given, char *to, struct err *e)
{
	*to = read_character(given);
	if (given != NULL && !is_mark(*to))
		return err_set(e, ERR_invalid_argument,
		    "%s: must be one ASCII character other than a letter or digit", name);
	return 0;
}

static int
read_numerals(struct table *t, struct err *e)
{
	const char *decimal = t->ask->decimal, *thousands = t->ask->thousands;

	struct numerals n = { .decimal = '.', .thousands = NONE };

	if (decimal != NULL)
		n.decimal = *decimal;
	if (thousands != NULL)
		n.thousands = *thousands;
	t->numerals = n;
	t->has_numerals = n.decimal != '.' || n.thousands != NONE;
	if (n.decimal != '.' && n.decimal != ',')
		return err_set(e, ERR_invalid_argument, "decimal: must be a point or a comma");
	if (n.thousands != NONE && strchr(".,' _", n.thousands) == NULL)
		return err_set(e, ERR_invalid_argument,
		    "thousands: must be one of comma, point, apostrophe, space and _");
	if (n.thousands == n.decimal)
		return err_set(
		    e, ERR_invalid_argument, "thousands: is the decimal point; set decimal too");
	return 0;
}

static int
check_distinct(const struct table *t, struct err *e)
{
	const char marks[] = { t->delimiter, t->quote, t->escape, t->comment };

	for (size_t i = 0; i < COUNT(marks); i++)
		for (size_t n = i + 1; n < COUNT(marks); n++)
			if (marks[i] != NONE && marks[i] == marks[n])
				return err_set(e, ERR_invalid_argument,
				    "delimiter, quote, escape and comment: two of them are '%c'",
				    marks[i]);
	return 0;
}

int
options_read(struct table *t, struct err *e)
{
	const struct validate_csv_data *ask = t->ask;

	if (read_delimiter(t, e) < 0 || read_quote(t, e) < 0 ||
	    read_mark("escape", ask->escape, &t->escape, e) < 0 ||
	    read_mark("comment", ask->comment, &t->comment, e) < 0 || read_numerals(t, e) < 0)
		return -1;
	/* A doubled quote is one quote in any case. */
	if (t->escape == t->quote)
		t->escape = NONE;
	return check_distinct(t, e);
}

struct scan
options_scan(const struct table *t)
{
	return (struct scan){ .delimiter = t->delimiter,
		.quote = t->quote,
		.escape = t->escape,
		.comment = t->comment,
		.lines = t->skipped };
}
