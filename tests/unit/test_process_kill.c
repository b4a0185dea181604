/* SPDX-License-Identifier: Apache-2.0 */
/* test_process_kill.c - kills are paced by the seccomp programs that they free, oldest first. */
#include "executor/builder/process.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/answer.h"
#include "executor/builder/limits/pace.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
	MANY = 200, /* programs: only one box with so many may be killed at once */
	BOXES = 3,
	TURN_MS = PACE_US / 1000 + 20,
};

static struct process boxes[BOXES];
static size_t samples, answers;

static void
sample(struct process *p)
{
	assert_int_equal(p->state, PROCESS_KILLED);
	samples++;
}

static const struct process_kind box = { .tells_kill = true, .sample = sample };
static const struct process_kind single = { .filters = 1 };

bool
answer_send(const struct answer *answer, const int *fds, size_t nfds)
{
	(void)fds;
	assert_int_equal(answer->kind, ANSWER_KILLED);
	assert_int_equal(nfds, 0);
	answers++;
	return true;
}

/* No real process ends: the descriptor is that of a file, and the kernel refuses the signal. */
static struct process
process_with(const struct process_kind *kind, unsigned programs)
{
	return (struct process){
		.kind = kind, .pid = 1, .pidfd = 0, .report = -1, .programs = programs
	};
}

static void
over(struct process *p)
{
	process_kill_over(p);
	p->state = PROCESS_LIVES;
}

static void
stop(void *self)
{
	(void)self;
	loop_stop();
}

static void
wait_ms(int64_t ms)
{
	struct err e;

	loop_after(ms, stop, NULL);
	assert_int_equal(loop_run(&e), 0);
}

static int
setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < BOXES; i++)
		boxes[i] = process_with(&box, MANY);
	samples = answers = 0;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < BOXES; i++)
		over(&boxes[i]);
	wait_ms(TURN_MS);
	return 0;
}

static void
kill_all_boxes(void)
{
	for (size_t i = 0; i < BOXES; i++)
		process_kill(&boxes[i]);
}

static void
the_oldest_is_killed_first(void **state)
{
	(void)state;
	boxes[2].programs = 0; /* there would be room for it */
	kill_all_boxes();
	assert_int_equal(boxes[0].state, PROCESS_KILLED);
	assert_int_equal(boxes[1].state, PROCESS_WAITS);
	assert_int_equal(boxes[2].state, PROCESS_WAITS);
	over(&boxes[0]);
	wait_ms(TURN_MS);
	assert_int_equal(boxes[1].state, PROCESS_KILLED);
	assert_int_equal(boxes[2].state, PROCESS_KILLED);
}

static void
none_is_killed_while_another_dies(void **state)
{
	(void)state;
	kill_all_boxes();
	wait_ms(TURN_MS);
	assert_int_equal(boxes[1].state, PROCESS_WAITS);
}

static void
one_that_ends_by_itself_leaves_the_queue(void **state)
{
	(void)state;
	kill_all_boxes();
	over(&boxes[1]);
	over(&boxes[0]);
	wait_ms(TURN_MS);
	assert_int_equal(boxes[1].state, PROCESS_LIVES);
	assert_int_equal(boxes[2].state, PROCESS_KILLED);
}

/* Its runtime, init and guest have each their own. */
static void
programs_in_containers_count_more(void **state)
{
	(void)state;
	boxes[0].programs = boxes[1].programs = MANY / 4;
	boxes[0].order.container = 1;
	process_kill(&boxes[0]);
	assert_int_equal(boxes[0].frees, MANY);
	process_kill(&boxes[1]);
	process_kill(&boxes[2]);
	assert_int_equal(boxes[1].state, PROCESS_KILLED);
	assert_int_equal(boxes[2].state, PROCESS_WAITS);
}

/* Ends of single programs count, but not of those that end with their box. */
static void
ends_without_a_kill_count(void **state)
{
	struct process of_box = process_with(&single, 0), alone = of_box;

	(void)state;
	alone.box = &boxes[1];
	of_box.box = &boxes[0];
	process_kill(&boxes[0]);
	for (int i = 0; i < PACE_MOST - MANY; i++)
		over(&of_box);
	boxes[1].programs = PACE_MOST - MANY;
	process_kill(&boxes[1]);
	assert_int_equal(boxes[1].state, PROCESS_KILLED);
	over(&boxes[1]);
	wait_ms(TURN_MS);
	for (int i = 0; i < PACE_MOST - MANY; i++)
		over(&alone);
	boxes[2].programs = 1;
	process_kill(&boxes[2]);
	assert_int_equal(boxes[2].state, PROCESS_WAITS);
}

static void
a_kill_is_told_if_asked(void **state)
{
	struct process program = process_with(&single, 0);

	(void)state;
	process_kill(&boxes[0]);
	assert_int_equal(samples + answers, 0);
	process_kill_asked(&boxes[0]);
	assert_int_equal(answers, 1);
	process_kill_asked(&boxes[1]);
	assert_int_equal(answers, 1);
	over(&boxes[0]);
	wait_ms(TURN_MS);
	assert_int_equal(samples, 1);
	assert_int_equal(answers, 2);
	process_kill_asked(&program);
	assert_int_equal(program.state, PROCESS_KILLED);
	assert_int_equal(answers, 2);
	over(&program);
}

static int
open_loop(void **state)
{
	struct err e;

	(void)state;
	return loop_open(&e);
}

static int
close_loop(void **state)
{
	(void)state;
	loop_close();
	return 0;
}

#define kill_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		kill_test(the_oldest_is_killed_first),
		kill_test(none_is_killed_while_another_dies),
		kill_test(one_that_ends_by_itself_leaves_the_queue),
		kill_test(programs_in_containers_count_more),
		kill_test(ends_without_a_kill_count),
		kill_test(a_kill_is_told_if_asked),
	};

	return cmocka_run_group_tests(tests, open_loop, close_loop);
}
