/* SPDX-License-Identifier: Apache-2.0 */
/* test_parsing.c - a thread parses the same value as the loop would, and other clients do not
 * wait for it. */
#include "gateway/rpc/parsing.h"
#include "gateway/rpc/pieces.h"
#include "tests/unit/late_clock.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	MANY = 40,
	LATE_MS = 10000,
};

static pid_t parser; /* the thread that did it last */
static size_t left;
static json_t *got[MANY], *refused;
json_t *__real_jsonrpc_parse(const struct line *, json_t **answer);
json_t *__wrap_jsonrpc_parse(const struct line *, json_t **answer);

json_t *
__wrap_jsonrpc_parse(const struct line *line, json_t **answer)
{
	__atomic_store_n(&parser, gettid(), __ATOMIC_SEQ_CST);
	return __real_jsonrpc_parse(line, answer);
}

static void
take(void *self, json_t *message, json_t *answer)
{
	*(json_t **)self = message;
	refused = answer;
	if (--left == 0)
		loop_stop();
}

static struct parsing *
begin(const char *text, json_t **to)
{
	struct scan *scan = calloc(1, sizeof *scan);
	size_t size = strlen(text);

	scan_feed(scan, text, size);

	struct parsing *p = parsing_new(&(struct parsing_spec){ .data = strdup(text),
	    .size = size,
	    .limit = size,
	    .scan = scan,
	    .done = take,
	    .self = to });

	left++;
	return p;
}

static void
too_late(void *unused)
{
	(void)unused;
	loop_stop();
}

static void
wait_for_all(void)
{
	uint64_t timer = loop_after(LATE_MS, too_late, NULL);
	struct err e;

	assert_int_equal(loop_run(&e), 0);
	loop_unset(timer);
	assert_int_equal(left, 0);
}

static void
others_go_on_meanwhile(void **state)
{
	char text[64];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "{\"id\":%d,\"params\":{\"a\":[\"%d\",{}]}}", i, i);
		parsing_start(begin(text, &got[i]));
		assert_int_equal(left, i + 1); /* not at once */
	}
	wait_for_all();
	assert_int_not_equal(parser, gettid());
	for (int i = 0; i < MANY; i++) {
		json_auto_t *wanted = json_pack(
		    "{s:i, s:{s:[o, {}]}}", "id", i, "params", "a", json_sprintf("%d", i));

		assert_true(json_equal(got[i], wanted));
		json_decref(got[i]);
		got[i] = NULL;
	}
}

/* What becomes of one may take long. */
static void
others_go_on_between_two(void **state)
{
	(void)state;
	for (int i = 0; i < MANY; i++)
		parsing_start(begin("[]", &got[i]));
	usleep(200000); /* all are parsed */
	late_us = 1000;
	turns = 0;
	wait_for_all();
	late_us = 0;
	assert_in_range(turns, MANY - 1, 10 * MANY);
	for (int i = 0; i < MANY; i++)
		json_decref(take_ptr(got[i]));
}

static void
what_is_none_is_answered(void **state)
{
	(void)state;
	parsing_start(begin("{\"id\":7,\"params\":[}", &got[0]));
	wait_for_all();
	assert_null(got[0]);
	assert_int_equal(json_integer_value(json_object_get(refused, "id")), 7);
	json_decref(refused);
}

static void
nobody_need_wait(void **state)
{
	struct parsing *one = begin("[1]", &got[0]), *other = begin("[2]", &got[1]);

	(void)state;
	parsing_start(one);
	parsing_leave(one);
	left--;
	parsing_start(other);
	wait_for_all();
	assert_null(got[0]);
	json_decref(got[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_go_on_meanwhile),
		cmocka_unit_test(others_go_on_between_two),
		cmocka_unit_test(what_is_none_is_answered),
		cmocka_unit_test(nobody_need_wait),
	};
	struct err e;

	pieces_open();
	if (loop_open(&e) < 0 || loop_before_wait(count_turns, NULL, &e) < 0)
		return 1;

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	work_close();
	loop_close();
	return failed;
}
