/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool_checkers.c - checkers in boxes made in advance: when they are prepared, how many there
 * are, and what replaces those that fail. */
#include "pool_setup.h"

#include "executor/options.h"
#include "executor/run/limits.h"
#include "executor/run/pool.h"
#include "executor/runtime.h"
#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int
begin(void **state)
{
	(void)state;
	if (set_up_pool() < 0)
		return -1;
	pool_start();
	make_all();
	return 0;
}

static int
end(void **state)
{
	(void)state;
	make_all();
	pool_stop();
	fake_bury();
	assert_int_equal(pool_counts()->waiting, 0);
	assert_int_equal(pool_counts()->making, 0);
	assert_int_equal(fake.boxes, 0);
	assert_int_equal(fake.workspaces, 0);
	return 0;
}

struct taken {
	struct workspace *workspace;
	struct sandbox *sandbox;
};

static void
give_back(struct taken *taken)
{
	sandbox_wipe(taken->sandbox, taken->workspace);
	fake_bury();
}

enum {
	CHECKERS = 4, /* in a line, at most */
};

static bool
take_checker(struct taken *taken, unsigned language)
{
	return pool_take(SANDBOX_SESSION, language_node, POOL_CHECKER + language, &limits_default,
	    &taken->workspace, &taken->sandbox);
}

/* Makes what was ordered; each preparation that begins ends with the exit status. */
static size_t
prepare_all(int exit_code)
{
	size_t prepared = 0;

	for (make_all(); fake_find(FAKE_RUN) != NULL; make_all(), prepared++) {
		assert_non_null(strstr(fake_code(), ".prepare(\"shell\")"));
		fake_end_run((struct box_end){ .how = BOX_EXITED, .exit_code = exit_code });
	}
	return prepared;
}

static void
prepares_checkers(void **state)
{
	struct taken taken;

	(void)state;
	assert_int_equal(prepare_all(0), 0); /* nobody called for one */
	assert_false(take_checker(&taken, language_shell));
	pool_refill();
	make_all();
	assert_non_null(fake_find(FAKE_RUN)); /* it is not ready before it was prepared */
	assert_false(take_checker(&taken, language_shell));
	assert_int_equal(prepare_all(0), CHECKERS);
	for (size_t i = 0; i < 4 * CHECKERS; i++) {
		assert_true(take_checker(&taken, language_shell));
		give_back(&taken); /* each is for one check */
		fake_pass(50);
		assert_int_equal(prepare_all(0), 1);
	}
	assert_false(take_checker(&taken, language_node)); /* those are of shell */
}

/* Those of other languages do not take all the memory. */
static void
takes_its_place(void **state)
{
	struct taken taken;

	(void)state;
	options.pool_memory_mb = 24 + 2 * 96; /* what waits from the start, and two checkers */
	for (int i = 0; i < 8; i++) {
		if (pool_take(SANDBOX_SESSION, language_node, 0, &limits_default, &taken.workspace,
			&taken.sandbox))
			give_back(&taken);
		pool_refill();
		make_all();
	}
	assert_true(fake.boxes >= 4);
	assert_false(take_checker(&taken, language_shell));
	pool_refill();
	make_all();
	assert_in_range(prepare_all(0), 1, 2);
	assert_true(take_checker(&taken, language_shell));
	give_back(&taken);
	options.pool_memory_mb = 48; /* not enough for one, and nothing is given up for it */
	pool_refill();
	make_all();
	assert_int_equal(prepare_all(0), 0);
	assert_true(pool_counts()->waiting > 0);
}

static void
replaces_checkers_that_fail(void **state)
{
	struct taken taken;
	struct err dead;
	size_t failed = 0;

	(void)state;
	err_set(&dead, ERR_internal, "it died");
	assert_false(take_checker(&taken, language_shell));
	pool_refill();
	for (int i = 0; i < 1000; i++) {
		failed += prepare_all(1);
		fake_pass(10);
	}
	assert_in_range(failed, 4, 40);
	assert_false(take_checker(&taken, language_shell));
	for (int i = 0; i < 60; i++) {
		fake_pass(1000);
		prepare_all(0);
	}
	assert_true(take_checker(&taken, language_shell));
	give_back(&taken);
}

static void
stops_while_one_is_prepared(void **state)
{
	struct taken taken;

	(void)state;
	assert_false(take_checker(&taken, language_shell));
	pool_refill();
	make_all();
	assert_non_null(fake_find(FAKE_RUN));
	pool_stop();
	while (fake_find(FAKE_RUN) != NULL)
		fake_end_run((struct box_end){ .how = BOX_KILLED });
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(prepares_checkers, begin, end),
		cmocka_unit_test_setup_teardown(takes_its_place, begin, end),
		cmocka_unit_test_setup_teardown(replaces_checkers_that_fail, begin, end),
		cmocka_unit_test_setup_teardown(stops_while_one_is_prepared, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
