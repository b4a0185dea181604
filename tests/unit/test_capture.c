/* SPDX-License-Identifier: Apache-2.0 */
/* test_capture.c - the first and the last bytes of a stream, compared with a full copy. */
#include "executor/sandbox/capture.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	LONGEST = 3000,
};

/* What a reader expects: all of it, or half the limit from each end. */
static size_t
expect(const uint8_t *all, size_t total, size_t limit, uint8_t *out)
{
	if (total <= limit) {
		memcpy(out, all, total);
		return total;
	}
	memcpy(out, all, limit - limit / 2);
	memcpy(out + limit - limit / 2, all + total - limit / 2, limit / 2);
	return limit;
}

static void
check(size_t limit, size_t total, size_t step)
{
	static uint8_t all[LONGEST], want[LONGEST];
	struct capture c = { .limit = limit };
	struct blob out;

	for (size_t i = 0; i < total; i++)
		all[i] = (uint8_t)(i * 31 + i / 251);
	for (size_t at = 0; at < total; at += step)
		assert_int_equal(
		    capture_add(&c, all + at, step < total - at ? step : total - at), 0);
	uint64_t dropped = capture_take(&c, &out);
	size_t size = expect(all, total, limit, want);

	if (out.size != size || memcmp(out.data, want, size) != 0 || dropped != total - size)
		fail_msg("limit %zu, %zu bytes by %zu", limit, total, step);
	blob_clear(&out);
}

static void
keeps_both_ends(void **state)
{
	static const size_t limits[] = { 1, 2, 3, 7, 100, 1000 },
			    steps[] = { 1, 2, 3, 64, 99, 1500, LONGEST };
	static const size_t totals[] = { 0, 1, 2, 3, 4, 6, 7, 8, 50, 99, 100, 101, 150, 151, 999,
		1000, 1001, 2500, LONGEST };

	(void)state;
	for (size_t l = 0; l < COUNT(limits); l++)
		for (size_t t = 0; t < COUNT(totals); t++)
			for (size_t s = 0; s < COUNT(steps); s++)
				check(limits[l], totals[t], steps[s]);
}

static void
holds_no_more_than_the_limit(void **state)
{
	static uint8_t part[100000];
	struct capture c = { .limit = 5000 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(capture_add(&c, part, sizeof part), 0);
		assert_true(c.size <= 5000);
	}
	assert_int_equal(c.total, 1000 * sizeof part);
	capture_clear(&c);
	assert_null(c.data);
}

static void
an_empty_stream_is_not_absent(void **state)
{
	struct capture c = { .limit = 10 };
	struct blob out;

	(void)state;
	assert_false(capture_take(&c, &out));
	assert_non_null(out.data);
	assert_int_equal(out.size, 0);
	blob_clear(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_stream_is_not_absent),
		cmocka_unit_test(keeps_both_ends),
		cmocka_unit_test(holds_no_more_than_the_limit),
	};

	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
