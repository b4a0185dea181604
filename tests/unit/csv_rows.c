/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_rows.c - the cells of texts, for test_csv_rows.py.
 *
 * Reads texts that end with a zero byte; feeds each in pieces of the given size, with the
 * given escape, if any. Prints a line for
 * each row, its cells in hexadecimal, and an empty line after each text.
 */
#include "validator/csv/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
print_cell(void *self, const struct scan_cell *cell, struct err *e)
{
	(void)self;
	(void)e;
	for (size_t i = 0; i < cell->size; i++)
		printf("%02x", (unsigned char)cell->text[i]);
	putchar(',');
	return 0;
}

static int
print_row(void *self, size_t cells, uint64_t line, struct err *e)
{
	(void)self;
	(void)e;
	printf(":%zu:%llu\n", cells, (unsigned long long)line);
	return 0;
}

int
main(int argc, char **argv)
{
	size_t piece = argc > 2 ? strtoul(argv[2], NULL, 10) : 1, room = 0;
	char *text = NULL;
	ssize_t size;

	while ((size = getdelim(&text, &room, 0, stdin)) > 0) {
		struct scan scan = { .delimiter = argv[1][0],
			.quote = '"',
			.escape = argc > 3 ? argv[3][0] : 0,
			.cell = print_cell,
			.row = print_row };
		struct err e;

		size -= text[size - 1] == 0;
		for (size_t at = 0; at < (size_t)size; at += piece)
			if (scan_feed(&scan, text + at,
				(size_t)size - at < piece ? (size_t)size - at : piece, &e) < 0)
				return 1;
		if (scan_finish(&scan, &e) < 0)
			return 1;
		scan_close(&scan);
		putchar('\n');
	}
	free(text);
	return 0;
}
