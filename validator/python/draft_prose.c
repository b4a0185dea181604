/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft_prose.c - makes sentences around code comments, where no fence tells the two apart.
 *
 * Two names beside each other are no Python, unless one is a keyword.  A line that begins like a
 * sentence and has such a pair is prose; a misspelt keyword begins with a small letter, and stays
 * an error.
 */
#include "validator/python/draft.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <string.h>

enum { MIN_WORDS = 3 };

static const char *const keywords[] = { "and", "as", "assert", "async", "await", "break", "class",
	"continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
	"if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
	"try", "while", "with", "yield" };

static bool
is_letter(char c)
{
	return isalpha((unsigned char)c) || (unsigned char)c >= 0x80 || c == '\'' || c == '_';
}

static bool
is_keyword(const char *text, size_t size)
{
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (strlen(keywords[i]) == size && memcmp(keywords[i], text, size) == 0)
			return true;
	return false;
}

/* Behind the mark of a list or a heading. */
static const char *
skip_mark(const char *at, const char *end)
{
	const char *from = at;

	while (at < end && isdigit((unsigned char)*at))
		at++;
	if (at < end && at > from && (*at == '.' || *at == ')'))
		at++;
	else if (at < end && at == from && (*at == '-' || *at == '*'))
		at += strspn(at, "-*");
	else
		return from;
	return at + strspn(at, " *");
}

static bool
is_prose(const char *at, const char *end)
{
	size_t words = 0, pairs = 0;
	bool plain = false; /* the word before was a name, and only a blank follows it */

	at = skip_mark(at, end);
	if (at >= end || !isupper((unsigned char)*at))
		return false;
	while (at < end) {
		const char *from = at;

		while (at < end && is_letter(*at))
			at++;
		bool name = at > from && !is_keyword(from, (size_t)(at - from));
		words += at > from;
		pairs += name && plain;
		plain = name && at < end && *at == ' ';
		at += at < end;
	}
	return words >= MIN_WORDS && pairs > 0;
}

bool
draft_prose(const struct source *source, struct draft *to, struct report *report)
{
	struct scan scan = { 0 };
	size_t changed = 0, first = 0;

	for (size_t n = 1; n <= source->lines; n++) {
		const char *at = source->text + source->starts[n - 1];
		const char *end = source->text + source->starts[n];

		if (scan.quote == 0 && is_prose(at, end)) {
			if (changed++ == 0)
				first = n;
			draft_add(to, "# ", 2);
			draft_add(to, at, (size_t)(end - at));
			continue;
		}
		draft_add(to, at, (size_t)(end - at));
		while (at < end)
			at += draft_step(&scan, at);
	}
	if (changed > 0)
		report_edit(report, "prose", first, "made %zu lines of prose comments", changed);
	return changed > 0;
}
