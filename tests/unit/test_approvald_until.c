/* SPDX-License-Identifier: Apache-2.0 */
/* test_approvald_until.c - days that exist, are not over and not too far; everything else is
 * refused. */
#include "asked.h"

#include "common/base/auto.h"
#include "executor/approvald/until.h"

#define DAY_MS (UINT64_C(86400000))
#define NOW_MS ((uint64_t)ASKED_NOW * 1000)
#define TODAY  (NOW_MS - NOW_MS % DAY_MS) /* 2027-01-15 */

static void
days(void **unused)
{
	static const struct {
		const char *day;
		uint64_t last; /* days after today; 0: it is refused */
	} rows[] = {
		{ NULL, 2 },
		{ "2027-01-15", 1 },
		{ "2027-01-16", 2 },
		{ "2027-02-28", 45 },
		{ "2028-01-16", 367 },
		{ "2028-01-17", 0 }, /* over namespace_days */
		{ "2027-01-14", 0 },
		{ "2027-02-29", 0 },
		{ "2027-02-30", 0 },
		{ "2027-04-31", 0 },
		{ "2027-13-01", 0 },
		{ "2027-00-10", 0 },
		{ "2027-01-00", 0 },
		{ "2027-01-32", 0 },
		{ "1969-12-31", 0 },
		{ "0000-01-01", 0 },
		{ "9999-12-31", 0 },
		{ "", 0 },
		{ "2027", 0 },
		{ "2027-1-16", 0 },
		{ "2027-01-1", 0 },
		{ "2027-01-160", 0 },
		{ "2027/01/16", 0 },
		{ " 2027-01-16", 0 },
		{ "2027-01-16 ", 0 },
		{ "+027-01-16", 0 },
		{ "-2027-01-1", 0 },
		{ "20270116--", 0 },
		{ "tomorrow", 0 },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t until_ms = 0;
		struct err e;
		int status =
		    until_read(approval_duration_namespace, rows[i].day, NOW_MS, &until_ms, &e);

		if ((status == 0) != (rows[i].last > 0) ||
		    (status == 0 && until_ms != TODAY + rows[i].last * DAY_MS))
			fail_msg("%zu: %d, %llu", i, status, (unsigned long long)until_ms);
		if (status < 0)
			assert_int_equal(e.code, ERR_invalid_argument);
	}
}

static void
other_durations_have_no_day(void **unused)
{
	static const int durations[] = { approval_duration_once, approval_duration_session };
	static const uint64_t last_ms[] = { DAY_MS, UINT64_C(24) * 3600000 };
	uint64_t until_ms;
	struct err e;

	(void)unused;
	options.session_hours = 24;
	for (size_t i = 0; i < COUNT(durations); i++) {
		assert_int_equal(until_read(durations[i], "2027-01-16", NOW_MS, &until_ms, &e), -1);
		assert_int_equal(until_read(durations[i], NULL, NOW_MS, &until_ms, &e), 0);
		assert_int_equal(until_ms, NOW_MS + last_ms[i]);
	}
	options.session_hours = 1;
	assert_int_equal(until_read(approval_duration_session, NULL, NOW_MS, &until_ms, &e), 0);
	assert_int_equal(until_ms, NOW_MS + 3600000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ASKED_TEST(days),
		ASKED_TEST(other_durations_have_no_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
