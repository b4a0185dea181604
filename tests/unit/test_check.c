/* SPDX-License-Identifier: Apache-2.0 */
/* test_check.c - a check in a box: what is asked there, and which answers are believed. */
#include "fake.h"

#include "executor/options.h"
#include "executor/run/check/check.h"
#include "executor/run/queue.h"
#include "executor/runtime.h"
#include "executor/tools/check_tools.h"

#include "common/base/auto.h"
#include "common/codec/wire.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int
begin(void **state)
{
	struct err e;

	(void)state;
	fake_reset();
	return fake_options(&e) < 0 || runtime_open(&e) < 0 ? -1 : 0;
}

static int
end(void **state)
{
	(void)state;
	fake_bury();
	assert_int_equal(fake.boxes, 0);
	assert_int_equal(fake.workspaces, 0);
	assert_int_equal(queue_counts()->running, 0);
	return 0;
}

/* What a checker writes: a verdict, and so many findings. */
static struct blob
answer(bool valid, size_t findings)
{
	struct validation_report report = {
		.validation = calloc(1, sizeof *report.validation),
		.analysis = calloc(1, sizeof *report.analysis),
	};
	struct packed packed;
	struct blob bytes;
	struct err e;

	report.validation->valid = valid;
	report.validation->message = strdup("a verdict");
	report.analysis->estimated_complexity = strdup("low");
	for (size_t i = 0; i < findings; i++) {
		struct finding *finding = list_add(&report.findings, sizeof *finding);

		*finding = (struct finding){ 1, 1, strdup("rule"), strdup("a finding"), NULL };
	}
	assert_int_equal(wire_encode(MSG_validation_report, &report, &packed, &e), 0);
	assert_int_equal(wire_flatten(&packed, &bytes, &e), 0);
	packed_clear(&packed);
	message_clear(MSG_validation_report, &report);
	return bytes;
}

/* Bytes that differ from a report in one byte, or end early, are a report with the same verdict or
 * none. */
static void
believes_only_reports(void **state)
{
	struct blob whole = answer(false, 2);
	struct validation_report report = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(check_read(&whole, &report, &e), 0);
	assert_int_equal(report.findings.count, 2);
	message_clear(MSG_validation_report, &report);
	for (size_t i = 0; i < whole.size; i++) {
		struct blob part = { whole.data, i };

		assert_int_equal(check_read(&part, &report, &e), -1);
		for (unsigned bit = 0; bit < 8; bit++) {
			((char *)whole.data)[i] ^= (char)(1 << bit);
			if (check_read(&whole, &report, &e) == 0)
				assert_false(report.validation->valid);
			message_clear(MSG_validation_report, &report);
			((char *)whole.data)[i] ^= (char)(1 << bit);
		}
	}
	blob_clear(&whole);
}

static void
believes_no_contradiction(void **state)
{
	struct blob good = answer(true, 1), bad = answer(false, 0);
	struct validation_report report = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(check_read(&good, &report, &e), -1);
	assert_int_equal(check_read(&bad, &report, &e), -1);
	blob_clear(&good);
	blob_clear(&bad);
}

static struct fake_call *
begin_check(const char *code)
{
	static char evil[] = "fs\"});process.exit()";
	struct fake_call *c = fake_call(MSG_validate_code, "ann");
	struct validate_code ask = { .code = blob_text(code), .language = language_node };
	struct err e;

	assert_int_equal(texts_add(&ask.allowed_imports, evil), 0);
	assert_int_equal(check_tools_on_validate_code(&c->call, &ask, &e), 0);
	message_clear(MSG_validate_code, &ask);
	return c;
}

/* What a client chose is no part of the program that runs. */
static void
asks_in_base64(void **state)
{
	struct fake_call *c = begin_check("\"});process.exit();({\"");

	(void)state;
	fake_make(NULL);
	assert_true(fake_ready());
	assert_non_null(strstr(fake_code(), "{language:\"node\",profile:\"strict\",lists:\"basic\","
					    "powers:\"files\",open:0>0,auto_fix:0>0,only:\""));
	assert_null(strstr(fake_code(), "exit"));
	fake_end_run((struct box_end){ .out = answer(true, 0), .err = blob_text("") });
	assert_int_equal(c->why.code, ERR_none);
	assert_true(c->reply.report.validation->valid);
	fake_forget(c);
}

static void
replies_to_every_end(void **state)
{
	static const struct {
		struct box_end end;
		enum err_code code;
	} cases[] = {
		{ { .how = BOX_TIMED_OUT }, ERR_limit_exceeded },
		{ { .how = BOX_OUT_OF_MEMORY }, ERR_limit_exceeded },
		{ { .exit_code = 3 }, ERR_limit_exceeded },
		{ { .exit_code = 1 }, ERR_internal },
		{ { .out_dropped = 1 }, ERR_internal },
		{ { .how = BOX_SIGNALLED, .signal = SIGSEGV }, ERR_internal },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fake_call *c = begin_check("1");
		struct box_end end = cases[i].end;

		end.out = answer(true, 0);
		end.err = blob_text("");
		fake_make(NULL);
		fake_end_run(end);
		assert_int_equal(c->why.code, cases[i].code);
		fake_forget(c);
	}
}

static void
is_cancelled_at_each_step(void **state)
{
	(void)state;
	for (unsigned step = 0; step < 2; step++) {
		struct fake_call *c = begin_check("1");

		if (step == 1)
			fake_make(NULL);
		c->call.on_cancel(&c->call, ERR_cancelled);
		if (step == 0)
			fake_make(NULL);
		fake_bury();
		assert_int_equal(c->ended, 1);
		assert_int_equal(c->why.code, ERR_cancelled);
		fake_forget(c);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(believes_only_reports),
		cmocka_unit_test(believes_no_contradiction),
		cmocka_unit_test_setup_teardown(asks_in_base64, begin, end),
		cmocka_unit_test_setup_teardown(replies_to_every_end, begin, end),
		cmocka_unit_test_setup_teardown(is_cancelled_at_each_step, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
