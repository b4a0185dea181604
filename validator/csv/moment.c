/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moment.c - reads dates and times by a format, without the C library's locale.
 *
 * Trusts nothing: text and format come from a client.
 */
#include "validator/csv/moment.h"

#include "common/base/auto.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

struct parts {
	int64_t year, month, day, hour, minute, second, micro, half, offset, nth;
};

static const char *const months[] = { "january", "february", "march", "april", "may", "june",
	"july", "august", "september", "october", "november", "december" };

/* A directive that is a number of so many digits. */
static const struct number {
	char name;
	int least, most; /* digits */
	int64_t low, high;
	size_t at;
} numbers[] = {
	{ 'Y', 4, 4, 1, 9999, offsetof(struct parts, year) },
	{ 'm', 1, 2, 1, 12, offsetof(struct parts, month) },
	{ 'd', 1, 2, 1, 31, offsetof(struct parts, day) },
	{ 'H', 1, 2, 0, 23, offsetof(struct parts, hour) },
	{ 'I', 1, 2, 1, 12, offsetof(struct parts, hour) },
	{ 'M', 1, 2, 0, 59, offsetof(struct parts, minute) },
	{ 'S', 1, 2, 0, 60, offsetof(struct parts, second) },
	{ 'y', 2, 2, 0, 99, offsetof(struct parts, year) },
	{ 'j', 3, 3, 1, 366, offsetof(struct parts, nth) },
};

static const struct number *
find_number(char name)
{
	for (size_t i = 0; i < COUNT(numbers); i++)
		if (numbers[i].name == name)
			return &numbers[i];
	return NULL;
}

static bool
digits(const char **text, int least, int most, int64_t *value)
{
	int n = 0;

	for (*value = 0; n < most && **text >= '0' && **text <= '9'; n++)
		*value = *value * 10 + *(*text)++ - '0';
	return n >= least;
}

static bool
read_number(const struct number *number, const char **text, struct parts *parts)
{
	int64_t value;

	if (!digits(text, number->least, number->most, &value) || value < number->low ||
	    value > number->high)
		return false;
	if (number->name == 'y')
		value += value < 69 ? 2000 : 1900;
	memcpy((char *)parts + number->at, &value, sizeof value);
	return true;
}

static bool
read_fraction(const char **text, struct parts *parts)
{
	int64_t scale = 100000;
	const char *start = *text;

	for (; **text >= '0' && **text <= '9'; (*text)++, scale /= 10)
		parts->micro += (**text - '0') * scale;
	return *text > start && *text - start <= 9;
}

static bool
read_month(const char **text, bool whole, struct parts *parts)
{
	for (size_t i = 0; i < COUNT(months); i++) {
		size_t size = whole ? strlen(months[i]) : 3;

		if (strncasecmp(*text, months[i], size) == 0) {
			*text += size;
			parts->month = (int64_t)i + 1;
			return true;
		}
	}
	return false;
}

static bool
read_half(const char **text, struct parts *parts)
{
	bool pm = strncasecmp(*text, "pm", 2) == 0;

	if (!pm && strncasecmp(*text, "am", 2) != 0)
		return false;
	*text += 2;
	parts->half = pm ? 2 : 1;
	return true;
}

/* Z, +HH, +HHMM or +HH:MM */
static bool
read_offset(const char **text, struct parts *parts)
{
	int64_t hours, minutes = 0;
	char sign = **text;

	if (sign == 'Z' || sign == 'z') {
		(*text)++;
		return true;
	}
	if (sign != '+' && sign != '-')
		return false;
	(*text)++;
	if (!digits(text, 2, 2, &hours) || hours > 23)
		return false;
	bool colon = **text == ':';
	*text += colon;
	if ((colon || (**text >= '0' && **text <= '9')) &&
	    (!digits(text, 2, 2, &minutes) || minutes > 59))
		return false;
	parts->offset = (hours * 60 + minutes) * (sign == '-' ? -60 : 60);
	return true;
}

static bool
read_directive(char name, const char **text, struct parts *parts)
{
	const struct number *number = find_number(name);

	if (number != NULL)
		return read_number(number, text, parts);
	switch (name) {
	case 'f':
		return read_fraction(text, parts);
	case 'b':
	case 'B':
		return read_month(text, name == 'B', parts);
	case 'p':
		return read_half(text, parts);
	case 'z':
		return read_offset(text, parts);
	default:
		return *(*text)++ == '%';
	}
}

bool
moment_format(const char *format)
{
	for (; *format != '\0'; format++)
		if (*format == '%' && (*++format == '\0' || (find_number(*format) == NULL &&
								strchr("fbBpz%", *format) == NULL)))
			return false;
	return true;
}

static bool
leaps(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from 1970-01-01 to January 1 of the year. */
static int64_t
days_before(int64_t year)
{
	int64_t past = year - 1;

	return past * 365 + past / 4 - past / 100 + past / 400 - 719162;
}

static bool
compute(const struct parts *parts, int64_t *us)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t days = days_before(parts->year), hour = parts->hour;
	int64_t length = lengths[parts->month - 1] + (parts->month == 2 && leaps(parts->year));

	if (parts->day > length || (parts->nth == 366 && !leaps(parts->year)) ||
	    (parts->half != 0 && hour > 12))
		return false;
	for (int64_t m = 1; m < parts->month; m++)
		days += lengths[m - 1] + (m == 2 && leaps(parts->year));
	days += parts->nth > 0 ? parts->nth - 1 : parts->day - 1;
	if (parts->half != 0)
		hour = hour % 12 + (parts->half == 2 ? 12 : 0);
	*us = (days * 86400 + hour * 3600 + parts->minute * 60 + parts->second - parts->offset) *
	          1000000 +
	      parts->micro;
	return true;
}

bool
moment_read(const char *text, const char *format, int64_t *us)
{
	struct parts parts = { .year = 1970, .month = 1, .day = 1 };

	for (; *format != '\0'; format++) {
		if (*format == '%') {
			if (!read_directive(*++format, &text, &parts))
				return false;
		} else if (*text++ != *format) {
			return false;
		}
	}
	return *text == '\0' && compute(&parts, us);
}

static bool
is_shaped(const char *text, const char *shape)
{
	for (; *shape != '\0'; shape++, text++)
		if (*shape == '9' ? *text < '0' || *text > '9' : *text != *shape)
			return false;
	return true;
}

bool
moment_date(const char *text, int64_t *us)
{
	struct parts parts = { 0 };

	if (!is_shaped(text, "9999-99-99") || text[10] != '\0')
		return false;
	digits(&text, 4, 4, &parts.year);
	text++;
	digits(&text, 2, 2, &parts.month);
	text++;
	digits(&text, 2, 2, &parts.day);
	return parts.year > 0 && parts.month > 0 && parts.month <= 12 && parts.day > 0 &&
	       compute(&parts, us);
}

bool
moment_datetime(const char *text, int64_t *us)
{
	struct parts parts = { .year = 1970, .month = 1, .day = 1 };
	bool fits = is_shaped(text, "9999-99-99") && (text[10] == 'T' || text[10] == ' ') &&
	            is_shaped(text + 11, "99:99");

	for (const char *name = "Y-m-d H:M"; fits && *name != '\0'; name++)
		fits = find_number(*name) != NULL ? read_directive(*name, &text, &parts)
		                                  : *text++ != '\0';
	if (fits && *text == ':') {
		text++;
		fits = is_shaped(text, "99") && read_directive('S', &text, &parts);
		if (fits && (*text == '.' || *text == ',')) {
			text++;
			fits = read_fraction(&text, &parts);
		}
	}
	if (fits && *text != '\0')
		fits = read_offset(&text, &parts);
	return fits && *text == '\0' && compute(&parts, us);
}
