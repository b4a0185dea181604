/* SPDX-License-Identifier: Apache-2.0 */
/* test_egress_attempt.c - what was used is always reported, however much is refused. */
#include "executor/egress/attempt.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

int __wrap_call_stream(struct call *call, struct stream_part *part);

static struct attempts all;
static struct call call;
static char told[256];
static size_t parts;
static bool slow; /* the executor */

int
__wrap_call_stream(struct call *of, struct stream_part *part)
{
	assert_ptr_equal(of, &call);
	parts++;
	snprintf(told, sizeof told, "%.*s", (int)part->text.size, (char *)part->text.data);
	blob_clear(&part->text);
	return slow ? -1 : 0;
}

static int
set_up(void **unused)
{
	(void)unused;
	memset(&all, 0, sizeof all);
	parts = 0;
	slow = false;
	return 0;
}

static void
each_is_told_once(void **unused)
{
	static const char why[] = "not allowed";
	struct attempt *used = attempt_use(&all, &call, "a.test", 443);

	(void)unused;
	assert_string_equal(told, "used 443 a.test");
	assert_ptr_equal(attempt_use(&all, &call, "a.test", 443), used);
	assert_int_equal(parts, 1);
	assert_ptr_not_equal(attempt_use(&all, &call, "a.test", 80), used);
	attempt_refuse(&all, &call, "a.test", 0, why);
	assert_string_equal(told, "refused 0 a.test not allowed");
	attempt_refuse(&all, &call, "a.test", 0, why);
	assert_int_equal(parts, 3);
	attempt_refuse(&all, &call, "b.test", 0, why);
	attempt_refuse(&all, &call, "a.test", 8443, why);
	attempt_refuse(&all, &call, "a.test", 8443, "too many connections at once");
	assert_int_equal(parts, 6);
	assert_int_equal(all.nused, 2);
	assert_int_equal(all.nrefused, 4);
	assert_int_equal(all.more, 0);
}

static void
refusals_take_no_place_of_what_is_used(void **unused)
{
	char name[32];

	(void)unused;
	for (int i = 0; i < ATTEMPTS_REFUSED + 10; i++) {
		snprintf(name, sizeof name, "n%d.test", i);
		attempt_refuse(&all, &call, name, 0, "not allowed");
	}
	assert_int_equal(all.nrefused, ATTEMPTS_REFUSED);
	assert_int_equal(all.more, 10);
	assert_int_equal(parts, ATTEMPTS_REFUSED);
	for (int i = 0; i < ATTEMPTS_USED; i++) {
		snprintf(name, sizeof name, "n%d.test", i);
		assert_non_null(attempt_use(&all, &call, name, 443));
	}
	assert_null(attempt_use(&all, &call, "over.test", 443));
	assert_non_null(attempt_use(&all, &call, "n0.test", 443));
	assert_int_equal(all.nused, ATTEMPTS_USED);
}

static void
the_report_has_all(void **unused)
{
	struct network_report report = { 0 };
	struct attempt *used;

	(void)unused;
	slow = true;
	attempt_refuse(&all, &call, "b.test", 8443, "not allowed at this port");
	slow = false;
	used = attempt_use(&all, &call, "a.test", 443);
	used->connections = 2;
	used->bytes_in = 3;
	used->bytes_out = 4;
	all.more = 5;
	assert_int_equal(attempt_report(&all, &report), 0);
	assert_int_equal(report.attempts.count, 2);
	assert_int_equal(report.more, 5);
	assert_string_equal(report.attempts.items[0].name, "b.test");
	assert_string_equal(report.attempts.items[0].refused, "not allowed at this port");
	assert_false(report.attempts.items[0].told);
	assert_string_equal(report.attempts.items[1].name, "a.test");
	assert_null(report.attempts.items[1].refused);
	assert_true(report.attempts.items[1].told);
	assert_int_equal(report.attempts.items[1].connections, 2);
	assert_int_equal(report.attempts.items[1].bytes_in, 3);
	assert_int_equal(report.attempts.items[1].bytes_out, 4);
	message_clear(MSG_network_report, &report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_is_told_once, set_up),
		cmocka_unit_test_setup(refusals_take_no_place_of_what_is_used, set_up),
		cmocka_unit_test_setup(the_report_has_all, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
