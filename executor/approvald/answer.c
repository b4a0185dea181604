/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c - the rules of each channel.
 *
 * Trusts the gateway for who its client is, for the scope cloister:approve, and that an
 * elicitation was answered by the client and not by an argument of a tool.
 */
#include "executor/approvald/answer.h"

#include "common/base/auto.h"
#include "common/base/timestamp.h"
#include "executor/approvald/options.h"
#include "executor/approvald/report.h"
#include "executor/approvald/request.h"
#include "executor/approvald/store.h"
#include "executor/approvald/until.h"

#include <string.h>

enum {
	PAGE = 64, /* of the schema */
};

/* ---- any channel ---- */

static int
check_state(const struct approval *a, int verdict, struct err *e)
{
	int wanted =
	    verdict == approval_verdict_revoke ? approval_state_approved : approval_state_pending;

	if (a->state == wanted)
		return 0;
	return err_set(e, ERR_invalid_argument, "request %s is %s already%s%s", a->request_id,
	    word_text(SET_approval_state, a->state), a->answered_by != NULL ? ", answered by " : "",
	    a->answered_by != NULL ? a->answered_by : "");
}

static int
approve(struct approval *next, const struct answer *given, uint64_t now_ms, struct err *e)
{
	if (given->duration == approval_duration_session && next->session_id == NULL)
		return err_set(e, ERR_invalid_argument,
		    "request %s names no session; approve it once, or for the namespace until a "
		    "day",
		    next->request_id);
	next->state = approval_state_approved;
	next->duration = given->duration;
	return until_read(given->duration, given->until, now_ms, &next->until_ms, e);
}

int
answer_apply(struct approval *a, const struct answer *given, uint64_t now_ms, struct err *e)
{
	struct approval next = *a;

	if (check_state(a, given->verdict, e) < 0)
		return -1;
	if (given->verdict == approval_verdict_approve) {
		if (approve(&next, given, now_ms, e) < 0)
			return -1;
	} else {
		next.state = given->verdict == approval_verdict_revoke ? approval_state_revoked
		                                                       : approval_state_denied;
	}
	next.answered_ms = now_ms;
	next.channel = given->channel;
	next.answered_by = strndup(given->by, 128);
	must(next.answered_by != NULL);
	if (report(&next, e) < 0) {
		free(next.answered_by);
		return -1;
	}
	return store_change(a, &next, e);
}

/* ---- each channel ---- */

static bool
in_space(const struct approval *a, const struct owner *owner)
{
	return strcmp(a->space != NULL ? a->space : "", owner->namespace) == 0;
}

/* The operator has the machine, and names no subject: the terminal shows it afterwards. */
static int
check_terminal(const struct approval *a, const struct approval_answer *r, const struct call *call,
    struct err *e)
{
	(void)a, (void)r;
	return call->by_operator
	           ? 0
	           : err_set(e, ERR_denied, "no answer of this channel comes from a gateway");
}

static int
check_subject(const struct approval *a, const struct approval_answer *r, struct err *e)
{
	if (r->subject != NULL && strcmp(r->subject, a->subject) == 0)
		return 0;
	return err_set(e, ERR_invalid_argument, "subject: request %s is for %.100s", a->request_id,
	    a->subject);
}

static int
check_elicitation(const struct approval *a, const struct approval_answer *r,
    const struct call *call, struct err *e)
{
	if (!options.answer_by_elicitation)
		return err_set(e, ERR_denied, "answer_by_elicitation is off");
	if (!store_owned(a, &call->owner))
		return err_set(e, ERR_not_found, "no such request");
	if (r->verdict == approval_verdict_revoke)
		return err_set(e, ERR_denied, "a client's user cannot revoke");
	return check_subject(a, r, e);
}

/* A program that holds a credential could send the answer as well as the request.  So nobody
 * approves what the same credential asked for. */
static int
check_http(const struct approval *a, const struct approval_answer *r, const struct call *call,
    struct err *e)
{
	if (!options.answer_by_http)
		return err_set(e, ERR_denied, "answer_by_http is off");
	if (!in_space(a, &call->owner))
		return err_set(e, ERR_not_found, "no such request");
	if (r->verdict == approval_verdict_approve && a->principal != NULL &&
	    strcmp(a->principal, call->owner.principal) == 0)
		return err_set(e, ERR_denied,
		    "this principal made the request; another one has to approve it");
	return check_subject(a, r, e);
}

static int (*const checks[approval_channel_COUNT])(
    const struct approval *, const struct approval_answer *, const struct call *, struct err *) = {
	[approval_channel_elicitation] = check_elicitation,
	[approval_channel_terminal] = check_terminal,
	[approval_channel_http] = check_http,
};

int
answer_on_answer(struct call *call, void *request, struct err *e)
{
	const struct approval_answer *r = request;
	struct approval *a = store_find(r->request_id);
	const struct answer given = { .verdict = r->verdict,
		.duration = r->until != NULL ? (int)approval_duration_namespace : r->duration,
		.channel = call->by_operator ? (int)approval_channel_terminal : r->channel,
		.until = r->until,
		.by = call->owner.principal };
	uint64_t now_ms = timestamp_ms();

	request_sweep(now_ms);
	if (a == NULL)
		return err_set(e, ERR_not_found, "no such request");
	if (checks[given.channel](a, r, call, e) < 0)
		return -1;
	/* The caller of the tool learns the answer that came first. */
	bool late =
	    given.channel == approval_channel_elicitation && a->state != approval_state_pending;

	if (!late && answer_apply(a, &given, now_ms, e) < 0)
		return -1;

	struct reported shown;

	request_report(a, now_ms, &shown);
	call_reply(call, &shown.report);
	return 0;
}

/* ---- lists ---- */

/* Newest first. */
static struct approval_list
page_of(const struct call *call, const struct approval_query *r, struct approval items[PAGE])
{
	struct approval_list page = { .approvals = { items, 0 } };
	size_t i = 0;

	while (store_at(i) != NULL &&
	       (r->cursor == NULL || strcmp(store_at(i)->request_id, r->cursor) != 0))
		i++;
	while (i-- > 0) {
		struct approval *a = store_at(i);

		if (a->kind != r->kind || !(call->by_operator || in_space(a, &call->owner)))
			continue;
		if (page.approvals.count == PAGE) {
			page.next_cursor = items[PAGE - 1].request_id;
			break;
		}
		items[page.approvals.count++] = *a;
	}
	return page;
}

int
answer_on_query(struct call *call, void *request, struct err *e)
{
	struct approval items[PAGE];
	struct approval_list page;

	(void)e;
	request_sweep(timestamp_ms());
	page = page_of(call, request, items);
	call_reply(call, &page);
	return 0;
}
