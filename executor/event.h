/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - what the executor tells auditd: hashes and sizes, never code, output or a secret. */
#pragma once

#include "common/bus/bus.h"

/* Whose it is; points into a call or a session. */
struct event_owner {
	struct owner owner;
	const char *label; /* namespace that the caller gave, for the log only; NULL: none */
};

/* Records it for that owner; the event's texts stay the caller's.  -1 with unavailable: it is not
 * recorded, and what it announces must not be done. */
int event_record(const struct event_owner *, struct audit_event, struct err *);
/* The same for what has happened already: a failure is logged. */
void event_note(const struct event_owner *, struct audit_event);
