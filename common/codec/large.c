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
};

static const char largest[] = "1.7976931348623157e308";
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

/* ---- hiding ---- */

struct hiding {
	const char *at, *end;
	char *to;
	unsigned depth;
	const char *keys[ARGUMENTS_DEPTH]; /* the last string of each depth, with its quote */
	bool within;                       /* params.arguments */
	bool clamp;                        /* instead of marking */
};

static void
copy(struct hiding *h, const char *text, size_t size)
{
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

/* Ends at the first character that is none of a number. */
static bool
is_over_double(const char *number, size_t size)
{
	auto_free char *text = strndup(number, size);

	must(text != NULL);
	return isinf(strtod(text, NULL)) != 0;
}

static void
put_large(struct hiding *h, const char *number, size_t size)
{
	if (h->clamp) {
		copy(h, number, *number == '-');
		copy(h, largest, sizeof largest - 1);
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
	bool whole = true;

	while (h->at < h->end && (isalnum((unsigned char)*h->at) || strchr("+-.", *h->at) != NULL))
		whole &= isdigit((unsigned char)*h->at++) != 0;
	size_t size = (size_t)(h->at - start), sign = *start == '-';
	bool number =
	    size > sign && isdigit((unsigned char)start[sign]) &&
	    (size == sign + 1 || start[sign] != '0' || !isdigit((unsigned char)start[sign + 1]));
	if (h->within && number &&
	    (whole && !h->clamp ? is_over_64_bits(start, size) : is_over_double(start, size)))
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
		h->within &= h->clamp || h->depth >= ARGUMENTS_DEPTH;
	}
}

/* The most that a mark or the largest double adds to a text: what it replaces has
 * five bytes (9e999) or more. */
static size_t
most(size_t size)
{
	return size + (size / 5 + 1) * (MARK_BYTES + 2);
}

static char *
replace(struct hiding *h, size_t *made)
{
	char *copied = malloc(most((size_t)(h->end - h->at)));

	if (copied == NULL)
		return NULL;
	for (h->to = copied; h->at < h->end;) {
		if (*h->at == '"')
			pass_string(h);
		else if (*h->at == '-' || isdigit((unsigned char)*h->at))
			pass_number(h);
		else if (*h->at != '\0' && strchr("{}[]", *h->at) != NULL)
			pass_bracket(h);
		else
			copy(h, h->at++, 1);
	}
	*made = (size_t)(h->to - copied);
	return copied;
}

char *
large_hide(const char *text, size_t size, size_t *made)
{
	struct hiding h = { .at = text, .end = text + size };

	pthread_once(&once, make_mark);
	return replace(&h, made);
}

char *
large_clamp(const char *text, size_t size, size_t *made)
{
	struct hiding h = { .at = text, .end = text + size, .within = true, .clamp = true };

	return replace(&h, made);
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
