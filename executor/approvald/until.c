/* SPDX-License-Identifier: Apache-2.0 */
/* until.c - reads a day; trusts no text. */
#include "executor/approvald/until.h"

#include "executor/approvald/options.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY_MS ((uint64_t)86400000)

/* "2027-01-31", and no day that does not exist, such as 2027-02-30. */
static int
read_day(const char *day, uint64_t *begin_ms, struct err *e)
{
	struct tm at = { 0 }, back;
	const char *end = strspn(day, "0123456789-") == 10 ? strptime(day, "%Y-%m-%d", &at) : NULL;

	if (end != day + 10 || *end != '\0')
		return err_set(e, ERR_invalid_argument, "until: '%.10s' is not YYYY-MM-DD", day);

	struct tm given = at;
	time_t s = timegm(&at);

	if (s < 0 || gmtime_r(&s, &back) == NULL || back.tm_year != given.tm_year ||
	    back.tm_mon != given.tm_mon || back.tm_mday != given.tm_mday)
		return err_set(e, ERR_invalid_argument, "until: %.10s is not a day", day);
	*begin_ms = (uint64_t)s * 1000;
	return 0;
}

int
until_read(int duration, const char *day, uint64_t now_ms, uint64_t *until_ms, struct err *e)
{
	uint64_t today = now_ms - now_ms % DAY_MS, begin = today + DAY_MS;

	if (day != NULL && duration != approval_duration_namespace)
		return err_set(e, ERR_invalid_argument,
		    "until: only an approval for a namespace has a last day");
	if (day != NULL && read_day(day, &begin, e) < 0)
		return -1;
	if (begin < today)
		return err_set(e, ERR_invalid_argument, "until: %.10s is over", day);
	if (begin > today + options.namespace_days * DAY_MS)
		return err_set(e, ERR_invalid_argument,
		    "until: %.10s is more than %lu days from now, the limit (namespace_days)", day,
		    (unsigned long)options.namespace_days);
	*until_ms = duration == approval_duration_namespace ? begin + DAY_MS
	            : duration == approval_duration_session
	                ? now_ms + options.session_hours * 3600000
	                : now_ms + DAY_MS;
	return 0;
}
