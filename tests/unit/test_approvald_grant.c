/* SPDX-License-Identifier: Apache-2.0 */
/* test_approvald_grant.c - which runs an approval covers, and that a single use is durable before
 * the reply. */
#include "asked.h"

#include "tests/unit/scarce.h"

#include "common/base/auto.h"
#include "executor/approvald/grant.h"
#include "executor/approvald/runner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static char granted[512];
static int used_on_disk; /* records with that state, when the reply was sent */

/* What another process would read now. */
static void
keep_list(void *reply)
{
	const struct approval_list *list = reply;
	size_t at = 0;

	granted[0] = '\0';
	for (size_t i = 0; i < list->approvals.count; i++)
		at += (size_t)snprintf(granted + at, sizeof granted - at, "%s%s", i > 0 ? " " : "",
		    list->approvals.items[i].subject);
	asked_restart();
	used_on_disk = 0;
	for (size_t i = 0; store_at(i) != NULL; i++)
		used_on_disk += store_at(i)->state == approval_state_used;
}

static const char *
grants(const struct owner *owner, const char *namespace, const char *session)
{
	struct call call = { .owner = *owner, .message = MSG_approval_grants };
	struct approval_grants r = { .kind = approval_kind_egress,
		.namespace = (char *)(uintptr_t) namespace,
		.session_id = (char *)(uintptr_t)session };
	struct err e;

	asked.replied = keep_list;
	assert_int_equal(grant_on_grants(&call, &r, &e), 0);
	return granted;
}

static void
approve(const char *subject, const char *namespace, const char *session, int duration)
{
	struct wish w = asked_wish(subject);

	w.namespace = namespace;
	w.session = session;
	asked_answer(asked_make(&w), approval_verdict_approve, duration);
}

static void
who_is_covered(void **unused)
{
	enum { ONCE, SESSION, NAMESPACE };
	static const struct owner ann = { "a", "" }, work = { "a", "work" }, bob = { "b", "" };
	static const struct {
		int duration;
		bool granted;
		const char *namespace, *session; /* of the record, which is ann's */
		const struct owner *owner;
		const char *its_namespace, *its_session; /* of the run */
		bool covered;
	} rows[] = {
		{ ONCE, false, NULL, NULL, &ann, NULL, NULL, true },
		{ ONCE, false, NULL, NULL, &ann, NULL, "s", true },
		{ ONCE, false, NULL, "s", &ann, NULL, "s", true },
		{ ONCE, false, NULL, "s", &ann, NULL, NULL, false },
		{ ONCE, false, NULL, "s", &ann, NULL, "t", false },
		{ ONCE, false, NULL, NULL, &bob, NULL, NULL, false },
		{ ONCE, false, NULL, NULL, &work, NULL, NULL, false },
		{ ONCE, false, "n", NULL, &ann, NULL, NULL, false },
		{ ONCE, false, NULL, NULL, &ann, "n", NULL, false },
		{ SESSION, false, NULL, "s", &ann, NULL, "s", true },
		{ SESSION, false, NULL, "s", &ann, NULL, "t", false },
		{ SESSION, false, NULL, "s", &ann, NULL, NULL, false },
		{ SESSION, false, NULL, "s", &bob, NULL, "s", false },
		{ SESSION, false, NULL, NULL, &ann, NULL, "s", false },
		{ NAMESPACE, false, NULL, "s", &ann, NULL, "t", true },
		{ NAMESPACE, false, "n", NULL, &ann, "n", "t", true },
		{ NAMESPACE, false, "n", NULL, &ann, "m", NULL, false },
		{ NAMESPACE, false, NULL, NULL, &bob, NULL, NULL, false },
		{ NAMESPACE, false, NULL, NULL, &work, NULL, NULL, false },
		{ NAMESPACE, true, NULL, NULL, &work, NULL, NULL, true },
		{ NAMESPACE, true, NULL, NULL, &bob, NULL, NULL, false },
		{ NAMESPACE, true, "n", NULL, &ann, NULL, NULL, false },
	};
	static const int durations[] = { approval_duration_once, approval_duration_session,
		approval_duration_namespace };

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct approval a = { .kind = approval_kind_egress,
			.principal = (char *)(uintptr_t) "a",
			.namespace = (char *)(uintptr_t)rows[i].namespace,
			.session_id = (char *)(uintptr_t)rows[i].session,
			.duration = durations[rows[i].duration],
			.granted = rows[i].granted };
		const struct runner run = { approval_kind_egress, rows[i].owner,
			rows[i].its_namespace, rows[i].its_session };

		if (runner_has(&run, &a) != rows[i].covered)
			fail_msg("%zu", i);
	}
}

static void
only_what_is_in_force_is_granted(void **unused)
{
	struct wish w = asked_wish("denied.test");

	(void)unused;
	asked_answer(asked_make(&w), approval_verdict_deny, 0);
	w.subject = "pending.test";
	asked_make(&w);
	w.subject = "revoked.test";
	approve(w.subject, NULL, NULL, approval_duration_namespace);
	asked_answer(asked_make(&w), approval_verdict_revoke, 0);
	approve("good.test", NULL, NULL, approval_duration_namespace);
	assert_string_equal(grants(&asked_ann, NULL, NULL), "good.test");
	assert_string_equal(grants(&asked_ann, "default", "s"), "good.test");
	assert_string_equal(grants(&asked_bob, NULL, NULL), "");
	asked.now_ms += (uint64_t)2 * 86400000;
	assert_string_equal(grants(&asked_ann, NULL, NULL), "");
}

static void
a_single_use_is_durable_before_the_reply(void **unused)
{
	(void)unused;
	approve("a.test", NULL, NULL, approval_duration_once);
	approve("b.test", NULL, "s", approval_duration_once);
	assert_string_equal(grants(&asked_ann, NULL, "t"), "a.test");
	assert_int_equal(used_on_disk, 1);
	assert_string_equal(grants(&asked_ann, NULL, "t"), "");
	assert_string_equal(grants(&asked_ann, NULL, "s"), "b.test");
	assert_int_equal(used_on_disk, 2);
	assert_string_equal(grants(&asked_ann, NULL, "s"), "");
}

static void
a_use_that_cannot_be_stored_is_not_granted(void **unused)
{
	(void)unused;
	approve("a.test", NULL, NULL, approval_duration_once);
	approve("b.test", NULL, NULL, approval_duration_namespace);
	scarce_room(20, ENOSPC);
	assert_string_equal(grants(&asked_ann, NULL, NULL), "b.test");
	scarce_over();
	assert_int_equal(used_on_disk, 0);
	assert_string_equal(grants(&asked_ann, NULL, NULL), "b.test a.test");
}

/* A full disk keeps an approval in its file, and not in force. */
static void
what_is_over_is_not_granted_on_a_full_disk(void **unused)
{
	(void)unused;
	approve("a.test", NULL, NULL, approval_duration_namespace);
	approve("b.test", NULL, NULL, approval_duration_once);
	asked.now_ms = store_at(0)->until_ms;
	scarce_room(0, ENOSPC);
	assert_string_equal(grants(&asked_ann, NULL, NULL), "");
	scarce_over();
	assert_int_equal(store_at(0)->state, approval_state_approved);
	assert_string_equal(grants(&asked_ann, NULL, NULL), "");
	assert_int_equal(store_at(0)->state, approval_state_expired);
}

static void
no_single_use_is_taken_of_what_a_run_has(void **unused)
{
	struct wish w = asked_wish("a.test");
	struct approval *a = asked_make(&w);

	(void)unused;
	w.namespace = NULL;
	w.session = "s";
	asked_answer(asked_make(&w), approval_verdict_approve, approval_duration_session);
	asked_answer(a, approval_verdict_approve, approval_duration_once);
	assert_string_equal(grants(&asked_ann, NULL, "s"), "a.test");
	assert_int_equal(used_on_disk, 0);
	assert_string_equal(grants(&asked_ann, NULL, "t"), "a.test");
	assert_int_equal(used_on_disk, 1);
	assert_string_equal(grants(&asked_ann, NULL, "t"), "");
}

/* ---- without a request ---- */

static int
grant(const char *subject, const char *until)
{
	struct call call = {
		.owner = asked_ann, .message = MSG_approval_grant, .by_operator = true
	};
	struct approval_grant r = { .kind = approval_kind_egress,
		.subject = (char *)(uintptr_t)subject,
		.until = (char *)(uintptr_t)until };
	struct err e;

	asked.replied = NULL;
	return grant_on_grant(&call, &r, &e);
}

static void
grants_without_a_request(void **unused)
{
	(void)unused;
	assert_int_equal(grant("Example.COM.", NULL), 0);
	assert_string_equal(store_at(0)->principal, asked_ann.principal);
	assert_string_equal(store_at(0)->answered_by, asked_ann.principal);
	assert_string_equal(store_at(0)->subject, "example.com");
	assert_true(store_at(0)->granted);
	assert_int_equal(asked.event, event_egress_approved);
	assert_string_equal(grants(&asked_ann, NULL, NULL), "example.com");
	assert_string_equal(grants(&asked_bob, NULL, NULL), "");
	assert_int_equal(grant("192.0.2.1", NULL), -1);
	assert_int_equal(grant("a.test", "2027-01-14"), -1);
	asked.spool_full = true;
	assert_int_equal(grant("b.test", NULL), -1);
	assert_null(store_at(1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ASKED_TEST(grants_without_a_request),
		cmocka_unit_test(who_is_covered),
		ASKED_TEST(only_what_is_in_force_is_granted),
		ASKED_TEST(a_single_use_is_durable_before_the_reply),
		ASKED_TEST(a_use_that_cannot_be_stored_is_not_granted),
		ASKED_TEST(what_is_over_is_not_granted_on_a_full_disk),
		ASKED_TEST(no_single_use_is_taken_of_what_a_run_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
