/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_program.c - when a run is over and what it has used, according to messages of the program
 * and the builder; the test plays both.
 */
#include "played_program.h"

#include "common/base/loop.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void
test_statement_waits_for_its_use(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 3; n++) {
		say(GUEST_DONE, "0");
		assert_int_equal(builder.counted, n);
		assert_int_equal(seen.runs, n - 1);
		say_used();
		assert_int_equal(seen.runs, n);
		assert_int_equal(builder.asked, n); /* to count anew */
		assert_int_equal(seen.end.how, BOX_EXITED);
		assert_false(seen.end.program_gone);
		assert_true(seen.end.cpu_ms == 2.5);
		assert_int_equal(seen.end.max_memory_bytes, 4096);
		say_used(); /* nobody asked */
		assert_int_equal(seen.runs, n);
		run_statement(1000);
	}
}

static void
test_what_is_over_is_not_interrupted(void **state)
{
	(void)state;
	say(GUEST_DONE, "0");
	program_interrupt(program);
	say(GUEST_DONE, "1");
	assert_int_equal(builder.counted, 1);
	say_used();
	assert_int_equal(builder.signal, 0);
	assert_int_equal(seen.runs, 1);
	assert_int_equal(seen.end.how, BOX_EXITED);
}

/* It is over in its time, whatever the builder takes for its answer. */
static void
test_time_of_answer_is_not_the_statements(void **state)
{
	(void)state;
	say(GUEST_DONE, "0");
	say_used();
	run_statement(1);
	say(GUEST_DONE, "0"); /* 5 ms, in which its time may pass before */
	builder.signal = 0;
	turn();
	assert_int_equal(builder.signal, 0);
	say_used();
	assert_int_equal(seen.runs, 2);
}

static void
test_program_that_ends_itself(void **state)
{
	(void)state;
	close_output();
	say_program_ended(3 << 8);
	assert_int_equal(builder.asked, 1);
	assert_int_equal(seen.runs, 0);
	turn();
	say_used();
	assert_int_equal(seen.runs, 1);
	assert_true(seen.end.program_gone);
	assert_int_equal(seen.end.exit_code, 3);
	assert_true(seen.end.cpu_ms == 2.5);
	assert_int_equal(builder.kills, 0);
}

/* Between a statement's end and what it used: that it was over stands. */
static void
test_program_dies_when_it_is_over(void **state)
{
	(void)state;
	say(GUEST_DONE, "0");
	say_program_ended(1 << 8);
	assert_int_equal(builder.counted, 1);
	say_used();
	assert_int_equal(seen.runs, 1);
	assert_int_equal(seen.programs, 1);
	assert_int_equal(seen.end.how, BOX_EXITED);
	assert_int_equal(seen.end.exit_code, 0);
}

static void
test_box_dies_when_it_is_over(void **state)
{
	(void)state;
	say(GUEST_DONE, "0");
	say_box(ANSWER_KILLED, 7000);
	assert_int_equal(seen.runs, 1);
	assert_int_equal(seen.end.how, BOX_EXITED);
	assert_true(seen.end.cpu_ms == 7);
	say_used();
	assert_int_equal(seen.runs, 1);
}

/* Why is known of its box only; till then nothing of it is signalled. */
static void
test_killed_by_nobody_known(void **state)
{
	(void)state;
	close_output();
	say_program_ended(SIGKILL);
	assert_int_equal(builder.kills, 1);
	assert_int_equal(builder.asked, 0);
	program_interrupt(program);
	assert_int_equal(builder.signal, 0);
	say_box(ANSWER_KILLED, 9000);
	assert_int_equal(seen.runs, 1);
	assert_true(seen.end.cpu_ms == 9);
	assert_true(seen.end.program_gone);
}

static void
test_nobody_to_ask(void **state)
{
	(void)state;
	builder.deaf = true;
	say(GUEST_DONE, "0");
	assert_int_equal(seen.runs, 1);
	assert_true(seen.end.cpu_ms == 0);
	builder.deaf = false;
}

/* What it is given meanwhile waits, but not without end. */
static void
test_one_that_does_not_read(void **state)
{
	static char text[1 << 20];
	const struct blob json = { text, sizeof text };
	struct err e = { 0 };
	int given = 0;

	(void)state;
	memset(text, '1', sizeof text);
	while (given < 100 && program_bridge(program, "k", &json, &e) == 0)
		given++;
	assert_in_range(given, 8, 10);
	assert_int_equal(e.code, ERR_limit_exceeded);
	say(GUEST_DONE, "0");
	say_used();
	assert_int_equal(seen.runs, 1);
}

static bool
stop_at_second(void *turns)
{
	if (++*(int *)turns == 2)
		loop_stop();
	return true;
}

/* One that writes without end is not read to the end of what it has written in one turn. */
static void
test_flood_has_its_turn_only(void **state)
{
	static uint8_t flood[5 * 1000];
	int before, after, turns = 0;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof flood; i += 5)
		flood[i] = GUEST_IDLE;
	while (send(builder.control, flood, sizeof flood, MSG_DONTWAIT) == sizeof flood)
		;
	assert_int_equal(ioctl(builder.control, TIOCOUTQ, &before), 0);
	assert_int_equal(loop_before_wait(stop_at_second, &turns, &e), 0);
	assert_int_equal(loop_run(&e), 0);
	assert_int_equal(ioctl(builder.control, TIOCOUTQ, &after), 0);
	assert_in_range(after, 1, before - 1);
}

/* Who waits for it need not wait for the builder. */
static void
test_deserted_box_is_not_waited_for(void **state)
{
	(void)state;
	begin_counted(true, "2\n", "usage_usec 1500\nuser_usec 7\n");
	say(GUEST_DONE, "3");
	assert_int_equal(seen.runs, 1);
	assert_int_equal(seen.end.how, BOX_EXITED);
	assert_int_equal(seen.end.exit_code, 3);
	assert_true(seen.end.program_gone);
	assert_true(seen.end.cpu_ms == 1);
	turn();
	assert_int_equal(builder.kills, 1);
	say_box(ANSWER_KILLED, 9000);
	assert_int_equal(seen.runs, 1);
}

static void
test_builders_clock_is_for_what_lasts(void **state)
{
	(void)state;
	begin_counted(true, "2\n", "usage_usec 1500\n");
	assert_int_equal(builder.begun, 0);
	turn();
	assert_int_equal(builder.begun, 1);
	say(GUEST_DONE, "0");
	turn();
	assert_int_equal(builder.begun, 1);
	assert_int_equal(seen.runs, 1);
}

static void
test_statements_are_told_what_each_used(void **state)
{
	(void)state;
	begin_counted(false, "5\n", "usage_usec 1500\n");
	say(GUEST_DONE, "0");
	assert_int_equal(seen.runs, 1);
	assert_true(seen.end.cpu_ms == 1);
	assert_int_equal(builder.asked, 1); /* to count anew */
	run_statement(1000);
	assert_int_equal(pwrite(last_count, "usage_usec 4000\n", 16, 0), 16);
	say(GUEST_DONE, "0");
	assert_int_equal(seen.runs, 2);
	assert_true(seen.end.cpu_ms == 2.5);
	say_used(); /* nobody waits for that */
	assert_int_equal(seen.runs, 2);
}

static size_t
told(const struct program_spec *spec, uint8_t *data, size_t room)
{
	ssize_t n;

	make_of(spec);
	n = recv(builder.control, data, room, MSG_DONTWAIT);
	return n < 0 ? 0 : (size_t)n;
}

static void
test_fork_that_is_wanted_hears_it_first(void **state)
{
	static const struct program_spec fork = { .zygote = 1, .alone = true, .wanted = true };
	uint8_t data[16];

	(void)state;
	assert_int_equal(told(&fork, data, sizeof data), 5);
	assert_memory_equal(data, "W\0\0\0", 5);
}

/* What a program that is idle is told of one that is to run. */
static size_t
handed(uint32_t zygote, bool files, uint8_t *data, size_t room)
{
	const struct program_spec spec = { .zygote = zygote };
	const struct program_code code = { .data = "x", .size = 1, .files = files, .wall_ms = 9 };
	struct err e;
	ssize_t n;

	make_of(&spec);
	say(GUEST_IDLE, "");
	say_closed();
	assert_int_equal(program_run(program, &code, &e), 0);
	n = recv(builder.control, data, room, MSG_DONTWAIT);
	return n < 0 ? 0 : (size_t)n;
}

static void
test_fork_hears_of_files(void **state)
{
	uint8_t data[16];

	assert_int_equal(handed(1, true, data, sizeof data), 5 + 6);
	assert_memory_equal(data, "F\0\0\0\0C\1\0\0\0x", 11);
	end(state);
	assert_int_equal(handed(1, false, data, sizeof data), 6);
	end(state);
	assert_int_equal(handed(0, true, data, sizeof data), 6);
}

static void
test_others_hear_nothing_ahead(void **state)
{
	static const struct program_spec ahead = { .zygote = 1, .alone = true };
	static const struct program_spec cold = { .zygote = 0, .alone = true, .wanted = true };
	uint8_t data[16];

	assert_int_equal(told(&ahead, data, sizeof data), 0);
	end(state);
	assert_int_equal(told(&cold, data, sizeof data), 0);
}

/* It said that it waits for code as it died: it got none, and there was no run. */
static void
test_program_dies_as_it_is_ready(void **state)
{
	(void)state;
	make_of(&(struct program_spec){ 0 });
	run_statement(1000);
	say_closed();
	assert_int_equal(send(builder.control, (uint8_t[5]){ GUEST_IDLE }, 5, MSG_NOSIGNAL), 5);
	say_program_ended(1 << 8);
	assert_int_equal(seen.runs, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_statement_waits_for_its_use),
		CASE(test_what_is_over_is_not_interrupted),
		CASE(test_time_of_answer_is_not_the_statements),
		CASE(test_program_that_ends_itself),
		CASE(test_program_dies_when_it_is_over),
		CASE(test_box_dies_when_it_is_over),
		CASE(test_killed_by_nobody_known),
		CASE(test_nobody_to_ask),
		CASE(test_one_that_does_not_read),
		CASE(test_flood_has_its_turn_only),
		cmocka_unit_test_teardown(test_statements_are_told_what_each_used, end),
		cmocka_unit_test_teardown(test_deserted_box_is_not_waited_for, end),
		cmocka_unit_test_teardown(test_builders_clock_is_for_what_lasts, end),
		cmocka_unit_test_teardown(test_fork_that_is_wanted_hears_it_first, end),
		cmocka_unit_test_teardown(test_others_hear_nothing_ahead, end),
		cmocka_unit_test_teardown(test_fork_hears_of_files, end),
		cmocka_unit_test_teardown(test_program_dies_as_it_is_ready, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
