/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_validator_queue.c - whose check is next, and who is told that there is no place; the check
 * itself stands here, and waits until the test lets it go.
 */
#include "validator/check.h"
#include "validator/worker.h"

#include "common/auto.h"
#include "common/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	CALLS = 16,
	PLACES = 8,
	EACH = 4,
	PATIENCE_MS = 10000,
};

static int gate[2]; /* a byte lets one check go */
static struct call calls[CALLS];
static char order[CALLS + 1]; /* first bytes of code as it was checked */
static size_t checks, answered, wanted;

/* ---- in place of the bus and the parser ---- */

int
check_code(const struct validate_code *request, uint64_t max_bytes,
    struct validation_report *report, struct err *e)
{
	char go;

	(void)max_bytes, (void)report, (void)e;
	must(read(gate[0], &go, 1) == 1);
	order[checks++] = *(const char *)request->code.data;
	return 0;
}

void
call_reply(struct call *call, void *reply)
{
	(void)call, (void)reply;
	if (++answered == wanted)
		loop_stop();
}

void
call_fail(struct call *call, const struct err *e)
{
	(void)call;
	fail_msg("%s", e->text);
}

static void
nothing(void)
{
}

/* ---- the tests ---- */

static int
begin(void **state)
{
	const struct worker_config config = { 1 << 20, PLACES, EACH, nothing, nothing };
	struct err e;

	(void)state;
	memset(order, 0, sizeof order);
	checks = answered = 0;
	assert_int_equal(pipe(gate), 0);
	assert_int_equal(loop_open(&e), 0);
	return worker_start(&config, &e);
}

static int
end(void **state)
{
	(void)state;
	worker_stop();
	loop_close();
	close(gate[0]);
	close(gate[1]);
	return 0;
}

/* name: one letter, which the order is told by. */
static int
submit(size_t at, const char *principal, const char *name, size_t size, struct err *e)
{
	auto_free char *code = calloc(size, 1);
	struct validate_code request = { .code = blob_copy(code, size) };

	*(char *)request.code.data = *name;
	calls[at] = (struct call){ .principal = principal, .namespace = "", .trace = "" };
	int r = worker_submit(&calls[at], &request, e);

	message_clear(MSG_validate_code, &request);
	return r;
}

static void
give_up(void *self)
{
	(void)self;
	loop_stop();
}

static void
finish(size_t n)
{
	uint64_t timer = loop_after(PATIENCE_MS, give_up, NULL);
	struct err e;

	wanted = n;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(write(gate[1], "", 1), 1);
	assert_int_equal(loop_run(&e), 0);
	loop_unset(timer);
	assert_int_equal(answered, n);
}

static void
one_takes_no_more_than_a_share(void **state)
{
	struct err e;

	(void)state;
	for (size_t i = 0; i < EACH; i++)
		assert_int_equal(submit(i, "greedy", "g", 1000, &e), 0);
	assert_int_equal(submit(EACH, "greedy", "g", 1000, &e), -1);
	assert_int_equal(e.code, ERR_queue_full);
	assert_non_null(strstr(e.text, "of your checks"));
	assert_true(e.retry_ms > 0);
	for (size_t i = 0; i < PLACES - EACH; i++)
		assert_int_equal(submit(EACH + i, "other", "o", 1000, &e), 0);
	assert_int_equal(submit(PLACES, "third", "t", 1000, &e), -1);
	assert_int_equal(e.code, ERR_queue_full);
	finish(PLACES);
	/* And has it again. */
	wanted = answered = 0;
	assert_int_equal(submit(0, "greedy", "g", 1000, &e), 0);
	finish(1);
}

static void
each_has_its_turn(void **state)
{
	struct err e;

	(void)state;
	/* The first is under way, maybe, when the others come: its place is the first in any case.
	 */
	assert_int_equal(submit(0, "greedy", "a", 1, &e), 0);
	assert_int_equal(submit(1, "greedy", "b", 1, &e), 0);
	assert_int_equal(submit(2, "greedy", "c", 1, &e), 0);
	assert_int_equal(submit(3, "other", "y", 3000, &e), 0);
	assert_int_equal(submit(4, "third", "x", 2000, &e), 0);
	assert_int_equal(submit(5, "other", "z", 1, &e), 0);
	finish(6);
	assert_string_equal(order, "axybzc");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_takes_no_more_than_a_share, begin, end),
		cmocka_unit_test_setup_teardown(each_has_its_turn, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
