/* SPDX-License-Identifier: Apache-2.0 */
/* test_queue.c - turns, bounds, and the return of places. */
#include "fake.h"

#include "executor/options.h"
#include "executor/run/queue.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char order[FAKE_MAX];

struct job {
	struct owner owner;
	struct ticket ticket;
	char name;
	bool fails; /* leaves again at once */
};

static void
started(void *self)
{
	struct job *job = self;

	order[strlen(order)] = job->name;
	if (job->fails)
		queue_leave(&job->ticket);
}

static const struct owner *
owner_of(struct job *job, const char *principal, const char *namespace)
{
	assert_true(owner_set(&job->owner, principal, namespace));
	return &job->owner;
}

static int
enter_as(struct job *job, const char *principal, const char *namespace, enum queue_class class,
    struct err *e)
{
	job->ticket = (struct ticket){
		.owner = owner_of(job, principal, namespace),
		.class = class,
		.bytes = 10,
		.start = started,
		.self = job,
	};
	return queue_enter(&job->ticket, e);
}

static int
enter(struct job *job, const char *principal, struct err *e)
{
	return enter_as(job, principal, "", QUEUE_STATELESS, e);
}

/* Whoever runs gives the place back, one after another; all of them are named from 1 on. */
static void
serve(struct job *jobs, size_t count)
{
	for (size_t served = 0; served < count; served++)
		queue_leave(&jobs[order[served] - '1'].ticket);
	assert_int_equal(queue_counts()->running, 0);
	assert_int_equal(queue_counts()->waiting, 0);
}

/* With a box of so many MiB. */
static int
enter_with(
    struct job *job, const char *principal, const char *namespace, uint64_t mib, struct err *e)
{
	job->ticket = (struct ticket){
		.owner = owner_of(job, principal, namespace),
		.class = QUEUE_STATELESS,
		.box_bytes = mib * LIMITS_MIB,
		.start = started,
		.self = job,
	};
	return queue_enter(&job->ticket, e);
}

static int
begin(void **state)
{
	(void)state;
	fake_reset();
	memset(order, 0, sizeof order);
	options.max_concurrent = options.max_concurrent_each = 1;
	options.max_waiting = 8;
	options.max_waiting_each = 6;
	options.max_waiting_bytes = 1000;
	options.all_memory_mb = 800;
	options.all_memory_mb_each = 0;
	return 0;
}

static void
principals_take_turns(void **state)
{
	static const char *const who[] = { "a", "a", "a", "a", "b", "b", "c" };
	struct job jobs[COUNT(who)] = { 0 };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(who); i++) {
		jobs[i].name = (char)('1' + i);
		assert_int_equal(enter(&jobs[i], who[i], &e), 0);
	}
	assert_string_equal(order, "1");
	assert_int_equal(queue_counts()->waiting, 6);
	serve(jobs, COUNT(who));
	assert_string_equal(order, "1257364");
}

static void
namespaces_take_turns(void **state)
{
	static const struct {
		const char *who, *namespace;
	} from[] = { { "a", "x" }, { "a", "x" }, { "a", "x" }, { "a", "x" }, { "a", "y" },
		{ "b", "x" }, { "b", "x" } };
	struct job jobs[COUNT(from)] = { 0 };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(from); i++) {
		jobs[i].name = (char)('1' + i);
		assert_int_equal(
		    enter_as(&jobs[i], from[i].who, from[i].namespace, QUEUE_STATELESS, &e), 0);
	}
	serve(jobs, COUNT(from));
	assert_string_equal(order, "1265734");
}

static void
sessions_go_first_and_starve_nobody(void **state)
{
	struct job jobs[9] = { 0 };
	struct err e;

	(void)state;
	options.max_waiting_each = 8;
	for (size_t i = 0; i < COUNT(jobs); i++) {
		enum queue_class class = i < 3 ? QUEUE_STATELESS : QUEUE_SESSION;

		jobs[i].name = (char)('1' + i);
		assert_int_equal(enter_as(&jobs[i], "a", "", class, &e), 0);
	}
	serve(jobs, COUNT(jobs));
	/* Four in sessions, then one that waits beside them. */
	assert_string_equal(order, "145672893");
}

static void
nobody_takes_all_places(void **state)
{
	struct job jobs[5] = { 0 };
	struct err e;

	(void)state;
	options.max_concurrent = 3;
	options.max_concurrent_each = 2;
	for (size_t i = 0; i < 4; i++) {
		jobs[i].name = (char)('1' + i);
		assert_int_equal(enter(&jobs[i], "a", &e), 0);
	}
	assert_string_equal(order, "12");
	/* Another does not stand behind those who wait for their own. */
	jobs[4].name = '5';
	assert_false(queue_is_busy(&(struct ticket){ .owner = &(struct owner){ "b", "" } }));
	assert_int_equal(enter(&jobs[4], "b", &e), 0);
	assert_string_equal(order, "125");
	queue_leave(&jobs[4].ticket);
	assert_string_equal(order, "125");
	queue_leave(&jobs[0].ticket);
	assert_string_equal(order, "1253");
	assert_int_equal(queue_counts()->running, 2);
	for (size_t i = 1; i < 4; i++)
		queue_leave(&jobs[i].ticket);
	assert_string_equal(order, "12534");
	assert_int_equal(queue_counts()->running, 0);
}

static void
the_last_place_is_for_others(void **state)
{
	struct job jobs[7] = { 0 };
	struct err e;

	(void)state;
	options.max_concurrent = options.max_concurrent_each = 3;
	for (size_t i = 0; i < COUNT(jobs); i++)
		jobs[i].name = (char)('1' + i);
	/* Alone, when those of other tests have been forgotten. */
	assert_int_equal(enter(&jobs[0], "a", &e), 0);
	queue_leave(&jobs[0].ticket);
	fake_pass(2 * 3600000);
	memset(order, 0, sizeof order);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(enter(&jobs[i], "a", &e), 0);
	assert_string_equal(order, "123");
	assert_int_equal(enter(&jobs[3], "b", &e), 0);
	queue_leave(&jobs[0].ticket);
	assert_string_equal(order, "1234");
	queue_leave(&jobs[1].ticket);
	/* Who runs something waits, though there is a place. */
	assert_true(queue_is_busy(&(struct ticket){ .owner = &(struct owner){ "a", "" } }));
	assert_int_equal(enter(&jobs[4], "a", &e), 0);
	assert_int_equal(enter(&jobs[5], "b", &e), 0);
	assert_string_equal(order, "1234");
	assert_false(queue_is_busy(&(struct ticket){ .owner = &(struct owner){ "c", "" } }));
	assert_int_equal(enter(&jobs[6], "c", &e), 0);
	assert_string_equal(order, "12347");
	queue_leave(&jobs[6].ticket);
	assert_string_equal(order, "12347");
	/* Until nobody else has come for an hour. */
	fake_pass(3600000);
	queue_leave(&jobs[2].ticket);
	assert_string_equal(order, "1234756");
	for (size_t i = 3; i < 6; i++)
		queue_leave(&jobs[i].ticket);
	assert_int_equal(queue_counts()->running + queue_counts()->waiting, 0);
}

static void
says_when_it_is_full_and_when_not(void **state)
{
	struct job jobs[10] = { 0 };
	struct err e;

	(void)state;
	options.max_waiting_each = 8;
	for (int round = 1; round <= 2; round++) {
		for (size_t i = 0; i < 9; i++)
			assert_int_equal(enter(&jobs[i], "a", &e), 0);
		assert_int_equal(fake_count(event_queue_backpressure), 2 * round - 2);
		for (int again = 0; again < 3; again++)
			assert_int_equal(enter(&jobs[9], "b", &e), -1);
		assert_int_equal(fake_count(event_queue_backpressure), 2 * round - 1);
		/* Three of eight that waited are gone, then four. */
		for (size_t i = 0; i < 3; i++)
			queue_leave(&jobs[i].ticket);
		assert_int_equal(fake_count(event_queue_backpressure), 2 * round - 1);
		queue_leave(&jobs[3].ticket);
		assert_int_equal(fake_count(event_queue_backpressure), 2 * round);
		for (size_t i = 4; i < 9; i++)
			queue_leave(&jobs[i].ticket);
		assert_int_equal(fake_count(event_queue_backpressure), 2 * round);
	}
}

static void
refuses_when_full(void **state)
{
	struct job jobs[10] = { 0 };
	struct err e;

	(void)state;
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(enter(&jobs[i], "a", &e), 0);
	/* The principal's share, then all places. */
	assert_int_equal(enter(&jobs[7], "a", &e), -1);
	assert_int_equal(e.code, ERR_queue_full);
	assert_true(e.retry_ms > 0);
	assert_non_null(strstr(e.text, "limit 6"));
	assert_int_equal(enter(&jobs[7], "b", &e), 0);
	assert_int_equal(enter(&jobs[8], "c", &e), 0);
	assert_int_equal(enter(&jobs[9], "d", &e), -1);
	assert_non_null(strstr(e.text, "limit 8"));
	/* Said once for as long as each is full, and once that it is not any more. */
	assert_int_equal(enter(&jobs[9], "a", &e), -1);
	assert_int_equal(fake_count(event_queue_backpressure), 2);
	for (size_t i = 9; i-- > 0;)
		queue_leave(&jobs[i].ticket);
	assert_int_equal(fake_count(event_queue_backpressure), 4);
	assert_int_equal(queue_counts()->waiting + queue_counts()->running, 0);
}

static void
bounds_what_waits_in_bytes(void **state)
{
	struct job jobs[4] = { 0 };
	struct err e;

	(void)state;
	options.max_waiting_bytes = 20;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(enter(&jobs[i], "a", &e), 0);
	assert_int_equal(enter(&jobs[3], "b", &e), -1);
	assert_int_equal(e.code, ERR_queue_full);
	/* One that leaves makes room, also from the middle of the line. */
	queue_leave(&jobs[1].ticket);
	assert_int_equal(enter(&jobs[3], "b", &e), 0);
	queue_leave(&jobs[0].ticket);
	queue_leave(&jobs[2].ticket);
	queue_leave(&jobs[3].ticket);
	assert_int_equal(queue_counts()->running, 0);
}

static void
one_that_fails_does_not_stop_the_line(void **state)
{
	struct job jobs[7] = { { .name = 'x' } };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(jobs); i++) {
		jobs[i].name = (char)('0' + i);
		jobs[i].fails = i > 0 && i < 6;
		assert_int_equal(enter(&jobs[i], "a", &e), 0);
	}
	queue_leave(&jobs[0].ticket);
	assert_string_equal(order, "0123456");
	assert_int_equal(queue_counts()->running, 1);
	queue_leave(&jobs[6].ticket);
}

static void
says_how_long_to_wait(void **state)
{
	struct job jobs[8] = { 0 };
	struct err e;

	(void)state;
	/* Runs that take 8 s each make the advice longer. */
	for (size_t i = 0; i < 32; i++) {
		assert_int_equal(enter(&jobs[0], "a", &e), 0);
		fake_pass(8000);
		queue_leave(&jobs[0].ticket);
	}
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(enter(&jobs[i], "a", &e), 0);
	assert_int_equal(enter(&jobs[7], "a", &e), -1);
	assert_in_range(e.retry_ms, 20000, 60000);
	for (size_t i = 7; i-- > 0;)
		queue_leave(&jobs[i].ticket);
}

static void
one_alone_has_all_memory(void **state)
{
	struct job jobs[16] = { 0 };
	struct err e;

	(void)state;
	options.max_concurrent = options.max_concurrent_each = 17;
	options.all_memory_mb = 18432; /* of a machine with 24 GiB */
	for (size_t i = 0; i < COUNT(jobs); i++)
		assert_int_equal(enter_with(&jobs[i], "a", "", 832 + 8192 * (i % 2), &e), 0);
	assert_int_equal(queue_counts()->running, COUNT(jobs));
	for (size_t i = 0; i < COUNT(jobs); i++)
		queue_leave(&jobs[i].ticket);
	assert_int_equal(share_of(SHARE_MEMORY, "a").bytes, 0);
}

static void
waits_for_memory(void **state)
{
	static const struct {
		const char *who, *namespace;
		uint64_t mib;
	} from[] = { { "b", "", 100 }, { "a", "", 300 }, { "a", "", 100 }, { "a", "", 10 },
		{ "a", "y", 10 }, { "b", "", 100 }, { "b", "", 120 } };
	struct job jobs[COUNT(from)] = { 0 }, never = { 0 };
	struct err e;

	(void)state;
	options.max_concurrent = options.max_concurrent_each = 8;
	assert_int_equal(share_check(SHARE_MEMORY, "c", 1, &e), 0);
	for (size_t i = 0; i < COUNT(from); i++) {
		jobs[i].name = (char)('1' + i);
		assert_int_equal(
		    enter_with(&jobs[i], from[i].who, from[i].namespace, from[i].mib, &e), 0);
	}
	/* a may have 350: 3 waits, and 4 behind it, which would fit; 5 and b's do. */
	assert_string_equal(order, "1256");
	assert_int_equal(queue_counts()->waiting, 3);
	/* More than any principal may have, whatever ends. */
	assert_int_equal(enter_with(&never, "b", "", 401, &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
	queue_leave(&jobs[1].ticket);
	assert_string_equal(order, "1256734");
	for (size_t i = 0; i < COUNT(jobs); i++)
		queue_leave(&jobs[i].ticket);
	assert_int_equal(share_of(SHARE_MEMORY, "a").bytes, 0);
	assert_int_equal(share_of(SHARE_MEMORY, "b").bytes, 0);
}

/* Its small ones go on where it gave up to wait for a large one. */
static void
one_that_gives_up_is_not_waited_for(void **state)
{
	struct job jobs[3] = { { .name = '1' }, { .name = '2' }, { .name = '3' } };
	static const uint64_t mib[] = { 300, 200, 50 };
	struct err e;

	(void)state;
	options.max_concurrent = options.max_concurrent_each = 8;
	assert_int_equal(share_check(SHARE_MEMORY, "c", 1, &e), 0);
	for (size_t i = 0; i < COUNT(jobs); i++)
		assert_int_equal(enter_with(&jobs[i], "a", "", mib[i], &e), 0);
	assert_string_equal(order, "1");
	queue_leave(&jobs[1].ticket);
	assert_string_equal(order, "13");
	queue_leave(&jobs[0].ticket);
	queue_leave(&jobs[2].ticket);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(principals_take_turns, begin),
		cmocka_unit_test_setup(namespaces_take_turns, begin),
		cmocka_unit_test_setup(sessions_go_first_and_starve_nobody, begin),
		cmocka_unit_test_setup(nobody_takes_all_places, begin),
		cmocka_unit_test_setup(the_last_place_is_for_others, begin),
		cmocka_unit_test_setup(refuses_when_full, begin),
		cmocka_unit_test_setup(says_when_it_is_full_and_when_not, begin),
		cmocka_unit_test_setup(bounds_what_waits_in_bytes, begin),
		cmocka_unit_test_setup(one_that_fails_does_not_stop_the_line, begin),
		cmocka_unit_test_setup(says_how_long_to_wait, begin),
		cmocka_unit_test_setup(one_alone_has_all_memory, begin),
		cmocka_unit_test_setup(waits_for_memory, begin),
		cmocka_unit_test_setup(one_that_gives_up_is_not_waited_for, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
