/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool.h - a persistent queue of audit events for auditd; a recorded event is never lost.
 *
 * spool_record() returns after write(2) to a file in the daemon's state directory, so the event
 * survives kill -9 of any daemon. Events are sent to auditd in batches and dropped when auditd
 * acknowledges them as durable. After a restart they are sent again; auditd identifies an event by
 * its uid and records it once.
 *
 * Each acknowledgement contains auditd's newest checkpoint. It is stored in the same directory,
 * where auditd cannot write, and sent with the next events: an auditd whose log does not contain it
 * refuses them.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#define SPOOL_CHECKPOINT "audit.checkpoint" /* the file's name */

/* Called in start(). Reads the events of an earlier process. state: daemon_state(). Events beyond
 * limit_bytes are refused; the last quarter is not available to the start of an execution. */
int spool_open(int state, uint64_t limit_bytes, struct err *);
/* Records an event; sets uid and time_ms if they are not set. The caller keeps *event. unavailable:
 * the spool is full. */
int spool_record(struct audit_event *event, struct err *);
/* Events that auditd has not acknowledged yet. */
size_t spool_waiting(void);
/* The newest checkpoint received from auditd; "": none. */
const char *spool_checkpoint(void);
void spool_close(void);
