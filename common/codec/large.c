/* SPDX-License-Identifier: Apache-2.0 */
/*
 * large.c - marks large numbers, and finds the marks.
 *
 * Trusts no text. It need not be JSON: what is broken stays so, and the parser refuses it. A
 * process that has met no such number does not look for marks.
 */
#include "common/codec/large.h"

#include "common/base/auto.h"
#include "common/base/must.h"
#include "common/codec/decimal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_BYTES = 16,
	MARK_BYTES = 2 * KEY_BYTES,
	ARGUMENTS_DEPTH = 3, /* of the object in params.arguments */
	SHORTEST = 5,        /* 9e999 */
	MOST_DIGITS = 15,    /* of a number that is never large, without an exponent of */
	EXPONENT_DIGITS = 3, /* so many digits */
};

static char mark[MARK_BYTES + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool used;

static void
make_mark(void)
{
	unsigned char key[KEY_BYTES];

	randombytes_buf(key, sizeof key);
	sodium_bin2hex(mark, sizeof mark, key, sizeof key);
	atomic_store(&used, true);
}

static bool
is_part(char c)
{
	static const bool parts[256] = { ['0' ... '9'] = true,
		['+'] = true,
		['-'] = true,
		['.'] = true,
		['e'] = true,
		['E'] = true };

	return parts[(unsigned char)c];
}

/* ---- hiding ---- */

struct hiding {
	const char *at, *end;
	char *to; /* NULL: only count */
	unsigned depth;
	const char *keys[ARGUMENTS_DEPTH]; /* the last string of each depth, with its quote */
	bool within;                       /* params.arguments */
	bool all;                          /* not only there */
	bool cut;                          /* instead of marking */
	size_t found;
};

static void
copy(struct hiding *h, const char *text, size_t size)
{
	if (h->to == NULL)
		return;
	memcpy(h->to, text, size);
	h->to += size;
}

static void
pass_string(struct hiding *h)
{
	const char *start = h->at++;

	while (h->at < h->end && *h->at != '"')
		h->at += h->end - h->at > 1 && *h->at == '\\' ? 2 : 1;
	h->at += h->at < h->end;
	if (h->depth < ARGUMENTS_DEPTH)
		h->keys[h->depth] = start;
	copy(h, start, (size_t)(h->at - start));
}

/* The digits of an integer, with their sign. */
static bool
is_over_64_bits(const char *digits, size_t size)
{
	char text[24];

	if (size >= sizeof text)
		return true;
	memcpy(text, digits, size);
	text[size] = '\0';
	errno = 0;
	strtoll(text, NULL, 10);
	return errno == ERANGE;
}

/* Would Jansson refuse or round it? */
static bool
is_large(const char *number, size_t size)
{
	struct decimal d;

	if (!decimal_read(&d, number, size))
		return false;
	return d.whole ? is_over_64_bits(number, size) : !decimal_fits_double(&d);
}

/* A number in the place of a name is wrong; a text would be right. */
static bool
is_name(const char *next, const char *end)
{
	while (next < end && *next != '\0' && strchr(" \t\r\n", *next) != NULL)
		next++;
	return next < end && *next == ':';
}

/* Digits of which every parser makes a number, and spaces for what follows them. */
static void
put_cut(struct hiding *h, const char *number, size_t size)
{
	size_t kept = *number == '-';

	while (kept < size && kept < MOST_DIGITS && isdigit((unsigned char)number[kept]))
		kept++;
	copy(h, number, kept);
	memset(h->to, ' ', size - kept);
	h->to += size - kept;
}

static void
put_large(struct hiding *h, const char *number, size_t size)
{
	h->found++;
	if (h->cut) {
		put_cut(h, number, size);
		return;
	}
	copy(h, "\"", 1);
	copy(h, mark, MARK_BYTES);
	copy(h, number, size);
	copy(h, "\"", 1);
}

static void
pass_number(struct hiding *h)
{
	const char *start = h->at++;

	while (h->at < h->end && is_part(*h->at))
		h->at++;
	size_t size = (size_t)(h->at - start);
	if (h->within && is_large(start, size) && (h->cut || !is_name(h->at, h->end)))
		put_large(h, start, size);
	else
		copy(h, start, size);
}

static bool
is_key(const struct hiding *h, unsigned depth, const char *key)
{
	size_t size = strlen(key);

	return h->keys[depth] != NULL && (size_t)(h->end - h->keys[depth]) > size &&
	       memcmp(h->keys[depth], key, size) == 0;
}

static void
pass_bracket(struct hiding *h)
{
	char c = *h->at++;

	copy(h, &c, 1);
	if (c == '{' || c == '[') {
		h->depth++;
		h->within |= h->depth == ARGUMENTS_DEPTH && is_key(h, 1, "\"params\"") &&
		             is_key(h, 2, "\"arguments\"");
	} else if (h->depth > 0) {
		h->depth--;
		h->within &= h->all || h->depth >= ARGUMENTS_DEPTH;
	}
}

static void
pass_all(struct hiding *h)
{
	while (h->at < h->end) {
		if (*h->at == '"')
			pass_string(h);
		else if (*h->at == '-' || isdigit((unsigned char)*h->at))
			pass_number(h);
		else if (*h->at != '\0' && strchr("{}[]", *h->at) != NULL)
			pass_bracket(h);
		else
			copy(h, h->at++, 1);
	}
}

/* ---- is a walk needed? ---- */

/* Characters of numbers, within a text too: no large number is less suspicious. */
static bool
is_suspicious(const char *from, const char *to)
{
	size_t digits = 0;

	if (to - from > MOST_DIGITS)
		return true;
	while (to > from && isdigit((unsigned char)to[-1])) {
		to--;
		digits++;
	}
	return digits >= EXPONENT_DIGITS && to > from && to[-1] != '.';
}

/* Looks at one byte of each that the shortest such number has. */
static bool
is_walk_needed(const char *text, size_t size)
{
	size_t from, to = 0;

	for (size_t at = SHORTEST - 1; at<size; at = to> at ? to + SHORTEST : at + SHORTEST) {
		if (!is_part(text[at]))
			continue;
		for (from = at; from > to && is_part(text[from - 1]); from--)
			;
		for (to = at; to < size && is_part(text[to]); to++)
			;
		if (is_suspicious(text + from, text + to))
			return true;
	}
	return false;
}

char *
large_hide(const char *text, size_t size, enum large_where where, size_t *made)
{
	bool all = where == LARGE_ALL;
	const struct hiding begin = { .at = text, .end = text + size, .all = all, .within = all };
	struct hiding h = begin;

	if (!is_walk_needed(text, size))
		return NULL;
	pass_all(&h);
	if (h.found == 0)
		return NULL;
	pthread_once(&once, make_mark);
	*made = size + h.found * (MARK_BYTES + 2);
	char *copied = malloc(*made);
	must(copied != NULL);
	h = begin;
	h.to = copied;
	pass_all(&h);
	return copied;
}

char *
large_cut(const char *text, size_t size, enum large_where where)
{
	bool all = where == LARGE_ALL;
	struct hiding h = {
		.at = text, .end = text + size, .all = all, .within = all, .cut = true
	};
	char *copied = malloc(size + 1);

	must(copied != NULL);
	h.to = copied;
	pass_all(&h);
	*h.to = '\0';
	return copied;
}

/* ---- showing ---- */

const char *
large_digits(const json_t *value)
{
	if (!atomic_load_explicit(&used, memory_order_relaxed) || !json_is_string(value) ||
	    json_string_length(value) <= MARK_BYTES ||
	    memcmp(json_string_value(value), mark, MARK_BYTES) != 0)
		return NULL;
	return json_string_value(value) + MARK_BYTES;
}

size_t
large_show(char *text, size_t size)
{
	char *to = text, *at = text, *end = text + size, *found;

	if (!atomic_load_explicit(&used, memory_order_relaxed))
		return size;
	while ((found = memmem(at, (size_t)(end - at), mark, MARK_BYTES)) != NULL) {
		char *digits = found + MARK_BYTES,
		     *quote = memchr(digits, '"', (size_t)(end - digits));

		must(found > at && found[-1] == '"' && quote != NULL);
		memmove(to, at, (size_t)(found - 1 - at));
		to += found - 1 - at;
		memmove(to, digits, (size_t)(quote - digits));
		to += quote - digits;
		at = quote + 1;
	}
	memmove(to, at, (size_t)(end - at));
	return (size_t)(to - text) + (size_t)(end - at);
}

char *
large_dump(const json_t *value, size_t flags)
{
	char *text = json_dumps(value, flags);

	if (text != NULL)
		text[large_show(text, strlen(text))] = '\0';
	return text;
}

json_t *
large_nearest(const json_t *value)
{
	const char *digits = large_digits(value);
	double nearest = digits != NULL ? strtod(digits, NULL) : 0;

	return digits == NULL || isinf(nearest) ? NULL : json_real(nearest);
}
