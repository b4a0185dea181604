/* SPDX-License-Identifier: Apache-2.0 */
/* test_approvald_answer.c - who may answer by which channel, and that the first answer counts. */
#include "asked.h"

#include "tests/unit/scarce.h"

#include "common/base/auto.h"
#include "executor/approvald/answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int shown_state, shown_count;

static void
keep_state(void *reply)
{
	shown_state = ((struct approval_report *)reply)->state;
}

static void
keep_page(void *reply)
{
	const struct approval_list *list = reply;

	shown_count = (int)list->approvals.count;
	shown_state = shown_count > 0 ? list->approvals.items[0].state : -1;
}

struct given {
	const struct owner *by;
	int verdict, channel;
	const char *subject;
};

static bool by_operator;

/* none: the answer was taken. */
static enum err_code
answer(const char *id, struct given given)
{
	struct call call = {
		.owner = *given.by, .message = MSG_approval_answer, .by_operator = by_operator
	};
	struct approval_answer r = { .request_id = (char *)(uintptr_t)id,
		.subject = (char *)(uintptr_t)given.subject,
		.verdict = given.verdict,
		.duration = approval_duration_once,
		.channel = given.channel };
	struct err e = { 0 };

	asked.replied = keep_state;
	return answer_on_answer(&call, &r, &e) == 0 ? ERR_none : e.code;
}

static struct approval *
pending(void)
{
	struct wish w = asked_wish("a.test");

	return asked_make(&w);
}

/* Each is tried with a new request of ann. */
static void
rules_of_the_channels(void **unused)
{
	enum { APPROVE = approval_verdict_approve, DENY = approval_verdict_deny };
	enum { CLIENT = approval_channel_elicitation, HTTP = approval_channel_http };
	static const struct owner work = { "token:boss", "work" }, boss = { "token:boss", "" };
	static const struct {
		struct given given;
		enum err_code code;
	} rows[] = {
		{ { &asked_ann, APPROVE, CLIENT, "a.test" }, ERR_none },
		{ { &asked_ann, DENY, CLIENT, "a.test" }, ERR_none },
		{ { &asked_ann, approval_verdict_revoke, CLIENT, "a.test" }, ERR_denied },
		{ { &asked_bob, APPROVE, CLIENT, "a.test" }, ERR_not_found },
		{ { &asked_ann, APPROVE, CLIENT, "b.test" }, ERR_invalid_argument },
		{ { &asked_ann, APPROVE, CLIENT, NULL }, ERR_invalid_argument },
		{ { &boss, APPROVE, HTTP, "a.test" }, ERR_none },
		{ { &boss, DENY, HTTP, "a.test" }, ERR_none },
		{ { &boss, APPROVE, HTTP, "b.test" }, ERR_invalid_argument },
		{ { &work, APPROVE, HTTP, "a.test" }, ERR_not_found },
		{ { &asked_ann, APPROVE, HTTP, "a.test" }, ERR_denied },
		{ { &asked_ann, DENY, HTTP, "a.test" }, ERR_none },
		{ { &boss, APPROVE, approval_channel_terminal, "a.test" }, ERR_denied },
		{ { &asked_ann, APPROVE, approval_channel_terminal, "a.test" }, ERR_denied },
	};

	(void)unused;
	options.denial_s = 0;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct approval *a = pending();
		enum err_code code = answer(a->request_id, rows[i].given);

		if (code != rows[i].code ||
		    (a->state == approval_state_pending) != (code != ERR_none))
			fail_msg("%zu: %s", i, err_name(code));
		if (a->state == approval_state_approved)
			asked_answer(a, approval_verdict_revoke, 0);
	}
}

static void
a_channel_can_be_closed(void **unused)
{
	const char *id = pending()->request_id;

	(void)unused;
	options.answer_by_elicitation = options.answer_by_http = false;
	assert_int_equal(answer(id, (struct given){ &asked_ann, approval_verdict_approve,
					approval_channel_elicitation, "a.test" }),
	    ERR_denied);
	assert_int_equal(answer(id, (struct given){ &asked_bob, approval_verdict_approve,
					approval_channel_http, "a.test" }),
	    ERR_denied);
	assert_int_equal(pending()->state, approval_state_pending);
}

/* It names no subject, and no channel: that is the socket's. */
static void
an_operator_answers_what_anybody_asked(void **unused)
{
	static const struct owner root = { "local:0", "" };
	struct approval *a = pending();
	const struct given yes = { &root, approval_verdict_approve, 0, NULL };

	(void)unused;
	options.answer_by_elicitation = options.answer_by_http = false;
	by_operator = true;
	assert_int_equal(answer("0123456789abcdef", yes), ERR_not_found);
	assert_int_equal(answer(a->request_id, yes), ERR_none);
	assert_int_equal(shown_state, approval_state_approved);
	assert_int_equal(a->channel, approval_channel_terminal);
	assert_string_equal(a->answered_by, "local:0");
	assert_int_equal(answer(a->request_id, yes), ERR_invalid_argument);
	assert_int_equal(
	    answer(a->request_id, (struct given){ &root, approval_verdict_revoke, 0, NULL }),
	    ERR_none);
	by_operator = false;
	asked_restart();
	assert_int_equal(store_at(0)->state, approval_state_revoked);
}

/* The day is the namespace's, whatever else was given. */
static void
a_day_is_for_the_namespace(void **unused)
{
	struct approval *a = pending();
	struct call call = { .owner = asked_bob, .message = MSG_approval_answer };
	struct approval_answer r = { .request_id = a->request_id,
		.subject = a->subject,
		.verdict = approval_verdict_approve,
		.duration = approval_duration_once,
		.until = (char *)(uintptr_t) "2027-01-20",
		.channel = approval_channel_http };
	struct err e;

	(void)unused;
	assert_int_equal(answer_on_answer(&call, &r, &e), 0);
	assert_int_equal(a->duration, approval_duration_namespace);
	assert_int_equal(a->until_ms, UINT64_C(1000) * 1800489600);
}

/* A client that answers late learns what a person said first; an approver is refused. */
static void
the_first_answer_counts(void **unused)
{
	struct approval *a = pending();

	(void)unused;
	asked_answer(a, approval_verdict_deny, 0);
	assert_int_equal(answer(a->request_id, (struct given){ &asked_ann, approval_verdict_approve,
						   approval_channel_elicitation, "a.test" }),
	    ERR_none);
	assert_int_equal(shown_state, approval_state_denied);
	assert_int_equal(answer(a->request_id, (struct given){ &asked_bob, approval_verdict_approve,
						   approval_channel_http, "a.test" }),
	    ERR_invalid_argument);
	assert_int_equal(a->state, approval_state_denied);
	assert_string_equal(a->answered_by, "uid 0");
	assert_int_equal(asked.events, 2);
}

static void
an_answer_after_the_deadline_is_none(void **unused)
{
	struct approval *a = pending();

	(void)unused;
	asked.now_ms += options.approval_timeout_s * 1000;
	assert_int_equal(answer(a->request_id, (struct given){ &asked_bob, approval_verdict_approve,
						   approval_channel_http, "a.test" }),
	    ERR_invalid_argument);
	assert_int_equal(a->state, approval_state_expired);
}

static void
an_answer_that_cannot_be_kept_is_none(void **unused)
{
	const struct given yes = { &asked_bob, approval_verdict_approve, approval_channel_http,
		"a.test" };
	struct approval *a = pending();

	(void)unused;
	asked.spool_full = true;
	assert_int_not_equal(answer(a->request_id, yes), ERR_none);
	asked.spool_full = false;
	scarce_room(20, ENOSPC);
	assert_int_not_equal(answer(a->request_id, yes), ERR_none);
	scarce_over();
	assert_int_equal(a->state, approval_state_pending);
	asked_restart();
	assert_int_equal(store_at(0)->state, approval_state_pending);
	assert_int_equal(answer(store_at(0)->request_id, yes), ERR_none);
	asked_restart();
	assert_int_equal(store_at(0)->state, approval_state_approved);
}

static void
a_session_that_is_not_named_is_not_approved(void **unused)
{
	const struct answer given = { .verdict = approval_verdict_approve,
		.duration = approval_duration_session,
		.by = "uid 0" };
	struct approval *a = pending();
	struct err e;

	(void)unused;
	assert_int_equal(answer_apply(a, &given, asked.now_ms, &e), -1);
	assert_int_equal(a->state, approval_state_pending);
	assert_int_equal(asked.events, 1);
}

/* What is over when an approver asks is not shown as waiting. */
static void
pages_show_what_is_now(void **unused)
{
	static const struct owner boss = { "token:boss", "" }, work = { "token:boss", "work" };
	struct call call = { .owner = boss, .message = MSG_approval_query };
	struct approval_query r = { .kind = approval_kind_egress };
	struct err e;

	(void)unused;
	pending();
	asked.replied = keep_page;
	assert_int_equal(answer_on_query(&call, &r, &e), 0);
	assert_int_equal(shown_count, 1);
	assert_int_equal(shown_state, approval_state_pending);
	asked.now_ms += options.approval_timeout_s * 1000;
	assert_int_equal(answer_on_query(&call, &r, &e), 0);
	assert_int_equal(shown_state, approval_state_expired);
	call.owner = work;
	assert_int_equal(answer_on_query(&call, &r, &e), 0);
	assert_int_equal(shown_count, 0);
	call.by_operator = true;
	assert_int_equal(answer_on_query(&call, &r, &e), 0);
	assert_int_equal(shown_count, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ASKED_TEST(rules_of_the_channels),
		ASKED_TEST(a_channel_can_be_closed),
		ASKED_TEST(an_operator_answers_what_anybody_asked),
		ASKED_TEST(a_day_is_for_the_namespace),
		ASKED_TEST(the_first_answer_counts),
		ASKED_TEST(an_answer_after_the_deadline_is_none),
		ASKED_TEST(an_answer_that_cannot_be_kept_is_none),
		ASKED_TEST(a_session_that_is_not_named_is_not_approved),
		ASKED_TEST(pages_show_what_is_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
