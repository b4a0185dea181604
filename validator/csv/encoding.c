/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoding.c - which encoding a text is in.  UTF-8, UTF-16 and windows-1252, which can be read
 * whatever the bytes are, are converted here, others by charset.c.
 *
 * Trusts nothing.
 */
#include "validator/csv/encoding.h"

#include "validator/csv/charset.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/table/schema.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SAMPLE = 256 };

/* 0x80 to 0x9f; the others are those of Latin-1. */
static const uint16_t windows[32] = { 0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021,
	0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c,
	0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178 };

static size_t
put(char *to, uint32_t c)
{
	size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = size - 1; i > 0; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(first[size] | c);
	return size;
}

static uint32_t
unit_at(const unsigned char *from, bool big)
{
	return big ? (uint32_t)from[0] << 8 | from[1] : (uint32_t)from[1] << 8 | from[0];
}

/* Returns the character and how many bytes it takes; 0: broken. */
static size_t
take_utf16(const unsigned char *from, size_t size, bool big, uint32_t *c)
{
	if (size < 2)
		return 0;
	*c = unit_at(from, big);
	if (*c == 0 || (*c & 0xfc00) == 0xdc00)
		return 0;
	if ((*c & 0xfc00) != 0xd800)
		return 2;
	if (size < 4 || (unit_at(from + 2, big) & 0xfc00) != 0xdc00)
		return 0;
	*c = 0x10000 + ((*c & 0x3ff) << 10) + (unit_at(from + 2, big) & 0x3ff);
	return 4;
}

static int
from_utf16(const struct blob *bytes, size_t skip, bool big, struct blob *out, struct err *e)
{
	const unsigned char *from = bytes->data;
	uint32_t c;

	for (size_t at = skip, size; at < bytes->size; at += size) {
		if ((size = take_utf16(from + at, bytes->size - at, big, &c)) == 0)
			return err_set(
			    e, ERR_invalid_argument, "csv_base64: byte %zu is no UTF-16", at);
		out->size += put((char *)out->data + out->size, c);
	}
	return 0;
}

static int
from_windows(const struct blob *bytes, struct blob *out, struct err *e)
{
	const unsigned char *from = bytes->data;

	for (size_t at = 0; at < bytes->size; at++) {
		unsigned char c = from[at];

		if (c == 0)
			return err_set(e, ERR_invalid_argument,
			    "csv_base64: byte %zu is zero: not a text", at);
		out->size += put(
		    (char *)out->data + out->size, c >= 0x80 && c < 0xa0 ? windows[c - 0x80] : c);
	}
	return 0;
}

/* Is every other byte of the start zero, from that one on? */
static bool
looks_utf16(const struct blob *bytes, size_t from)
{
	const unsigned char *data = bytes->data;
	size_t size = bytes->size < SAMPLE ? bytes->size : SAMPLE, zeros = 0;

	for (size_t i = from; i < size; i += 2)
		zeros += data[i] == 0;
	return size >= 2 && bytes->size % 2 == 0 && zeros * 4 > size;
}

static bool
begins(const struct blob *bytes, const char *mark, size_t size)
{
	return bytes->size >= size && memcmp(bytes->data, mark, size) == 0;
}

/* ---- which one ---- */

enum form { UTF8, UTF16_LE, UTF16_BE, WINDOWS, UTF16, OTHER, UNKNOWN };

struct choice {
	enum form kind;
	const struct charset *other;
	bool guessed;
};

/* What is reported, and what precedes a text. */
static const struct encoding {
	const char *name, *mark;
} encodings[] = {
	[UTF8] = { "utf-8", "\xef\xbb\xbf" },
	[UTF16_LE] = { "utf-16-le", "\xff\xfe" },
	[UTF16_BE] = { "utf-16-be", "\xfe\xff" },
	[WINDOWS] = { "windows-1252", "" },
};

/* As the world names them. Browsers, too, read Latin-1 as windows-1252, which has more. */
static const struct name {
	const char *name;
	enum form kind;
} names[] = { { "utf-8", UTF8 }, { "utf8", UTF8 }, { "utf-8-sig", UTF8 }, { "ascii", UTF8 },
	{ "us-ascii", UTF8 }, { "utf-16", UTF16 }, { "utf16", UTF16 }, { "utf-16-le", UTF16_LE },
	{ "utf-16le", UTF16_LE }, { "utf-16-be", UTF16_BE }, { "utf-16be", UTF16_BE },
	{ "windows-1252", WINDOWS }, { "cp1252", WINDOWS }, { "latin-1", WINDOWS },
	{ "latin1", WINDOWS }, { "iso-8859-1", WINDOWS } };

static size_t
marked(const struct blob *bytes, enum form kind)
{
	const char *mark = encodings[kind].mark;

	return begins(bytes, mark, strlen(mark)) ? strlen(mark) : 0;
}

static struct choice
other(const char *name)
{
	const struct charset *found = charset_find(name);

	return (struct choice){ .kind = found != NULL ? OTHER : UNKNOWN, .other = found };
}

static struct choice
guess(const struct blob *bytes)
{
	const struct charset *found = charset_guess(bytes);

	return (struct choice){
		.kind = found != NULL ? OTHER : WINDOWS, .other = found, .guessed = true
	};
}

/* The marks of UTF-32 begin with, or end in, those of UTF-16. */
static struct choice
detect(const struct blob *bytes)
{
	if (begins(bytes, "\xff\xfe\0\0", 4))
		return other("utf-32-le");
	if (begins(bytes, "\0\0\xfe\xff", 4))
		return other("utf-32-be");
	if (marked(bytes, UTF16_LE) > 0)
		return (struct choice){ .kind = UTF16_LE };
	if (marked(bytes, UTF16_BE) > 0 || looks_utf16(bytes, 0))
		return (struct choice){ .kind = UTF16_BE };
	if (looks_utf16(bytes, 1))
		return (struct choice){ .kind = UTF16_LE };
	if (memchr(bytes->data, 0, bytes->size) != NULL)
		return (struct choice){ .kind = WINDOWS };
	return utf8_valid(bytes->data, bytes->size) ? (struct choice){ .kind = UTF8 }
	                                            : guess(bytes);
}

static struct choice
choose(const struct blob *bytes, const char *wanted)
{
	size_t n = 0;

	if (wanted == NULL)
		return detect(bytes);
	while (n < COUNT(names) && strcasecmp(names[n].name, wanted) != 0)
		n++;
	if (n == COUNT(names))
		return other(wanted);
	if (names[n].kind != UTF16)
		return (struct choice){ .kind = names[n].kind };
	return (struct choice){ .kind = marked(bytes, UTF16_BE) > 0 ? UTF16_BE : UTF16_LE };
}

/* ---- conversion ---- */

static int
refuse_utf8(const struct blob *bytes, struct err *e)
{
	const char *at = bytes->data, *end = at + bytes->size, *lf;
	size_t line = 1;

	for (; (lf = memchr(at, '\n', (size_t)(end - at))) != NULL; at = lf + 1, line++)
		if (!utf8_valid(at, (size_t)(lf - at)) || memchr(at, 0, (size_t)(lf - at)) != NULL)
			break;
	return err_set(e, ERR_invalid_argument, "csv_base64: line %zu is no UTF-8 text", line);
}

static int
keep_utf8(const struct blob *bytes, struct err *e)
{
	return utf8_valid(bytes->data, bytes->size) && memchr(bytes->data, 0, bytes->size) == NULL
	           ? 0
	           : refuse_utf8(bytes, e);
}

static const char *
name_of(const struct choice *how)
{
	return how->kind == OTHER ? charset_name(how->other) : encodings[how->kind].name;
}

static int
convert_to(struct blob *out, const struct blob *bytes, const struct choice *how, struct err *e)
{
	if (how->kind == OTHER)
		return charset_convert(how->other, bytes, out, e);
	if (how->kind == WINDOWS)
		return from_windows(bytes, out, e);
	return from_utf16(bytes, marked(bytes, how->kind), how->kind == UTF16_BE, out, e);
}

static int
convert(const struct blob *bytes, const struct choice *how, struct encoded *out, struct err *e)
{
	if (bytes->size > ENCODING_CONVERTED)
		return err_set(e, ERR_limit_exceeded,
		    "path: the file has %zu bytes in %s; over %d bytes only UTF-8 is checked: "
		    "convert "
		    "it to UTF-8, as by iconv -f %s -t utf-8",
		    bytes->size, name_of(how), ENCODING_CONVERTED, name_of(how));
	/* A character of one byte takes at most three; one of two or four bytes, fewer for each. */
	out->made.data = malloc(bytes->size * 3 + 4);
	if (out->made.data == NULL)
		return err_sys(e, "convert csv_base64");
	if (convert_to(&out->made, bytes, how, e) < 0) {
		blob_clear(&out->made);
		return -1;
	}
	out->text = out->made;
	return 0;
}

/* iconv() passes on the mark of UTF-32. */
static void
skip_mark(struct blob *text)
{
	size_t skip = marked(text, UTF8);

	if (skip > 0)
		*text = (struct blob){ (char *)text->data + skip, text->size - skip };
}

int
encoding_read(const struct blob *bytes, const char *wanted, struct encoded *out, struct err *e)
{
	struct choice how = choose(bytes, wanted);
	int status;

	*out = (struct encoded){ .text = *bytes, .guessed = how.guessed };
	if (how.kind == UNKNOWN)
		return err_set(e, ERR_invalid_argument,
		    "encoding: \"%.40s\" is not supported; known: utf-8, utf-16, utf-32, "
		    "windows-125x, iso-8859-x, shift_jis, euc-jp, gb18030, big5, euc-kr, koi8-r "
		    "and others; convert the text to UTF-8",
		    wanted);
	status = how.kind == UTF8 ? keep_utf8(bytes, e) : convert(bytes, &how, out, e);
	if (status < 0)
		return -1;
	out->name = how.kind == UTF8 && marked(bytes, UTF8) > 0 ? "utf-8-sig" : name_of(&how);
	skip_mark(&out->text);
	return 0;
}
