/* SPDX-License-Identifier: Apache-2.0 */
/* moment.h - dates and times in cells. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Are all directives of this format known?  %Y %m %d %H %I %M %S %f %y %b %B %p %z %j %%. */
bool moment_format(const char *format);
/*
 * Reads all of the text by the format. *us: microseconds since 1970 UTC; text without an offset
 * counts as UTC. False: the text does not fit, or there is no such day.
 */
bool moment_read(const char *text, const char *format, int64_t *us);
/* YYYY-MM-DD. */
bool moment_date(const char *text, int64_t *us);
/* A date, T or a blank, HH:MM, and optionally seconds, a fraction, and Z or an offset. */
bool moment_datetime(const char *text, int64_t *us);
