/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoding.c - UTF-8, UTF-16 and windows-1252, without iconv(), which loads files.
 *
 * Trusts nothing.
 */
#include "validator/csv/encoding.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"
#include "common/table/schema.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

const char *
encoding_convert(struct blob *bytes, struct err *e)
{
	bool marked = begins(bytes, "\xff\xfe", 2) || begins(bytes, "\xfe\xff", 2);
	bool big = begins(bytes, "\xfe\xff", 2) || (!marked && looks_utf16(bytes, 0));
	bool utf16 = marked || big || looks_utf16(bytes, 1);
	size_t skip = begins(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;

	if (!utf16 && utf8_valid(bytes->data, bytes->size) &&
	    memchr(bytes->data, 0, bytes->size) == NULL) {
		memmove(bytes->data, (char *)bytes->data + skip, bytes->size - skip);
		bytes->size -= skip;
		return skip > 0 ? "utf-8-sig" : "utf-8";
	}
	/* A character of one byte takes at most three; one of two bytes, too. */
	struct blob out = { malloc(bytes->size * 3 + 4), 0 };
	if (out.data == NULL) {
		err_sys(e, "convert csv_base64");
		return NULL;
	}
	int status =
	    utf16 ? from_utf16(bytes, marked ? 2 : 0, big, &out, e) : from_windows(bytes, &out, e);
	if (status < 0) {
		blob_clear(&out);
		return NULL;
	}
	blob_clear(bytes);
	*bytes = out;
	return utf16 ? (big ? "utf-16-be" : "utf-16-le") : "windows-1252";
}
