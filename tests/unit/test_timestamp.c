/* SPDX-License-Identifier: Apache-2.0 */
/* test_timestamp.c - known times, as text. */
#include "common/base/auto.h"
#include "common/base/timestamp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
texts(void **state)
{
	static const struct {
		struct timespec at;
		int digits;
		const char *text;
	} rows[] = {
		{ { 0, 0 }, 0, "1970-01-01T00:00:00Z" },
		{ { 0, 999999999 }, 3, "1970-01-01T00:00:00.999Z" },
		{ { 951782399, 1002003 }, 6, "2000-02-28T23:59:59.001002Z" },
		{ { 951782400, 7 }, 9, "2000-02-29T00:00:00.000000007Z" },
		{ { 253402300799, 5000000 }, 3, "9999-12-31T23:59:59.005Z" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[TIMESTAMP_TEXT];

		timestamp_text(rows[i].at, rows[i].digits, text);
		assert_string_equal(text, rows[i].text);
	}
}

/* What another may have written into a record fits, whatever it says. */
static void
a_time_without_a_year(void **state)
{
	char text[TIMESTAMP_TEXT];

	(void)state;
	timestamp_text((struct timespec){ .tv_sec = INT64_MAX / 1000 }, 9, text);
	assert_int_equal(strlen(text), strlen("1970-01-01T00:00:00.000000000Z"));
}

static void
now(void **state)
{
	int64_t before = time(NULL), ms = (int64_t)timestamp_ms();

	(void)state;
	assert_in_range(ms / 1000, before, before + 5);
	assert_in_range(timestamp_now().tv_sec, before, before + 5);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(a_time_without_a_year),
		cmocka_unit_test(now),
	};

	return cmocka_run_group_tests_name("timestamp", tests, NULL, NULL);
}
