/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.c - tries each delimiter on the start of a text.
 *
 * A delimiter is good if most rows have as many cells as the first row, and more than one. Of
 * equally good ones, the one that leaves fewer quotes within cells is better, then the one with
 * more cells; then the order below decides.
 */
#include "validator/csv/dialect.h"

#include "validator/csv/scan.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char delimiters[] = { ',', ';', '\t', '|' };

struct tally {
	size_t first, rows, same;
	size_t odd; /* quotes that do not enclose a cell */
};

static int
count_cell(void *self, const struct scan_cell *cell, struct err *e)
{
	struct tally *tally = self;

	(void)e;
	if (cell->quoted)
		tally->odd += cell->stray || cell->unclosed;
	for (size_t i = 0; !cell->quoted && i < cell->size; i++)
		tally->odd += cell->text[i] == '"';
	return 0;
}

static int
count_row(void *self, size_t cells, uint64_t line, struct err *e)
{
	struct tally *tally = self;

	(void)line;
	(void)e;
	if (tally->rows++ == 0)
		tally->first = cells;
	tally->same += cells == tally->first;
	return 0;
}

/* The last row may be cut off and is left out, if there is another one. */
static struct tally
try(char delimiter, const char *text, size_t size)
{
	struct tally tally = { 0 };
	struct scan scan = { .delimiter = delimiter,
		.quote = '"',
		.cell = count_cell,
		.row = count_row,
		.self = &tally };
	struct err e;

	if (scan_feed(&scan, text, size, &e) == 0 && tally.rows == 0)
		scan_finish(&scan, &e);
	scan_close(&scan);
	return tally;
}

static bool
is_better(const struct tally *a, const struct tally *b)
{
	if (a->first < 2 || b->first < 2)
		return a->first >= 2;
	/* Fractions are compared crosswise. */
	size_t mine = a->same * b->rows, others = b->same * a->rows;
	if (mine != others)
		return mine > others;
	return a->odd != b->odd ? a->odd < b->odd : a->first > b->first;
}

char
dialect_detect(const char *text, size_t size)
{
	struct tally best = { 0 };
	char delimiter = delimiters[0];

	for (size_t i = 0; i < COUNT(delimiters); i++) {
		struct tally tally = try(delimiters[i], text, size);

		if (is_better(&tally, &best)) {
			best = tally;
			delimiter = delimiters[i];
		}
	}
	return delimiter;
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
