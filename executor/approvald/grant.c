/* SPDX-License-Identifier: Apache-2.0 */
/* grant.c - approvals in force; trusts the executor for the owner of a run, and the socket for who
 * is an operator. */
#include "executor/approvald/grant.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/timestamp.h"
#include "executor/approvald/kind.h"
#include "executor/approvald/report.h"
#include "executor/approvald/request.h"
#include "executor/approvald/runner.h"
#include "executor/approvald/store.h"
#include "executor/approvald/until.h"

#include <string.h>

enum {
	MOST = 64, /* of the schema */
};

/* ---- of an operator ---- */

static char *
copy(const char *text)
{
	char *mine = strdup(text);

	must(mine != NULL);
	return mine;
}

static int
make(const struct approval_grant *r, const char *by, struct approval *fresh, struct err *e)
{
	char subject[KIND_SUBJECT];
	uint64_t now_ms = timestamp_ms();

	*fresh = (struct approval){ .kind = r->kind,
		.state = approval_state_approved,
		.duration = approval_duration_namespace,
		.created_ms = now_ms,
		.answered_ms = now_ms,
		.channel = approval_channel_terminal,
		.granted = true };
	if (kind_row(r->kind)->check(r->subject, subject, e) < 0 ||
	    until_read(fresh->duration, r->until, now_ms, &fresh->until_ms, e) < 0)
		return -1;
	fresh->subject = copy(subject);
	fresh->principal = copy(r->principal != NULL ? r->principal : by);
	fresh->answered_by = copy(by);
	if (r->namespace != NULL && strcmp(r->namespace, "default") != 0)
		fresh->namespace = copy(r->namespace);
	return 0;
}

int
grant_on_grant(struct call *call, void *request, struct err *e)
{
	struct approval fresh;
	struct approval *a =
	    make(request, call->owner.principal, &fresh, e) < 0 ? NULL : store_add(&fresh, e);

	if (a == NULL)
		return -1;
	if (report(a, e) < 0) {
		store_remove(a);
		return -1;
	}
	call_reply(call, a);
	return 0;
}

/* ---- of a run ---- */

static bool
lists(const struct approval_list *list, const char *subject)
{
	for (size_t i = 0; i < list->approvals.count; i++)
		if (strcmp(list->approvals.items[i].subject, subject) == 0)
			return true;
	return false;
}

/* Whether the run may have it: false if its use cannot be stored. */
static bool
use(struct approval *a)
{
	struct approval next = *a;
	struct err e;

	next.state = approval_state_used;
	if (store_change(a, &next, &e) == 0)
		return true;
	log_error("an approval is not used, because that cannot be stored",
	    LOG_S("request", a->request_id), LOG_E(&e));
	return false;
}

/* An end that could not be stored is an end. */
static bool
in_force(const struct approval *a, uint64_t now_ms)
{
	return a->state == approval_state_approved && now_ms < a->until_ms;
}

/* A run takes no single use of what it has anyway. */
static void
collect(const struct runner *run, bool once, uint64_t now_ms, struct approval_list *list)
{
	struct approval *a;

	for (size_t i = 0; (a = store_at(i)) != NULL && list->approvals.count < MOST; i++) {
		if (!in_force(a, now_ms) || !runner_has(run, a) ||
		    (a->duration == approval_duration_once) != once || lists(list, a->subject))
			continue;

		if (!once || use(a))
			list->approvals.items[list->approvals.count++] = *a;
	}
}

int
grant_on_grants(struct call *call, void *request, struct err *e)
{
	const struct approval_grants *r = request;
	const struct runner run = { r->kind, &call->owner,
		request_namespace(r->namespace, &call->owner), r->session_id };
	struct approval items[MOST];
	struct approval_list list = { .approvals = { items, 0 } };
	uint64_t now_ms = timestamp_ms();

	(void)e;
	request_sweep(now_ms);
	collect(&run, false, now_ms, &list);
	collect(&run, true, now_ms, &list);
	call_reply(call, &list);
	return 0;
}
