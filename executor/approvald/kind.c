/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind.c - the table of kinds.
 *
 * A new kind is a row here, a word of approval_kind in words.def, its events, and a tool whose
 * reply is `approval_report`.  Trusts no subject: a model chose it.
 */
#include "executor/approvald/kind.h"

#include "common/base/auto.h"
#include "common/base/domain.h"

#include <stdio.h>

static const struct approval_kind_row rows[approval_kind_COUNT] = {
	[approval_kind_egress] = { event_egress_requested, event_egress_approved,
	    event_egress_denied, event_egress_revoked, "connect to", domain_check },
};

const struct approval_kind_row *
kind_row(int kind)
{
	must(kind >= 0 && kind < approval_kind_COUNT);
	return &rows[kind];
}

/* A control character could move the cursor of a terminal and so hide the subject. */
static void
copy_printable(char *to, const char *from)
{
	for (; *from != '\0'; from++)
		*to++ = (char)((unsigned char)*from < 0x20 || *from == 0x7f ? ' ' : *from);
	*to = '\0';
}

void
kind_question(const struct approval *a, char text[KIND_QUESTION])
{
	char reason[512] = "none given";

	if (a->reason != NULL)
		copy_printable(reason, a->reason);
	snprintf(text, KIND_QUESTION,
	    "A program wants to %s %s. Allow it? Request %s, namespace %s%s%s. Reason that the "
	    "model gives: %s",
	    kind_row(a->kind)->wish, a->subject, a->request_id,
	    a->namespace != NULL ? a->namespace : "default",
	    a->session_id != NULL ? ", session " : "", a->session_id != NULL ? a->session_id : "",
	    reason);
}
