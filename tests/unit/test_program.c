/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_program.c - when a run is over and what it has used, according to messages of the program
 * and the builder; the test plays both.
 */
#include "played_builder.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/guest/protocol.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cmocka.h>

static struct {
	struct box_end end; /* of the last run; its texts are gone */
	unsigned runs, programs, boxes;
} seen;

static struct box *box;
static int last_count = -1; /* of processor time: what counts it, for the test */
static struct program *program;

/* ---- the builder ---- */

static const struct answer used = { .kind = ANSWER_USED, .cpu_us = 2500, .max_memory_bytes = 4096 };

static void
say_used(void)
{
	builder.box->events.used(builder.box->self, &used);
}

static void
say_closed(void)
{
	const struct answer answer = { .kind = ANSWER_STARTED };

	builder.program->events.started(builder.program->self, &answer, NULL, 0);
}

static void
say_program_ended(int status)
{
	const struct answer answer = { .kind = ANSWER_ENDED, .status = status };
	auto_free struct builder_request *builder_request = take_ptr(builder.program);

	builder_request->events.ended(builder_request->self, &answer);
}

static void
say_box(enum answer_kind kind, uint64_t cpu_us)
{
	const struct answer answer = { .kind = kind, .cpu_us = cpu_us, .out_of_memory = true };

	if (kind == ANSWER_KILLED) {
		builder.box->events.killed(builder.box->self, &answer);
		return;
	}

	auto_free struct builder_request *builder_request = take_ptr(builder.box);

	builder_request->events.ended(builder_request->self, &answer);
}

/* ---- the program ---- */

static void
stop(void *self)
{
	(void)self;
	loop_stop();
}

/* What was said is heard. */
static void
turn(void)
{
	struct err e;

	loop_after(5, stop, NULL);
	assert_int_equal(loop_run(&e), 0);
}

static void
say(enum guest_frame kind, const char *text)
{
	uint8_t frame[64] = { kind, (uint8_t)strlen(text) };

	memcpy(frame + 5, text, strlen(text));
	assert_int_equal(send(builder.control, frame, 5 + strlen(text), MSG_NOSIGNAL),
	    (ssize_t)(5 + strlen(text)));
	turn();
}

/* ---- who waits ---- */

static void
on_done(void *self, struct box_end *end)
{
	(void)self;
	seen.runs++;
	seen.end = *end;
}

static void
on_ended(void *self, const struct err *e)
{
	(void)self, (void)e;
	program = NULL;
	seen.programs++;
}

static void
on_box_ended(void *self, const struct err *e)
{
	(void)self, (void)e;
	box = NULL;
	seen.boxes++;
}

static void
run(bool statement, uint64_t wall_ms)
{
	const struct program_code code = { .data = "x",
		.size = 1,
		.statement = statement,
		.wall_ms = wall_ms,
		.output_bytes = 1024 };
	struct err e;

	assert_int_equal(program_run(program, &code, &e), 0);
}

static void
run_statement(uint64_t wall_ms)
{
	run(true, wall_ms);
}

static void
make_of(const struct program_spec *spec)
{
	static const struct program_events events = { .done = on_done, .ended = on_ended };
	static const struct box_limits limits = { .memory_bytes = 1 << 20, .processes = 4 };
	struct err e;

	memset(&builder, 0, sizeof builder);
	memset(&seen, 0, sizeof seen);
	assert_int_equal(loop_open(&e), 0);
	box = box_make(&limits, NULL, on_box_ended, NULL, &e);
	assert_non_null(box);
	program = program_start(box, spec, &events, NULL, &e);
	assert_non_null(program);
}

static void
make(bool alone)
{
	const struct program_spec spec = { .language = 0, .alone = alone };

	make_of(&spec);
	say(GUEST_IDLE, "");
}

static int
begin(void **state)
{
	(void)state;
	make(false);
	run_statement(1000);
	assert_int_equal(builder.begun, 0); /* nobody has said that its jail is closed */
	say_closed();
	assert_int_equal(builder.begun, 1);
	return 0;
}

/* A program in a box whose group counts this. */
static void
begin_counted(bool alone, const char *processes, const char *cpu_us)
{
	const struct answer answer = {
		.kind = ANSWER_STARTED,
		.uses = 1u << CGROUP_PROCESSES | 1u << CGROUP_CPU,
	};
	int fds[] = { memfd_create("processes", MFD_CLOEXEC), memfd_create("cpu", MFD_CLOEXEC) };

	make(alone);
	assert_int_equal(write(fds[0], processes, strlen(processes)), strlen(processes));
	assert_int_equal(write(fds[1], "usage_usec 500\n", 15), 15);
	last_count = dup(fds[1]);
	builder.box->events.started(builder.box->self, &answer, fds, COUNT(fds));
	assert_int_equal(fds[0], -1);
	assert_int_equal(fds[1], -1);
	run(!alone, 1000);
	say_closed(); /* what it took to get there is not the run's */
	assert_int_equal(pwrite(last_count, cpu_us, strlen(cpu_us), 0), strlen(cpu_us));
}

static int
end(void **state)
{
	(void)state;
	if (builder.program != NULL)
		say_program_ended(SIGKILL);
	if (builder.box != NULL)
		say_box(ANSWER_ENDED, 0);
	assert_int_equal(seen.programs, 1);
	assert_int_equal(seen.boxes, 1);
	close(builder.control);
	if (last_count >= 0)
		close(take_fd(&last_count));
	loop_close();
	return 0;
}

/* ---- tests ---- */

static void
test_statement_waits_for_its_use(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 3; n++) {
		say(GUEST_DONE, "0");
		assert_int_equal(builder.asked, n);
		assert_int_equal(seen.runs, n - 1);
		say_used();
		assert_int_equal(seen.runs, n);
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
	assert_int_equal(builder.asked, 1);
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
	assert_int_equal(builder.asked, 1);
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
test_what_is_left_is_killed_first(void **state)
{
	(void)state;
	begin_counted(true, "3\n", "usage_usec 1500\n");
	say(GUEST_DONE, "0");
	assert_int_equal(seen.runs, 0);
	assert_int_equal(builder.kills, 1);
	say_box(ANSWER_KILLED, 9000);
	assert_int_equal(seen.runs, 1);
	assert_true(seen.end.cpu_ms == 9);
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
		cmocka_unit_test_teardown(test_what_is_left_is_killed_first, end),
		cmocka_unit_test_teardown(test_builders_clock_is_for_what_lasts, end),
		cmocka_unit_test_teardown(test_fork_that_is_wanted_hears_it_first, end),
		cmocka_unit_test_teardown(test_others_hear_nothing_ahead, end),
		cmocka_unit_test_teardown(test_fork_hears_of_files, end),
		cmocka_unit_test_teardown(test_program_dies_as_it_is_ready, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
