/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - an event for each request and each answer.
 *
 * It has the subject, the duration and who answered, and not the reason: a model wrote that.
 */
#include "executor/approvald/report.h"

#include "common/base/auto.h"
#include "common/base/timestamp.h"
#include "common/journal/spool.h"
#include "executor/approvald/kind.h"

#include <stdio.h>
#include <stdlib.h>

static enum event
event_of(const struct approval *a)
{
	const struct approval_kind_row *row = kind_row(a->kind);

	switch ((enum approval_state)a->state) {
	case approval_state_pending:
		return row->requested;
	case approval_state_approved:
		return row->approved;
	case approval_state_revoked:
		return row->revoked;
	default:
		return row->denied;
	}
}

static void
describe(const struct approval *a, char text[512])
{
	char until[TIMESTAMP_TEXT] = "";

	if (a->state == approval_state_approved)
		timestamp_text(
		    (struct timespec){ .tv_sec = (time_t)(a->until_ms / 1000) }, 0, until);
	snprintf(text, 512, "%s, request %s%s%s%s%s, %s%.128s", a->subject, a->request_id,
	    until[0] != '\0' ? ", " : "",
	    until[0] != '\0' ? word_text(SET_approval_duration, a->duration) : "",
	    until[0] != '\0' ? " until " : "", until,
	    a->state == approval_state_pending   ? "no answer yet"
	    : a->state == approval_state_expired ? "no answer in time"
						 : "answered by ",
	    a->answered_by != NULL && a->state != approval_state_pending ? a->answered_by : "");
}

int
report(const struct approval *a, struct err *e)
{
	char detail[512];
	struct audit_event event = {
		.event = (int)event_of(a),
		.principal = a->principal,
		.space = a->space,
		.namespace = a->namespace,
		.session_id = a->session_id,
		.detail = detail,
	};

	describe(a, detail);

	int status = spool_record(&event, e);

	free(event.uid); /* made by spool_record(); the other texts are borrowed */
	return status;
}
