/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - the one place that says what is text.  Trusts nothing it is given.
 *
 * Of the libraries linked here only Jansson can tell, and it must copy the text into a value to do
 * so; multi-byte functions of libc depend on the locale.
 */
#include "common/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the character at the front, 0 where there is none. */
static size_t
front(const unsigned char *s, size_t size)
{
	/* Lead bytes from..to are followed by one byte low..high, then by plain continuations. */
	static const struct {
		unsigned char from, to, length, low, high;
	} leads[] = {
		{ 0xc2, 0xdf, 2, 0x80, 0xbf },
		{ 0xe0, 0xe0, 3, 0xa0, 0xbf },
		{ 0xe1, 0xec, 3, 0x80, 0xbf },
		{ 0xed, 0xed, 3, 0x80, 0x9f },
		{ 0xee, 0xef, 3, 0x80, 0xbf },
		{ 0xf0, 0xf0, 4, 0x90, 0xbf },
		{ 0xf1, 0xf3, 4, 0x80, 0xbf },
		{ 0xf4, 0xf4, 4, 0x80, 0x8f },
	};

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
		if (s[0] < leads[i].from || s[0] > leads[i].to)
			continue;
		if (size < leads[i].length || s[1] < leads[i].low || s[1] > leads[i].high)
			return 0;
		for (size_t k = 2; k < leads[i].length; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return leads[i].length;
	}
	return 0;
}

/* Bytes at the front that are ASCII: most text is, and eight of them are seen at once. */
static size_t
ascii(const unsigned char *s, size_t size)
{
	size_t n = 0;

	for (uint64_t eight; n + sizeof eight <= size; n += sizeof eight) {
		memcpy(&eight, s + n, sizeof eight);
		if ((eight & 0x8080808080808080u) != 0)
			break;
	}
	while (n < size && s[n] < 0x80)
		n++;
	return n;
}

bool
utf8_valid(const void *data, size_t size)
{
	const unsigned char *s = data;

	for (size_t at = 0; at < size;) {
		at += ascii(s + at, size - at);
		if (at == size)
			break;

		size_t n = front(s + at, size - at);

		if (n == 0)
			return false;
		at += n;
	}
	return true;
}

/* As ascii(), without zero bytes: from each other byte one can be taken without borrowing. */
static size_t
printed(const unsigned char *s, size_t size)
{
	size_t n = 0;

	for (uint64_t eight; n + sizeof eight <= size; n += sizeof eight) {
		memcpy(&eight, s + n, sizeof eight);
		if (((eight | (eight - 0x0101010101010101u)) & 0x8080808080808080u) != 0)
			break;
	}
	while (n < size && s[n] < 0x80 && s[n] != 0)
		n++;
	return n;
}

/* Bytes at the front that stay as they are. */
static size_t
kept(const unsigned char *s, size_t size)
{
	size_t at = 0, n;

	for (; at < size; at += n) {
		n = s[at] < 0x80 ? printed(s + at, size - at) : front(s + at, size - at);
		if (n == 0)
			break;
	}
	return at;
}

/* A program writes by the megabyte, and everybody waits meanwhile. */
struct blob
utf8_mend(const void *data, size_t size)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const unsigned char *s = data;
	size_t room = 1, n;

	for (size_t at = 0; at < size; at += n + 1) {
		n = kept(s + at, size - at);
		room += n + (at + n < size ? sizeof replacement - 1 : 0);
	}

	char *mended = malloc(room), *to = mended;

	if (mended == NULL)
		return (struct blob){ 0 };
	for (size_t at = 0; at < size; at += n + 1) {
		n = kept(s + at, size - at);
		if (n > 0)
			to = mempcpy(to, s + at, n);
		if (at + n < size)
			to = mempcpy(to, replacement, sizeof replacement - 1);
	}
	*to = 0;
	return (struct blob){ mended, room - 1 };
}

bool
utf8_inside(const void *data, size_t at, size_t size)
{
	return at < size && (((const uint8_t *)data)[at] & 0xc0) == 0x80;
}

size_t
utf8_whole(const void *data, size_t size)
{
	const uint8_t *bytes = data;
	size_t cut = size;

	while (cut > 0 && size - cut < 3 && utf8_inside(data, cut - 1, size))
		cut--;
	return cut > 0 && bytes[cut - 1] >= 0xc0 ? cut - 1 : size;
}

void
utf8_tame(char *text)
{
	size_t size = strlen(text);

	for (size_t at = 0; at < size;) {
		size_t n = front((const unsigned char *)text + at, size - at);

		if (n == 0 || (unsigned char)text[at] < ' ' || text[at] == 0x7f)
			text[at] = '?';
		at += n > 0 ? n : 1;
	}
}
