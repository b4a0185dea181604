/* SPDX-License-Identifier: Apache-2.0 */
/* test_approvald_request.c - a person is asked once; what nobody answers is denied. */
#include "asked.h"

#include "tests/unit/scarce.h"

#include "common/base/auto.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct approval_report shown;
static char note[301];

static void
keep_report(void *reply)
{
	shown = *(struct approval_report *)reply;
	snprintf(note, sizeof note, "%s", shown.note);
}

static void
the_same_request_is_asked_once(void **unused)
{
	struct wish w = asked_wish("a.test");
	const struct owner work = { "local:1000", "work" };
	struct approval *a = asked_make(&w);
	struct wish others[] = { asked_wish("b.test"), asked_wish("a.test:8443"), w, w, w, w };

	(void)unused;
	assert_int_equal(asked.event, event_egress_requested);
	asked.now_ms += 1000;
	assert_ptr_equal(asked_make(&w), a);
	assert_int_equal(asked.events, 1);
	others[2].owner = &asked_bob;
	others[3].owner = &work;
	others[4].namespace = "n";
	others[5].session = "s";
	for (size_t i = 0; i < COUNT(others); i++) {
		struct approval *made = asked_make(&others[i]);

		assert_ptr_not_equal(made, a);
		assert_ptr_equal(asked_make(&others[i]), made);
	}
	assert_int_equal(asked.events, 1 + COUNT(others));
}

/* A model that repeats its request does not wear a person down. */
static void
a_denial_holds_for_a_while(void **unused)
{
	const struct wish w = asked_wish("a.test");
	struct approval *a = asked_make(&w);

	(void)unused;
	asked_answer(a, approval_verdict_deny, 0);
	asked.now_ms += options.denial_s * 1000 - 1;
	assert_ptr_equal(asked_make(&w), a);
	asked_restart();
	assert_int_equal(asked_make(&w)->state, approval_state_denied);
	asked.now_ms++;
	a = asked_make(&w);
	assert_int_equal(a->state, approval_state_pending);
	assert_ptr_equal(a, store_at(1));
}

static void
an_approval_answers_until_its_end(void **unused)
{
	const struct wish w = asked_wish("a.test");
	struct approval *a = asked_make(&w);
	uint64_t end_ms;

	(void)unused;
	asked_answer(a, approval_verdict_approve, approval_duration_namespace);
	end_ms = a->until_ms;
	assert_true(end_ms > asked.now_ms);
	asked.now_ms = end_ms - 1;
	assert_ptr_equal(asked_make(&w), a);
	asked.now_ms = end_ms;
	assert_int_equal(asked_make(&w)->state, approval_state_pending);
	assert_int_equal(a->state, approval_state_expired);
	assert_int_equal(asked.events, 3); /* requested, approved, requested */
}

static void
what_nobody_answers_is_denied(void **unused)
{
	const struct wish w = asked_wish("a.test");
	struct approval *a = asked_make(&w);

	(void)unused;
	request_sweep(asked.now_ms + options.approval_timeout_s * 1000 - 1);
	assert_int_equal(a->state, approval_state_pending);
	request_sweep(asked.now_ms + options.approval_timeout_s * 1000);
	assert_int_equal(a->state, approval_state_expired);
	assert_int_equal(asked.event, event_egress_denied);
	assert_non_null(strstr(asked.detail, "no answer in time"));
	request_sweep(asked.now_ms + options.approval_timeout_s * 2000);
	assert_int_equal(asked.events, 2);
	asked_restart();
	assert_int_equal(store_at(0)->state, approval_state_expired);
}

/* The end is recorded when that is possible again, and permits nothing meanwhile. */
static void
an_end_that_cannot_be_recorded_permits_nothing(void **unused)
{
	const struct wish w = asked_wish("a.test");
	struct approval *a = asked_make(&w);
	uint64_t late_ms = asked.now_ms + options.approval_timeout_s * 1000;
	struct reported to;
	struct err e;

	(void)unused;
	asked.spool_full = true;
	request_sweep(late_ms);
	assert_int_equal(a->state, approval_state_pending);
	assert_null(request_make(&w, late_ms, &e)); /* a new one has no event, either */
	request_report(a, late_ms, &to);
	assert_false(to.report.approved);
	assert_null(to.report.question);
	asked.spool_full = false;
	request_sweep(late_ms);
	assert_int_equal(a->state, approval_state_expired);
}

/* It is told once, and not at each sweep. */
static void
an_end_that_cannot_be_stored_is_an_end(void **unused)
{
	const struct wish w = asked_wish("a.test");
	struct approval *a = asked_make(&w);
	uint64_t late_ms = asked.now_ms + options.approval_timeout_s * 1000;

	(void)unused;
	scarce_room(0, ENOSPC);
	request_sweep(late_ms);
	request_sweep(late_ms + 1000);
	assert_int_equal(a->state, approval_state_expired);
	assert_int_equal(asked.events, 2);
	scarce_over();
	asked_restart();
	assert_int_equal(store_at(0)->state, approval_state_pending);
	request_sweep(late_ms);
	assert_int_equal(store_at(0)->state, approval_state_expired);
}

static void
a_request_without_an_event_is_none(void **unused)
{
	const struct wish w = asked_wish("a.test");
	struct err e;

	(void)unused;
	asked.spool_full = true;
	assert_null(request_make(&w, asked.now_ms, &e));
	assert_int_equal(e.code, ERR_unavailable);
	assert_null(store_at(0));
	asked_restart();
	assert_null(store_at(0));
}

static void
few_requests_of_one_principal_wait(void **unused)
{
	char subject[32] = "";
	struct wish w = asked_wish(subject);
	struct err e;

	(void)unused;
	for (size_t i = 0; i < options.max_pending; i++) {
		snprintf(subject, sizeof subject, "a%zu.test", i);
		asked_make(&w);
	}
	w.subject = "b.test";
	assert_null(request_make(&w, asked.now_ms, &e));
	assert_int_equal(e.code, ERR_limit_exceeded);
	w.owner = &asked_bob;
	asked_make(&w);
	w.owner = &asked_ann;
	asked.now_ms += options.approval_timeout_s * 1000;
	asked_make(&w);
}

static void
namespaces(void **unused)
{
	static const struct {
		const char *named, *own, *want;
	} rows[] = {
		{ NULL, "", NULL },
		{ NULL, "default", NULL },
		{ NULL, "work", "work" },
		{ "n", "work", "n" },
		{ "default", "work", NULL },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct owner owner = { "local:1000", "" };
		const char *got;

		snprintf(owner.namespace, sizeof owner.namespace, "%s", rows[i].own);
		got = request_namespace(rows[i].named, &owner);
		if ((got == NULL) != (rows[i].want == NULL) ||
		    (got != NULL && strcmp(got, rows[i].want) != 0))
			fail_msg("%zu: %s", i, got != NULL ? got : "none");
	}
}

static int
ask(const char *domain, uint64_t port, struct err *e)
{
	struct call call = { .owner = asked_ann, .message = MSG_request_egress };
	struct request_egress r = { .domain = (char *)(uintptr_t)domain,
		.port = port,
		.reason = (char *)(uintptr_t) "why\x1b[2J\r\nnot" };

	asked.replied = keep_report;
	return request_on_egress(&call, &r, e);
}

static void
a_domain_has_one_form(void **unused)
{
	static const struct {
		const char *domain;
		uint64_t port;
		const char *subject; /* NULL: it is refused */
	} rows[] = {
		{ "Example.COM.", 0, "example.com" },
		{ "example.com", 8443, "example.com:8443" },
		{ "*.example.com", 0, "*.example.com" },
		{ "*.com", 0, NULL },
		{ "192.0.2.1", 0, NULL },
		{ "example.com:8443", 8443, NULL },
		{ "a b.com", 0, NULL },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = { 0 };
		int status = ask(rows[i].domain, rows[i].port, &e);

		if (status != (rows[i].subject == NULL ? -1 : 0) ||
		    (status == 0 && strcmp(shown.subject, rows[i].subject) != 0))
			fail_msg("%zu: %s", i, status < 0 ? e.text : shown.subject);
	}
}

static void
the_caller_learns_what_a_person_must_do(void **unused)
{
	struct err e;

	(void)unused;
	assert_int_equal(ask("a.test", 0, &e), 0);
	assert_false(shown.approved);
	assert_int_equal(shown.wait_ms, options.approval_timeout_s * 1000);
	assert_non_null(strstr(note, "cloister egress approve"));
	assert_non_null(strstr(note, store_at(0)->request_id));
	assert_null(strpbrk(shown.question, "\x1b\r\n"));
	assert_non_null(strstr(shown.question, "Reason that the model gives: why [2J  not"));
	assert_null(strstr(asked.detail, "why"));
	asked_answer(store_at(0), approval_verdict_deny, 0);
	assert_int_equal(ask("a.test", 0, &e), 0);
	assert_int_equal(shown.state, approval_state_denied);
	assert_null(shown.question);
	assert_string_equal(note, "A person refused. Do not ask again.");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ASKED_TEST(the_same_request_is_asked_once),
		ASKED_TEST(a_denial_holds_for_a_while),
		ASKED_TEST(an_approval_answers_until_its_end),
		ASKED_TEST(what_nobody_answers_is_denied),
		ASKED_TEST(an_end_that_cannot_be_recorded_permits_nothing),
		ASKED_TEST(an_end_that_cannot_be_stored_is_an_end),
		ASKED_TEST(a_request_without_an_event_is_none),
		ASKED_TEST(few_requests_of_one_principal_wait),
		ASKED_TEST(namespaces),
		ASKED_TEST(a_domain_has_one_form),
		ASKED_TEST(the_caller_learns_what_a_person_must_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
