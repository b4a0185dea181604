/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - events on their way to auditd, none lost once recorded here.
 *
 * spool_record() returns after write(2) to a file below the daemon's state folder, so the event
 * survives kill -9 of any daemon; it is then sent to auditd in batches and dropped when auditd says
 * it is durable. Sent again after a restart; auditd knows an event by its uid and records it once.
 *
 * With each acknowledgement comes auditd's newest checkpoint.  It is kept in the same folder, where
 * auditd cannot write, and sent along with the next events: an auditd whose log does not hold it
 * refuses them.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#define SPOOL_CHECKPOINT "audit.checkpoint" /* the file's name */

/* In start(): reads what an earlier life left.  state: daemon_state().  Refuses beyond limit_bytes,
 * of which the last quarter is not for the start of an execution. */
int spool_open(int state, uint64_t limit_bytes, struct err *);
/* Fills in uid and time_ms where they are not set.  *event stays the caller's.  unavailable: the
 * spool is full. */
int spool_record(struct audit_event *event, struct err *);
/* Events that auditd has not acknowledged yet. */
size_t spool_waiting(void);
/* The newest checkpoint of auditd's log that came here; "": none. */
const char *spool_checkpoint(void);
void spool_close(void);
