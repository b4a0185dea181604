/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - trusts no value, but for its depth, which the parser has bounded. */
#include "validator/schema/value.h"

#include "validator/schema/document.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NUMBER_BYTES = 32, /* the text of one of Jansson's numbers */
};

/* Integers below it have no more digits than every double keeps. */
#define SHORT_INTEGER 1000000000000000

static const unsigned types[] = {
	[JSON_OBJECT] = VALUE_object,
	[JSON_ARRAY] = VALUE_array,
	[JSON_STRING] = VALUE_string,
	[JSON_INTEGER] = VALUE_integer | VALUE_number,
	[JSON_REAL] = VALUE_number,
	[JSON_TRUE] = VALUE_boolean,
	[JSON_FALSE] = VALUE_boolean,
	[JSON_NULL] = VALUE_null,
};

unsigned
value_types(const json_t *value, bool strict)
{
	if (!json_is_real(value))
		return types[json_typeof(value)];
	double real = json_real_value(value);
	const struct document_exact *exact = document_exact(value);
	bool integer = real == trunc(real) && !strict;

	if (exact != NULL)
		integer = strict ? exact->decimal.whole : decimal_is_integer(&exact->decimal);
	return integer ? VALUE_integer | VALUE_number : types[json_typeof(value)];
}

const char *
value_type_name(unsigned one)
{
	static const char *const names[] = { "null", "boolean", "integer", "number", "string",
		"array", "object" };

	return names[__builtin_ctz(one)];
}

/* ---- numbers ---- */

/* The shortest text that is read back as the same number. */
static void
print_real(double real, char text[NUMBER_BYTES])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, NUMBER_BYTES, "%.*g", digits, real);
		if (strtod(text, NULL) == real)
			return;
	}
}

/* All short numbers can be compared as doubles. */
bool
value_is_short(const json_t *value)
{
	json_int_t n = json_integer_value(value);

	if (json_is_integer(value))
		return -SHORT_INTEGER < n && n < SHORT_INTEGER;
	return document_exact(value) == NULL;
}

/* text: for the digits, as long as *d is used. */
static void
decimal_of(const json_t *value, char text[NUMBER_BYTES], struct decimal *d)
{
	const struct document_exact *exact = document_exact(value);

	if (exact != NULL) {
		*d = exact->decimal;
		return;
	}
	if (json_is_integer(value))
		snprintf(text, NUMBER_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		print_real(json_real_value(value), text);
	must(decimal_read(d, text, strlen(text)));
}

int
value_compare(const json_t *a, const json_t *b)
{
	double x = json_number_value(a), y = json_number_value(b);
	char one[NUMBER_BYTES], two[NUMBER_BYTES];
	struct decimal d, e;

	if (value_is_short(a) && value_is_short(b))
		return (x > y) - (x < y);
	decimal_of(a, one, &d);
	decimal_of(b, two, &e);
	return decimal_compare(&d, &e);
}

bool
value_multiple(const json_t *value, const json_t *of, uint64_t *steps)
{
	char one[NUMBER_BYTES], two[NUMBER_BYTES];
	struct decimal d, divisor;

	if (json_is_integer(value) && json_is_integer(of))
		return json_integer_value(value) % json_integer_value(of) == 0;
	decimal_of(value, one, &d);
	decimal_of(of, two, &divisor);
	return decimal_multiple(&d, &divisor, steps);
}

/* ---- equality ---- */

static bool
equal_arrays(const json_t *a, const json_t *b)
{
	size_t n = json_array_size(a);

	if (n != json_array_size(b))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!value_equal(json_array_get(a, i), json_array_get(b, i)))
			return false;
	return true;
}

static bool
equal_objects(const json_t *a, const json_t *b)
{
	void *at = json_object_iter((json_t *)(uintptr_t)a);

	if (json_object_size(a) != json_object_size(b))
		return false;
	for (; at != NULL; at = json_object_iter_next((json_t *)(uintptr_t)a, at)) {
		const json_t *other =
		    json_object_getn(b, json_object_iter_key(at), json_object_iter_key_len(at));

		if (other == NULL || !value_equal(json_object_iter_value(at), other))
			return false;
	}
	return true;
}

bool
value_equal(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return value_compare(a, b) == 0;
	if (json_typeof(a) != json_typeof(b))
		return false;
	switch (json_typeof(a)) {
	case JSON_STRING:
		return json_string_length(a) == json_string_length(b) &&
		       memcmp(json_string_value(a), json_string_value(b), json_string_length(a)) ==
		           0;
	case JSON_ARRAY:
		return equal_arrays(a, b);
	case JSON_OBJECT:
		return equal_objects(a, b);
	default:
		return true;
	}
}

static uint64_t
mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15;
	return a ^ (a >> 29);
}

static uint64_t
hash_bytes(const char *data, size_t size)
{
	uint64_t hash = size, word;

	for (; size >= sizeof word; data += sizeof word, size -= sizeof word) {
		memcpy(&word, data, sizeof word);
		hash = mix(hash, word);
	}
	word = 0;
	memcpy(&word, data, size);
	return mix(hash, word);
}

static uint64_t
hash_digits(const struct decimal *d)
{
	auto_free char *digits = malloc(d->count);

	must(digits != NULL);
	decimal_digits(d, digits);
	return mix(hash_bytes(digits, d->count), (uint64_t)d->exponent ^ d->negative);
}

/* Numbers that a double may round have a hash of their digits. */
static uint64_t
hash_number(const json_t *value)
{
	char text[NUMBER_BYTES];
	struct decimal d;
	double real = json_number_value(value) + 0.0; /* no negative zero */
	uint64_t bits;

	if (!value_is_short(value)) {
		decimal_of(value, text, &d);
		if (!decimal_fits_double(&d))
			return hash_digits(&d);
		if (document_exact(value) != NULL)
			real = strtod(document_exact(value)->text, NULL);
	}
	memcpy(&bits, &real, sizeof bits);
	return mix(3, bits);
}

/* The members of an object have no order. */
static uint64_t
hash_object(const json_t *value, uint64_t *steps)
{
	json_t *object = (json_t *)(uintptr_t)value;
	uint64_t sum = 5;

	for (void *at = json_object_iter(object); at != NULL;
	     at = json_object_iter_next(object, at))
		sum += mix(hash_bytes(json_object_iter_key(at), json_object_iter_key_len(at)),
		    value_hash(json_object_iter_value(at), steps));
	return mix(sum, 5);
}

uint64_t
value_hash(const json_t *value, uint64_t *steps)
{
	uint64_t hash = (uint64_t)json_typeof(value) + 11;

	++*steps;
	switch (json_typeof(value)) {
	case JSON_STRING:
		return hash_bytes(json_string_value(value), json_string_length(value));
	case JSON_INTEGER:
	case JSON_REAL:
		return hash_number(value);
	case JSON_OBJECT:
		return hash_object(value, steps);
	case JSON_ARRAY:
		for (size_t i = 0; i < json_array_size(value); i++)
			hash = mix(hash, value_hash(json_array_get(value, i), steps));
		return hash;
	default:
		return mix(hash, 1);
	}
}

/* ---- text ---- */

static void
cut(char *text, size_t size, const char *from, size_t length)
{
	if (length < size) {
		memcpy(text, from, length + 1);
		return;
	}
	memcpy(text, from, size - 4);
	length = utf8_whole(text, size - 4);
	memcpy(text + length, "...", 4);
}

/* Only as much as is shown: the value may have a megabyte. */
struct sink {
	char data[1024];
	size_t used;
};

static bool
is_full(const struct sink *sink)
{
	return sink->used == sizeof sink->data - 1;
}

static int
collect(const char *data, size_t size, void *self)
{
	struct sink *sink = self;
	size_t room = sizeof sink->data - 1 - sink->used;

	if (size > room)
		size = room;
	memcpy(sink->data + sink->used, data, size);
	sink->used += size;
	return is_full(sink) ? -1 : 0;
}

static void
put(struct sink *sink, const char *text)
{
	collect(text, strlen(text), sink);
}

static void
print_number(const json_t *value, struct sink *sink)
{
	const struct document_exact *exact = document_exact(value);
	char text[NUMBER_BYTES];

	print_real(json_real_value(value), text);
	collect(
	    exact != NULL ? exact->text : text, exact != NULL ? exact->size : strlen(text), sink);
}

static void print(const json_t *value, struct sink *);

static void
print_object(const json_t *value, struct sink *sink)
{
	json_t *object = (json_t *)(uintptr_t)value;

	put(sink, "{");
	for (void *at = json_object_iter(object); at != NULL && !is_full(sink);) {
		json_t *key =
		    json_stringn_nocheck(json_object_iter_key(at), json_object_iter_key_len(at));

		must(key != NULL);
		print(key, sink);
		json_decref(key);
		put(sink, ":");
		print(json_object_iter_value(at), sink);
		at = json_object_iter_next(object, at);
		put(sink, at != NULL ? "," : "");
	}
	put(sink, "}");
}

/* Jansson's own would write 17 digits of each real. */
static void
print(const json_t *value, struct sink *sink)
{
	size_t n = json_array_size(value);

	if (json_is_real(value)) {
		print_number(value, sink);
	} else if (json_is_object(value)) {
		print_object(value, sink);
	} else if (json_is_array(value)) {
		put(sink, "[");
		for (size_t i = 0; i < n && !is_full(sink); i++) {
			print(json_array_get(value, i), sink);
			put(sink, i + 1 < n ? "," : "");
		}
		put(sink, "]");
	} else {
		json_dump_callback(value, collect, sink, JSON_COMPACT | JSON_ENCODE_ANY);
	}
}

void
value_print(const json_t *value, char *text, size_t size)
{
	struct sink sink = { .used = 0 };

	print(value, &sink);
	sink.data[sink.used] = '\0';
	cut(text, size, sink.data, sink.used);
}
