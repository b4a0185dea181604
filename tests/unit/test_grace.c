/* SPDX-License-Identifier: Apache-2.0 */
/* test_grace.c - how long a run waits for what its other processes write. */
#include "played_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static void
test_what_is_left_is_killed_first(void **state)
{
	(void)state;
	begin_counted(true, "3\n", "usage_usec 1500\n");
	close_output();
	say(GUEST_DONE, "0");
	assert_int_equal(seen.runs, 0);
	assert_int_equal(builder.kills, 1);
	say_box(ANSWER_KILLED, 9000);
	assert_int_equal(seen.runs, 1);
	assert_true(seen.end.cpu_ms == 9);
}

/* What a program leaves behind can write for a while. */
static void
test_what_is_left_is_heard_first(void **state)
{
	(void)state;
	begin_counted(true, "3\n", "usage_usec 1500\n");
	say(GUEST_DONE, "0");
	wait_ms(20);
	assert_int_equal(builder.kills, 0);
	close_output();
	wait_ms(20);
	assert_int_equal(builder.kills, 1);
	say_box(ANSWER_KILLED, 9000);
	assert_int_equal(seen.runs, 1);
	assert_false(seen.end.survived);
	assert_true(seen.end.wall_ms < 20);
}

static void
test_what_is_left_is_not_heard_for_ever(void **state)
{
	(void)state;
	begin_counted(true, "3\n", "usage_usec 1500\n");
	say(GUEST_DONE, "0");
	wait_ms(200);
	assert_int_equal(builder.kills, 1);
	say_box(ANSWER_KILLED, 9000);
	assert_int_equal(seen.runs, 1);
	assert_true(seen.end.survived);
}

/* A program without a driver says nothing before its end, and its box may die meanwhile. */
static void
test_program_ends_before_its_children(void **state)
{
	(void)state; /* the child has builder.out */
	begin_counted(true, "3\n", "usage_usec 1500\n");
	say_program_ended(3 << 8);
	turn();
	assert_int_equal(builder.kills, 0);
	say_box(ANSWER_ENDED, 9000);
	assert_int_equal(seen.runs, 1);
	assert_int_equal(seen.end.exit_code, 3);
}

/* Threads are no news; the builder knows. */
static void
test_statement_waits_for_new_processes_only(void **state)
{
	(void)state;
	begin_counted(false, "5\n", "usage_usec 1500\n");
	assert_int_equal(pwrite(last_processes, "6\n", 2, 0), 2);
	say(GUEST_DONE, "0");
	assert_int_equal(builder.counted, 1);
	say_counted(2);
	assert_int_equal(seen.runs, 1);
	assert_false(seen.end.survived);
	run_statement(1000);
	assert_int_equal(pwrite(last_processes, "7\n", 2, 0), 2);
	say(GUEST_DONE, "0");
	say_counted(3);
	wait_ms(20);
	assert_int_equal(seen.runs, 1);
	assert_true(builder.counted >= 3);
	say_counted(2);
	assert_int_equal(seen.runs, 2);
	assert_false(seen.end.survived);
}

/* A process that has ended and was not waited for is in the cgroup's count, and leaves it later. */
static void
test_statement_sees_what_takes_the_place_of_a_zombie(void **state)
{
	(void)state;
	begin_counted(false, "5\n", "usage_usec 1500\n");
	assert_int_equal(pwrite(last_processes, "6\n", 2, 0), 2);
	say(GUEST_DONE, "0");
	say_counted(2);
	assert_int_equal(seen.runs, 1);
	run_statement(1000);
	say(GUEST_DONE, "0"); /* still 6: the zombie is gone, and a process is there */
	assert_int_equal(builder.counted, 2);
	say_counted(3);
	wait_ms(20);
	assert_int_equal(seen.runs, 1);
	say_counted(2);
	assert_int_equal(seen.runs, 2);
}

/* One that lives on delays its own statement only. */
static void
test_statement_does_not_wait_for_ever(void **state)
{
	(void)state;
	begin_counted(false, "5\n", "usage_usec 1500\n");
	assert_int_equal(pwrite(last_processes, "6\n", 2, 0), 2);
	say(GUEST_DONE, "0");
	for (int i = 0; i < 100 && seen.runs == 0; i++) {
		say_counted(3);
		wait_ms(5);
	}
	assert_int_equal(seen.runs, 1);
	assert_true(seen.end.survived);
	run_statement(1000);
	say(GUEST_DONE, "0");
	assert_int_equal(seen.runs, 2);
	assert_false(seen.end.survived);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_what_is_left_is_killed_first, end),
		cmocka_unit_test_teardown(test_what_is_left_is_heard_first, end),
		cmocka_unit_test_teardown(test_what_is_left_is_not_heard_for_ever, end),
		cmocka_unit_test_teardown(test_program_ends_before_its_children, end),
		cmocka_unit_test_teardown(test_statement_waits_for_new_processes_only, end),
		cmocka_unit_test_teardown(
		    test_statement_sees_what_takes_the_place_of_a_zombie, end),
		cmocka_unit_test_teardown(test_statement_does_not_wait_for_ever, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
