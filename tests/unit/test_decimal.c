/* SPDX-License-Identifier: Apache-2.0 */
/* test_decimal.c - numbers of JSON without rounding: their form, order and multiples. */
#include "common/codec/decimal.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct decimal
decimal(const char *text)
{
	struct decimal d;

	if (!decimal_read(&d, text, strlen(text)))
		fail_msg("%s was not read", text);
	return d;
}

static void
reads_what_json_has(void **state)
{
	static const struct {
		const char *text, *digits;
		int64_t exponent;
		bool negative, whole;
	} numbers[] = {
		{ "0", "", 0, false, true },
		{ "-0.00e5", "", 0, false, false },
		{ "100", "1", 2, false, true },
		{ "-10.50", "105", -1, true, false },
		{ "10.00", "1", 1, false, false },
		{ "0.00120", "12", -4, false, false },
		{ "12.5E+3", "125", 2, false, false },
		{ "1e-07", "1", -7, false, false },
		{ "1e1000000000", "1", 1000000000, false, false },
	};
	static const char *const others[] = { "", "-", "01", "1.", ".5", "1e", "1e+", "+1", "1x",
		"0x1", "1.5.2", "1e5.5", "-01", "inf", "1 " };

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct decimal d = decimal(numbers[i].text);
		char digits[32] = "";

		decimal_digits(&d, digits);
		assert_string_equal(digits, numbers[i].digits);
		assert_int_equal(d.exponent, numbers[i].exponent);
		assert_int_equal(d.negative, numbers[i].negative);
		assert_int_equal(d.whole, numbers[i].whole);
	}
	for (size_t i = 0; i < COUNT(others); i++) {
		struct decimal d;

		if (decimal_read(&d, others[i], strlen(others[i])))
			fail_msg("%s was read", others[i]);
	}
}

/* From the least to the greatest. */
static void
orders(void **state)
{
	static const char *const numbers[] = { "-1e999999999", "-18446744073709551616",
		"-18446744073709551615", "-1.0000000000000000000000001", "-1", "-1e-400", "0",
		"1e-401", "1e-400", "0.1", "0.1000000000000000055511151231257827", "1",
		"1.0000000000000000000000001", "9007199254740992", "9007199254740993",
		"9007199254740993.5", "123456789012345678901234567890",
		"123456789012345678901234567891", "1e400", "1.1e400", "1e999999999" };

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++)
		for (size_t k = 0; k < COUNT(numbers); k++) {
			struct decimal a = decimal(numbers[i]), b = decimal(numbers[k]);

			int order = decimal_compare(&a, &b);
			if ((order > 0) - (order < 0) != (i > k) - (i < k))
				fail_msg("%s and %s", numbers[i], numbers[k]);
		}
}

static void
finds_equals(void **state)
{
	static const char *const pairs[][2] = { { "1e2", "100.00" }, { "0", "-0.0" },
		{ "10000000000000000000000000000000", "1e31" }, { "0.5e-3", "5.00E-4" },
		{ "1234567890.12345678901", "123456789012345678901e-11" } };

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct decimal a = decimal(pairs[i][0]), b = decimal(pairs[i][1]);

		assert_int_equal(decimal_compare(&a, &b), 0);
		assert_int_equal(decimal_compare(&b, &a), 0);
	}
}

static void
divides(void **state)
{
	static const struct {
		const char *number, *of;
		bool multiple;
	} tried[] = {
		{ "19.99", "0.01", true },
		{ "19.995", "0.01", false },
		{ "0", "7", true },
		{ "-9", "3", true },
		{ "10", "4", false },
		{ "100", "4", true },
		{ "1e1", "16", false },
		{ "1e4", "16", true },
		{ "5e-1", "1", false },
		{ "5555555555555555555555555555.01", "0.01", true },
		{ "5555555555555555555555555555.015", "0.01", false },
		{ "1e999999999", "1.5", false },
		{ "3e999999999", "1.5", true },
		{ "1e999999999", "1024", true },
		{ "1e999999999", "1e-999999999", true },
		{ "1e-999999999", "1e999999999", false },
		/* 2 ** 64 * 3 ** 20 and its neighbour, by 2 ** 64. */
		{ "64319819485449658779373142016", "18446744073709551616", true },
		{ "64319819485449658779373142017", "18446744073709551616", false },
		{ "18446744073709551616", "18446744073709551616", true },
		{ "36893488147419103232", "18446744073709551616", true },
		{ "36893488147419103233", "18446744073709551616", false },
		/* 10 ** 64 has 64 twos. */
		{ "1e63", "18446744073709551616", false },
		{ "1e64", "18446744073709551616", true },
		{ "1000000000000000000000000000057e90", "1000000000000000000000000000057", true },
		{ "1000000000000000000000000000058e90", "1000000000000000000000000000057", false },
		{ "1e1000", "99999999999999999999", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct decimal d = decimal(tried[i].number), of = decimal(tried[i].of);
		uint64_t steps = 0;

		if (decimal_multiple(&d, &of, &steps) != tried[i].multiple)
			fail_msg("%s by %s", tried[i].number, tried[i].of);
	}
}

/* The product of two factors is a multiple of each, and what follows it is of none. */
static void
divides_products(void **state)
{
	(void)state;
	for (uint64_t a = 3; a < 4000000000; a = a * 7 + 2)
		for (uint64_t b = 9; b < 4000000000; b = b * 5 + 1) {
			char product[64], next[64], factor[64];
			uint64_t steps = 0;

			snprintf(
			    product, sizeof product, "%llu.00e-9", (unsigned long long)(a * b));
			snprintf(next, sizeof next, "%lluE-9", (unsigned long long)(a * b + 1));
			snprintf(factor, sizeof factor, "%llu0e-10", (unsigned long long)a);
			struct decimal d = decimal(product), n = decimal(next),
				       of = decimal(factor);
			assert_true(decimal_multiple(&d, &of, &steps));
			assert_false(decimal_multiple(&n, &of, &steps));
		}
}

/* The largest divisor, by which each further digit is the hardest. */
static void
divides_within_bounds(void **state)
{
	auto_free char *text = malloc(2 * DECIMAL_MOST_DIGITS);
	struct decimal d, of;
	uint64_t steps = 0;

	(void)state;
	memset(text, '9', 2 * DECIMAL_MOST_DIGITS);
	assert_true(decimal_read(&of, text, DECIMAL_MOST_DIGITS));
	assert_true(decimal_read(&d, text, 2 * DECIMAL_MOST_DIGITS));
	assert_true(decimal_multiple(&d, &of, &steps));
	assert_true(steps > 10000);
	assert_true(decimal_is_bounded(&of));
	assert_false(decimal_is_bounded(&d));
	d = decimal("1e1000000001");
	assert_false(decimal_is_bounded(&d));
	d = decimal("1e99999999999999999999999999");
	assert_false(decimal_is_bounded(&d));
	d = decimal("1e-99999999999999999999999999");
	assert_false(decimal_is_bounded(&d));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_json_has),
		cmocka_unit_test(orders),
		cmocka_unit_test(finds_equals),
		cmocka_unit_test(divides),
		cmocka_unit_test(divides_products),
		cmocka_unit_test(divides_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
