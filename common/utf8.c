/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - the one place that says what is text.  Trusts nothing it is given.
 *
 * Of the libraries linked here only Jansson can tell, and it must copy the text into a value to do
 * so; multi-byte functions of libc depend on the locale.
 */
#include "common/utf8.h"

#include "common/err.h"

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
	if (s[0] < 0xc2 || s[0] > 0xf4 || size < 2 || (s[1] & 0xc0) != 0x80)
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

/* Eight bytes of ASCII without a zero byte: from each of those one can be taken without borrowing.
 */
static bool
are_printed(const unsigned char *s)
{
	uint64_t eight;

	memcpy(&eight, s, sizeof eight);
	return ((eight | (eight - 0x0101010101010101u)) & 0x8080808080808080u) == 0;
}

static size_t
printed(const unsigned char *s, size_t size)
{
	size_t n = 0;

	while (n + 8 <= size && are_printed(s + n))
		n += 8;
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

static const char replacement[4] = "\xef\xbf\xbd";

enum {
	REPLACEMENT = sizeof replacement - 1,
	SPARE = sizeof replacement, /* bytes behind the room of mend_into() that it may write to */
};

/* Is it worth a look at how much can be copied at once? */
static bool
begins_text(const unsigned char *s, size_t size)
{
	return s[0] < 0x80 ? size >= 8 && are_printed(s) : front(s, size) > 0;
}

/* As many whole characters as have room; how many bytes they take, and from how many, *from.  In
 * what is no text at all nobody can guess the next byte's kind: so none has a branch of its own. */
static size_t
mend_into(char *to, size_t room, const unsigned char *s, size_t size, size_t *from)
{
	char *at = to;

	for (*from = 0; *from < size;) {
		const unsigned char *c = s + *from;
		size_t left = room - (size_t)(at - to), rest = size - *from;
		bool begins = begins_text(c, rest), good = *c - 1u < 0x7f;
		size_t n = begins ? kept(c, rest < left ? rest : left) : 0;

		if (n > 0) {
			at = mempcpy(at, c, n);
			*from += n;
			continue;
		}
		/* What is a character is only too long for the room. */
		if (left < (good ? 1 : REPLACEMENT) || (begins && !good))
			break;
		memcpy(at, replacement, sizeof replacement);
		memcpy(at, good ? (const char *)c : replacement, 1);
		at += good ? 1 : REPLACEMENT;
		*from += 1;
	}
	return (size_t)(at - to);
}

/* A program writes by the megabyte, and everybody waits meanwhile. */
struct blob
utf8_mend(const void *data, size_t size)
{
	const unsigned char *s = data;
	size_t room = 0, n;

	for (size_t at = 0; at < size; at += n + 1) {
		n = kept(s + at, size - at);
		room += n + (at + n < size ? REPLACEMENT : 0);
	}

	char *mended = malloc(room + SPARE);

	if (mended == NULL)
		return (struct blob){ 0 };
	mended[mend_into(mended, room, s, size, &n)] = 0;
	return (struct blob){ mended, room };
}

/* Bytes of the character that ends there; 0: the last byte is part of none. */
static size_t
back(const unsigned char *s, size_t end)
{
	size_t n = 1;

	if (s[end - 1] < 0x80)
		return s[end - 1] != 0;
	while (n < 4 && n < end && utf8_inside(s, end - n, end))
		n++;
	return front(s + end - n, n) == n ? n : 0;
}

/* Where its last whole characters begin that take no more than so many bytes when mended. */
static size_t
last_within(const unsigned char *s, size_t size, size_t most)
{
	size_t at = size;

	while (at > 0) {
		if (at >= 8 && most >= 8 && are_printed(s + at - 8)) {
			at -= 8;
			most -= 8;
			continue;
		}

		size_t n = back(s, at), takes = n > 0 ? n : REPLACEMENT;

		if (takes > most)
			break;
		most -= takes;
		at -= n > 0 ? n : 1;
	}
	return at;
}

/* What the front's text is too long for is not looked at, but for what the end is made of. */
struct blob
utf8_fit(const void *data, size_t size, size_t most, const char *gap, bool *cut)
{
	size_t room = size < most / 3 ? size * 3 : most, gap_size = strlen(gap), from;
	size_t half = (most - gap_size) / 2, head = half, used;
	char *mended = malloc(room + SPARE), *all;

	must(most > gap_size);
	if (mended == NULL)
		return (struct blob){ 0 };
	used = mend_into(mended, room, data, size, &from);
	*cut = from < size;
	if (*cut) {
		while (utf8_inside(mended, head, used))
			head--;
		memcpy(mended + head, gap, gap_size);
		used = head + gap_size;
		data = (const unsigned char *)data + (from = last_within(data, size, half));
		used += mend_into(mended + used, half, data, size - from, &from);
	}
	mended[used] = 0;
	all = realloc(mended, used + 1);
	return (struct blob){ all != NULL ? all : mended, used };
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
