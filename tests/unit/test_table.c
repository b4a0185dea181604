/* SPDX-License-Identifier: Apache-2.0 */
/* test_table.c - a check of a CSV file in a box: which answers are believed, and every way to end.
 */
#include "fake.h"

#include "executor/guest/csv/job.h"
#include "executor/run/check/table.h"
#include "executor/run/queue.h"
#include "executor/runtime.h"
#include "executor/session/session.h"
#include "executor/tools/table_tools.h"

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
	return fake_options(&e) < 0 || limits_settle(&e) < 0 || share_settle(&e) < 0 ||
	               runtime_open(&e) < 0
	           ? -1
	           : 0;
}

static int
end(void **state)
{
	(void)state;
	session_end_all();
	fake_bury();
	assert_int_equal(fake.boxes, 0);
	assert_int_equal(fake.workspaces, 0);
	assert_int_equal(queue_counts()->running, 0);
	share_forget();
	return 0;
}

/* What the checker writes. */
static struct blob
answer(uint64_t errors)
{
	struct csv_report report = {
		.valid = errors == 0,
		.error_count = errors,
		.row_count = 7,
		.message = strdup("a verdict"),
		.dialect = calloc(1, sizeof *report.dialect),
	};
	struct packed packed;
	struct blob bytes;
	struct err e;

	report.dialect->delimiter = strdup(",");
	report.dialect->line_end = strdup("lf");
	report.dialect->encoding = strdup("utf-8");
	assert_int_equal(wire_encode(MSG_csv_report, &report, &packed, &e), 0);
	assert_int_equal(wire_flatten(&packed, &bytes, &e), 0);
	packed_clear(&packed);
	message_clear(MSG_csv_report, &report);
	return bytes;
}

/* Bytes that differ from a report in one bit, or end early, are a report with the same verdict or
 * none. */
static void
believes_only_reports(void **state)
{
	struct blob whole = answer(2);
	struct csv_report report = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(table_read(&whole, &report, &e), 0);
	assert_int_equal(report.row_count, 7);
	message_clear(MSG_csv_report, &report);
	for (size_t i = 0; i < whole.size; i++) {
		struct blob part = { whole.data, i };

		assert_int_equal(table_read(&part, &report, &e), -1);
		for (unsigned bit = 0; bit < 8; bit++) {
			((char *)whole.data)[i] ^= (char)(1 << bit);
			if (table_read(&whole, &report, &e) == 0)
				assert_int_equal(report.valid, report.error_count == 0);
			message_clear(MSG_csv_report, &report);
			((char *)whole.data)[i] ^= (char)(1 << bit);
		}
	}
	blob_clear(&whole);
}

/* ---- the tool ---- */

static const struct session *
make_session(void)
{
	struct fake_call *c = fake_call(MSG_create_session, "ann");
	const struct session_wish wish = { .ttl_s = 60, .limits = limits_default };
	struct err e;

	assert_non_null(session_new(&c->call, &wish, &e));
	call_fail(&c->call, err_set(&e, ERR_internal, "of no interest") < 0 ? &e : NULL);
	fake_forget(c);
	return session_first();
}

static struct fake_call *
begin_check(const char *session, const char *path)
{
	struct fake_call *c = fake_call(MSG_validate_csv_data, "ann");
	struct validate_csv_data ask = { .path = strdup(path),
		.session_id = strdup(session),
		.has_header = true,
		.max_errors = 9 };
	struct err e;

	if (table_tools_on_validate_csv_data(&c->call, &ask, &e) < 0)
		call_fail(&c->call, &e);
	message_clear(MSG_validate_csv_data, &ask);
	return c;
}

static void
replies_to_every_end(void **state)
{
	static const struct {
		struct box_end end;
		const char *text; /* NULL: a report */
		enum err_code code;
	} cases[] = {
		{ { .exit_code = 0 }, NULL, ERR_none },
		{ { .exit_code = JOB_FAILED }, "type_constraints: x", ERR_invalid_argument },
		{ { .exit_code = JOB_SHRANK }, "path: shorter", ERR_session_busy },
		{ { .exit_code = JOB_FAILED + (int)COUNT(job_errors) }, "denied", ERR_internal },
		{ { .exit_code = 1 }, "", ERR_internal },
		{ { .exit_code = 127 }, "", ERR_internal },
		{ { .out_dropped = 1 }, NULL, ERR_internal },
		{ { .how = BOX_TIMED_OUT }, NULL, ERR_limit_exceeded },
		{ { .how = BOX_OUT_OF_CPU }, NULL, ERR_limit_exceeded },
		{ { .how = BOX_OUT_OF_MEMORY }, NULL, ERR_limit_exceeded },
		{ { .how = BOX_SIGNALLED, .signal = SIGSEGV }, NULL, ERR_internal },
	};
	const struct session *session = make_session();

	(void)state;
	fake_make(NULL);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fake_call *c = begin_check(session->id, "/workspace/d/t.csv");
		struct box_end how = cases[i].end;

		how.out = cases[i].text != NULL ? blob_text(cases[i].text) : answer(0);
		how.err = blob_text("");
		assert_true(fake_ready());
		assert_string_equal(fake_code(), "exec " JOB_PROGRAM "\n");
		fake_end_run(how);
		assert_int_equal(c->why.code, cases[i].code);
		if (cases[i].code == ERR_none)
			assert_int_equal(c->reply.table.row_count, 7);
		fake_forget(c);
	}
}

static void
refuses_what_names_no_file(void **state)
{
	const struct session *session = make_session();
	static const char *const paths[] = { "../t.csv", "/etc/passwd", "", "d//t.csv" };

	(void)state;
	fake_make(NULL);
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct fake_call *c = begin_check(session->id, paths[i]);

		assert_int_equal(c->why.code, ERR_path_not_allowed);
		fake_forget(c);
	}
	struct fake_call *c = begin_check("sess_1_00000000000000000000000000000000", "t.csv");

	assert_int_equal(c->ended, 1);
	fake_forget(c);
}

/* Before the workspace is there, before the program is ready, and while it runs. */
static void
is_cancelled_at_each_step(void **state)
{
	(void)state;
	for (unsigned step = 0; step < 3; step++)
		for (unsigned ends = 0; ends < 2; ends++) {
			const struct session *session = make_session();

			if (step > 0)
				fake_make(NULL);
			struct fake_call *c = begin_check(session->id, "t.csv");
			if (step > 1)
				assert_true(fake_ready());
			if (ends)
				session_end_all();
			else
				c->call.on_cancel(&c->call, ERR_cancelled);
			if (step == 0)
				fake_make(NULL);
			if (step == 2)
				fake_end_run((struct box_end){ .how = BOX_KILLED,
				    .out = blob_text(""),
				    .err = blob_text("") });
			fake_bury();
			assert_int_equal(c->ended, 1);
			assert_int_equal(c->why.code, ends ? ERR_session_expired : ERR_cancelled);
			fake_forget(c);
			session_end_all();
			fake_bury();
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(believes_only_reports),
		cmocka_unit_test_setup_teardown(replies_to_every_end, begin, end),
		cmocka_unit_test_setup_teardown(refuses_what_names_no_file, begin, end),
		cmocka_unit_test_setup_teardown(is_cancelled_at_each_step, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
