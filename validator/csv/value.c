/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - reads cells by the grammar of their type; trusts nothing. */
#include "validator/csv/value.h"

#include "validator/csv/moment.h"

#include "common/base/auto.h"

#include <ctype.h>
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
		if (strcasecmp(words[i], text) == 0)
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
