/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft_lines.c - undoes what stands around code or comes from another language: prompts of a
 * console, magics of a notebook, operators and words, a colon that is missing.
 *
 * Trusts nothing; the parser decides whether a draft is good.
 */
#include "validator/python/draft.h"

#include "common/base/auto.h"

#include <string.h>

static const struct word {
	const char *from, *to;
} words[] = {
#define WORD(from, to) { from, to },
#include "validator/fixes.def"
};

static bool
begins(const char *text, size_t size, const char *with)
{
	return size >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* The length of a prompt with the blank behind it; 0: the line has none. */
static size_t
prompt_of(const char *text, size_t size)
{
	if (!begins(text, size, ">>>") && !begins(text, size, "..."))
		return 0;
	return size > 3 && text[3] == ' ' ? 4 : 3;
}

bool
draft_prompts(const struct source *source, struct draft *to, struct report *report)
{
	size_t kept = 0, first = 0;

	for (size_t n = 1; n <= source->lines; n++) {
		const char *text = source->text + source->starts[n - 1];
		size_t size = source->starts[n] - source->starts[n - 1];
		size_t blank = strspn(text, " \t"), prompt = 0;

		if (blank < size)
			prompt = prompt_of(text + blank, size - blank);
		if (prompt == 0 || (kept == 0 && !begins(text + blank, size - blank, ">>>")))
			continue;
		if (kept++ == 0)
			first = n;
		draft_add(to, text + blank + prompt, size - blank - prompt);
	}
	if (kept > 0)
		report_edit(report, "prompt", first,
		    "kept the %zu lines with a prompt, without it, of %zu in total", kept,
		    source->lines);
	return kept > 0;
}

bool
draft_magics(const struct source *source, struct draft *to, struct report *report)
{
	size_t changed = 0, first = 0;

	for (size_t n = 1; n <= source->lines; n++) {
		const char *text = source->text + source->starts[n - 1];
		size_t size = source->starts[n] - source->starts[n - 1];

		if (size > 1 && (*text == '%' || *text == '!')) {
			if (changed++ == 0)
				first = n;
			draft_add(to, "# ", 2);
		}
		draft_add(to, text, size);
	}
	if (changed > 0)
		report_edit(report, "magic", first,
		    "made %zu lines that a notebook would run into comments", changed);
	return changed > 0;
}

static const struct word *
word_at(const char *text)
{
	for (const struct word *word = words; word < words + COUNT(words); word++)
		if (strncmp(text, word->from, strlen(word->from)) == 0)
			return word;
	return NULL;
}

bool
draft_words(const struct source *source, struct draft *to, struct report *report)
{
	struct scan scan = { 0 };
	size_t changed = 0, first = 0;

	for (size_t at = 0, line = 1; at < source->size;) {
		const char *text = source->text + at;
		const struct word *word = scan.quote == 0 ? word_at(text) : NULL;
		size_t size = word != NULL ? strlen(word->from) : draft_step(&scan, text);

		if (word != NULL && changed++ == 0)
			first = line;
		line += memchr(text, '\n', size) != NULL;
		draft_add(
		    to, word != NULL ? word->to : text, word != NULL ? strlen(word->to) : size);
		at += size;
	}
	if (changed > 0)
		report_edit(report, "words", first,
		    "wrote %zu words and operators of another language as Python does", changed);
	return changed > 0;
}

/* Where a line ends, without its comment and blanks. */
static size_t
end_of_code(const char *text, size_t size)
{
	struct scan scan = { 0 };
	size_t end = 0;

	for (size_t at = 0; at < size && scan.quote != '#';) {
		size_t part = draft_step(&scan, text + at);
		if (scan.quote != '#' && strchr(" \t\r\n", text[at]) == NULL)
			end = at + part;
		at += part;
	}
	return end < size ? end : size;
}

static void
add_around(struct draft *to, const struct source *source, size_t at, const char *text, size_t until)
{
	draft_add(to, source->text, at);
	draft_add(to, text, strlen(text));
	draft_add(to, source->text + until, source->size - until);
}

bool
draft_colon(const struct source *source, size_t line, struct draft *to, struct report *report)
{
	if (line < 1 || line > source->lines)
		return false;
	size_t start = source->starts[line - 1];
	size_t end = start + end_of_code(source->text + start, source->starts[line] - start);

	if (end == start || source->text[end - 1] == ':')
		return false;
	add_around(to, source, end, ":", end);
	report_edit(report, "colon", line, "added a colon at the end of the line");
	return true;
}

bool
draft_print(const struct source *source, size_t line, struct draft *to, struct report *report)
{
	if (line < 1 || line > source->lines)
		return false;
	size_t start = source->starts[line - 1], size = source->starts[line] - start;
	size_t end = start + end_of_code(source->text + start, size);
	size_t at = start + strspn(source->text + start, " \t");

	if (at + 6 > end || memcmp(source->text + at, "print ", 6) != 0)
		return false;
	draft_add(to, source->text, at + 5);
	draft_add(to, "(", 1);
	draft_add(to, source->text + at + 6, end - at - 6);
	draft_add(to, ")", 1);
	draft_add(to, source->text + end, source->size - end);
	report_edit(report, "print", line, "called print() with parentheses");
	return true;
}

enum {
	MAX_OPEN = 32, /* brackets in a line */
};

/* The closing brackets that a line lacks, the innermost first; false: it lacks none. */
static bool
missing_brackets(const char *text, size_t size, char missing[MAX_OPEN + 1])
{
	static const char open[] = "([{", close[] = ")]}";
	struct scan scan = { 0 };
	size_t count = 0;

	for (size_t at = 0; at < size;) {
		const char *found = scan.quote == 0 ? strchr(open, text[at]) : NULL;
		bool ends = scan.quote == 0 && strchr(close, text[at]) != NULL;
		if (found != NULL && count < MAX_OPEN)
			missing[count++] = close[found - open];
		if (ends && count > 0 && missing[count - 1] == text[at])
			count--;
		at += draft_step(&scan, text + at);
	}
	missing[count] = '\0';
	for (size_t low = 0; low + 1 < count; low++, count--) {
		char other = missing[low];
		missing[low] = missing[count - 1];
		missing[count - 1] = other;
	}
	return missing[0] != '\0';
}

bool
draft_bracket(const struct source *source, size_t line, struct draft *to, struct report *report)
{
	char missing[MAX_OPEN + 1];

	if (line < 1 || line > source->lines)
		return false;
	size_t start = source->starts[line - 1];
	size_t end = start + end_of_code(source->text + start, source->starts[line] - start);

	/* What begins at the end of a line goes on in the next ones. */
	if (end == start || strchr("([{,", source->text[end - 1]) != NULL ||
	    !missing_brackets(source->text + start, end - start, missing))
		return false;
	/* The colon of a statement stands behind the brackets. */
	size_t at = source->text[end - 1] == ':' ? end - 1 : end;
	add_around(to, source, at, missing, at);
	report_edit(report, "bracket", line, "closed with %s what the line leaves open", missing);
	return true;
}
