/* SPDX-License-Identifier: Apache-2.0 */
/* instant.c - dates and times of RFC 3339, durations of its appendix A. */
#include "validator/schema/format.h"

#include <ctype.h>
#include <string.h>

/* Reads so many digits; -1: there are not so many. */
static int
digits(const char **at, const char *end, int count)
{
	int value = 0;

	for (int i = 0; i < count; i++, ++*at) {
		if (*at >= end || !isdigit((unsigned char)**at))
			return -1;
		value = value * 10 + (**at - '0');
	}
	return value;
}

static bool
letter(const char **at, const char *end, const char *any)
{
	if (*at >= end || **at == '\0' || strchr(any, **at) == NULL)
		return false;
	++*at;
	return true;
}

static bool
date(const char **at, const char *end)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year = digits(at, end, 4);
	int month = letter(at, end, "-") ? digits(at, end, 2) : -1;
	int day = letter(at, end, "-") ? digits(at, end, 2) : -1;

	if (year < 0 || month < 1 || month > 12 || day < 1)
		return false;
	bool leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return day <= days[month - 1] + leap;
}

/* Minutes east of UTC. */
static bool
offset(const char **at, const char *end, int *minutes)
{
	*minutes = 0;
	if (letter(at, end, "Zz"))
		return true;
	int sign = *at < end && **at == '-' ? -1 : 1;
	if (!letter(at, end, "+-"))
		return false;
	int hour = digits(at, end, 2), minute = letter(at, end, ":") ? digits(at, end, 2) : -1;
	*minutes = sign * (hour * 60 + minute);
	return hour >= 0 && hour < 24 && minute >= 0 && minute < 60;
}

/* A leap second is the last of a day in UTC. */
static bool
time_of_day(const char **at, const char *end)
{
	int hour = digits(at, end, 2);
	int minute = letter(at, end, ":") ? digits(at, end, 2) : -1;
	int second = letter(at, end, ":") ? digits(at, end, 2) : -1;
	int east;

	if (letter(at, end, ".")) {
		if (digits(at, end, 1) < 0)
			return false;
		while (*at < end && isdigit((unsigned char)**at))
			++*at;
	}
	if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 ||
	    !offset(at, end, &east))
		return false;
	return second < 60 || (hour * 60 + minute - east + 2 * 1440) % 1440 == 1439;
}

bool
instant_date(const char *text, size_t size)
{
	const char *end = text + size;

	return date(&text, end) && text == end;
}

bool
instant_time(const char *text, size_t size)
{
	const char *end = text + size;

	return time_of_day(&text, end) && text == end;
}

bool
instant_date_time(const char *text, size_t size)
{
	const char *end = text + size;

	return date(&text, end) && letter(&text, end, "Tt") && time_of_day(&text, end) &&
	       text == end;
}

/* Numbers with units, which come in their order and without a gap. */
static bool
amounts(const char **at, const char *end, const char *units, bool *any)
{
	const char *last = NULL;

	while (*at < end && isdigit((unsigned char)**at)) {
		while (*at < end && isdigit((unsigned char)**at))
			++*at;
		const char *unit = *at < end && **at != '\0' ? strchr(units, **at) : NULL;
		if (unit == NULL || (last != NULL && unit != last + 1))
			return false;
		last = unit;
		++*at;
		*any = true;
	}
	return true;
}

bool
instant_duration(const char *text, size_t size)
{
	const char *end = text + size, *weeks;
	bool any = false, times = false;

	if (!letter(&text, end, "P"))
		return false;
	weeks = text;
	if (amounts(&weeks, end, "W", &any) && any && weeks == end)
		return true;
	any = false;
	if (!amounts(&text, end, "YMD", &any))
		return false;
	if (text == end)
		return any;
	return letter(&text, end, "T") && amounts(&text, end, "HMS", &times) && times &&
	       text == end;
}
