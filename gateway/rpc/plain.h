/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.h - finds how much of a text JSON writes unescaped, eight bytes at a time.
 *
 * Most bytes of messages need no escape: program output, files, descriptions.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PLAIN_EACH (~UINT64_C(0) / 255) /* 0x01 in each of eight bytes */

/*
 * How many of eight bytes, in memory order, precede the first control character, quote or
 * backslash.  The lowest bit found is exact; a borrow may set those above it.  Source: "Determine
 * if a word has a byte less than n", Anderson, Bit Twiddling Hacks.
 */
static inline int
plain_of(uint64_t bytes)
{
	bytes = le64toh(bytes);

	uint64_t quote = bytes ^ PLAIN_EACH * '"', slash = bytes ^ PLAIN_EACH * '\\';

	uint64_t found = ((bytes - PLAIN_EACH * ' ') & ~bytes) | ((quote - PLAIN_EACH) & ~quote) |
	                 ((slash - PLAIN_EACH) & ~slash);

	found &= PLAIN_EACH * 128;
	return found == 0 ? (int)sizeof bytes : __builtin_ctzll(found) / 8;
}

static inline bool
plain_is(char c)
{
	return (unsigned char)c >= ' ' && c != '"' && c != '\\';
}

/* The first byte of [text, end) that needs an escape, or end. */
static inline const char *
plain_end(const char *text, const char *end)
{
	uint64_t bytes;

	while (end - text >= (ptrdiff_t)sizeof bytes) {
		memcpy(&bytes, text, sizeof bytes);

		int n = plain_of(bytes);

		text += n;
		if (n < (int)sizeof bytes)
			return text;
	}
	while (text < end && plain_is(*text))
		text++;
	return text;
}
