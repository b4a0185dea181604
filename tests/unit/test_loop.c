/* SPDX-License-Identifier: Apache-2.0 */
/* test_loop.c - the order of timers, descriptors that come and go within a turn, and sources. */
#include "common/base/auto.h"
#include "common/base/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>

#include <cmocka.h>

static struct err e;
static char trace[64];
static uint64_t timers[4];

static void
mark(void *name)
{
	strncat(trace, name, sizeof trace - strlen(trace) - 1);
}

static void
stop(void *unused)
{
	(void)unused;
	loop_stop();
}

static int
setup(void **state)
{
	(void)state;
	*trace = '\0';
	return loop_open(&e);
}

static int
teardown(void **state)
{
	(void)state;
	loop_close();
	return 0;
}

static void
timers_fire_in_order(void **state)
{
	(void)state;
	loop_after(30, mark, (char[]){ "c" });
	loop_after(10, mark, (char[]){ "a" });
	loop_after(20, mark, (char[]){ "b" });
	loop_after(20, mark, (char[]){ "B" }); /* due together: as they were set */
	loop_after(40, stop, NULL);
	int64_t start = loop_now_ms();
	assert_int_equal(loop_run(&e), 0);
	assert_string_equal(trace, "abBc");
	assert_in_range(loop_now_ms() - start, 40, 400);
}

static void
a_timer_that_was_unset_does_not_fire(void **state)
{
	(void)state;
	uint64_t a = loop_after(5, mark, (char[]){ "a" });
	uint64_t b = loop_after(1, mark, (char[]){ "b" });
	assert_true(a != 0 && b != 0 && a != b);
	loop_unset(a);
	loop_unset(a);
	loop_unset(0);
	loop_after(5, mark, (char[]){ "c" }); /* takes the place of a, whose id stays dead */
	loop_unset(a);
	loop_after(10, stop, NULL);
	loop_run(&e);
	assert_string_equal(trace, "bc");
	loop_unset(b); /* has fired */
}

static void
unset_the_others(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < COUNT(timers); i++)
		loop_unset(timers[i]);
	loop_after(0, stop, NULL);
}

static void
a_timer_may_unset_those_due_with_it(void **state)
{
	(void)state;
	loop_after(0, unset_the_others, NULL);
	for (size_t i = 0; i < COUNT(timers); i++)
		timers[i] = loop_after(0, mark, (char[]){ "x" });
	loop_run(&e);
	assert_string_equal(trace, "");
}

static void
again(void *count)
{
	if (++*(int *)count < 1000)
		loop_after(0, again, count);
}

/* A timer that sets itself at once must not keep the loop from anything else. */
static void
a_timer_that_renews_itself_starves_nobody(void **state)
{
	int count = 0;

	(void)state;
	loop_after(0, again, &count);
	loop_after(0, stop, NULL);
	loop_run(&e);
	assert_int_equal(count, 1);
}

static void
many_timers(void **state)
{
	static uint64_t ids[5000];
	int fired = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++)
		ids[i] = loop_after((int64_t)(i * 7919 % 97), again, (int[]){ 1000 });
	for (size_t i = 0; i < COUNT(ids); i++)
		loop_unset(ids[i]);
	for (int i = 0; i < 500; i++)
		loop_after(i * 31 % 20, again, &fired);
	loop_after(60, stop, NULL);
	loop_run(&e);
	assert_true(fired >= 500);
}

static int ends[2][2];

static void
take(void *self, uint32_t events)
{
	char byte;

	assert_true((events & EPOLLIN) != 0);
	assert_int_equal(read(*(int *)self, &byte, 1), 1);
	strncat(trace, &byte, 1);
	if (byte == '.')
		loop_stop();
}

static void
a_descriptor_wakes_its_watcher(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(loop_watch(fds[0], EPOLLIN, take, &fds[0], &e), 0);
	assert_int_equal(loop_watch(fds[0], EPOLLIN, take, &fds[0], &e), -1); /* twice */
	assert_int_equal(write(fds[1], "ab.", 3), 3);
	assert_int_equal(loop_watch(fds[0], EPOLLIN, take, &fds[0], &e), -1);
	loop_forget(fds[0]);
	assert_int_equal(loop_watch(fds[0], EPOLLIN, take, &fds[0], &e), 0);
	loop_run(&e);
	assert_string_equal(trace, "ab.");
	loop_forget(fds[0]);
	loop_forget(fds[0]);
	loop_forget(-1);
	close(fds[0]);
	close(fds[1]);
}

/* Whichever of the two is first forgets the other, whose event is in the same batch. */
static void
forget_both(void *self, uint32_t events)
{
	(void)self;
	(void)events;
	mark((char[]){ "1" });
	for (size_t i = 0; i < 2; i++) {
		loop_forget(ends[i][0]);
		close(ends[i][0]);
	}
	assert_int_equal(pipe(ends[0]), 0); /* the same numbers, other files */
	loop_after(5, stop, NULL);
}

static void
an_event_of_a_forgotten_descriptor_is_dropped(void **state)
{
	int writers[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(pipe(ends[i]), 0);
		writers[i] = ends[i][1];
		assert_int_equal(loop_watch(ends[i][0], EPOLLIN, forget_both, NULL, &e), 0);
		assert_int_equal(write(ends[i][1], "x", 1), 1);
	}
	loop_run(&e);
	assert_string_equal(trace, "1");
	close(ends[0][0]);
	close(ends[0][1]);
	close(writers[0]);
	close(writers[1]);
}

static bool
drain(void *self)
{
	int *left = self;

	if (*left == 0)
		return false;
	if (--*left == 0)
		loop_after(0, stop, NULL);
	return true;
}

/* No descriptor and no timer is there to end the wait: the source itself keeps the loop awake. */
static void
a_source_is_asked_before_each_sleep(void **state)
{
	int left = 100;

	(void)state;
	assert_int_equal(loop_before_wait(drain, &left, &e), 0);
	loop_run(&e);
	assert_int_equal(left, 0);
}

#define loop_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		loop_test(timers_fire_in_order),
		loop_test(a_timer_that_was_unset_does_not_fire),
		loop_test(a_timer_may_unset_those_due_with_it),
		loop_test(a_timer_that_renews_itself_starves_nobody),
		loop_test(many_timers),
		loop_test(a_descriptor_wakes_its_watcher),
		loop_test(an_event_of_a_forgotten_descriptor_is_dropped),
		loop_test(a_source_is_asked_before_each_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
