/* SPDX-License-Identifier: Apache-2.0 */
/* test_pace.c - however boxes end, only a few of their seccomp programs are freed at once. */
#include "executor/builder/limits/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
	START_US = 5000000,
	BOXES = 4000,
};

static void
most_at_once(void **state)
{
	struct pace pace = { 0 };
	unsigned n = 0;

	(void)state;
	while (pace_begin(&pace, 1, START_US))
		n++;
	assert_int_equal(n, PACE_MOST);
	/* None of them has ended: no time is long enough. */
	assert_false(pace_begin(&pace, 1, START_US + 100 * PACE_US));
	assert_true(pace_begin(&pace, 0, START_US));
}

static void
counts_after_the_end(void **state)
{
	struct pace pace = { 0 };

	(void)state;
	assert_true(pace_begin(&pace, PACE_MOST, START_US));
	pace_end(&pace, PACE_MOST, true, START_US + 7);
	assert_int_equal(pace_wait_us(&pace, START_US + 7), PACE_US);
	assert_false(pace_begin(&pace, 1, START_US + 7 + PACE_US - 1));
	assert_true(pace_begin(&pace, 1, START_US + 7 + PACE_US));
	assert_true(pace_begin(&pace, PACE_MOST - 1, START_US + 7 + PACE_US));
	assert_false(pace_begin(&pace, 1, START_US + 7 + PACE_US));
}

/* Nobody asks those whether they may; who is to be killed waits for them. */
static void
ends_of_themselves_count(void **state)
{
	struct pace pace = { 0 };

	(void)state;
	pace_end(&pace, 3 * PACE_MOST, false, START_US);
	assert_false(pace_begin(&pace, 1, START_US + 1));
	assert_true(pace_begin(&pace, 1, START_US + PACE_US));
}

/* Each of these dies at once or some time after it was killed, as a clock and a generator say. */
struct box {
	int64_t dies_us;
	bool dead;
};

static int64_t
next_us(unsigned *seed)
{
	return rand_r(seed) % 2 == 0 ? 0 : rand_r(seed) % (3 * PACE_US);
}

static void
never_more_than_that(void **state)
{
	static struct box boxes[BOXES];
	static int64_t freed[BOXES];
	struct pace pace = { 0 };
	size_t killed = 0, dead = 0;
	unsigned seed = 17;

	(void)state;
	for (int64_t now = START_US; dead < BOXES; now += 500) {
		while (killed < BOXES && pace_begin(&pace, 1, now))
			boxes[killed++].dies_us = now + next_us(&seed);
		for (size_t i = 0; i < killed; i++)
			if (!boxes[i].dead && boxes[i].dies_us <= now) {
				boxes[i].dead = true;
				freed[dead++] = now;
				pace_end(&pace, 1, true, now);
			}
	}
	for (size_t i = PACE_MOST; i < BOXES; i++)
		assert_true(freed[i] - freed[i - PACE_MOST] >= PACE_US);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_at_once),
		cmocka_unit_test(counts_after_the_end),
		cmocka_unit_test(ends_of_themselves_count),
		cmocka_unit_test(never_more_than_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
