/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_audit_query.c - a caller sees its own records of the log, all of them, newest first.
 *
 * The journal is real; call_reply() and call_fail() are the test's.
 */
#include "tests/unit/ledger.h"

#include "auditd/follow.h"
#include "auditd/journal.h"
#include "auditd/logfile.h"
#include "auditd/options.h"
#include "auditd/query.h"
#include "auditd/record.h"
#include "auditd/rotate.h"
#include "auditd/segments.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- the bus ---- */

static struct {
	bool replied, failed;
	struct event_page events; /* of a follower */
	char order[64];           /* the last byte of each principal that was answered */
	struct audit_page page;   /* with what it owned */
	struct err error;
} answer;

void
call_reply(struct call *call, void *reply)
{
	answer.order[strlen(answer.order)] =
	    call->owner.principal[strlen(call->owner.principal) - 1];
	answer.replied = true;
	if (call->message == MSG_audit_all) {
		answer.events = *(struct event_page *)reply;
		*(struct event_page *)reply = (struct event_page){ 0 };
		loop_stop();
		return;
	}
	message_clear(MSG_audit_page, &answer.page);
	answer.page = *(struct audit_page *)reply;
	*(struct audit_page *)reply = (struct audit_page){ 0 };
	loop_stop();
}

void
call_fail(struct call *call, const struct err *e)
{
	(void)call;
	answer.failed = true;
	answer.error = *e;
	loop_stop();
}

/* ---- helpers ---- */

static void
append_in(const char *space, const char *principal, const char *namespace, const char *execution,
    enum event event)
{
	struct audit_event e = {
		.uid = (char[]){ "uid" },
		.time_ms = 1,
		.event = (int)event,
		.principal = (char *)principal,
		.namespace = (char *)namespace,
		.space = (char *)space,
		.execution_id = (char *)execution,
		.detail = (char[]){ "local:1 exec_1" }, /* words that are looked for elsewhere */
	};
	struct err why;

	if (options.segment_bytes > 0)
		ledger_commit_all();
	assert_return_code(rotate_before_add(&why), 0);
	ledger_add_event("executor", &e);
}

static void
append(const char *principal, const char *namespace, const char *execution, enum event event)
{
	append_in(NULL, principal, namespace, execution, event);
}

static void
forget(void)
{
	message_clear(MSG_audit_page, &answer.page);
	message_clear(MSG_event_page, &answer.events);
	memset(&answer, 0, sizeof(answer));
}

/* The number of records on the page; -1: an error. */
static int
ask(const char *principal, const char *namespace, struct audit_execution want)
{
	static struct call call;
	struct audit_execution request = { .limit = want.limit == 0 ? 1000 : want.limit };
	struct err e;

	forget();
	call = (struct call){ .trace = "" };
	assert_true(owner_set(&call.owner, principal, namespace));
	request.namespace = want.namespace == NULL ? NULL : strdup(want.namespace);
	request.execution_id = want.execution_id == NULL ? NULL : strdup(want.execution_id);
	request.event = want.event == NULL ? NULL : strdup(want.event);
	request.cursor = want.cursor == NULL ? NULL : strdup(want.cursor);
	if (query_execution(&call, &request, &e) < 0) {
		message_clear(MSG_audit_execution, &request);
		answer.error = e;
		return -1;
	}
	if (!answer.replied && !answer.failed)
		assert_return_code(loop_run(&e), 0);
	assert_true(answer.replied);
	return (int)answer.page.entries.count;
}

#define ASK(principal, ...) ask(principal, "", (struct audit_execution){ __VA_ARGS__ })

static int
set_up(void **state)
{
	struct err e;

	assert_return_code(loop_open(&e), 0);
	return ledger_set_up(state);
}

static int
tear_down(void **state)
{
	forget();
	loop_close();
	options.segment_bytes = 0;
	return ledger_tear_down(state);
}

/* ---- cases ---- */

static void
an_empty_log_has_an_empty_page(void **unused)
{
	(void)unused;
	assert_int_equal(ASK("local:1", 0), 0);
	assert_null(answer.page.next_cursor);
}

static void
each_sees_its_own(void **unused)
{
	(void)unused;
	append("local:1", "a", "exec_1", event_execution_started);
	append("local:2", "a", "exec_2", event_execution_started);
	append(NULL, NULL, NULL, event_daemon_started);
	append("local:1", "b", "exec_3", event_execution_failed);
	append("local:10", "a", "exec_1", event_execution_started);
	ledger_commit();
	assert_int_equal(ASK("local:1", 0), 2);
	assert_int_equal(answer.page.entries.items[0].sequence, 4);
	assert_int_equal(answer.page.entries.items[1].sequence, 1);
	assert_int_equal(ASK("local:2", 0), 1);
	assert_int_equal(ASK("local:3", 0), 0);
	assert_int_equal(ASK("local:", 0), 0);
	assert_int_equal(ASK("local:2", .execution_id = (char[]){ "exec_1" }), 0);
}

static void
nobody_sees_nothing(void **unused)
{
	(void)unused;
	append(NULL, NULL, NULL, event_daemon_started);
	ledger_commit();
	assert_int_equal(ASK("", 0), -1);
	assert_int_equal(answer.error.code, ERR_denied);
}

static void
filters_join(void **unused)
{
	(void)unused;
	append("local:1", "a", "exec_1", event_execution_started);
	append("local:1", "a", "exec_1", event_execution_completed);
	append("local:1", "b", "exec_2", event_execution_started);
	ledger_commit();
	assert_int_equal(ASK("local:1", .namespace = (char[]){ "a" }), 2);
	assert_int_equal(ASK("local:1", .event = (char[]){ "execution.started" }), 2);
	assert_int_equal(
	    ASK("local:1", .namespace = (char[]){ "a" }, .event = (char[]){ "execution.started" }),
	    1);
	assert_int_equal(ASK("local:1", .execution_id = (char[]){ "exec_2" }), 1);
}

/* Only the namespace of the call counts, whatever the query and the records contain. */
static void
each_name_space_sees_its_own(void **unused)
{
	(void)unused;
	append_in("x", "local:1", "a", "exec_1", event_execution_started);
	append_in("y", "local:1", "x", "exec_2", event_execution_started);
	append_in(NULL, "local:1", "x", "exec_3", event_execution_started);
	ledger_commit();
	assert_int_equal(ask("local:1", "x", (struct audit_execution){ 0 }), 1);
	assert_string_equal(answer.page.entries.items[0].event->execution_id, "exec_1");
	assert_int_equal(ask("local:1", "y", (struct audit_execution){ 0 }), 1);
	assert_int_equal(ASK("local:1", 0), 1);
	assert_string_equal(answer.page.entries.items[0].event->execution_id, "exec_3");
	assert_int_equal(
	    ask("local:1", "z", (struct audit_execution){ .namespace = (char[]){ "x" } }), 0);
	assert_int_equal(
	    ask("local:1", "y", (struct audit_execution){ .execution_id = (char[]){ "exec_1" } }),
	    0);
}

static void
what_is_not_durable_is_not_seen(void **unused)
{
	(void)unused;
	append("local:1", NULL, NULL, event_session_created);
	ledger_commit();
	append("local:1", NULL, NULL, event_session_killed);
	assert_int_equal(ASK("local:1", 0), 1);
}

/* Every page size that does not divide the runs of the journal: each record once, none left out. */
static void
pages_join_to_the_whole(void **unused)
{
	enum { RECORDS = 2 * JOURNAL_STEP + 17 };
	const uint64_t sizes[] = { 1, 7, JOURNAL_STEP - 1, JOURNAL_STEP, JOURNAL_STEP + 1, 1000 };

	(void)unused;
	for (int i = 0; i < RECORDS; i++)
		append(i % 3 == 0 ? "local:2" : "local:1", NULL, NULL, event_artifact_signed);
	ledger_commit_all();
	for (size_t s = 0; s < COUNT(sizes); s++) {
		char cursor[32] = "";
		uint64_t before = journal_durable() + 1;
		int total = 0;

		do {
			int n = ASK("local:1", .limit = sizes[s],
			    .cursor = *cursor == '\0' ? NULL : cursor);

			assert_in_range(n, 0, sizes[s]);
			total += n;
			for (int i = 0; i < n; i++) {
				assert_true(answer.page.entries.items[i].sequence < before);
				before = answer.page.entries.items[i].sequence;
			}
			snprintf(cursor, sizeof(cursor), "%s", answer.page.next_cursor ?: "");
		} while (*cursor != '\0');
		assert_int_equal(total, RECORDS - (RECORDS + 2) / 3);
	}
}

static void
pages_join_over_segments(void **state)
{
	options.segment_bytes = 5000;
	pages_join_to_the_whole(state);
	assert_true(segments_count() > 3);
}

static void
remove_segment(size_t i)
{
	char name[LOGFILE_NAME];

	logfile_name(segments_at(i)->first, name);
	assert_return_code(unlinkat(ledger_directory, name, 0), 0);
}

/* All records of the caller, page by page; the ranges that were passed over, in order. */
static void
read_all(char said[256], int *total)
{
	char cursor[32] = "";

	*said = '\0';
	*total = 0;
	do {
		*total += ASK("local:1", .limit = 7, .cursor = *cursor == '\0' ? NULL : cursor);
		if (answer.page.removed != NULL)
			snprintf(
			    said + strlen(said), 256 - strlen(said), "%s;", answer.page.removed);
		snprintf(cursor, sizeof cursor, "%s", answer.page.next_cursor ?: "");
	} while (*cursor != '\0');
}

static void
what_was_removed_is_said(void **unused)
{
	char said[256], wanted[256];
	int before, after, gone;

	(void)unused;
	options.segment_bytes = 5000;
	for (int i = 0; i < 100; i++)
		append("local:1", NULL, NULL, event_artifact_signed);
	ledger_commit_all();
	read_all(said, &before);
	assert_int_equal(before, 100);
	assert_string_equal(said, "");

	const struct segment third = *segments_at(2), first = *segments_at(0);

	gone = (int)(third.last - third.first + 1 + first.last - first.first + 1);
	remove_segment(2);
	remove_segment(0);
	read_all(said, &after);
	snprintf(wanted, sizeof wanted, "records %d to %d;records 1 to %d;", (int)third.first,
	    (int)third.last, (int)first.last);
	assert_string_equal(said, wanted);
	/* Both end with a record of auditd's, and the third begins with one. */
	assert_int_equal(after, before - (gone - 3));
}

/* ---- all principals ---- */

static int
ask_all(bool by_operator, struct audit_all want)
{
	static struct call call;
	struct audit_all request = { .limit = 200,
		.principal = want.principal == NULL ? NULL : strdup(want.principal),
		.after = want.after == NULL ? NULL : strdup(want.after),
		.since_ms = want.since_ms,
		.until_ms = want.until_ms };
	struct err e;

	forget();
	call = (struct call){ .message = MSG_audit_all, .by_operator = by_operator, .trace = "" };
	assert_true(owner_set(&call.owner, "local:0", NULL));
	if (follow_all(&call, &request, &e) < 0) {
		message_clear(MSG_audit_all, &request);
		answer.error = e;
		return -1;
	}
	assert_return_code(loop_run(&e), 0);
	assert_true(answer.replied);
	return (int)answer.events.events.count;
}

static void
an_operator_sees_all_and_nobody_else(void **unused)
{
	(void)unused;
	append("local:1", "a", "exec_1", event_execution_started);
	append_in("x", "token:ci", "b", "exec_2", event_execution_started);
	append(NULL, NULL, NULL, event_daemon_started);
	ledger_commit();
	assert_int_equal(ask_all(false, (struct audit_all){ 0 }), -1);
	assert_int_equal(answer.error.code, ERR_denied);
	assert_int_equal(ask_all(true, (struct audit_all){ 0 }), 3);
	assert_int_equal(answer.events.events.items[0].sequence, 1);
	assert_int_equal(
	    ask_all(true, (struct audit_all){ .principal = (char[]){ "token:ci" } }), 1);
	assert_int_equal(ask_all(true, (struct audit_all){ .after = (char[]){ "2" } }), 1);
	assert_int_equal(ask_all(true, (struct audit_all){ .since_ms = 2 }), 0);
	assert_int_equal(ask_all(true, (struct audit_all){ .since_ms = 1, .until_ms = 2 }), 3);
	assert_int_equal(ask_all(true, (struct audit_all){ .until_ms = 1 }), 0);
}

static void
an_operator_hears_what_was_removed(void **unused)
{
	char wanted[64];
	int count = 0;

	(void)unused;
	options.segment_bytes = 5000;
	for (int i = 0; i < 100; i++)
		append("local:1", NULL, NULL, event_artifact_signed);
	ledger_commit_all();

	const struct segment second = *segments_at(1);

	remove_segment(1);
	snprintf(wanted, sizeof wanted, "records %d to %d", (int)second.first, (int)second.last);
	count = ask_all(true, (struct audit_all){ 0 });
	assert_string_equal(answer.events.removed, wanted);
	assert_int_equal(count, journal_durable() - (second.last - second.first + 1));
}

/* More than one turn of the loop looks at, with nothing to find. */
static void
a_long_log_is_looked_at_in_steps(void **unused)
{
	(void)unused;
	append("local:2", NULL, NULL, event_session_created);
	for (int i = 0; i < 20000; i++)
		append("local:1", NULL, NULL, event_session_created);
	ledger_commit();
	assert_int_equal(ASK("local:2", 0), 1);
	assert_null(answer.page.next_cursor);
	assert_int_equal(ASK("local:1", .limit = 3), 3);
	assert_string_equal(answer.page.next_cursor, "19999");
}

static void
bad_cursors_and_events_are_named(void **unused)
{
	const char *cursors[] = { "x", "-1", "0", "1x", "99", "18446744073709551616", " 1" };

	(void)unused;
	append("local:1", NULL, NULL, event_session_created);
	ledger_commit();
	for (size_t i = 0; i < COUNT(cursors); i++) {
		assert_int_equal(ASK("local:1", .cursor = (char *)cursors[i]), -1);
		assert_int_equal(answer.error.code, ERR_invalid_argument);
		assert_non_null(strstr(answer.error.text, "cursor"));
	}
	assert_int_equal(ASK("local:1", .event = (char[]){ "session.exploded" }), -1);
	assert_non_null(strstr(answer.error.text, "event: 'session.exploded'"));
}

static void
a_query_that_is_cancelled_ends(void **unused)
{
	static struct call call;
	struct audit_execution request = { .limit = 1 };
	struct err e;

	(void)unused;
	for (int i = 0; i < 20000; i++)
		append("local:1", NULL, NULL, event_session_created);
	ledger_commit();
	call = (struct call){ .owner = { "local:2", "" }, .trace = "" };
	assert_return_code(query_execution(&call, &request, &e), 0);
	assert_false(answer.replied);
	call.on_cancel(&call, ERR_cancelled);
	assert_true(answer.failed);
	assert_int_equal(answer.error.code, ERR_cancelled);
}

/* Finds nothing, after many steps. */
static void
begin(struct call *call, const char *principal)
{
	struct audit_execution request = { .limit = 1 };
	struct err e;

	*call = (struct call){ .trace = "" };
	assert_true(owner_set(&call->owner, principal, NULL));
	assert_return_code(query_execution(call, &request, &e), 0);
}

static void
run_until(size_t answers)
{
	struct err e;

	while (strlen(answer.order) < answers)
		assert_return_code(loop_run(&e), 0);
}

static void
principals_take_turns(void **unused)
{
	struct call calls[8];

	(void)unused;
	for (int i = 0; i < 20000; i++)
		append("local:1", NULL, NULL, event_session_created);
	ledger_commit();
	for (int i = 0; i < 5; i++)
		begin(&calls[i], "local:a");
	begin(&calls[5], "local:b");
	begin(&calls[6], "local:b");
	begin(&calls[7], "local:c");
	run_until(8);
	assert_string_equal(answer.order, "abcabaaa");
}

static void
a_principal_has_a_share(void **unused)
{
	struct call calls[64], one_more = { .owner = { "local:1", "" } };
	struct audit_execution request = { .limit = 1 };
	struct err e;
	size_t n = 0;

	(void)unused;
	for (int i = 0; i < 20000; i++)
		append("local:1", NULL, NULL, event_session_created);
	ledger_commit();
	for (; n < 16; n++)
		begin(&calls[n], "local:a");
	one_more.owner = (struct owner){ "local:a", "" };
	assert_int_equal(query_execution(&one_more, &request, &e), -1);
	assert_int_equal(e.code, ERR_queue_full);
	assert_non_null(strstr(e.text, "16 of your queries"));
	assert_true(e.retry_ms > 0);
	for (; n < 64; n++)
		begin(&calls[n], n < 32 ? "local:b" : n < 48 ? "local:c" : "local:d");
	one_more.owner = (struct owner){ "local:e", "" };
	assert_int_equal(query_execution(&one_more, &request, &e), -1);
	assert_int_equal(e.code, ERR_queue_full);
	assert_non_null(strstr(e.text, "64 queries"));
	for (n = 0; n < 64; n++)
		calls[n].on_cancel(&calls[n], ERR_cancelled);
	begin(&one_more, "local:a");
	run_until(1);
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest cases[] = {
		CASE(an_empty_log_has_an_empty_page),
		CASE(each_sees_its_own),
		CASE(nobody_sees_nothing),
		CASE(filters_join),
		CASE(each_name_space_sees_its_own),
		CASE(what_is_not_durable_is_not_seen),
		CASE(pages_join_to_the_whole),
		CASE(pages_join_over_segments),
		CASE(what_was_removed_is_said),
		CASE(an_operator_sees_all_and_nobody_else),
		CASE(an_operator_hears_what_was_removed),
		CASE(a_long_log_is_looked_at_in_steps),
		CASE(bad_cursors_and_events_are_named),
		CASE(a_query_that_is_cancelled_ends),
		CASE(principals_take_turns),
		CASE(a_principal_has_a_share),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
