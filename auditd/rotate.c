/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rotate.c - the records around the end of a segment, and the removal of old ones.
 *
 * Signs an end that is not durable yet.  The signature is in a record behind that end, and nobody
 * reads a record before it is durable.
 */
#include "auditd/rotate.h"

#include "auditd/journal.h"
#include "auditd/key.h"
#include "auditd/options.h"
#include "auditd/own.h"
#include "auditd/segments.h"
#include "auditd/witness.h"

#include "common/base/log.h"
#include "common/base/timestamp.h"

#include <inttypes.h>
#include <stdio.h>

static const uint64_t day_ms = 86400000;

static uint64_t closed; /* the number of the newest record that closes a segment */

/* ---- closing ---- */

static bool
is_due(void)
{
	uint64_t today = timestamp_ms() / day_ms, began = journal_opened_ms() / day_ms;

	return (options.segment_bytes > 0 && journal_size() >= options.segment_bytes) ||
	       (options.segment_days > 0 && today >= began + options.segment_days);
}

static int
add_statement(enum event what, struct err *e)
{
	char text[CHECKPOINT_TEXT];

	key_state(journal_tip(), text);
	return own_add(what, text, timestamp_ms(), e);
}

/* A segment that has its last record already was not closed, because the disk was full. */
static int
close_segment(struct err *e)
{
	if (closed != journal_last() && add_statement(event_audit_segment_closed, e) < 0)
		return -1;
	closed = journal_last();
	journal_cut();
	return 0;
}

/* An accepted loss must be known without the segment that has its record. */
static int
begin_segment(struct err *e)
{
	uint64_t accepted_ms = witness_accepted_ms();

	if (add_statement(event_audit_segment_opened, e) < 0)
		return -1;
	return accepted_ms == 0
	           ? 0
	           : own_add(event_audit_loss_accepted,
			 "stated again: it was accepted in an earlier segment", accepted_ms, e);
}

int
rotate_before_add(struct err *e)
{
	if (journal_can_cut() && is_due() && close_segment(e) < 0)
		return -1;
	return journal_last() > 0 && journal_is_empty() ? begin_segment(e) : 0;
}

void
rotate_closed(uint64_t number)
{
	closed = number;
}

void
rotate_undone(void)
{
	if (closed > journal_last())
		closed = 0;
}

/* ---- removing ---- */

static int
remove_first(const struct segment *s, struct err *e)
{
	char detail[128];

	snprintf(detail, sizeof detail,
	    "records %" PRIu64 " to %" PRIu64 ", older than %" PRIu64 " days", s->first, s->last,
	    options.retention_days);
	if (segments_remove_first(e) < 0)
		return -1;
	log_info("a segment of the log is removed", LOG_S("what", detail));
	return rotate_before_add(e) < 0
	           ? -1
	           : own_add(event_audit_segment_removed, detail, timestamp_ms(), e);
}

void
rotate_retain(void)
{
	uint64_t keep_ms = options.retention_days * day_ms, now = timestamp_ms();
	const struct segment *first;
	struct err e;

	while (keep_ms > 0 && (first = segments_at(0)) != NULL && first->closed_ms + keep_ms < now)
		if (remove_first(first, &e) < 0) {
			log_warn("remove an old segment of the log", LOG_E(&e));
			return;
		}
}
