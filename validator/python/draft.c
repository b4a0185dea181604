/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.c - undoes what models do to code: fences, typographic characters, indentation.
 *
 * Works on text that is not Python yet, so it knows only where strings and comments start and end.
 * Trusts nothing; the parser decides whether a draft is good.
 */
#include "validator/python/draft.h"

#include "common/base/auto.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct character {
	const char *from, *to, *what;
} characters[] = {
#define CHARACTER(from, to, what) { from, to, what },
#include "validator/fixes.def"
};

void
draft_add(struct draft *draft, const char *text, size_t size)
{
	if (draft->size + size + 1 > draft->room) {
		size_t room = (draft->size + size + 1) * 2;
		char *more = realloc(draft->text, room);
		if (more == NULL) {
			draft->failed = true;
			return;
		}
		draft->text = more;
		draft->room = room;
	}
	memcpy(draft->text + draft->size, text, size);
	draft->size += size;
	draft->text[draft->size] = '\0';
}

void
draft_clear(struct draft *draft)
{
	free(draft->text);
	*draft = (struct draft){ 0 };
}

/* ---- strings and comments ---- */

size_t
draft_step(struct scan *scan, const char *at)
{
	char c = *at;

	if (scan->quote == '#' || (scan->quote != 0 && !scan->triple)) {
		if (c == '\n' || c == '\r' || (c == scan->quote && c != '#'))
			scan->quote = 0;
		return c == '\\' && scan->quote != '#' && at[1] != '\0' ? 2 : 1;
	}
	if (scan->quote != 0) {
		if (c == scan->quote && at[1] == c && at[2] == c) {
			*scan = (struct scan){ 0 };
			return 3;
		}
		return c == '\\' && at[1] != '\0' ? 2 : 1;
	}
	if (c != '"' && c != '\'' && c != '#')
		return 1;
	*scan = (struct scan){ c, c != '#' && at[1] == c && at[2] == c };
	return scan->triple ? 3 : 1;
}

/* ---- fences ---- */

/* Returns the fence of a line, "```" or "~~~", or NULL. */
static const char *
fence_of(const struct source *source, size_t line)
{
	size_t size;
	const char *text = source_line(source, line, &size);
	size_t indent = strspn(text, " ");

	if (indent > 3 || size - indent < 3)
		return NULL;
	if (strncmp(text + indent, "```", 3) == 0)
		return "```";
	return strncmp(text + indent, "~~~", 3) == 0 ? "~~~" : NULL;
}

/* Is a block that begins with this fence Python, as far as the fence says? */
static bool
is_code(const struct source *source, size_t line)
{
	size_t size;
	const char *text = source_line(source, line, &size);
	size_t at = strspn(text, " ") + 3;

	return at >= size || strncasecmp(text + at, "py", 2) == 0;
}

static bool
is_blank(const struct source *source, size_t first, size_t last)
{
	for (size_t n = first; n <= last; n++) {
		size_t size;
		const char *text = source_line(source, n, &size);
		if (strspn(text, " \t\f") < size)
			return false;
	}
	return true;
}

static void
add_lines(struct draft *to, const struct source *source, size_t first, size_t last)
{
	if (first <= last)
		draft_add(to, source->text + source->starts[first - 1],
		    source->starts[last] - source->starts[first - 1]);
}

/* Joins the blocks of code if there are several. */
static bool
draft_blocks(const struct source *source, size_t open, struct draft *to, struct report *report)
{
	const char *fence = fence_of(source, open);
	size_t count = 0, close = open;

	for (size_t begin = open; begin <= source->lines; begin = close + 1) {
		while (begin <= source->lines && fence_of(source, begin) != fence)
			begin++;
		for (close = begin + 1; close <= source->lines; close++)
			if (fence_of(source, close) == fence)
				break;
		if (close > source->lines)
			break;
		if (is_code(source, begin)) {
			add_lines(to, source, begin + 1, close - 1);
			count++;
		}
	}
	if (count < 2) {
		draft_clear(to);
		return false;
	}
	report_edit(report, "fence", open, "joined the code of %zu Markdown fences", count);
	return true;
}

bool
draft_unfence(const struct source *source, struct draft *to, struct report *report)
{
	size_t open = 1, close;

	while (open <= source->lines && fence_of(source, open) == NULL)
		open++;
	if (open > source->lines)
		return false;
	const char *fence = fence_of(source, open);
	if (draft_blocks(source, open, to, report))
		return true;
	for (close = open + 1; close <= source->lines; close++)
		if (fence_of(source, close) == fence)
			break;
	/* A fence that only ends the text: the code is before it. */
	if (is_blank(source, open + 1, close - 1)) {
		add_lines(to, source, 1, open - 1);
		report_edit(report, "fence", open, "removed the Markdown fence after the code");
		return true;
	}
	add_lines(to, source, open + 1, close - 1);
	size_t kept = close - open - 1;
	report_edit(report, "fence", open,
	    "kept the %zu lines inside the Markdown fence, of %zu in total", kept, source->lines);
	return true;
}

/* ---- characters ---- */

static const struct character *
character_at(const char *text)
{
	for (const struct character *c = characters; c < characters + COUNT(characters); c++)
		if (strncmp(text, c->from, strlen(c->from)) == 0)
			return c;
	return NULL;
}

/* The rest of a string that started with a typographic quote; that quote becomes `quote`. */
static size_t
copy_quoted(struct draft *to, const char *text, const char *quote)
{
	size_t size = 0;

	while (text[size] != '\0' && text[size] != '\n' && text[size] != '\r') {
		const struct character *c =
		    (unsigned char)text[size] >= 0x80 ? character_at(text + size) : NULL;
		bool ends = c != NULL ? strcmp(c->to, quote) == 0 : text[size] == quote[0];
		if (ends) {
			draft_add(to, text, size);
			draft_add(to, quote, 1);
			return size + (c != NULL ? strlen(c->from) : 1);
		}
		size++;
	}
	draft_add(to, text, size);
	return size;
}

static bool
is_quote(const char *text)
{
	return text[0] != '\0' && text[1] == '\0' && strchr("\"'", text[0]) != NULL;
}

bool
draft_characters(const struct source *source, struct draft *to, struct report *report)
{
	size_t counts[COUNT(characters)] = { 0 }, lines[COUNT(characters)] = { 0 };
	struct scan scan = { 0 };
	bool changed = false;

	for (size_t at = 0, line = 1; at < source->size;) {
		const char *text = source->text + at;
		const struct character *c =
		    scan.quote == 0 && (unsigned char)*text >= 0x80 ? character_at(text) : NULL;
		if (c == NULL) {
			size_t size = draft_step(&scan, text);
			line += memchr(text, '\n', size) != NULL;
			draft_add(to, text, size);
			at += size;
			continue;
		}
		at += strlen(c->from);
		draft_add(to, c->to, strlen(c->to));
		if (is_quote(c->to))
			at += copy_quoted(to, source->text + at, c->to);
		if (counts[c - characters]++ == 0)
			lines[c - characters] = line;
		changed = true;
	}
	for (size_t n = 0; n < COUNT(characters); n++)
		if (counts[n] > 0)
			report_edit(report, "characters", lines[n],
			    "replaced %zu %s%s outside of strings", counts[n], characters[n].what,
			    counts[n] == 1 ? "" : "s");
	return changed;
}

/* ---- indentation ---- */

/* Where each line of code starts.  A line inside a multi-line string is not code. */
static void
each_line(const struct source *source,
    void (*see)(void *self, size_t line, const char *text, size_t size, bool code), void *self)
{
	struct scan scan = { 0 };

	for (size_t n = 1; n <= source->lines; n++) {
		const char *text = source->text + source->starts[n - 1];
		size_t size = source->starts[n] - source->starts[n - 1];
		see(self, n, text, size, scan.quote == 0);
		for (size_t at = 0; at < size;)
			at += draft_step(&scan, text + at);
	}
}

struct indent {
	struct draft *to;
	unsigned width;     /* of a tab */
	const char *prefix; /* the common prefix of all lines of code, and its length */
	size_t size;
	size_t changed, first; /* changed lines, and the first of them */
	bool misfit;           /* a line of code does not start with the prefix */
};

static void
expand_line(void *self, size_t line, const char *text, size_t size, bool code)
{
	struct indent *indent = self;
	size_t blank = code ? strspn(text, " \t") : 0, column = 0;

	if (blank > size)
		blank = size;
	if (memchr(text, '\t', blank) == NULL)
		blank = 0;
	else if (indent->changed++ == 0)
		indent->first = line;
	for (size_t n = 0; n < blank; n++) {
		size_t next =
		    text[n] == '\t' ? (column / indent->width + 1) * indent->width : column + 1;
		for (; column < next; column++)
			draft_add(indent->to, " ", 1);
	}
	draft_add(indent->to, text + blank, size - blank);
}

bool
draft_tabs(const struct source *source, unsigned width, struct draft *to, struct report *report)
{
	struct indent indent = { .to = to, .width = width };

	each_line(source, expand_line, &indent);
	if (indent.changed > 0)
		report_edit(report, "indentation", indent.first,
		    "replaced tabs by spaces at the start of %zu lines, with a tab width of %u",
		    indent.changed, width);
	return indent.changed > 0;
}

static void
shift_line(void *self, size_t line, const char *text, size_t size, bool code)
{
	struct indent *indent = self;
	size_t blank = strspn(text, " \t");
	bool empty =
	    blank >= size || text[blank] == '\n' || text[blank] == '\r' || text[blank] == '#';

	if (code && !empty && indent->prefix == NULL) {
		indent->prefix = text;
		indent->size = blank;
		indent->first = line;
	}
	bool fits = code && indent->prefix != NULL && size >= indent->size &&
	            memcmp(text, indent->prefix, indent->size) == 0;
	if (code && !empty && !fits)
		indent->misfit = true;
	size_t cut = fits ? indent->size : 0;
	draft_add(indent->to, text + cut, size - cut);
}

bool
draft_dedent(const struct source *source, struct draft *to, struct report *report)
{
	struct indent indent = { .to = to };

	each_line(source, shift_line, &indent);
	if (indent.size == 0 || indent.misfit)
		return false;
	report_edit(
	    report, "indentation", indent.first, "removed the common indentation of all lines");
	return true;
}
