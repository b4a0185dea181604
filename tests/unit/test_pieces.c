/* SPDX-License-Identifier: Apache-2.0 */
/* test_pieces.c - values built from stored pieces share no memory, and little is stored. */
#include "gateway/rpc/pieces.h"

#include "common/base/auto.h"

#include <jansson.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	ALIVE = 4000,
	TURNS = 200000,
	LONGEST = 300,
	MOST_KEPT = 1 << 18,
};

/* {"n": n, "text": of as many of one letter} */
static json_t *
make(uint32_t n)
{
	char text[LONGEST];
	size_t size = n % LONGEST;

	memset(text, 'a' + (int)(n % 26), sizeof text);
	return json_pack("{s:i, s:[s#]}", "n", (int)n, "text", text, (int)size);
}

static void
check(json_t *value, uint32_t n)
{
	json_t *again = make(n);

	assert_true(json_equal(value, again));
	json_decref(again);
}

static void
shares_nothing(void **state)
{
	static json_t *values[ALIVE];
	static uint32_t numbers[ALIVE];
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < TURNS; i++) {
		random = random * 1664525 + 1013904223;

		size_t at = (random >> 8) % ALIVE;

		if (values[at] != NULL)
			check(values[at], numbers[at]);
		json_decref(values[at]);
		numbers[at] = random >> 4;
		values[at] = make(numbers[at]);
		assert_non_null(values[at]);
	}
	for (size_t at = 0; at < ALIVE; at++)
		json_decref(values[at]);
}

/* What a large message was made of goes back to malloc. */
static void
keeps_little(void **state)
{
	size_t before = mallinfo2().uordblks;
	json_t *all = json_array();

	(void)state;
	for (uint32_t n = 0; n < ALIVE; n++)
		json_array_append_new(all, make(n));
	json_decref(all);
	assert_true(mallinfo2().uordblks <= before + MOST_KEPT);
}

static void
serves_again_what_it_was_given(void **state)
{
	uintptr_t seen[64];
	size_t again = 0;

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		json_t *numbers[COUNT(seen)];

		for (size_t i = 0; i < COUNT(seen); i++) {
			numbers[i] = json_integer((json_int_t)i);
			for (size_t k = 0; turn == 1 && k < COUNT(seen); k++)
				again += seen[k] == (uintptr_t)numbers[i];
		}
		for (size_t i = 0; i < COUNT(seen); i++) {
			seen[i] = (uintptr_t)numbers[i];
			json_decref(numbers[i]);
		}
	}
	assert_int_equal(again, COUNT(seen));
}

static void *
make_many(void *self)
{
	json_t *all = json_array();

	for (uint32_t n = 0; n < ALIVE; n++)
		json_array_append_new(all, make(n));
	json_decref(all);
	return self;
}

static size_t
held_after_a_thread(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, make_many, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return mallinfo2().uordblks;
}

/* What a thread that ends kept would be nobody's. */
static void
is_kept_by_no_other_thread(void **state)
{
	size_t first = held_after_a_thread();

	(void)state;
	assert_true(held_after_a_thread() <= first);
}

static int
open_pieces(void **state)
{
	(void)state;
	pieces_open();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_nothing),
		cmocka_unit_test(keeps_little),
		cmocka_unit_test(serves_again_what_it_was_given),
		cmocka_unit_test(is_kept_by_no_other_thread),
	};

	return cmocka_run_group_tests_name("pieces", tests, open_pieces, NULL);
}
