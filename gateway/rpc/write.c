/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c - walks a value and writes it; trusts Jansson that texts are UTF-8 and numbers finite.
 *
 * The recursion is as deep as the value, whose depth the parsers of this program bound.
 */
#include "gateway/rpc/write.h"

#include "gateway/rpc/constant.h"
#include "gateway/rpc/growing.h"
#include "gateway/rpc/plain.h"

#include "common/base/auto.h"
#include "common/codec/large.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MILLION = 1000000,
	SHORT_BYTES = 256, /* a shorter text is written as fast as it is looked up */
};

struct writer {
	int (*put)(const char *data, size_t size, void *self);
	void *self;
	bool failed;
	size_t used;
	char held[4096]; /* not yet passed to put() */
};

static void
flush(struct writer *w)
{
	if (w->used > 0 && !w->failed)
		w->failed = w->put(w->held, w->used, w->self) != 0;
	w->used = 0;
}

/* For a few bytes. */
static inline void
add(struct writer *w, const char *data, size_t size)
{
	if (size > sizeof w->held - w->used)
		flush(w);
	memcpy(w->held + w->used, data, size);
	w->used += size;
}

static void
add_byte(struct writer *w, char c)
{
	if (w->used == sizeof w->held)
		flush(w);
	w->held[w->used++] = c;
}

/* For any number of bytes. */
static void
add_text(struct writer *w, const char *text, size_t size)
{
	if (size <= sizeof w->held / 4) {
		add(w, text, size);
		return;
	}
	flush(w);
	if (!w->failed)
		w->failed = w->put(text, size, w->self) != 0;
}

static void
add_escape(struct writer *w, char c)
{
	static const char short_form[UCHAR_MAX + 1] = { ['"'] = '"',
		['\\'] = '\\',
		['\n'] = 'n',
		['\t'] = 't',
		['\r'] = 'r',
		['\b'] = 'b',
		['\f'] = 'f' };
	char text[8], form = short_form[(unsigned char)c];

	if (form == 0) {
		add(w, text, (size_t)snprintf(text, sizeof text, "\\u%04x", (unsigned char)c));
		return;
	}
	add_byte(w, '\\');
	add_byte(w, form);
}

/* Copies the unescaped bytes at the front, as far as there is room; returns where they end. */
static const char *
add_plain(struct writer *w, const char *text, const char *end)
{
	char *to = w->held + w->used, *full = w->held + sizeof w->held;
	uint64_t bytes;
	int n = sizeof bytes;

	for (; n == sizeof bytes && end - text >= n && full - to >= n; text += n, to += n) {
		memcpy(&bytes, text, sizeof bytes);
		memcpy(to, &bytes, sizeof bytes);
		n = plain_of(bytes);
	}
	while (text < end && to < full && plain_is(*text))
		*to++ = *text++;
	w->used = (size_t)(to - w->held);
	return text;
}

static void
add_run(struct writer *w, const char *text, const char *end)
{
	while ((text = add_plain(w, text, end)) < end && !w->failed) {
		if (plain_is(*text))
			flush(w);
		else
			add_escape(w, *text++);
	}
}

/*
 * JSON allows U+2028, U+2029 and U+0085 as they are.  Clients that read lines by the rules of
 * Unicode or of Node's readline (since 24) would cut a message there.
 */
static const struct separator {
	const char *bytes, *escape;
} separators[] = {
	{ "\xe2\x80\xa8", "\\u2028" },
	{ "\xe2\x80\xa9", "\\u2029" },
	{ "\xc2\x85", "\\u0085" },
};

/* Finds the first one from *at on, and moves *at there or to the end.  next: where the search of
 * each has come to, so that each byte is searched once. */
static const struct separator *
find_separator(const char **at, const char *end, const char *next[])
{
	const struct separator *first = NULL;
	const char *from = *at;

	*at = end;
	for (size_t i = 0; i < COUNT(separators); i++) {
		const struct separator *s = &separators[i];

		if (next[i] < from && (next[i] = memmem(from, (size_t)(end - from), s->bytes,
					   strlen(s->bytes))) == NULL)
			next[i] = end;
		if (next[i] < *at) {
			*at = next[i];
			first = s;
		}
	}
	return first;
}

static bool
is_ascii(const char *text, const char *end)
{
	uint64_t bytes, high = 0;

	for (; end - text >= (ptrdiff_t)sizeof bytes; text += sizeof bytes) {
		memcpy(&bytes, text, sizeof bytes);
		high |= bytes;
	}
	for (; text < end; text++)
		high |= (unsigned char)*text;
	return (high & PLAIN_EACH * 128) == 0;
}

static void
add_string(struct writer *w, const char *text, size_t size)
{
	const char *end = text + size, *next[COUNT(separators)] = { NULL };
	const struct separator *s;

	add_byte(w, '"');
	if (is_ascii(text, end))
		add_run(w, take_ptr(text), end);
	while (text != NULL && !w->failed) {
		const char *from = text;

		s = find_separator(&text, end, next);
		add_run(w, from, text);
		if (s != NULL)
			add(w, s->escape, strlen(s->escape));
		text = s != NULL ? text + strlen(s->bytes) : NULL;
	}
	add_byte(w, '"');
}

/* Writes at least that many digits. */
static void
add_digits(struct writer *w, uint64_t n, int least)
{
	char text[20], *end = text + sizeof text, *at = end;

	for (; n > 0 || end - at < least; n /= 10)
		*--at = (char)('0' + n % 10);
	add(w, at, (size_t)(end - at));
}

/*
 * Most reals are times in millionths.  A number of at most 15 digits is the decimal nearest to its
 * double, and so is the quotient.  false: the value is not such a number.
 */
static bool
add_millionths(struct writer *w, double value)
{
	if (signbit(value) || value >= 1e9)
		return false;

	uint64_t all = (uint64_t)(value * MILLION + 0.5), part = all % MILLION;
	int digits = 6;

	if ((double)all / MILLION != value)
		return false;
	for (; digits > 1 && part % 10 == 0; digits--)
		part /= 10;
	add_digits(w, all / MILLION, 1);
	add_byte(w, '.');
	add_digits(w, part, digits);
	return true;
}

/* The fewest digits that read back as the same number; a real stays a real (2.0, not 2). */
static void
add_real(struct writer *w, double value)
{
	char text[40];
	int size = 0;

	if (add_millionths(w, value))
		return;
	for (int digits = 15; digits <= 17; digits++) {
		size = snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	add(w, text, (size_t)size);
	if (strpbrk(text, ".e") == NULL)
		add(w, ".0", 2);
}

static void
add_integer(struct writer *w, json_int_t value)
{
	if (value < 0)
		add_byte(w, '-');
	add_digits(w, value < 0 ? -(uint64_t)value : (uint64_t)value, 1);
}

static void add_value(struct writer *, const json_t *);

static void
add_array(struct writer *w, const json_t *array)
{
	add_byte(w, '[');
	for (size_t i = 0; i < json_array_size(array) && !w->failed; i++) {
		if (i > 0)
			add_byte(w, ',');
		add_value(w, json_array_get(array, i));
	}
	add_byte(w, ']');
}

static void
add_object(struct writer *w, json_t *object)
{
	const char *key;
	json_t *value;
	size_t size;
	char before = '{';

	json_object_keylen_foreach(object, key, size, value)
	{
		add_byte(w, before);
		add_string(w, key, size);
		add_byte(w, ':');
		add_value(w, value);
		before = ',';
		if (w->failed)
			return;
	}
	if (before == '{')
		add_byte(w, before);
	add_byte(w, '}');
}

/* false: the value is not stored, or too short to be looked up. */
static bool
add_constant(struct writer *w, const json_t *value)
{
	bool large = json_is_object(value) || json_is_array(value) ||
	             json_string_length(value) >= SHORT_BYTES;
	const struct constant *c = large ? constant_find(value) : NULL;

	if (c != NULL)
		add_text(w, c->text, c->size);
	return c != NULL;
}

static void
add_value(struct writer *w, const json_t *value)
{
	const char *digits;

	if (add_constant(w, value))
		return;
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		add_object(w, (json_t *)value); /* its iterators are not const */
		break;
	case JSON_ARRAY:
		add_array(w, value);
		break;
	case JSON_STRING:
		digits = large_digits(value);
		if (digits != NULL)
			add_text(w, digits, strlen(digits));
		else
			add_string(w, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		add_integer(w, json_integer_value(value));
		break;
	case JSON_REAL:
		add_real(w, json_real_value(value));
		break;
	case JSON_TRUE:
		add(w, "true", 4);
		break;
	case JSON_FALSE:
		add(w, "false", 5);
		break;
	case JSON_NULL:
		add(w, "null", 4);
	}
}

int
write_json(const json_t *value, int (*put)(const char *data, size_t size, void *self), void *self)
{
	struct writer w; /* its buffer needs no initialization */

	w.put = put;
	w.self = self;
	w.failed = false;
	w.used = 0;
	add_value(&w, value);
	flush(&w);
	return w.failed ? -1 : 0;
}

char *
write_whole(const json_t *value, size_t limit, size_t *size)
{
	struct growing w = { .limit = limit };

	if (write_json(value, growing_add, &w) == 0) {
		*size = w.size;
		return w.data;
	}
	free(w.data);
	return NULL;
}

json_t *
write_constant(json_t *value)
{
	size_t size;
	char *text = constant_wanted(value) ? write_whole(value, SIZE_MAX, &size) : NULL;

	if (text != NULL)
		constant_add(value, text, size);
	return value;
}
