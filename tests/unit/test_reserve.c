/* SPDX-License-Identifier: Apache-2.0 */
/* test_reserve.c - bytes are bounded for each principal and in total, and each principal gets
 * its turn. */
#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/reserve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
	WHOLE = RESERVE_EACH,
	HALF = RESERVE_EACH / 2,
	TURN_MS = 20,
};

static struct reservation all[8];
static struct reservation *granted[8];
static size_t ngranted;

static void
note(struct reservation *r)
{
	granted[ngranted++] = r;
}

static bool
take(size_t i, const char *principal, size_t bytes)
{
	static struct owner owners[COUNT(all)];

	assert_true(owner_set(&owners[i], principal, NULL));
	all[i] = (struct reservation){ .owner = &owners[i], .bytes = bytes, .granted = note };
	return reserve_take(&all[i]);
}

static void
stop(void *unused)
{
	(void)unused;
	loop_stop();
}

static void
run(void)
{
	struct err e;

	loop_after(TURN_MS, stop, NULL);
	assert_int_equal(loop_run(&e), 0);
}

static int
setup(void **state)
{
	struct err e;

	(void)state;
	ngranted = 0;
	return loop_open(&e);
}

static int
teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(all); i++)
		reserve_release(&all[i]);
	run();
	memset(all, 0, sizeof all);
	loop_close();
	return 0;
}

static void
one_principal_has_its_share(void **state)
{
	(void)state;
	assert_true(take(0, "a", HALF));
	assert_true(take(1, "a", HALF));
	assert_false(take(2, "a", 1));
	assert_true(take(3, "b", WHOLE));
	all[4] = (struct reservation){ .owner = &(struct owner){ "a", "" }, .bytes = 1 };
	assert_false(reserve_try(&all[4]));
	run();
	assert_int_equal(ngranted, 0);
	reserve_release(&all[0]);
	assert_int_equal(ngranted, 0); /* not from within */
	run();
	assert_int_equal(ngranted, 1);
	assert_ptr_equal(granted[0], &all[2]);
}

static void
namespaces_are_apart(void **state)
{
	(void)state;
	assert_true(take(0, "a", WHOLE));
	all[1] = (struct reservation){ .owner = &(struct owner){ "a", "n" }, .bytes = WHOLE };
	assert_true(reserve_take(&all[1]));
}

/* Who waits for its own share is passed over; who waits for what all have is not. */
static void
each_has_its_turn(void **state)
{
	(void)state;
	assert_true(take(0, "a", WHOLE));
	assert_true(take(1, "b", HALF));
	assert_false(take(2, "a", WHOLE));
	assert_false(take(3, "c", WHOLE));
	assert_false(take(4, "d", HALF)); /* though there is room */
	reserve_release(&all[1]);
	run();
	assert_int_equal(ngranted, 1);
	assert_ptr_equal(granted[0], &all[3]);
	reserve_release(&all[0]);
	run();
	assert_int_equal(ngranted, 2);
	assert_ptr_equal(granted[1], &all[2]);
	reserve_release(&all[3]);
	run();
	assert_ptr_equal(granted[2], &all[4]);
}

static void
more_than_there_may_be_counts_as_all(void **state)
{
	(void)state;
	assert_true(take(0, "a", SIZE_MAX));
	assert_false(take(1, "a", 1));
	assert_true(take(2, "b", SIZE_MAX));
	assert_false(take(3, "c", 1));
}

static void
who_leaves_the_queue_gets_nothing(void **state)
{
	(void)state;
	assert_true(take(0, "a", WHOLE));
	assert_false(take(1, "a", HALF));
	assert_false(take(2, "a", HALF));
	reserve_release(&all[1]);
	reserve_release(&all[0]);
	reserve_release(&all[0]);
	run();
	assert_int_equal(ngranted, 1);
	assert_ptr_equal(granted[0], &all[2]);
}

#define reserve_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		reserve_test(one_principal_has_its_share),
		reserve_test(namespaces_are_apart),
		reserve_test(each_has_its_turn),
		reserve_test(more_than_there_may_be_counts_as_all),
		reserve_test(who_leaves_the_queue_gets_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
