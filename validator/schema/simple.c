/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simple.c - reads and matches the simple beginning of a pattern; trusts neither.
 *
 * A part that repeats takes as much as it can. That is what the pattern means only if the part
 * behind it begins with none of its characters, so anything else ends the beginning.
 */
#include "validator/schema/simple.h"

#include <ctype.h>
#include <string.h>

static void
add(struct simple_part *part, unsigned char c)
{
	part->set[c / 64] |= 1ULL << c % 64;
}

static bool
has(const struct simple_part *part, unsigned char c)
{
	return c < 0x80 ? (part->set[c / 64] >> c % 64 & 1) != 0 : part->wide;
}

static void
invert(struct simple_part *part)
{
	part->set[0] = ~part->set[0];
	part->set[1] = ~part->set[1];
	part->wide = true;
}

/* What follows a backslash; false: it is not simple. */
static bool
read_escape(struct simple_part *part, char c)
{
	if (c == 'd' || c == 'w')
		for (int each = '0'; each <= 'z'; each++)
			if (c == 'd' ? isdigit(each) : isalnum(each) || each == '_')
				add(part, (unsigned char)each);
	if (c == 'd' || c == 'w')
		return true;
	if (isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || c == '\0')
		return false;
	add(part, (unsigned char)c);
	return true;
}

/* A range, or one character; returns its size, 0: it is not simple. */
static size_t
read_member(struct simple_part *part, const char *at, const char *end)
{
	unsigned char first = (unsigned char)*at;

	if (first == '\\')
		return end - at > 2 && at[2] != '-' && read_escape(part, at[1]) ? 2 : 0;
	if (first >= 0x80 || first == '[')
		return 0;
	if (end - at < 3 || at[1] != '-' || at[2] == ']') {
		add(part, first);
		return 1;
	}
	unsigned char last = (unsigned char)at[2];
	if (last >= 0x80 || last == '\\' || last < first)
		return 0;
	for (unsigned c = first; c <= last; c++)
		add(part, (unsigned char)c);
	return 3;
}

/* Behind the bracket; returns the size with the bracket that closes it, 0: it is not simple. */
static size_t
read_class(struct simple_part *part, const char *at, const char *end)
{
	const char *begin = at;
	bool inverted = at < end && *at == '^';

	for (at += inverted; at < end && *at != ']';) {
		size_t size = read_member(part, at, end);

		if (size == 0)
			return 0;
		at += size;
	}
	if (at == end)
		return 0;
	if (inverted)
		invert(part);
	return (size_t)(at + 1 - begin);
}

/* One part without its quantifier; returns its size, 0: it is not simple. */
static size_t
read_part(struct simple_part *part, const char *at, const char *end)
{
	unsigned char c = (unsigned char)*at;
	size_t size;

	if (c == '[')
		return (size = read_class(part, at + 1, end)) > 0 ? size + 1 : 0;
	if (c == '\\')
		return end - at > 1 && read_escape(part, at[1]) ? 2 : 0;
	if (c == '.') {
		add(part, '\n');
		add(part, '\r');
		invert(part);
		part->any = true;
		return 1;
	}
	if (c >= 0x80 || c == '\0' || strchr("^$()|*+?{}]", c) != NULL)
		return 0;
	add(part, c);
	return 1;
}

/* A lazy or counted quantifier is not simple. */
static bool
read_quantifier(struct simple_part *part, const char **at, const char *end)
{
	char c = '\0';

	if (*at < end)
		c = **at;
	if (c == '{' || c == '?')
		return false;
	part->optional = c == '*';
	part->repeats = c == '*' || c == '+';
	*at += part->repeats;
	return !(part->repeats && *at < end && (**at == '?' || **at == '+' || **at == '{'));
}

static bool
overlap(const struct simple_part *a, const struct simple_part *b)
{
	return ((a->set[0] & b->set[0]) | (a->set[1] & b->set[1])) != 0 || (a->wide && b->wide);
}

/* May this part follow those before it? A part of one character is one byte. */
static bool
fits(const struct simple *simple, const struct simple_part *part)
{
	const struct simple_part *before =
	    &simple->parts[simple->count > 0 ? simple->count - 1 : 0];

	if (part->wide && !part->repeats)
		return false;
	return simple->count == 0 || !before->repeats ||
	       (!part->optional && !overlap(before, part));
}

/* Outside of groups and classes: what is read here would be the first alternative only. */
static bool
has_alternatives(const char *at, const char *end)
{
	bool in_class = false;
	size_t depth = 0;

	for (; at < end; at++) {
		if (*at == '\\')
			at++;
		else if (*at == '[' || *at == ']')
			in_class = *at == '[';
		else if (!in_class && *at == '(')
			depth++;
		else if (!in_class && *at == ')')
			depth--;
		else if (!in_class && *at == '|' && depth == 0)
			return true;
	}
	return false;
}

static void
read_parts(struct simple *simple, const char *at, const char *end)
{
	while (at < end && simple->count < SIMPLE_PARTS) {
		struct simple_part part = { .wide = false };
		size_t size = read_part(&part, at, end);

		if (*at == '$' && at + 1 == end)
			simple->ends = true;
		if (size == 0)
			break;
		const char *next = at + size;
		if (!read_quantifier(&part, &next, end) || !fits(simple, &part))
			break;
		simple->parts[simple->count++] = part;
		at = next;
	}
	simple->whole = at == end || simple->ends;
}

struct simple
simple_read(const char *pattern, size_t size)
{
	const char *end = pattern + size;
	struct simple simple = { .anchored = size > 0 && *pattern == '^' };

	if (!has_alternatives(pattern, end))
		read_parts(&simple, pattern + simple.anchored, end);
	return simple;
}

/* U+2028 and U+2029 end lines, and begin with this byte. */
#define LINE_END 0xe2

/* Moves *at behind what the part matches; -1: it must be left to PCRE2. */
static int
match_part(const struct simple_part *part, const char **at, const char *end)
{
	const char *begin = *at;

	while (*at < end && has(part, (unsigned char)**at)) {
		if (part->any && (unsigned char)**at == LINE_END)
			return -1;
		++*at;
		if (!part->repeats)
			break;
	}
	return *at > begin || part->optional;
}

int
simple_match(const struct simple *simple, const char *text, size_t size)
{
	const char *at = text, *end = text + size;
	int got = 1;

	for (size_t i = 0; i < simple->count && got == 1; i++)
		got = match_part(&simple->parts[i], &at, end);
	if (got == 1 && simple->ends)
		got = at == end;
	if (got == 1)
		return simple->whole ? 1 : -1;
	return simple->anchored ? got : -1;
}
