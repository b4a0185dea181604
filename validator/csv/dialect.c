/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.c - tries each delimiter on the start of a text.
 *
 * A delimiter is good if as many rows as possible have the same number of cells, and more than one.
 * Of equally good ones, the one that leaves fewer quotes within cells is better, then the one with
 * more cells; then the order below decides.
 */
#include "validator/csv/dialect.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char delimiters[] = { ',', ';', '\t', '|' };

enum { HEADS = 20 }; /* rows among which the header is looked for */

struct head {
	size_t cells, filled;
	uint64_t line;
};

struct tally {
	struct head heads[HEADS];
	size_t filled; /* cells with text, of this row */
	size_t cells;  /* of most rows */
	size_t rows, same;
	size_t odd; /* quotes that do not enclose a cell */
	char quote;
	uint16_t widths[SCAN_MAX_CELLS + 1]; /* rows with so many cells */
};

_Static_assert(DIALECT_SAMPLE / 2 < UINT16_MAX, "");

static int
count_cell(void *self, const struct scan_cell *cell, struct err *e)
{
	struct tally *tally = self;

	(void)e;
	tally->filled += cell->size > 0;
	if (cell->quoted)
		tally->odd += cell->stray || cell->unclosed;
	for (size_t i = 0; !cell->quoted && tally->quote != 0 && i < cell->size; i++)
		tally->odd += cell->text[i] == tally->quote;
	return 0;
}

static int
count_row(void *self, size_t cells, uint64_t line, struct err *e)
{
	struct tally *tally = self;

	(void)e;
	if (tally->rows < HEADS)
		tally->heads[tally->rows] = (struct head){ cells, tally->filled, line };
	tally->filled = 0;
	if (tally->rows++ == 0)
		tally->cells = cells;
	if (++tally->widths[cells] > tally->widths[tally->cells])
		tally->cells = cells;
	tally->same = tally->widths[tally->cells];
	return 0;
}

/* The last row may be cut off and is left out, if there is another one. */
static void
try(struct tally *tally, const struct scan *how, char delimiter, const char *text, size_t size)
{
	struct scan scan = *how;
	struct err e;

	*tally = (struct tally){ .quote = how->quote };
	scan.delimiter = delimiter;
	scan.cell = count_cell;
	scan.row = count_row;
	scan.self = tally;
	if (scan_feed(&scan, text, size, &e) == 0 && tally->rows == 0)
		scan_finish(&scan, &e);
	scan_close(&scan);
}

static bool
is_better(const struct tally *a, const struct tally *b)
{
	if (a->cells < 2 || b->cells < 2)
		return a->cells >= 2;
	/* Fractions are compared crosswise. */
	size_t mine = a->same * b->rows, others = b->same * a->rows;
	if (mine != others)
		return mine > others;
	return a->odd != b->odd ? a->odd < b->odd : a->cells > b->cells;
}

/* A title has few cells, or few with text in them, beside those of most rows. */
static bool
is_title(const struct tally *tally, const struct head *head)
{
	bool padded = head->cells == tally->cells;

	return head->cells <= tally->cells && head->filled <= tally->cells / 2 &&
	       (!padded || tally->cells > 2);
}

/* The line of the first row that can be the header; 0: the first row is. */
static uint64_t
find_header(const struct tally *tally)
{
	size_t most = tally->rows < HEADS ? tally->rows : HEADS, n = 0;

	while (n < most && is_title(tally, &tally->heads[n]))
		n++;
	if (n == 0 || n == most || tally->same * 2 < tally->rows)
		return 0;
	return tally->heads[n].cells == tally->cells ? tally->heads[n].line : 0;
}

struct dialect
dialect_detect(const struct scan *how, const char *text, size_t size)
{
	const char *tried = how->delimiter != '\0' ? &how->delimiter : delimiters;
	size_t count = how->delimiter != '\0' ? 1 : COUNT(delimiters);
	struct tally best = { 0 }, tally;
	struct dialect found = { .delimiter = *tried };

	size = size < DIALECT_SAMPLE ? size : DIALECT_SAMPLE;
	for (size_t i = 0; i < count; i++) {
		if (tried[i] == how->quote || tried[i] == how->escape || tried[i] == how->comment)
			continue;
		try(&tally, how, tried[i], text, size);
		if (is_better(&tally, &best)) {
			best = tally;
			found.delimiter = tried[i];
		}
	}
	found.header = find_header(&best);
	found.title = found.header > 0 ? best.heads[0].line : 0;
	return found;
}

/* Bytes of the name of a delimiter: itself, or \t. */
static size_t
read_named(const char *text, size_t size, char *delimiter)
{
	if (size >= 2 && memcmp(text, "\\t", 2) == 0) {
		*delimiter = '\t';
		return 2;
	}
	if (size == 0 || (!ispunct((unsigned char)*text) && *text != '\t' && *text != ' ') ||
	    *text == '"')
		return 0;
	*delimiter = *text;
	return 1;
}

size_t
dialect_declared(const char *text, size_t size, char *delimiter)
{
	static const char word[] = "sep=";
	size_t at = size > 0 && *text == '"', length = sizeof word - 1;
	bool quoted = at > 0;

	if (size < at + length || strncasecmp(text + at, word, length) != 0)
		return 0;
	at += length;
	size_t named = read_named(text + at, size - at, delimiter);
	at += named;
	if (named == 0 || (quoted && (at == size || text[at++] != '"')))
		return 0;
	/* A writer may fill the line up to the width of the table. */
	while (at < size && (text[at] == *delimiter || text[at] == ' ' || text[at] == '\t'))
		at++;
	return at == size || text[at] == '\n' || text[at] == '\r' ? at : 0;
}
