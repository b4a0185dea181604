/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.c - UTF-8 validation and repair. Trusts no input.
 *
 * Of the linked libraries only Jansson can validate UTF-8, and only by copying the text into a
 * value. The multi-byte functions of libc depend on the locale.
 */
#include "common/base/utf8.h"

#include "common/base/must.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A state machine validates the bytes. Each byte has one row with its transitions, six bits each.
 * A state is the bit position of its transitions, so a step is one shift. This must be fast,
 * because all other requests wait while megabytes of output are checked. Source: "A shift-based
 * DFA", Per Vognsen.
 */
enum {
	BEGIN = 0, /* all characters are whole */
	BAD = 6,   /* final */
	ONE = 12,  /* so many plain continuation bytes follow */
	TWO = 18,
	THREE = 24,
	AFTER_E0 = 30, /* the next continuation byte must exclude an overlong form, */
	AFTER_ED = 36, /* a surrogate, */
	AFTER_F0 = 42,
	AFTER_F4 = 48, /* a character over U+10FFFF */
	STATE = 63,    /* bits of a state */

	BLOCK = 32, /* bytes per check of the state */
};

#define STEP(from, to) ((uint64_t)(to) << (from))
#define FIRST(to) \
	(STEP(BEGIN, to) | STEP(BAD, BAD) | STEP(ONE, BAD) | STEP(TWO, BAD) | STEP(THREE, BAD) | \
	    STEP(AFTER_E0, BAD) | STEP(AFTER_ED, BAD) | STEP(AFTER_F0, BAD) | STEP(AFTER_F4, BAD))
#define NEXT(e0, ed, f0, f4) \
	(STEP(BEGIN, BAD) | STEP(BAD, BAD) | STEP(ONE, BEGIN) | STEP(TWO, ONE) | \
	    STEP(THREE, TWO) | STEP(AFTER_E0, e0) | STEP(AFTER_ED, ed) | STEP(AFTER_F0, f0) | \
	    STEP(AFTER_F4, f4))

static const uint64_t steps[256] = {
	[0x00 ... 0x7f] = FIRST(BEGIN),
	[0x80 ... 0x8f] = NEXT(BAD, ONE, BAD, TWO),
	[0x90 ... 0x9f] = NEXT(BAD, ONE, TWO, BAD),
	[0xa0 ... 0xbf] = NEXT(ONE, BAD, TWO, BAD),
	[0xc0 ... 0xc1] = FIRST(BAD),
	[0xc2 ... 0xdf] = FIRST(ONE),
	[0xe0] = FIRST(AFTER_E0),
	[0xe1 ... 0xec] = FIRST(TWO),
	[0xed] = FIRST(AFTER_ED),
	[0xee ... 0xef] = FIRST(TWO),
	[0xf0] = FIRST(AFTER_F0),
	[0xf1 ... 0xf3] = FIRST(THREE),
	[0xf4] = FIRST(AFTER_F4),
	[0xf5 ... 0xff] = FIRST(BAD),
};

static inline uint64_t
walk(uint64_t state, const unsigned char *s, size_t size)
{
	for (size_t i = 0; i < size; i++)
		state = steps[s[i]] >> (state & STATE);
	return state & STATE;
}

/* Bytes of the character at the start; 0: no character. */
static size_t
front(const unsigned char *s, size_t size)
{
	uint64_t state = BEGIN;

	for (size_t i = 0; i < size && state != BAD; i++) {
		state = walk(state, s + i, 1);
		if (state == BEGIN)
			return i + 1;
	}
	return 0;
}

/* Most text is ASCII, so eight bytes are checked at once. */
static bool
are_ascii(const unsigned char *s)
{
	uint64_t eight, found = 0;

	for (size_t i = 0; i < BLOCK; i += sizeof eight) {
		memcpy(&eight, s + i, sizeof eight);
		found |= eight;
	}
	return (found & 0x8080808080808080u) == 0;
}

static uint64_t
walk_text(uint64_t state, const unsigned char *s, size_t size)
{
	for (; size >= BLOCK && state != BAD; s += BLOCK, size -= BLOCK)
		if (state != BEGIN || !are_ascii(s))
			state = walk(state, s, BLOCK);
	return walk(state, s, size < BLOCK ? size : 0);
}

/* Walks as many blocks as both texts have. Returns the number of bytes walked in each. */
static size_t
walk_both(const unsigned char *s[2], uint64_t state[2], size_t size)
{
	size_t at = 0;

	for (; size - at >= BLOCK && state[0] != BAD && state[1] != BAD; at += BLOCK) {
		uint64_t one = state[0], other = state[1];

		if (one == BEGIN && other == BEGIN && are_ascii(s[0] + at) && are_ascii(s[1] + at))
			continue;
		for (size_t i = at; i < at + BLOCK; i++) {
			one = steps[s[0][i]] >> (one & STATE);
			other = steps[s[1][i]] >> (other & STATE);
		}
		state[0] = one & STATE;
		state[1] = other & STATE;
	}
	return at;
}

/* A step depends on the step before it, but not on steps in another part of the text. So the two
 * halves are walked side by side. */
bool
utf8_valid(const void *data, size_t size)
{
	const unsigned char *s[2] = { data, data };
	uint64_t state[2] = { BEGIN, BEGIN };
	size_t half = size / 2;

	if (size == 0)
		return true; /* and data may be NULL */
	while (half > 0 && utf8_inside(data, half, size))
		half--;
	s[1] += half;

	size_t both = walk_both(s, state, half);

	return walk_text(state[0], s[0] + both, half - both) == BEGIN &&
	       walk_text(state[1], s[1] + both, size - half - both) == BEGIN;
}

static bool
eight_are_ascii(const unsigned char *s)
{
	uint64_t eight;

	memcpy(&eight, s, sizeof eight);
	return (eight & 0x8080808080808080u) == 0;
}

static size_t
ascii_eights(const unsigned char *s, size_t size)
{
	size_t n = 0;

	while (n + 8 <= size && eight_are_ascii(s + n))
		n += 8;
	return n;
}

/* Bytes of the leading blocks that are text, up to the end of the last whole character. */
static size_t
kept_blocks(const unsigned char *s, size_t size)
{
	uint64_t state = BEGIN, next;
	size_t at = 0;

	for (; size - at >= BLOCK; at += BLOCK, state = next) {
		next = state;
		if (state == BEGIN && are_ascii(s + at))
			continue;
		next = walk(state, s + at, BLOCK);
		if (next == BAD)
			break;
	}
	if (state != BEGIN)
		while ((s[--at] & 0xc0) == 0x80)
			;
	return at;
}

/* Bytes at the start that stay unchanged. */
static size_t
kept(const unsigned char *s, size_t size)
{
	size_t at = kept_blocks(s, size), n;

	for (; at < size; at += n) {
		n = ascii_eights(s + at, size - at);
		if (n == 0)
			n = front(s + at, size - at);
		if (n == 0)
			break;
	}
	return at;
}

static const char replacement[4] = "\xef\xbf\xbd";

enum {
	REPLACEMENT = sizeof replacement - 1,
	SPARE = sizeof replacement, /* bytes after the end of the buffer of mend_into() that it may
	                               write to */
};

static bool
is_ascii(unsigned char c)
{
	return c < 0x80;
}

/* Is it worth counting how much can be copied at once? */
static bool
begins_text(const unsigned char *s, size_t size)
{
	return s[0] < 0x80 ? size >= 8 && eight_are_ascii(s) : front(s, size) > 0;
}

static size_t
kept_if_any(const unsigned char *s, size_t size)
{
	return begins_text(s, size) ? kept(s, size) : 0;
}

/* Mends as many whole characters as fit. Returns the number of bytes written; *from is the
 * number of bytes read. In data that is not text the kind of the next byte is unpredictable, so
 * no kind has a branch of its own. */
static size_t
mend_into(char *to, size_t room, const unsigned char *s, size_t size, size_t *from)
{
	char *at = to;

	for (*from = 0; *from < size;) {
		const unsigned char *c = s + *from;
		size_t left = room - (size_t)(at - to), rest = size - *from;
		bool begins = begins_text(c, rest), good = is_ascii(*c);
		size_t n = begins ? kept(c, rest < left ? rest : left) : 0;

		if (n > 0) {
			at = mempcpy(at, c, n);
			*from += n;
			continue;
		}
		/* A character that does not fit is not malformed. */
		if (left < (good ? 1 : REPLACEMENT) || (begins && !good))
			break;
		memcpy(at, replacement, sizeof replacement);
		memcpy(at, good ? (const char *)c : replacement, 1);
		at += good ? 1 : REPLACEMENT;
		*from += 1;
	}
	return (size_t)(at - to);
}

/* A program writes megabytes, and all other requests wait meanwhile. */
struct blob
utf8_mend(const void *data, size_t size)
{
	const unsigned char *s = data;
	size_t room = 0, n;

	for (size_t at = 0; at<size; at += n> 0 ? n : 1) {
		n = kept_if_any(s + at, size - at);
		room += n > 0 ? n : is_ascii(s[at]) ? 1 : REPLACEMENT;
	}

	char *mended = malloc(room + SPARE);

	if (mended == NULL)
		return (struct blob){ 0 };
	mended[mend_into(mended, room, s, size, &n)] = 0;
	return (struct blob){ mended, room };
}

/* Bytes of the character that ends there; 0: the last byte belongs to no character. */
static size_t
back(const unsigned char *s, size_t end)
{
	size_t n = 1;

	if (s[end - 1] < 0x80)
		return 1;
	while (n < 4 && n < end && utf8_inside(s, end - n, end))
		n++;
	return front(s + end - n, n) == n ? n : 0;
}

/* The start of the last whole characters that take at most so many bytes when mended. */
static size_t
last_within(const unsigned char *s, size_t size, size_t most)
{
	size_t at = size;

	while (at > 0) {
		if (at >= 8 && most >= 8 && eight_are_ascii(s + at - 8)) {
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

/* The middle that does not fit is not read. */
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

size_t
utf8_shown(const void *data, size_t size)
{
	const unsigned char *at = data;
	size_t n = front(at, size);

	if (n == 1 && (*at < ' ' || *at == 0x7f))
		return 0;
	if (n == 2 && at[0] == 0xc2 && at[1] < 0xa0)
		return 0; /* C1 controls */
	if (n == 3 && at[0] == 0xe2 && at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae)
		return 0; /* line and paragraph separators, bidirectional overrides */
	if (n == 3 && at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9)
		return 0; /* bidirectional isolates */
	return n;
}

void
utf8_tame(char *text)
{
	size_t left = strlen(text);
	char *to = text;

	for (size_t n; left > 0; text += n, left -= n) {
		n = utf8_shown(text, left);
		if (n > 0) {
			memmove(to, text, n);
			to += n;
			continue;
		}
		n = front((const unsigned char *)text, left);
		n = n > 0 ? n : 1;
		*to++ = '?'; /* may overwrite the start of that character */
	}
	*to = '\0';
}
