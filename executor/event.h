/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - audit events of the executor: hashes and sizes, never code, output or a secret. */
#pragma once

#include "common/bus/bus.h"

/* The owner of an event; points into a call or a session. */
struct event_owner {
	const struct owner *owner;
	const char *namespace; /* of the run or session; NULL: that of the credentials */
};

/* Records the event for that owner; the caller keeps its texts.  -1 with unavailable: the event is
 * not recorded, and the announced action must not be done. */
int event_record(const struct event_owner *, struct audit_event, struct err *);
/* The same for an action that has already happened: a failure is logged. */
void event_note(const struct event_owner *, struct audit_event);
