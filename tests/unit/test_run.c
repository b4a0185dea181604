/* SPDX-License-Identifier: Apache-2.0 */
/* test_run.c - an execution through all its steps, and abandoned at each of them. */
#include "run_setup.h"

#include "executor/run/stream.h"
#include "executor/tools/session_tools.h"

#include "common/base/work.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void
cancel(struct fake_call *c)
{
	if (c->ended == 0 && c->call.on_cancel != NULL)
		c->call.on_cancel(&c->call, ERR_cancelled);
}

static void
runs_and_leaves_nothing(void **state)
{
	struct fake_call *c = start((struct execute_code){ 0 });

	(void)state;
	/* Recorded before anything is made. */
	assert_int_equal(fake_count(event_execution_started), 1);
	fake_make(NULL);
	fake_end_run(ended_well("1\n"));
	assert_int_equal(fake_count(event_execution_completed), 1);
	assert_true(c->reply.execution.success);
	assert_memory_equal(c->reply.execution.stdout.data, "1\n", 2);
	assert_string_equal(c->reply.execution.isolation->backend, "box");
	assert_int_equal(c->reply.execution.artifacts.count, 0);
	fake_forget(c);
}

static struct box_end
ended_with_much(void)
{
	struct box_end end = ended_well("");

	blob_clear(&end.out);
	end.out = (struct blob){ malloc(WORK_BYTES + 1), WORK_BYTES + 1 };
	memset(end.out.data, 0xff, end.out.size);
	return end;
}

/* What it wrote is everybody's wait otherwise. */
static void
much_output_is_looked_at_by_a_thread(void **state)
{
	struct fake_call *c = start((struct execute_code){ 0 });

	(void)state;
	fake_make(NULL);
	fake_end_run(ended_with_much());
	assert_int_equal(c->ended, 0);
	fake_thread();
	assert_true(c->reply.execution.success);
	assert_int_equal(c->reply.execution.stdout.size, 3 * (WORK_BYTES + 1));
	assert_string_equal(c->reply.execution.audit_checkpoint, "a checkpoint");
	fake_forget(c);
}

static void
nobody_waits_for_much_output(void **state)
{
	struct fake_call *c = start((struct execute_code){ 0 });

	(void)state;
	fake_make(NULL);
	fake_end_run(ended_with_much());
	cancel(c);
	assert_int_equal(c->ended, 0); /* the thread has it */
	fake_thread();
	assert_int_equal(c->why.code, ERR_cancelled);
	fake_forget(c);
}

static void
does_not_run_unrecorded(void **state)
{
	struct fake_call *c;

	(void)state;
	fake.spool_full = true;
	c = start((struct execute_code){ 0 });
	assert_int_equal(c->why.code, ERR_unavailable);
	assert_null(fake_find(FAKE_WORKSPACE));
	fake_forget(c);
}

static void
asks_the_validator_first(void **state)
{
	static char strict[] = "strict", rule[] = "forbidden-import", syntax[] = "syntax-error",
		    text[] = "no os";
	struct finding finding = { .line = 3, .rule = rule, .message = text };
	struct verdict verdict = { .valid = false };
	struct validation_report report = { .validation = &verdict, .findings = { &finding, 1 } };
	struct fake_call *c = start((struct execute_code){ .profile = strict });
	struct err away;

	(void)state;
	assert_int_equal(fake.nevents, 0);
	fake_answer(MSG_validate_code, &report, NULL);
	assert_false(c->reply.execution.success);
	assert_string_equal(c->reply.execution.error->code, "policy_violation");
	assert_string_equal(c->reply.execution.audit_checkpoint, "a checkpoint");
	assert_int_equal(c->reply.execution.error->line, 3);
	assert_int_equal(fake_count(event_policy_violation), 1);
	fake_forget(c);

	finding.rule = syntax;
	c = start((struct execute_code){ .profile = strict });
	fake_answer(MSG_validate_code, &report, NULL);
	assert_string_equal(c->reply.execution.error->code, "syntax_error");
	fake_forget(c);

	/* No verdict: it does not run. */
	c = start((struct execute_code){ .profile = strict });
	err_set(&away, ERR_deadline_exceeded, "no answer");
	fake_answer(MSG_validate_code, NULL, &away);
	assert_int_equal(c->why.code, ERR_unavailable);
	fake_forget(c);
	assert_null(fake_find(FAKE_WORKSPACE));

	verdict.valid = true;
	report.findings.count = 0;
	c = start((struct execute_code){ .profile = strict });
	fake_answer(MSG_validate_code, &report, NULL);
	fake_make(NULL);
	fake_end_run(ended_well(""));
	fake_forget(c);
}

/* Each brings a run one step further. */
static void
pass_check(void)
{
	struct verdict verdict = { .valid = true };
	struct validation_report report = { .validation = &verdict };

	fake_answer(MSG_validate_code, &report, NULL);
}

/* Of code that passed, and what is recorded is the same; of what did not pass each time. */
static void
asks_the_validator_once(void **state)
{
	static char strict[] = "strict", basic[] = "basic", text[] = "no";
	struct fake_call *c;

	(void)state;
	for (unsigned i = 1; i <= 2; i++) {
		c = start((struct execute_code){ .profile = strict });
		assert_int_equal(fake_asked(MSG_validate_code) != NULL, i == 1);
		if (i == 1)
			pass_check();
		fake_make(NULL);
		fake_end_run(ended_well("1\n"));
		assert_true(c->reply.execution.success);
		assert_int_equal(fake_count(event_execution_started), i);
		assert_int_equal(fake_count(event_execution_completed), i);
		assert_int_equal(fake.nevents, 2 * i);
		fake_forget(c);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct verdict verdict = { .valid = false, .message = text };
		struct validation_report report = { .validation = &verdict };

		c = start((struct execute_code){ .profile = basic });
		fake_answer(MSG_validate_code, &report, NULL);
		assert_string_equal(c->reply.execution.error->code, "policy_violation");
		fake_forget(c);
	}
}

static void
pass_workspace(void)
{
	fake.holds_files = true;
	fake_make(NULL);
}

static void
pass_list(void)
{
	fake_list(NULL, 0, NULL);
}

static void
pass_ready(void)
{
	assert_true(fake_ready());
}

static void
pass_box(void)
{
	fake_end_run(ended_well(""));
}

static void
is_given_up_at_each_step(void **state)
{
	static void (*const steps[])(
	    void) = { pass_check, pass_workspace, pass_ready, pass_box, pass_list };
	static char strict[] = "strict";

	(void)state;
	options.verdict_seconds = 0;
	for (size_t at = 0; at < COUNT(steps); at++) {
		struct fake_call *c = start((struct execute_code){ .profile = strict });

		for (size_t i = 0; i < at; i++)
			steps[i]();
		cancel(c);
		fake_bury();
		assert_true(fake_find(FAKE_RUN) == NULL || fake_find(FAKE_RUN)->killed);
		/* What was under way comes back, where it cannot be called off. */
		if (c->ended == 0)
			steps[at]();
		assert_int_equal(c->why.code, ERR_cancelled);
		fake_bury();
		assert_int_equal(fake.workspaces, 0);
		assert_int_equal(queue_counts()->running, 0);
		fake_forget(c);
	}
	assert_int_equal(fake_count(event_execution_started), 4);
	assert_int_equal(fake_count(event_execution_cancelled), 5);
}

static void
waits_and_is_given_up_waiting(void **state)
{
	struct fake_call *first = start((struct execute_code){ 0 });
	struct fake_call *second = start((struct execute_code){ 0 });
	struct fake_call *third = start((struct execute_code){ 0 });

	(void)state;
	assert_int_equal(queue_counts()->waiting, 2);
	cancel(second);
	assert_int_equal(second->why.code, ERR_cancelled);
	assert_int_equal(fake_count(event_execution_started), 1);
	fake_make(NULL);
	fake_end_run(ended_well(""));
	assert_int_equal(first->ended, 1);
	fake_make(NULL);
	fake_end_run(ended_well(""));
	assert_int_equal(third->ended, 1);
	fake_forget(first);
	fake_forget(second);
	fake_forget(third);
}

static char *
new_session(void)
{
	struct fake_call *c = fake_call(MSG_create_session, "ann");
	struct create_session ask = { 0 };
	struct err e;
	char *id;

	assert_int_equal(session_tools_on_create_session(&c->call, &ask, &e), 0);
	fake_make(NULL);
	id = take_ptr(c->reply.session_created.session_id);
	fake_forget(c);
	return id;
}

static void
has_a_session_for_itself(void **state)
{
	auto_free char *id = new_session();
	struct terminate_session terminate = { .session_id = id };
	struct fake_call *first = start((struct execute_code){ .session_id = id });
	struct fake_call *second = start((struct execute_code){ .session_id = id });
	struct fake_call *ending = fake_call(MSG_terminate_session, "ann");
	struct err e;

	(void)state;
	assert_int_equal(second->why.code, ERR_session_busy);
	fake_forget(second);
	assert_true(fake_ready());
	assert_non_null(fake_find(FAKE_RUN));
	assert_int_equal(session_tools_on_terminate_session(&ending->call, &terminate, &e), 0);
	assert_true(fake_find(FAKE_RUN)->killed);
	assert_int_equal(ending->ended, 0);
	fake_end_run(ended_well(""));
	assert_int_equal(first->why.code, ERR_cancelled);
	assert_string_equal(ending->reply.session_status.status, "terminated");
	fake_forget(first);
	fake_forget(ending);
	second = start((struct execute_code){ .session_id = id });
	assert_int_equal(second->why.code, ERR_session_expired);
	fake_forget(second);
}

/* A workspace of its own is empty at first; a session's may hold anything. */
static void
is_given_up_while_a_session_is_listed(void **state)
{
	auto_free char *id = new_session();
	struct fake_call *c;

	(void)state;
	fake.holds_files = true;
	c = start((struct execute_code){ .session_id = id });
	cancel(c);
	if (c->ended == 0)
		pass_list();
	assert_int_equal(c->why.code, ERR_cancelled);
	assert_null(fake_find(FAKE_RUN));
	fake_forget(c);
}

static void
lists_what_was_written(void **state)
{
	auto_free char *id = new_session();
	static char a[] = "a.txt", b[] = "b.png", c[] = "c/d.csv", dir[] = "c";
	struct tree_entry before[] = {
		{ .path = a, .size = 1, .mtime_ns = 1 },
		{ .path = b, .size = 1, .mtime_ns = 1 },
	};
	struct tree_entry after[] = {
		{ .path = a, .size = 1, .mtime_ns = 1 },
		{ .path = b, .size = 1, .mtime_ns = 2 },
		{ .path = dir, .type = file_type_directory },
		{ .path = c, .size = 9 },
	};
	struct fake_call *call;

	(void)state;
	fake.holds_files = true;
	call = start((struct execute_code){ .session_id = id });
	fake_list(before, COUNT(before), NULL);
	fake_end_run(ended_well(""));
	fake_list(after, COUNT(after), NULL);
	fake_type("image/png", NULL);
	fake_read("a picture", NULL);
	assert_int_equal(call->ended, 0);
	fake_type("", NULL);
	assert_int_equal(call->reply.execution.artifacts.count, 2);
	assert_int_equal(call->reply.execution.rich.count, 1);
	assert_string_equal(call->reply.execution.rich.items[0].name, "b.png");
	assert_string_equal(call->reply.execution.artifacts.items[0].filename, "b.png");
	assert_string_equal(call->reply.execution.artifacts.items[0].mime_type, "image/png");
	assert_string_equal(call->reply.execution.artifacts.items[1].path, "/workspace/c/d.csv");
	fake_forget(call);
}

static void
tells_the_outcome_of_what_cannot_be_listed(void **state)
{
	auto_free char *id = new_session();
	struct fake_call *c;
	struct err e;

	(void)state;
	err_set(&e, ERR_internal, "the file helper took too long");
	fake.holds_files = true;
	for (int at = 0; at < 2; at++) {
		c = start((struct execute_code){ .session_id = id });
		fake_list(NULL, 0, at == 0 ? &e : NULL);
		fake_end_run(ended_well("1\n"));
		if (at == 1)
			fake_list(NULL, 0, &e);
		assert_true(c->reply.execution.success);
		assert_non_null(strstr(c->reply.execution.notes.items[0], "took too long"));
		fake_forget(c);
	}
}

static void
mends_output(void **state)
{
	static const char bytes[] = "a\0b\xff\xe2\x82";
	struct fake_call *c = start((struct execute_code){ 0 });
	struct box_end how = { .out = blob_copy(bytes, sizeof bytes - 1), .out_dropped = 7 };
	static const char mended[] = "a\0"
				     "b[... the middle was left out ...]"
				     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd";

	(void)state;
	fake_make(NULL);
	fake_end_run(how);
	assert_int_equal(c->reply.execution.stdout.size, sizeof mended - 1);
	assert_memory_equal(c->reply.execution.stdout.data, mended, sizeof mended - 1);
	assert_true(c->reply.execution.stdout_truncated);
	assert_int_equal(c->reply.execution.notes.count, 1);
	assert_non_null(strstr(c->reply.execution.notes.items[0], "7 bytes of stdout"));
	fake_forget(c);

	/* What mending makes too long loses its middle. */
	c = start((struct execute_code){ 0 });
	how.out.size = 10485760;
	how.out.data = malloc(how.out.size);
	memset(how.out.data, 0xff, how.out.size);
	fake_make(NULL);
	fake_end_run(how);
	fake_thread();
	assert_in_range(c->reply.execution.stdout.size, 10485760 - 80, 10485760);
	assert_true(c->reply.execution.stdout_truncated);
	fake_forget(c);
}

/* The operator allows none: a person must have, and for that very name. */
static void
reaches_what_a_person_allowed(void **state)
{
	static char domain[] = "example.org", other[] = "example.com";
	char *domains[] = { domain };
	struct approval item = { .subject = other };
	struct approval_list grants = { .approvals = { &item, 1 } };

	(void)state;
	struct fake_call *c = start((struct execute_code){ .allowed_domains = { domains, 1 } });

	fake_answer(MSG_approval_grants, &grants, NULL);
	assert_int_equal(c->why.code, ERR_egress_denied);
	fake_forget(c);

	c = start((struct execute_code){ .allowed_domains = { domains, 1 } });
	item.subject = domain;
	fake_answer(MSG_approval_grants, &grants, NULL);
	assert_int_equal(c->ended, 0);
	assert_non_null(fake_find(FAKE_WORKSPACE));
	cancel(c);
	fake_make(NULL);
	assert_int_equal(c->why.code, ERR_cancelled);
	fake_bury();
	fake_forget(c);
}

static void
refuses_by_name(void **state)
{
	static char domain[] = "192.0.2.1", big[] = "9g", id[] = "x", profile[] = "odd",
		    up[] = "../x", cobol[] = "cobol";
	char *domains[] = { domain };
	struct input_file escape = { .filename = up, .content = { up, 1 } };
	const struct {
		struct execute_code ask;
		enum err_code code;
		const char *field;
	} cases[] = {
		{ { .language = cobol }, ERR_invalid_argument, "language" },
		{ { .use_container = true }, ERR_isolation_unavailable, "use_container" },
		{ { .allowed_domains = { domains, 1 } }, ERR_invalid_argument, "allowed_domains" },
		{ { .memory_limit = big }, ERR_limit_exceeded, "memory_limit" },
		{ { .timeout = 3601 }, ERR_limit_exceeded, "timeout" },
		{ { .session_id = id }, ERR_invalid_argument, "session_id" },
		{ { .profile = profile }, ERR_invalid_argument, "profile" },
		{ { .files = { &escape, 1 } }, ERR_path_not_allowed, "files[0].filename" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fake_call *c = start(cases[i].ask);

		assert_int_equal(c->why.code, cases[i].code);
		assert_non_null(strstr(c->why.text, cases[i].field));
		fake_forget(c);
	}
	assert_int_equal(fake.nevents, 0);
}

static void
streams_what_takes_long(void **state)
{
	struct fake_call *c = start((struct execute_code){ 0 });

	(void)state;
	fake_make(NULL);
	assert_int_equal(c->parts, 1); /* started */
	fake_output("half a character: \xe2\x82");
	assert_int_equal(c->parts, 1);
	fake_pass(100);
	assert_int_equal(c->parts, 2);
	/* The rest of it waits for its moment, and is sent before the reply. */
	fake_output("\xac\n");
	fake_end_run(ended_well(""));
	assert_int_equal(c->parts, 3);
	assert_string_equal(fake.stream, "half a character: \xe2\x82\xac\n");
	fake_forget(c);
}

/* However fast it comes: a buffer of it each moment, up to the limit, and what is left out is told.
 */
static void
streams_a_flood_in_drops(void **state)
{
	static char flood[STREAM_BUFFER + 1];
	struct fake_call *c = start((struct execute_code){ 0 });
	size_t seconds;

	(void)state;
	memset(flood, 'x', STREAM_BUFFER);
	fake_make(NULL);
	for (int i = 0; i < 10; i++)
		fake_output(flood);
	assert_int_equal(c->parts, 1);
	fake_pass(STREAM_DELAY_MS);
	assert_int_equal(c->parts, 1 + STREAM_BUFFER / STREAM_PIECE + 1);
	assert_int_equal(strspn(fake.stream, "x"), STREAM_BUFFER);
	assert_string_equal(
	    fake.stream + STREAM_BUFFER, "\n[... 294912 bytes came too fast to be shown ...]\n");
	/* A MiB of each channel is what a run may write here. */
	for (seconds = 0; seconds < 100 && fake.stream[0] != 0; seconds++) {
		fake.stream[0] = 0;
		fake_output(flood);
		fake_pass(1000);
	}
	assert_int_equal(seconds, (1 << 20) / STREAM_BUFFER - 10 + 1);
	fake_end_run(ended_well(""));
	fake_forget(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(runs_and_leaves_nothing, begin, end),
		cmocka_unit_test_setup_teardown(much_output_is_looked_at_by_a_thread, begin, end),
		cmocka_unit_test_setup_teardown(nobody_waits_for_much_output, begin, end),
		cmocka_unit_test_setup_teardown(does_not_run_unrecorded, begin, end),
		cmocka_unit_test_setup_teardown(asks_the_validator_first, begin, end),
		cmocka_unit_test_setup_teardown(asks_the_validator_once, begin, end),
		cmocka_unit_test_setup_teardown(is_given_up_at_each_step, begin, end),
		cmocka_unit_test_setup_teardown(is_given_up_while_a_session_is_listed, begin, end),
		cmocka_unit_test_setup_teardown(waits_and_is_given_up_waiting, begin, end),
		cmocka_unit_test_setup_teardown(has_a_session_for_itself, begin, end),
		cmocka_unit_test_setup_teardown(lists_what_was_written, begin, end),
		cmocka_unit_test_setup_teardown(
		    tells_the_outcome_of_what_cannot_be_listed, begin, end),
		cmocka_unit_test_setup_teardown(mends_output, begin, end),
		cmocka_unit_test_setup_teardown(reaches_what_a_person_allowed, begin, end),
		cmocka_unit_test_setup_teardown(refuses_by_name, begin, end),
		cmocka_unit_test_setup_teardown(streams_what_takes_long, begin, end),
		cmocka_unit_test_setup_teardown(streams_a_flood_in_drops, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
