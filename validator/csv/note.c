/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.c - what a reader would notice in a text at once: a declared delimiter, a title, a footer.
 *
 * Trusts nothing. Notes are guesses; no verdict depends on them.
 */
#include "validator/csv/note.h"

#include "validator/csv/options.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 32 }; /* bytes of the first cell of a footer */

static const char *const footers[] = { "total", "totals", "grand total", "subtotal", "sum", "summe",
	"gesamt", "end of file", "end of report", "eof" };

void
note_add(struct note *note, const char *fmt, ...)
{
	size_t room = sizeof note->text - note->used;
	va_list ap;

	va_start(ap, fmt);
	int size = vsnprintf(note->text + note->used, room, fmt, ap);
	va_end(ap);
	note->used += (size_t)size < room ? (size_t)size : room - 1;
}

static void
note_declared(struct note *note, const struct table *t)
{
	const char *named = t->declared == '\t' ? "\\t" : (char[]){ t->declared, '\0' };

	if (t->declared == '\0')
		return;
	if (t->declared != t->delimiter)
		note_add(note,
		    "; the text's first line, sep=%s, was skipped, because delimiter was given",
		    named);
	else
		note_add(note,
		    "; the text's first line, sep=%s, declares the delimiter and is no row", named);
}

static void
note_encoding(struct note *note, const struct table *t)
{
	if (t->guessed != NULL)
		note_add(note,
		    "; the text is read as %s, which is a guess: if letters are wrong, give "
		    "encoding",
		    t->guessed);
}

static void
note_title(struct note *note, const struct table *t)
{
	if (t->header > 0 && t->ask->has_header)
		note_add(note,
		    "; line %" PRIu64 " seems to be a title, and line %" PRIu64
		    " the header: give skip_lines=%" PRIu64,
		    t->title, t->header, t->header - 1);
}

/* ---- the footer ---- */

struct footer {
	char first[SHOWN];
	uint64_t line;
};

static int
keep_first(void *self, const struct scan_cell *cell, struct err *e)
{
	struct footer *footer = self;
	size_t size = cell->size;

	(void)e;
	if (cell->index > 0)
		return 0;
	while (size > 0 && strchr(" \t:", cell->text[size - 1]) != NULL)
		size--;
	snprintf(
	    footer->first, sizeof footer->first, "%.*s", size < SHOWN ? (int)size : 0, cell->text);
	return 0;
}

static int
end_row(void *self, size_t cells, uint64_t line, struct err *e)
{
	(void)self;
	(void)cells;
	(void)line;
	(void)e;
	return 0;
}

static size_t
last_line(const char *text, size_t size)
{
	while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		size--;
	while (size > 0 && text[size - 1] != '\n' && text[size - 1] != '\r')
		size--;
	return size;
}

static bool
is_footer(const char *first)
{
	size_t digits = *first == '(' ? strspn(first + 1, "0123456789") : 0;

	for (size_t i = 0; i < COUNT(footers); i++)
		if (strcasecmp(first, footers[i]) == 0)
			return true;
	/* As psql writes it. */
	return digits > 0 && strncmp(first + 1 + digits, " row", strlen(" row")) == 0;
}

static void
note_footer(struct note *note, const struct table *t, const struct blob *text)
{
	const char *data = text->data;
	size_t at = last_line(data, text->size);
	struct footer footer = { 0 };
	struct scan scan = options_scan(t);
	struct err e;

	if (t->out->row_count < 2)
		return;
	scan.cell = keep_first;
	scan.row = end_row;
	scan.self = &footer;
	if (scan_feed(&scan, data + at, text->size - at, &e) == 0 && scan_finish(&scan, &e) == 0 &&
	    is_footer(footer.first))
		note_add(note,
		    "; line %" PRIu64 ", which begins with '%s', seems to be a footer: "
		    "leave it out",
		    t->line, footer.first);
	scan_close(&scan);
}

void
note_table(struct note *note, const struct table *t, const struct blob *text)
{
	note_encoding(note, t);
	note_declared(note, t);
	note_title(note, t);
	note_footer(note, t, text);
}
