/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - lines and columns as CPython counts them: a line ends with LF, CR LF or CR.
 *
 * Trusts nothing: the text comes from a program, and positions may lie outside it.
 */
#include "validator/source.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The first byte after the end of the line that contains `from`. */
static size_t
next_line(const struct source *source, size_t from)
{
	size_t end = from + strcspn(source->text + from, "\r\n");

	if (source->text[end] == '\r' && source->text[end + 1] == '\n')
		return end + 2;
	return source->text[end] != '\0' ? end + 1 : end;
}

static int
index_lines(struct source *source, struct err *e)
{
	size_t count = 0, at = 0;

	while (at < source->size) {
		at = next_line(source, at);
		count++;
	}
	source->starts = calloc(count + 1, sizeof *source->starts);
	if (source->starts == NULL)
		return err_sys(e, "index %zu lines", count);
	for (size_t n = 0; n < count; n++)
		source->starts[n + 1] = next_line(source, source->starts[n]);
	source->lines = count;
	return 0;
}

int
source_open(struct source *source, const void *data, size_t size, struct err *e)
{
	const char *zero = memchr(data, '\0', size);

	*source = (struct source){ 0 };
	if (zero != NULL)
		return err_set(e, ERR_invalid_argument,
		    "code: byte %zu is zero, which no program may contain; remove it",
		    (size_t)(zero - (const char *)data) + 1);
	if (!utf8_valid(data, size))
		return err_set(e, ERR_invalid_argument, "code: is not UTF-8; send it as UTF-8");
	source->text = malloc(size + 1);
	if (source->text == NULL)
		return err_sys(e, "hold %zu bytes of code", size);
	memcpy(source->text, data, size);
	source->text[size] = '\0';
	source->size = size;
	if (index_lines(source, e) == 0)
		return 0;
	source_close(source);
	return -1;
}

void
source_close(struct source *source)
{
	free(source->text);
	free(source->starts);
	*source = (struct source){ 0 };
}

const char *
source_line(const struct source *source, uint64_t line, size_t *size)
{
	if (line == 0 || line > source->lines) {
		*size = 0;
		return "";
	}
	const char *from = source->text + source->starts[line - 1];
	*size = strcspn(from, "\r\n");
	return from;
}

static uint64_t
characters(const char *text, size_t size)
{
	uint64_t count = 0;

	for (size_t n = 0; n < size; n++)
		count += ((unsigned char)text[n] & 0xc0) != 0x80;
	return count;
}

uint64_t
source_column(const struct source *source, uint64_t line, uint64_t byte)
{
	size_t size;
	const char *from = source_line(source, line, &size);

	return 1 + characters(from, byte < size ? (size_t)byte : size);
}

uint64_t
source_characters(const struct source *source)
{
	return characters(source->text, source->size);
}
