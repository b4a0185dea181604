/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - a caller sees only the records of the principal and the namespace in its call, unless
 * it is the operator (common/daemon/operator.h).
 */
#include "auditd/filter.h"

#include "auditd/record.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int
filter_settle(struct filter *f, const char *event, struct err *e)
{
	if (*f->owner->principal == '\0')
		return err_set(e, ERR_denied, "only an authenticated caller has records");
	f->event = event == NULL ? -1 : word_parse(SET_event, event, strlen(event));
	if (event != NULL && f->event < 0)
		return err_set(e, ERR_invalid_argument,
		    "event: '%.64s' is not an event; an event is, for example, execution.started",
		    event);
	return 0;
}

static bool
matches(const char *wanted, const char *got)
{
	return wanted == NULL || *wanted == '\0' || (got != NULL && strcmp(wanted, got) == 0);
}

/* What has no namespace of its own is recorded under that of its credentials, and is in "default".
 */
static bool
is_in(const char *wanted, const struct audit_event *event)
{
	const char *got = event->namespace;

	if (got != NULL && event->space != NULL && strcmp(got, event->space) == 0)
		got = NULL;
	return matches(wanted, event->namespace) || namespace_equal(wanted, got);
}

static bool
may_see(const struct filter *f, const struct audit_event *event)
{
	struct owner owner;

	if (f->all)
		return matches(f->principal, event->principal);
	return owner_set(&owner, event->principal, event->space) && owner_equal(&owner, f->owner);
}

static bool
is_in_time(const struct filter *f, uint64_t ms)
{
	return ms >= f->since_ms && (f->until_ms == 0 || ms < f->until_ms);
}

static bool
is_wanted(const struct filter *f, const struct audit_event *event)
{
	return may_see(f, event) && is_in_time(f, event->time_ms) && is_in(f->namespace, event) &&
	       matches(f->execution_id, event->execution_id) &&
	       matches(f->session_id, event->session_id) &&
	       (f->event < 0 || f->event == event->event);
}

/* A record that lacks these bytes need not be decoded. */
static bool
may_be_wanted(const struct filter *f, const struct chain_link *link)
{
	const char *needles[] = { f->all ? f->principal : f->owner->principal, f->execution_id,
		f->session_id };

	for (size_t i = 0; i < COUNT(needles); i++)
		if (needles[i] != NULL &&
		    memmem(link->record, link->size, needles[i], strlen(needles[i])) == NULL)
			return false;
	return true;
}

int
filter_take(
    const struct filter *f, const struct chain_link *link, struct audit_entry *entry, struct err *e)
{
	if (!may_be_wanted(f, link))
		return 0;
	if (record_decode(link, entry, e) < 0)
		return -1;
	if (is_wanted(f, entry->event))
		return 1;
	message_clear(MSG_audit_entry, entry);
	return 0;
}

char *
filter_removed(uint64_t first, uint64_t last, struct err *e)
{
	char *text = NULL;

	if (asprintf(&text, "records %" PRIu64 " to %" PRIu64, first, last) > 0)
		return text;
	err_sys(e, "page of records");
	return NULL;
}
