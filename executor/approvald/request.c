/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - a model asks; a record waits for a person.
 *
 * Trusts the gateway for the owner and no text of the request.
 */
#include "executor/approvald/request.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"
#include "executor/approvald/kind.h"
#include "executor/approvald/options.h"
#include "executor/approvald/report.h"
#include "executor/approvald/runner.h"
#include "executor/approvald/store.h"

#include <stdio.h>
#include <string.h>

enum {
	SWEEP_MS = 1000,
};

static bool
equal(const char *a, const char *b)
{
	return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

const char *
request_namespace(const char *named, const struct owner *owner)
{
	const char *text = named != NULL ? named : owner->namespace;

	return text[0] == '\0' || strcmp(text, "default") == 0 ? NULL : text;
}

/* ---- time ---- */

static bool
is_over(const struct approval *a, uint64_t now_ms)
{
	return (a->state == approval_state_pending && now_ms >= a->deadline_ms) ||
	       (a->state == approval_state_approved && now_ms >= a->until_ms);
}

/* The end of an approval was announced by its own event; a request without an answer is a
 * denial.  What cannot be stored ends in memory, and again after a restart: otherwise each sweep
 * would record it. */
static void
expire(struct approval *a)
{
	struct approval next = *a;
	struct err e;

	next.state = approval_state_expired;
	if (a->state == approval_state_pending && report(&next, &e) < 0) {
		log_error("the end of a request is not recorded", LOG_S("request", a->request_id),
		    LOG_E(&e));
		return;
	}
	if (store_change(a, &next, &e) == 0)
		return;
	a->state = approval_state_expired;
	log_error("the end of a request is not stored", LOG_S("request", a->request_id), LOG_E(&e));
}

void
request_sweep(uint64_t now_ms)
{
	struct approval *a;

	for (size_t i = 0; (a = store_at(i)) != NULL; i++)
		if (is_over(a, now_ms))
			expire(a);
}

static void
on_time(void *unused)
{
	(void)unused;
	request_sweep(timestamp_ms());
	loop_after(SWEEP_MS, on_time, NULL);
}

void
request_watch(void)
{
	on_time(NULL);
}

/* ---- requests ---- */

static bool
is_same(const struct approval *a, const struct wish *w)
{
	return a->kind == w->kind && store_owned(a, w->owner) && equal(a->subject, w->subject) &&
	       equal(a->namespace, w->namespace) && equal(a->session_id, w->session);
}

static bool
answers(const struct approval *a, const struct wish *w, uint64_t now_ms)
{
	const struct runner run = { w->kind, w->owner, w->namespace, w->session };

	if (is_over(a, now_ms))
		return false;
	if (a->state == approval_state_approved)
		return equal(a->subject, w->subject) && runner_has(&run, a);
	return is_same(a, w) && (a->state == approval_state_pending ||
				    (a->state == approval_state_denied &&
					now_ms < a->answered_ms + options.denial_s * 1000));
}

/* The newest counts: an approval that was made after a denial, for example. */
static struct approval *
find(const struct wish *w, uint64_t now_ms)
{
	struct approval *found = NULL, *a;

	for (size_t i = 0; (a = store_at(i)) != NULL; i++)
		if (answers(a, w, now_ms))
			found = a;
	return found;
}

static size_t
count_pending(const struct owner *owner)
{
	size_t n = 0;
	const struct approval *a;

	for (size_t i = 0; (a = store_at(i)) != NULL; i++)
		n += a->state == approval_state_pending && equal(a->principal, owner->principal);
	return n;
}

static char *
copy(const char *text)
{
	char *mine = text == NULL || text[0] == '\0' ? NULL : strdup(text);

	must(mine != NULL || text == NULL || text[0] == '\0');
	return mine;
}

static struct approval *
add(const struct wish *w, uint64_t now_ms, struct err *e)
{
	struct approval fresh = {
		.kind = w->kind,
		.subject = copy(w->subject),
		.state = approval_state_pending,
		.namespace = copy(w->namespace),
		.session_id = copy(w->session),
		.reason = copy(w->reason),
		.created_ms = now_ms,
		.deadline_ms = now_ms + options.approval_timeout_s * 1000,
		.principal = copy(w->owner->principal),
		.space = copy(w->owner->namespace),
	};
	struct approval *a = store_add(&fresh, e);

	if (a == NULL || report(a, e) == 0)
		return a;
	store_remove(a);
	return NULL;
}

struct approval *
request_make(const struct wish *w, uint64_t now_ms, struct err *e)
{
	request_sweep(now_ms);

	struct approval *a = find(w, now_ms);

	if (a != NULL)
		return a;
	if (count_pending(w->owner) < options.max_pending)
		return add(w, now_ms, e);
	err_set(e, ERR_limit_exceeded,
	    "%lu requests of yours wait for an answer, the limit (max_pending)",
	    (unsigned long)options.max_pending);
	return NULL;
}

static const char *
note_of(const struct approval *a)
{
	static const char *const notes[approval_state_COUNT] = {
		[approval_state_approved] =
		    "A person approved it: name it in allowed_domains of a run.",
		[approval_state_denied] = "A person refused. Do not ask again.",
		[approval_state_expired] = "Nobody answered in time, or the approval is over.",
		[approval_state_used] = "The approval was for one run and is used.",
		[approval_state_revoked] = "A person revoked the approval.",
	};

	return notes[a->state];
}

static void
say_how(const struct approval *a, uint64_t now_ms, char note[301])
{
	snprintf(note, 301,
	    "a person must run `cloister %s approve %s` within %u s (%.80s); then call again with "
	    "the same arguments",
	    word_text(SET_approval_kind, a->kind), a->request_id,
	    (unsigned)((a->deadline_ms - now_ms + 999) / 1000), a->subject);
}

void
request_report(const struct approval *a, uint64_t now_ms, struct reported *to)
{
	bool open = a->state == approval_state_pending && now_ms < a->deadline_ms;

	if (open) {
		say_how(a, now_ms, to->note);
		kind_question(a, to->question);
	} else {
		snprintf(to->note, sizeof to->note, "%s",
		    note_of(a) != NULL ? note_of(a) : "Nobody answered in time.");
	}
	to->report = (struct approval_report){
		.request_id = a->request_id,
		.subject = a->subject,
		.state = a->state,
		.approved = a->state == approval_state_approved,
		.note = to->note,
		.duration = a->duration,
		.until_ms = a->until_ms,
		.session_id = a->session_id,
		.question = open ? to->question : NULL,
		.wait_ms = open ? a->deadline_ms - now_ms : 0,
	};
}

int
request_on_egress(struct call *call, void *request, struct err *e)
{
	const struct request_egress *r = request;
	char subject[KIND_SUBJECT], domain[KIND_SUBJECT];
	struct wish w = { .kind = approval_kind_egress,
		.owner = &call->owner,
		.subject = subject,
		.namespace = request_namespace(r->namespace, &call->owner),
		.session = r->session_id,
		.reason = r->reason };

	snprintf(domain, sizeof domain, "%s", r->domain);
	if (r->port != 0)
		snprintf(domain, sizeof domain, "%.255s:%u", r->domain, (unsigned)r->port);
	if (kind_row(w.kind)->check(domain, subject, e) < 0)
		return -1;

	uint64_t now_ms = timestamp_ms();
	const struct approval *a = request_make(&w, now_ms, e);
	struct reported shown;

	if (a == NULL)
		return -1;
	request_report(a, now_ms, &shown);
	call_reply(call, &shown.report);
	return 0;
}
