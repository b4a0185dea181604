/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.c - a terminal that has only lines: text replaces a line, or continues it, never a part.
 *
 * Each line is a range of the text, because what replaces it is one too.  So the result is made of
 * ranges, and never longer than the text.
 */
#include "gateway/mcp/resource/fold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	WINDOW = 64, /* lines that can be drawn again */
	WORTH = 256, /* bytes: what must be saved */
	DIGITS_MAX = 4,
};

struct line {
	const char *text;
	size_t size;
	bool fresh; /* the next text replaces it */
};

struct screen {
	struct line lines[WINDOW]; /* a ring */
	size_t first, count, at;   /* at: the cursor's line, counted from the first */
	size_t redrawn;
	char *out;
};

static struct line *
line_at(struct screen *s, size_t i)
{
	return &s->lines[(s->first + i) % WINDOW];
}

static void
put_line(struct screen *s, size_t i, bool last)
{
	const struct line *line = line_at(s, i);

	if (line->size > 0)
		s->out = mempcpy(s->out, line->text, line->size);
	if (!last)
		*s->out++ = '\n';
}

static void
write_text(struct screen *s, const char *text, size_t size)
{
	struct line *line = line_at(s, s->at);

	if (size == 0)
		return;
	if (!line->fresh) {
		line->size += size;
		return;
	}
	s->redrawn += line->size > 0;
	*line = (struct line){ text, size, false };
}

static void
feed_line(struct screen *s)
{
	if (s->count == WINDOW && s->at == WINDOW - 1) {
		put_line(s, 0, false);
		s->first = (s->first + 1) % WINDOW;
		s->at--;
		s->count--;
	}
	if (++s->at == s->count) {
		s->count++;
		*line_at(s, s->at) = (struct line){ 0 };
	}
	line_at(s, s->at)->fresh = true;
}

/* Size of the control at text, or 0: it is text.  Of "\r\n", CR is text. */
static size_t
return_size(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && text[n] == '\r')
		n++;
	return n < size && text[n] == '\n' ? 0 : n;
}

/* Likewise for ESC [ number letter.  *up: lines by which the cursor moves. */
static size_t
sequence_size(const char *text, size_t size, size_t *up)
{
	size_t number = 0, n = 2;

	if (size < 3 || text[0] != '\x1b' || text[1] != '[')
		return 0;
	for (; n < size && n < 2 + DIGITS_MAX && text[n] >= '0' && text[n] <= '9'; n++)
		number = number * 10 + (size_t)(text[n] - '0');
	if (n == size || strchr("AFG", text[n]) == NULL || text[n] == '\0')
		return 0;
	if (text[n] == 'G')
		return number <= 1 ? n + 1 : 0;
	*up = number > 0 ? number : 1;
	return n + 1;
}

/* Returns the size of the control at text, or 0: it is text. */
static size_t
obey(struct screen *s, const char *text, size_t size)
{
	size_t up = 0, n;

	if (text[0] == '\n') {
		feed_line(s);
		return 1;
	}
	n = return_size(text, size);
	if (n == 0)
		n = sequence_size(text, size, &up);
	if (n == 0)
		return 0;
	s->at -= up < s->at ? up : s->at;
	line_at(s, s->at)->fresh = true;
	return n;
}

static size_t
until_control(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && text[n] != '\n' && text[n] != '\r' && text[n] != '\x1b')
		n++;
	return n;
}

static void
draw(struct screen *s, const char *text, size_t size)
{
	for (size_t n, at = 0; at < size; at += n) {
		n = obey(s, text + at, size - at);
		if (n > 0)
			continue;
		n = 1 + until_control(text + at + 1, size - at - 1);
		write_text(s, text + at, n);
	}
}

struct blob
fold_redrawn(const char *text, size_t size, size_t *redrawn)
{
	struct screen s = { .count = 1, .lines[0].fresh = true };
	char *all;

	if (memchr(text, '\r', size) == NULL && memchr(text, '\x1b', size) == NULL)
		return (struct blob){ 0 };
	all = s.out = malloc(size + 1);
	if (all == NULL)
		return (struct blob){ 0 };
	draw(&s, text, size);
	for (size_t i = 0; i < s.count; i++)
		put_line(&s, i, i == s.count - 1);
	*redrawn = s.redrawn;
	if ((size_t)(s.out - all) + WORTH > size) {
		free(all);
		return (struct blob){ 0 };
	}
	return (struct blob){ all, (size_t)(s.out - all) };
}
