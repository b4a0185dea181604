/* SPDX-License-Identifier: Apache-2.0 */
/*
 * denial.c - auth.denied events on their way to auditd.
 *
 * If several gateways share a state directory, one of them has its spool and loses no event while
 * auditd is away.  The others, and a gateway without a state directory, send each event once.
 */
#include "gateway/auth/denial.h"

#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"
#include "common/bus/bus.h"
#include "common/daemon/daemon.h"
#include "common/journal/batch.h"
#include "common/journal/spool.h"

#include <stdio.h>

enum {
	SECOND_MS = 1000,
	WAIT_MS = 5000,
};

static struct {
	int64_t since_ms;
	unsigned told, untold;
} lately;

static void
lose(unsigned count, const struct err *e)
{
	lately.untold += count;
	log_warn("denials not recorded", LOG_S("event", "auth.denied"), LOG_E(e));
}

static void
on_done(void *count, void *reply, const struct err *e)
{
	if (reply == NULL)
		lose((unsigned)(uintptr_t)count, e);
}

static int
ask_once(struct audit_event *event, unsigned count, struct err *e)
{
	struct audit_append append = { 0 };
	struct ask ask = { .to = PEER_auditd,
		.message = MSG_audit_append,
		.request = &append,
		.timeout_ms = WAIT_MS,
		.done = on_done,
		.self = (void *)(uintptr_t)count };

	int status = batch_of(event, &append.events, e) < 0 || bus_ask(&ask, e) == 0 ? -1 : 0;

	blob_clear(&append.events);
	return status;
}

/* count: how many denials the event reports. */
static void
record(const struct identity *who, char *detail, const struct err *why, unsigned count)
{
	char uid[37];
	char *namespace = who != NULL && who->owner.namespace[0] != '\0'
	                      ? (char *)(uintptr_t)who->owner.namespace
	                      : NULL;
	struct audit_event event = {
		.uid = uid,
		.time_ms = timestamp_ms(),
		.event = event_auth_denied,
		.principal = who != NULL ? (char *)(uintptr_t)who->owner.principal : NULL,
		.namespace = namespace,
		.space = namespace,
		.code = (char *)(uintptr_t)err_name(why->code),
		.detail = detail,
	};
	struct err e;

	hash_uuid(uid);
	if ((daemon_spool(&e) == 0 ? spool_record(&event, &e) : ask_once(&event, count, &e)) < 0)
		lose(count, &e);
}

void
denial_start(void)
{
	struct err e;

	if (daemon_spool(&e) < 0)
		log_info("no spool: denials are lost while auditd is unreachable", LOG_E(&e));
}

void
denial_note(const struct identity *who, const char *address, const struct err *why)
{
	char detail[320];
	unsigned before = lately.untold;
	int64_t now_ms = loop_now_ms();

	if (now_ms - lately.since_ms >= SECOND_MS) {
		lately.since_ms = now_ms;
		lately.told = 0;
	}
	if (lately.told >= DENIALS) {
		lately.untold++;
		return;
	}
	snprintf(detail, sizeof detail, "%s; from %s; %u earlier denials not recorded", why->text,
	    address[0] != '\0' ? address : "an unknown address", before);
	lately.told++;
	lately.untold = 0;
	log_warn("denied", LOG_S("principal", who != NULL ? who->owner.principal : ""),
	    LOG_S("address", address), LOG_S("detail", detail));
	record(who, detail, why, before + 1);
}
