/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - the states of the parser: start of a cell, plain text, quoted text, after a quote or an
 * escape, comment.
 *
 * Trusts nothing: the text is an attacker's. Each byte is looked at once. A cell within one piece
 * is passed on without a copy.
 */
#include "validator/csv/scan.h"

#include <stdlib.h>
#include <string.h>

static int
keep(struct scan *s, const char *text, size_t size, struct err *e)
{
	if (size > SCAN_MAX_CELL - s->used)
		return err_set(e, ERR_limit_exceeded,
		    "csv_content: the cell that begins in line %llu is over %d bytes; is its quote "
		    "closed?",
		    (unsigned long long)s->now.line, SCAN_MAX_CELL);
	if (s->used + size > s->room) {
		size_t room = s->room * 2 > s->used + size ? s->room * 2 : s->used + size + 256;
		char *buffer = realloc(s->buffer, room);

		if (buffer == NULL)
			return err_sys(e, "keep a cell");
		s->buffer = buffer;
		s->room = room;
	}
	if (size > 0)
		memcpy(s->buffer + s->used, text, size);
	s->used += size;
	return 0;
}

/* The cell ends with this text, which follows what was kept. */
static int
end_cell(struct scan *s, const char *text, size_t size, struct err *e)
{
	s->now.text = text;
	s->now.size = size;
	if (s->used > 0) {
		if (keep(s, text, size, e) < 0)
			return -1;
		s->now.text = s->buffer;
		s->now.size = s->used;
	}
	if (s->now.index >= SCAN_MAX_CELLS)
		return err_set(e, ERR_limit_exceeded,
		    "csv_content: line %llu has more than %d cells",
		    (unsigned long long)s->lines + 1, SCAN_MAX_CELLS);
	if (s->cell(s->self, &s->now, e) < 0)
		return -1;
	s->used = 0;
	s->state = SCAN_START;
	s->now = (struct scan_cell){ .index = s->now.index + 1 };
	s->begun = true;
	return 0;
}

static int
end_row(struct scan *s, struct err *e)
{
	size_t cells = s->now.index;

	s->now.index = 0;
	s->begun = false;
	return s->row(s->self, cells, s->row_line, e);
}

static bool
ends_line(char c)
{
	return c == '\n' || c == '\r';
}

/* LF, CR and CRLF each count once. */
static void
count_line(struct scan *s, char c)
{
	s->lines += c == '\r' || (c == '\n' && !s->after_cr);
	s->after_cr = c == '\r';
}

/* A delimiter or the end of a line, after a cell with this text. */
static int
end_at(struct scan *s, const char *text, size_t size, char c, struct err *e)
{
	if (end_cell(s, text, size, e) < 0)
		return -1;
	s->after_cr = false;
	if (c == s->delimiter)
		return 0;
	count_line(s, c);
	return end_row(s, e);
}

/* Each state returns how many bytes it took, or -1. */

/* The character after the escape is kept, whatever it is; then the cell goes on as before. */
static ptrdiff_t
begin_escape(struct scan *s, const char *text, size_t size, struct err *e)
{
	s->resume = s->state;
	s->state = SCAN_ESCAPED;
	return keep(s, text, size, e) < 0 ? -1 : (ptrdiff_t)size + 1;
}

static ptrdiff_t
scan_escaped(struct scan *s, const char *text, size_t size, struct err *e)
{
	(void)size;
	count_line(s, *text);
	s->state = s->resume;
	return keep(s, text, 1, e) < 0 ? -1 : 1;
}

/* The end of the line is that of a blank one. */
static ptrdiff_t
scan_comment(struct scan *s, const char *text, size_t size, struct err *e)
{
	size_t n = 0;

	(void)e;
	while (n < size && !ends_line(text[n]))
		n++;
	s->after_cr = false;
	if (n < size)
		s->state = SCAN_START;
	return (ptrdiff_t)n;
}

static ptrdiff_t
scan_plain(struct scan *s, const char *text, size_t size, struct err *e)
{
	size_t n = 0;

	while (n < size && !s->stops[(unsigned char)text[n]])
		n++;
	if (n == size)
		return keep(s, text, size, e) < 0 ? -1 : (ptrdiff_t)size;
	if (s->escape != 0 && text[n] == s->escape)
		return begin_escape(s, text, n, e);
	return end_at(s, text, n, text[n], e) < 0 ? -1 : (ptrdiff_t)n + 1;
}

static ptrdiff_t
scan_start(struct scan *s, const char *text, size_t size, struct err *e)
{
	char c = *text;

	if (ends_line(c) && !s->begun) { /* blank, or the LF of CRLF */
		count_line(s, c);
		return 1;
	}
	if (!s->begun && s->comment != 0 && c == s->comment) {
		s->state = SCAN_COMMENT;
		return 1;
	}
	if (!s->begun)
		s->row_line = s->lines + 1;
	s->begun = true;
	s->now.line = s->lines + 1;
	s->after_cr = false;
	s->state = SCAN_PLAIN;
	if (s->quote == 0 || c != s->quote)
		return scan_plain(s, text, size, e);
	s->now.quoted = true;
	s->state = SCAN_QUOTED;
	return 1;
}

static ptrdiff_t
scan_quoted(struct scan *s, const char *text, size_t size, struct err *e)
{
	const char *quote = memchr(text, s->quote, size);
	size_t n = quote != NULL ? (size_t)(quote - text) : size;
	const char *escape = s->escape != 0 ? memchr(text, s->escape, n) : NULL;

	if (escape != NULL) {
		n = (size_t)(escape - text);
		quote = NULL;
	}
	for (size_t i = 0; i < n; i++)
		count_line(s, text[i]);
	if (quote != NULL) {
		s->after_cr = false;
		s->state = SCAN_CLOSING;
		/* The usual cell: it ends here, and all of it is in this piece. */
		if (s->used == 0 && n + 1 < size &&
		    (text[n + 1] == s->delimiter || ends_line(text[n + 1])))
			return end_at(s, text, n, text[n + 1], e) < 0 ? -1 : (ptrdiff_t)n + 2;
	}
	if (escape != NULL)
		return begin_escape(s, text, n, e);
	return keep(s, text, n, e) < 0 ? -1 : (ptrdiff_t)(quote != NULL ? n + 1 : n);
}

static ptrdiff_t
scan_closing(struct scan *s, const char *text, size_t size, struct err *e)
{
	char c = *text;

	(void)size;
	if (c == s->delimiter || ends_line(c))
		return end_at(s, text, 0, c, e) < 0 ? -1 : 1;
	s->state = c == s->quote ? SCAN_QUOTED : SCAN_PLAIN;
	s->now.stray |= c != s->quote;
	return keep(s, text, 1, e) < 0 ? -1 : 1;
}

static ptrdiff_t (*const states[])(struct scan *, const char *, size_t, struct err *) = {
	[SCAN_START] = scan_start,
	[SCAN_PLAIN] = scan_plain,
	[SCAN_QUOTED] = scan_quoted,
	[SCAN_CLOSING] = scan_closing,
	[SCAN_ESCAPED] = scan_escaped,
	[SCAN_COMMENT] = scan_comment,
};

static void
prepare(struct scan *s)
{
	const char stops[] = { '\n', '\r', s->delimiter };

	for (size_t i = 0; i < sizeof stops; i++)
		s->stops[(unsigned char)stops[i]] = true;
	if (s->escape != 0)
		s->stops[(unsigned char)s->escape] = true;
	s->ready = true;
}

int
scan_feed(struct scan *s, const char *text, size_t size, struct err *e)
{
	if (!s->ready)
		prepare(s);
	while (size > 0) {
		ptrdiff_t taken = states[s->state](s, text, size, e);

		if (taken < 0)
			return -1;
		text += taken;
		size -= (size_t)taken;
	}
	return 0;
}

int
scan_finish(struct scan *s, struct err *e)
{
	if (!s->begun)
		return 0;
	if (s->state == SCAN_ESCAPED)
		s->state = s->resume;
	s->now.unclosed = s->state == SCAN_QUOTED;
	if (s->now.line == 0)
		s->now.line = s->lines + 1;
	return end_cell(s, "", 0, e) < 0 ? -1 : end_row(s, e);
}

void
scan_close(struct scan *s)
{
	free(s->buffer);
	s->buffer = NULL;
	s->used = s->room = 0;
}
