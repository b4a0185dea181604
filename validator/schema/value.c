/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - trusts no value, but for its depth, which the parser has bounded. */
#include "validator/schema/value.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	double real = json_is_real(value) ? json_real_value(value) : 0.5;

	/* An integer over 64 bits was parsed as a real number. */
	if (real == trunc(real) && (!strict || fabs(real) >= 0x1p63))
		return VALUE_integer | VALUE_number;
	return types[json_typeof(value)];
}

const char *
value_type_name(unsigned one)
{
	static const char *const names[] = { "null", "boolean", "integer", "number", "string",
		"array", "object" };

	return names[__builtin_ctz(one)];
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
hash_number(const json_t *value)
{
	double real = json_number_value(value) + 0.0; /* no negative zero */
	uint64_t bits;

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

/* ---- numbers ---- */

/* Exact: the significand of a long double has 64 bits. */
static long double
number(const json_t *value)
{
	return json_is_integer(value) ? (long double)json_integer_value(value)
	                              : (long double)json_real_value(value);
}

int
value_compare(const json_t *a, const json_t *b)
{
	long double x = number(a), y = number(b);

	return (x > y) - (x < y);
}

/* The shortest text that is read back as the same number. */
static void
print_real(double real, char text[32])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, 32, "%.*g", digits, real);
		if (strtod(text, NULL) == real)
			return;
	}
}

/* significand * 10 ** exponent, as the number was written. */
struct decimal {
	uint64_t significand;
	int exponent;
};

static struct decimal
decimal_of(const json_t *value)
{
	struct decimal d = { 0 };
	char text[32];
	bool fraction = false;

	if (json_is_integer(value)) {
		json_int_t n = json_integer_value(value);

		d.significand = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
		return d;
	}
	print_real(fabs(json_real_value(value)), text);
	for (const char *c = text; *c != '\0' && *c != 'e'; c++) {
		if (*c == '.') {
			fraction = true;
			continue;
		}
		d.significand = d.significand * 10 + (uint64_t)(*c - '0');
		d.exponent -= fraction;
	}
	const char *exponent = strchr(text, 'e');
	if (exponent != NULL)
		d.exponent += (int)strtol(exponent + 1, NULL, 10);
	return d;
}

static uint64_t
power_of_ten(unsigned exponent, uint64_t modulus)
{
	unsigned __int128 power = 1 % modulus;

	while (exponent-- > 0)
		power = power * 10 % modulus;
	return (uint64_t)power;
}

bool
value_multiple(const json_t *value, const json_t *of)
{
	struct decimal a = decimal_of(value), b = decimal_of(of);
	unsigned __int128 divisor = b.significand;

	if (a.significand == 0)
		return true;
	if (b.significand == 0)
		return false;
	if (a.exponent >= b.exponent) {
		uint64_t power = power_of_ten((unsigned)(a.exponent - b.exponent), b.significand);

		return (unsigned __int128)(a.significand % b.significand) * power % divisor == 0;
	}
	for (int scale = b.exponent - a.exponent; scale > 0; scale--) {
		divisor *= 10;
		if (divisor > a.significand)
			return false;
	}
	return a.significand % divisor == 0;
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

static int
collect(const char *data, size_t size, void *self)
{
	struct sink *sink = self;
	size_t room = sizeof sink->data - 1 - sink->used;

	if (size > room)
		size = room;
	memcpy(sink->data + sink->used, data, size);
	sink->used += size;
	return sink->used == sizeof sink->data - 1 ? -1 : 0;
}

void
value_print(const json_t *value, char *text, size_t size)
{
	struct sink sink = { .used = 0 };

	if (json_is_real(value)) {
		print_real(json_real_value(value), sink.data);
		sink.used = strlen(sink.data);
	} else {
		json_dump_callback(value, collect, &sink, JSON_COMPACT | JSON_ENCODE_ANY);
	}
	sink.data[sink.used] = '\0';
	cut(text, size, sink.data, sink.used);
}
