/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - reads cells by the grammar of their type; trusts nothing. */
#include "validator/csv/value.h"

#include "validator/csv/moment.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <endian.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct type {
	const char *name, *expected;
	bool ordered;
} types[] = {
#define TYPE(name, ordered, expected) { #name, expected, ordered },
#include "validator/csv/types.def"
};

static const struct alias {
	const char *name;
	enum value_type type;
} aliases[] = {
#define ALIAS(type, name) { name, VALUE_##type },
#include "validator/csv/types.def"
};

const char *
value_name(enum value_type type)
{
	return types[type].name;
}

const char *
value_expected(enum value_type type)
{
	return types[type].expected;
}

const char *
value_names(void)
{
	return "int, float, bool, date, datetime, uuid, email, string";
}

bool
value_is_ordered(enum value_type type)
{
	return types[type].ordered;
}

int
value_parse(const char *name)
{
	for (size_t i = 0; i < COUNT(types); i++)
		if (strcmp(types[i].name, name) == 0)
			return (int)i;
	for (size_t i = 0; i < COUNT(aliases); i++)
		if (strcmp(aliases[i].name, name) == 0)
			return (int)aliases[i].type;
	return -1;
}

static const char *
skip_digits(const char *text)
{
	return text + strspn(text, "0123456789");
}

static bool
is_int(const char *text)
{
	text += *text == '-' || *text == '+';
	return *text != '\0' && *skip_digits(text) == '\0';
}

static bool
is_float(const char *text)
{
	text += *text == '-' || *text == '+';
	const char *dot = skip_digits(text), *end = dot;
	if (*dot == '.')
		end = skip_digits(dot + 1);
	if (end - text <= (*dot == '.'))
		return false;
	if (*end == 'e' || *end == 'E') {
		end++;
		end += *end == '-' || *end == '+';
		if (!isdigit((unsigned char)*end))
			return false;
		end = skip_digits(end);
	}
	return *end == '\0';
}

static uint64_t
load_32(const char *data)
{
	uint32_t word;

	memcpy(&word, data, sizeof word);
	return be32toh(word);
}

uint64_t
value_head(const char *data, size_t size)
{
	const unsigned char *byte = (const unsigned char *)data;

	if (size >= 8)
		return load_32(data) << 32 | load_32(data + 4);
	if (size >= 4) /* the two overlap */
		return load_32(data) << 32 | load_32(data + size - 4) << (64 - 8 * size);
	if (size == 0)
		return 0;
	return (uint64_t)byte[0] << 56 | (uint64_t)byte[size / 2] << (56 - 8 * (size / 2)) |
	       (uint64_t)byte[size - 1] << (64 - 8 * size);
}

/* Bytes that continue no character, eight at a time. */
uint64_t
value_length(const char *data, size_t size)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t inner = 0, word;
	size_t i = 0;

	for (; i + sizeof word <= size; i += sizeof word) {
		memcpy(&word, data + i, sizeof word);
		inner += ((word >> 7 & ~word >> 6 & ones) * ones) >> 56;
	}
	for (; i < size; i++)
		inner += ((unsigned char)data[i] & 0xc0) == 0x80;
	return size - inner;
}

static const long double powers[] = { 1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L, 1e9L,
	1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L };

/* Both numbers of the division are exact, so it rounds as strtold() does. */
_Static_assert(LDBL_MANT_DIG >= 64, "");

bool
value_short(const char *data, size_t size, struct value_number *number)
{
	size_t sign = size > 0 && (*data == '-' || *data == '+'), at = sign, point = size;
	uint64_t value = 0;

	if (size - sign > COUNT(powers) - 1)
		return false;
	for (; at < size; at++) {
		unsigned digit = (unsigned char)data[at] - '0';

		if (digit < 10)
			value = value * 10 + digit;
		else if (data[at] == '.' && point == size)
			point = at;
		else
			return false;
	}
	if (size - sign <= (point < size))
		return false;
	number->is_int = point == size;
	number->is_code = at - sign > 1 && data[sign] == '0' && data[sign + 1] != '.';
	number->value = (long double)value;
	if (point < size)
		number->value /= powers[size - point - 1];
	if (*data == '-')
		number->value = -number->value;
	return true;
}

/* Between digits, and before three of them. */
static bool
separates(const char *text, const char *at)
{
	return at > text && isdigit((unsigned char)at[-1]) && strspn(at + 1, "0123456789") == 3;
}

bool
value_plain(const struct numerals *numerals, const char *text, char plain[VALUE_MAX])
{
	bool fraction = false;

	for (const char *at = text; *at != '\0'; at++) {
		if (*at == numerals->decimal) {
			fraction = true;
			*plain++ = '.';
		} else if (*at == numerals->thousands) {
			if (fraction || !separates(text, at))
				return false;
		} else if (*at == '.') {
			return false;
		} else {
			*plain++ = *at;
		}
	}
	*plain = '\0';
	return true;
}

static bool
is_bool(const char *text)
{
	static const char *const words[] = { "true", "false", "yes", "no", "on", "off", "t", "f",
		"y", "n", "1", "0" };

	for (size_t i = 0; i < COUNT(words); i++)
		if ((words[i][0] | ' ') == (text[0] | ' ') && strcasecmp(words[i], text) == 0)
			return true;
	return false;
}

static bool
is_uuid(const char *text)
{
	for (int i = 0; i < 36; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-'
							    : !isxdigit((unsigned char)text[i]))
			return false;
	return text[36] == '\0';
}

/* Labels of letters, digits and inner hyphens, at least two. */
static bool
is_domain(const char *text)
{
	size_t dots = 0;

	if (strlen(text) > 253)
		return false;
	for (;; text++) {
		size_t size = strcspn(text, ".");
		if (size == 0 || size > 63 || text[0] == '-' || text[size - 1] == '-')
			return false;
		for (size_t i = 0; i < size; i++)
			if (!isalnum((unsigned char)text[i]) && text[i] != '-' &&
			    (unsigned char)text[i] < 128)
				return false;
		text += size;
		if (*text == '\0')
			return dots > 0;
		dots++;
	}
}

static bool
is_email(const char *text)
{
	const char *at = strrchr(text, '@');

	if (at == NULL || at == text || at - text > 64 || text[0] == '.' || at[-1] == '.')
		return false;
	for (const char *c = text; c < at; c++)
		if ((*c == '.' && c[1] == '.') ||
		    (!isalnum((unsigned char)*c) && (unsigned char)*c < 128 &&
			strchr(".!#$%&'*+/=?^_`{|}~-", *c) == NULL))
			return false;
	return is_domain(at + 1);
}

static bool
read_moment(
    enum value_type type, const char *text, const struct texts *formats, long double *number)
{
	int64_t us = 0;
	bool fits = false;

	if (formats == NULL || formats->count == 0)
		fits = type == VALUE_date ? moment_date(text, &us) : moment_datetime(text, &us);
	else
		for (size_t i = 0; i < formats->count && !fits; i++)
			fits = moment_read(text, formats->items[i], &us);
	if (fits)
		*number = (long double)us;
	return fits;
}

bool
value_read(enum value_type type, const char *text, const struct texts *formats, long double *number)
{
	switch (type) {
	case VALUE_int:
	case VALUE_float:
		if (type == VALUE_int ? !is_int(text) : !is_float(text))
			return false;
		*number = strtold(text, NULL);
		return true;
	case VALUE_bool:
		return is_bool(text);
	case VALUE_date:
	case VALUE_datetime:
		return read_moment(type, text, formats, number);
	case VALUE_uuid:
		return is_uuid(text);
	case VALUE_email:
		return is_email(text);
	default:
		return true;
	}
}
