/* SPDX-License-Identifier: Apache-2.0 */
/* test_guard.c - boxes are checked even under load, but not more often than useful. */
#include "executor/builder/limits/guard.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/limits/locks.h"
#include "executor/builder/processes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum {
	BEGINNINGS = 100,
	BETWEEN_MS = 2,
	CENSUS_MS = 50, /* of guard.c */
};

static struct host host;
static struct box boxes[2];
static enum limits_by limits_by;
static uint64_t used_us, memory_bytes;
static size_t looks, lock_looks, begun;
static struct process *killed;

struct process *
processes_next(uint32_t *id)
{
	return ++*id <= COUNT(boxes) ? &boxes[*id - 1].process : NULL;
}

struct box *
box_of(struct process *p)
{
	return (struct box *)p;
}

void
process_kill(struct process *p)
{
	killed = p;
	loop_stop();
}

enum limits_by
cgroup_limits_by(void)
{
	return limits_by;
}

bool
cgroup_is_over(const struct cgroup *group)
{
	looks += group == &boxes[0].process.group;
	return false;
}

void
cgroup_read(const struct cgroup *group, struct cgroup_use *use)
{
	*use = (struct cgroup_use){ .cpu_us = group == &boxes[0].process.group ? used_us : 0 };
}

void
locks_look(const struct host *of)
{
	lock_looks += of == &host;
}

uint64_t
box_sample_memory(struct box *box)
{
	looks += box == &boxes[0];
	return box == &boxes[0] ? memory_bytes : 0;
}

uint64_t
box_sample_cpu_us(struct box *box)
{
	return box == &boxes[0] ? used_us : 0;
}

/* A run in the other box, again and again. */
static void
begin_another(void *self)
{
	if (++begun > BEGINNINGS) {
		loop_stop();
		return;
	}
	guard_begin(&host, &boxes[1], 0);
	loop_after(BETWEEN_MS, begin_another, self);
}

static int
setup(void **state)
{
	(void)state;
	host = (struct host){ .own_proc = true };
	for (size_t i = 0; i < COUNT(boxes); i++)
		boxes[i] =
		    (struct box){ .used = true, .process.order.memory_bytes = 1000, .timer = 1 };
	limits_by = LIMITS_CGROUP2;
	used_us = memory_bytes = looks = lock_looks = begun = 0;
	killed = NULL;
	return 0;
}

static void
stop(void *self)
{
	(void)self;
	loop_stop();
}

/* With no box left, it looks no more. */
static int
teardown(void **state)
{
	struct err e;

	(void)state;
	memset(boxes, 0, sizeof boxes);
	loop_after(CENSUS_MS + 1, stop, NULL);
	return loop_run(&e);
}

static void
go_on(void)
{
	struct err e;

	begin_another(NULL);
	assert_int_equal(loop_run(&e), 0);
}

static void
processor_time_ends_though_others_begin(void **state)
{
	(void)state;
	guard_begin(&host, &boxes[0], 1);
	used_us = 1001;
	go_on();
	assert_ptr_equal(killed, &boxes[0].process);
	assert_true(boxes[0].process.use.late);
}

static void
memory_ends_though_others_begin(void **state)
{
	(void)state;
	limits_by = LIMITS_RLIMIT;
	memory_bytes = 1001;
	guard_begin(&host, &boxes[0], 0);
	go_on();
	assert_ptr_equal(killed, &boxes[0].process);
	assert_true(boxes[0].process.use.over);
}

static void
processes_are_not_counted_all_the_time(void **state)
{
	int64_t began = loop_now_ms();

	(void)state;
	limits_by = LIMITS_RLIMIT;
	guard_begin(&host, &boxes[0], 0);
	go_on();
	assert_null(killed);
	assert_in_range(looks, 1, (uint64_t)(loop_now_ms() - began) / CENSUS_MS + 1);
}

static void
locks_are_looked_at_by_the_way(void **state)
{
	(void)state;
	guard_begin(&host, &boxes[0], 0);
	go_on();
	assert_true(lock_looks >= looks);
	assert_true(looks > 0);
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

#define guard_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		guard_test(processor_time_ends_though_others_begin),
		guard_test(memory_ends_though_others_begin),
		guard_test(processes_are_not_counted_all_the_time),
		guard_test(locks_are_looked_at_by_the_way),
	};

	return cmocka_run_group_tests(tests, open_loop, close_loop);
}
