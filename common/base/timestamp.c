/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timestamp.c - formatted without strftime(3), which looks up the time zone each time; the jail
 * hides its file.
 */
#include "common/base/timestamp.h"

#include "common/base/auto.h"
#include "common/base/err.h"

enum {
	MAX_DIGITS = 9,
};

struct timespec
timestamp_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now;
}

uint64_t
timestamp_ms(void)
{
	struct timespec now = timestamp_now();

	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Writes the last digits of a number, followed by the given text. */
static char *
put(char *to, long value, int digits, char behind)
{
	for (int i = digits; i-- > 0; value /= 10)
		to[i] = (char)('0' + value % 10);
	to[digits] = behind;
	return to + digits + 1;
}

void
timestamp_text(struct timespec at, int digits, char text[TIMESTAMP_TEXT])
{
	struct tm tm = { 0 }; /* it stays zeroed if gmtime_r(3) has no such year */
	long fraction = at.tv_nsec;

	must(digits >= 0 && digits <= MAX_DIGITS);
	for (int i = digits; i < MAX_DIGITS; i++)
		fraction /= 10;
	gmtime_r(&at.tv_sec, &tm);
	text = put(text, tm.tm_year + 1900L, 4, '-');
	text = put(text, tm.tm_mon + 1, 2, '-');
	text = put(text, tm.tm_mday, 2, 'T');
	text = put(text, tm.tm_hour, 2, ':');
	text = put(text, tm.tm_min, 2, ':');
	text = put(text, tm.tm_sec, 2, digits > 0 ? '.' : 'Z');
	if (digits > 0)
		text = put(text, fraction, digits, 'Z');
	*text = '\0';
}
