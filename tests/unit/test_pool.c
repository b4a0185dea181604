/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool.c - boxes made in advance: how many exist, who gets one, and what happens to those
 * that die; and a sandbox that makes one if the pool is empty. */
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

static bool
take(struct taken *taken, unsigned language, uint32_t zygote)
{
	return pool_take(
	    SANDBOX_ALONE, language, zygote, &limits_default, &taken->workspace, &taken->sandbox);
}

static void
give_back(struct taken *taken)
{
	sandbox_wipe(taken->sandbox, taken->workspace);
	fake_bury();
}

static void
gives_what_waits(void **state)
{
	struct taken one, two, three;

	(void)state;
	assert_int_equal(pool_counts()->waiting, LEAST);
	assert_int_equal(fake.forked, LEAST);
	assert_int_equal(fake.wanted, 0);
	assert_true(take(&one, language_python, BASIC));
	assert_true(take(&two, language_python, BASIC));
	assert_ptr_not_equal(one.workspace, two.workspace);
	assert_true(sandbox_is_ready(one.sandbox, language_python));
	assert_false(take(&three, language_python, BASIC));
	/* None is made before the callers had their answer, or a moment passed. */
	assert_null(fake_find(FAKE_WORKSPACE));
	give_back(&one);
	pool_refill();
	assert_non_null(fake_find(FAKE_WORKSPACE));
	give_back(&two);
}

/* Its box is one that does not end with its program, so it is for nobody else. */
static void
keeps_one_for_a_session(void **state)
{
	struct taken first, second;

	(void)state;
	assert_true(pool_take(SANDBOX_SESSION, language_python, BASIC, &limits_default,
	    &first.workspace, &first.sandbox));
	assert_true(sandbox_is_ready(first.sandbox, language_python));
	assert_false(pool_take(SANDBOX_SESSION, language_python, BASIC, &limits_default,
	    &second.workspace, &second.sandbox));
	give_back(&first);
	for (int i = 0; i < RUNS; i++) {
		assert_true(take(&first, language_python, BASIC));
		give_back(&first);
	}
	assert_false(take(&first, language_python, BASIC));
}

static void
keeps_to_the_default_limits(void **state)
{
	struct limits other = limits_default;
	struct taken taken;

	(void)state;
	other.box.wall_ms = 1;
	other.box.output_bytes = 1;
	assert_true(pool_take(
	    SANDBOX_ALONE, language_python, BASIC, &other, &taken.workspace, &taken.sandbox));
	give_back(&taken);
	other.box.memory_bytes++;
	assert_false(pool_take(
	    SANDBOX_ALONE, language_python, BASIC, &other, &taken.workspace, &taken.sandbox));
	/* Nor is one given to who wants it started from its file. */
	assert_false(take(&taken, language_python, 0));
}

static void
grows_in_a_burst_and_shrinks_after(void **state)
{
	size_t missed = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct taken taken[4];

		for (size_t k = 0; k < COUNT(taken); k++) {
			taken[k].sandbox = NULL;
			missed += !take(&taken[k], language_python, BASIC);
		}
		for (size_t k = 0; k < COUNT(taken); k++)
			if (taken[k].sandbox != NULL)
				give_back(&taken[k]);
		pool_refill();
		make_all();
	}
	assert_in_range(missed, 1, 4);
	assert_in_range(pool_counts()->waiting, 4, options.pool_max + SESSIONS);
	for (int i = 0; i < 60; i++) {
		fake_pass(1000);
		make_all();
	}
	assert_int_equal(pool_counts()->waiting, LEAST);
	/* And once nothing is to be done, nothing is done. */
	for (int i = 0; i < 400; i++)
		fake_pass(1000);
	assert_int_equal(fake_pass(1000), 0);
}

static void
is_bounded(void **state)
{
	struct taken taken;

	(void)state;
	options.pool_memory_mb = 6 * 5;
	for (int i = 0; i < 10; i++) {
		while (take(&taken, language_python, BASIC))
			give_back(&taken);
		pool_refill();
		make_all();
	}
	assert_int_equal(pool_counts()->waiting, 5);
	options.pool_memory_mb = 1000;
	for (int i = 0; i < 10; i++) {
		while (take(&taken, language_python, BASIC))
			give_back(&taken);
		pool_refill();
		make_all();
	}
	assert_int_equal(pool_counts()->waiting, options.pool_max + SESSIONS);
}

static void
starts_a_language_when_it_is_called_for(void **state)
{
	struct taken taken;
	size_t started = fake.started;

	(void)state;
	assert_false(take(&taken, language_shell, 0));
	pool_refill();
	make_all();
	assert_true(fake.started > started);
	assert_true(take(&taken, language_shell, 0));
	give_back(&taken);
	assert_false(take(&taken, language_python, SCIENCE));
	pool_refill();
	make_all();
	assert_true(take(&taken, language_python, SCIENCE));
	give_back(&taken);
}

static void
replaces_what_dies_and_backs_off(void **state)
{
	struct taken taken;
	struct err dead;
	size_t forked = fake.forked;

	(void)state;
	err_set(&dead, ERR_internal, "it died");
	assert_true(fake_die(&dead));
	assert_int_equal(pool_counts()->waiting, LEAST - 1);
	fake_pass(1000);
	make_all();
	assert_int_equal(pool_counts()->waiting, LEAST);
	/* One that never lives is not tried in a loop. */
	for (int i = 0; i < 10000; i++) {
		while (fake_find(FAKE_WORKSPACE) != NULL)
			fake_make(NULL);
		while (fake_die(&dead))
			;
		fake_pass(10);
	}
	assert_in_range(fake.forked - forked, 4, 60);
	assert_false(take(&taken, language_python, BASIC));
	for (int i = 0; i < 60; i++)
		fake_pass(1000);
	make_all();
	assert_true(take(&taken, language_python, BASIC));
	give_back(&taken);
}

/* ---- who waits ---- */

struct waiting {
	struct pool_wait wait;
	struct taken came;
	unsigned times;
};

static void
on_come(void *self, struct workspace *workspace, struct sandbox *sandbox)
{
	struct waiting *w = self;

	w->times++;
	w->came = (struct taken){ workspace, sandbox };
}

static bool
wait_for(struct waiting *w)
{
	*w = (struct waiting){ .wait = { .come = on_come, .self = w } };
	return pool_wait(SANDBOX_ALONE, language_python, BASIC, &limits_default, &w->wait);
}

/* None waits any more, and so many are in the making as are wanted then. */
static void
empty_line(void)
{
	struct taken taken;

	while (take(&taken, language_python, BASIC))
		give_back(&taken);
	pool_refill();
}

/* Of an empty line; how many wait. */
static size_t
as_many_as_may(struct waiting *all, size_t room)
{
	size_t n = 0;

	empty_line();
	while (n < room && wait_for(&all[n]))
		n++;
	return n;
}

static void
serves_who_waits_in_turn(void **state)
{
	struct waiting first, second;

	(void)state;
	empty_line();
	assert_true(wait_for(&first));
	assert_true(wait_for(&second));
	fake_make(NULL);
	assert_int_equal(fake.wanted, 1); /* as somebody waits when its program is started */
	assert_true(fake_ready());
	assert_int_equal(first.times, 1);
	assert_int_equal(second.times, 0);
	assert_true(sandbox_is_ready(first.came.sandbox, language_python));
	make_all();
	assert_int_equal(second.times, 1);
	assert_ptr_not_equal(first.came.workspace, second.came.workspace);
	give_back(&first.came);
	give_back(&second.came);
}

static void
nobody_waits_for_what_is_not_in_the_making(void **state)
{
	struct waiting all[32];
	size_t n;

	(void)state;
	n = as_many_as_may(all, COUNT(all));
	assert_in_range(n, 1, COUNT(all) - 1);
	make_all();
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(all[i].times, 1);
		give_back(&all[i].came);
	}
}

static void
turns_away_who_waits_for_what_died(void **state)
{
	struct waiting all[32];
	struct err dead;
	size_t n, away = 0;

	(void)state;
	err_set(&dead, ERR_internal, "no memory");
	n = as_many_as_may(all, COUNT(all));
	while (fake_find(FAKE_WORKSPACE) != NULL)
		fake_make(&dead);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(all[i].times, 1);
		away += all[i].came.sandbox == NULL;
	}
	assert_int_equal(away, n);
	fake_pass(1000);
}

static void
who_left_is_served_no_more(void **state)
{
	struct waiting one, two;

	(void)state;
	empty_line();
	assert_true(wait_for(&one));
	assert_true(wait_for(&two));
	pool_leave(&one.wait);
	pool_leave(&one.wait);
	make_all();
	assert_int_equal(one.times, 0);
	assert_int_equal(two.times, 1);
	give_back(&two.came);
	empty_line();
	assert_true(wait_for(&one));
	pool_stop();
	pool_leave(&one.wait);
	assert_int_equal(one.times, 0);
}

static void
is_off_where_it_is_switched_off(void **state)
{
	struct taken taken;

	(void)state;
	pool_stop();
	fake_bury();
	options.warm = false;
	pool_start();
	make_all();
	assert_int_equal(fake.workspaces, 0);
	assert_int_equal(pool_zygote(language_python, "open", 0), 0);
	assert_false(take(&taken, language_python, 0));
}

/* ---- sandboxes ---- */

struct run {
	unsigned done;
	bool ran, warm;
	struct err why;
};

static void
on_done(void *self, struct box_end *box_end, const struct err *e)
{
	struct run *run = self;

	run->done++;
	run->ran = box_end != NULL;
	run->warm = box_end != NULL && box_end->warm;
	if (box_end == NULL)
		run->why = *e;
}

static void
start(struct sandbox *sandbox, struct run *run)
{
	static const struct sandbox_events events = { NULL, on_done };
	const struct sandbox_code code = {
		.language = language_python,
		.zygote = BASIC,
		.code = { .data = "1", .size = 1, .wall_ms = 1000, .output_bytes = 1000 },
	};
	struct err e;

	*run = (struct run){ 0 };
	assert_int_equal(sandbox_run(sandbox, &code, &events, run, &e), 0);
}

static void
runs_though_the_box_died_that_it_took(void **state)
{
	struct taken taken;
	struct err dead;
	struct run run;

	(void)state;
	err_set(&dead, ERR_internal, "it died");
	assert_true(take(&taken, language_python, BASIC));
	/* Those in the pool first, then the one that was taken. */
	while (sandbox_is_ready(taken.sandbox, language_python))
		assert_true(fake_die(&dead));
	start(taken.sandbox, &run);
	fake_end_run((struct box_end){ .how = BOX_EXITED });
	assert_int_equal(run.done, 1);
	assert_true(run.ran);
	give_back(&taken);
}

static void
take_made(void *self, struct workspace *workspace, const struct err *e)
{
	(void)e;
	*(struct workspace **)self = workspace;
}

static void
tries_once_more_from_the_file(void **state)
{
	struct taken taken;
	struct err dead;
	struct run run;
	size_t started = fake.started, forked;

	(void)state;
	err_set(&dead, ERR_unavailable, "no zygote");
	pool_stop();
	fake_bury();
	pool_start();
	fake_make(NULL);
	fake_make(NULL);
	make_all();
	assert_true(take(&taken, language_python, BASIC));
	while (fake.programs > 0)
		assert_true(fake_die(&dead));
	forked = fake.forked;
	start(taken.sandbox, &run);
	assert_int_equal(fake.forked, forked + 1);
	assert_int_equal(fake.wanted, 1); /* by its run */
	assert_true(fake_die(&dead));
	assert_int_equal(fake.started, started + 1);
	assert_int_equal(run.done, 0);
	assert_true(fake_die(&dead));
	assert_int_equal(run.done, 1);
	assert_false(run.ran);
	assert_int_equal(run.why.code, ERR_unavailable);
	give_back(&taken);
}

/* Whatever was asked for. */
static void
tells_which_start_it_was(void **state)
{
	static const bool dies[] = { false, true };
	struct err dead;

	(void)state;
	err_set(&dead, ERR_unavailable, "no zygote");
	pool_stop();
	fake_bury();
	for (size_t i = 0; i < COUNT(dies); i++) {
		struct workspace *workspace;
		struct sandbox *sandbox;
		struct run run;

		workspace_make(&limits_default.room, take_made, &workspace);
		fake_make(NULL);
		sandbox = sandbox_new(SANDBOX_ALONE, workspace, &limits_default.box);
		start(sandbox, &run);
		if (dies[i])
			assert_true(fake_die(&dead));
		fake_end_run((struct box_end){ .how = BOX_EXITED });
		assert_true(run.ran);
		assert_int_equal(run.warm, !dies[i]);
		sandbox_wipe(sandbox, workspace);
		fake_bury();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gives_what_waits, begin, end),
		cmocka_unit_test_setup_teardown(keeps_one_for_a_session, begin, end),
		cmocka_unit_test_setup_teardown(keeps_to_the_default_limits, begin, end),
		cmocka_unit_test_setup_teardown(grows_in_a_burst_and_shrinks_after, begin, end),
		cmocka_unit_test_setup_teardown(is_bounded, begin, end),
		cmocka_unit_test_setup_teardown(
		    starts_a_language_when_it_is_called_for, begin, end),
		cmocka_unit_test_setup_teardown(replaces_what_dies_and_backs_off, begin, end),
		cmocka_unit_test_setup_teardown(serves_who_waits_in_turn, begin, end),
		cmocka_unit_test_setup_teardown(
		    nobody_waits_for_what_is_not_in_the_making, begin, end),
		cmocka_unit_test_setup_teardown(turns_away_who_waits_for_what_died, begin, end),
		cmocka_unit_test_setup_teardown(who_left_is_served_no_more, begin, end),
		cmocka_unit_test_setup_teardown(is_off_where_it_is_switched_off, begin, end),
		cmocka_unit_test_setup_teardown(runs_though_the_box_died_that_it_took, begin, end),
		cmocka_unit_test_setup_teardown(tries_once_more_from_the_file, begin, end),
		cmocka_unit_test_setup_teardown(tells_which_start_it_was, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
