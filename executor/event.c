/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - writes audit records to the spool; trusts its callers to pass no secret. */
#include "executor/event.h"

#include "executor/kept/change.h"

#include "common/base/log.h"
#include "common/journal/spool.h"

#include <stdlib.h>

/* A message owns its texts and has NULL for an absent one.  This record only borrows them and is
 * never cleared. */
static char *
borrow(const char *text)
{
	return text != NULL && text[0] != 0 ? (char *)(uintptr_t)text : NULL;
}

int
event_record(const struct event_owner *of, struct audit_event event, struct err *e)
{
	event.principal = borrow(of->owner->principal);
	event.space = borrow(of->owner->namespace);
	event.namespace = borrow(of->namespace != NULL ? of->namespace : of->owner->namespace);

	int status = spool_record(&event, e);

	free(event.uid); /* made by spool_record() */
	if (status == 0)
		change_of_event(of->owner, &event);
	return status;
}

void
event_note(const struct event_owner *of, struct audit_event event)
{
	struct err e;

	if (event_record(of, event, &e) < 0)
		log_error("event lost", LOG_S("event", word_text(SET_event, event.event)),
		    LOG_S("execution", event.execution_id != NULL ? event.execution_id : ""),
		    LOG_E(&e));
}
