/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csv_values.c - the fast ways to read a cell say what the general ones say: short numbers,
 * dates, the length and the order of texts, sets of short values.
 */
#include "validator/csv/distinct.h"
#include "validator/csv/moment.h"
#include "validator/csv/value.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TRIES = 200000 };

static size_t
make(char *text, const char *alphabet, size_t most)
{
	size_t size = (size_t)rand() % (most + 1);

	for (size_t i = 0; i < size; i++)
		text[i] = alphabet[(size_t)rand() % strlen(alphabet)];
	text[size] = '\0';
	return size;
}

static void
reads_short_numbers(void **state)
{
	char text[32];
	size_t read = 0;

	(void)state;
	for (size_t i = 0; i < TRIES; i++) {
		size_t size = make(text, "0123456789012345678901234567890123456789.-+e ", 20);
		struct value_number number;
		long double slow;

		if (!value_short(text, size, &number))
			continue;
		read++;
		assert_int_equal(value_read(VALUE_int, text, NULL, &slow), number.is_int);
		assert_true(value_read(VALUE_float, text, NULL, &slow));
		if (slow != number.value)
			fail_msg("%s: %.21Lg, %.21Lg", text, number.value, slow);
	}
	assert_true(read > TRIES / 20);
}

static void
knows_short_numbers(void **state)
{
	static const char *const yes[] = { "0", "-1", "+12", "1.5", ".5", "5.",
		"123456789012345678" };
	static const char *const no[] = { "", "-", ".", "-.", "1.2.3", "1e3", " 1", "1-", "0x1",
		"1234567890123456789" };
	struct value_number number;

	(void)state;
	for (size_t i = 0; i < COUNT(yes); i++)
		assert_true(value_short(yes[i], strlen(yes[i]), &number));
	for (size_t i = 0; i < COUNT(no); i++)
		assert_false(value_short(no[i], strlen(no[i]), &number));
	assert_true(value_short("-007", 4, &number) && number.is_code);
	assert_true(value_short("00.5", 4, &number) && number.is_code);
	assert_true(value_short("0.5", 3, &number) && !number.is_code);
	assert_true(value_short("0", 1, &number) && !number.is_code);
}

static void
reads_dates(void **state)
{
	char text[32];

	(void)state;
	for (size_t i = 0; i < TRIES; i++) {
		snprintf(
		    text, sizeof text, "%04d-%02d-%02d", rand() % 10000, rand() % 14, rand() % 33);
		int64_t fast = 0, slow = 0;
		bool fits = moment_date(text, &fast);

		assert_int_equal(fits, moment_read(text, "%Y-%m-%d", &slow));
		if (fits)
			assert_int_equal(fast, slow);
	}
	int64_t us;
	assert_false(moment_date("2024-01-01 ", &us));
	assert_false(moment_date("2024-1-01", &us));
}

static void
counts_and_orders(void **state)
{
	char a[32], b[32];

	(void)state;
	for (size_t i = 0; i < TRIES; i++) {
		size_t first = make(a, "ab\xc3\xa9\xe2\x82\xac", 17), n = 0;
		size_t second = make(b, "ab\xc3\xff", 3);

		for (size_t at = 0; at < first; at++)
			n += ((unsigned char)a[at] & 0xc0) != 0x80;
		assert_int_equal(value_length(a, first), n);
		uint64_t x = value_head(a, first), y = value_head(b, second);
		if (x != y)
			assert_int_equal(x < y, strcmp(a, b) < 0);
		else
			assert_int_equal(strncmp(a, b, sizeof x), 0);
	}
}

/* Texts that differ in one place, of each length on both sides of where the hash changes. */
static void
tells_values_apart(void **state)
{
	struct distinct_budget budget;
	struct distinct set = { 0 };
	char text[24];
	uint64_t first = 0, at = 0;

	(void)state;
	distinct_begin(&budget, 100000);
	for (size_t size = 1; size < sizeof text; size++)
		for (size_t i = 0; i < size; i++)
			for (char c = 'b'; c <= 'z'; c++) {
				memset(text, 'a', sizeof text);
				text[i] = c;
				assert_int_equal(
				    distinct_add(&set, &budget, text, size, ++at, &first),
				    DISTINCT_NEW);
				assert_int_equal(distinct_add(&set, &budget, text, size, 0, &first),
				    DISTINCT_KNOWN);
				assert_int_equal(first, at);
			}
	assert_int_equal(set.count, at);
	distinct_close(&set);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_short_numbers),
		cmocka_unit_test(knows_short_numbers),
		cmocka_unit_test(reads_dates),
		cmocka_unit_test(counts_and_orders),
		cmocka_unit_test(tells_values_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
