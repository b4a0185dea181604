/* SPDX-License-Identifier: Apache-2.0 */
/*
 * appender.c - a daemon under snapshotd's name that fills auditd's log as fast as it is let.
 *
 * Prints the uid of each event once auditd has said that it is durable.  A batch that fails is sent
 * again, the same, as a spool does.  Ends by SIGTERM, or after --events.
 */
#include "common/auto.h"
#include "common/daemon.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	WRITERS = 16,
	BATCH = 50,
	UID = 40,
	RETRY_MS = 20,
};

struct writer {
	char uids[BATCH][UID];
	size_t count;
};

static struct writer writers[WRITERS];
static char principal[] = "local:1000", detail[] = "appended by a test";
static uint64_t in_flight, batch, limit, acknowledged;

static void ask(void *self);

static void
fill(struct writer *w)
{
	static uint64_t number;

	w->count = 1 + number++ % batch;
	for (size_t i = 0; i < w->count; i++)
		hash_uuid(w->uids[i]);
}

static void
on_done(void *self, void *reply, const struct err *e)
{
	struct writer *w = self;

	if (reply == NULL) {
		log_warn("not acknowledged", LOG_E(e), LOG_S("code", err_name(e->code)));
		loop_after(RETRY_MS, ask, w);
		return;
	}
	for (size_t i = 0; i < w->count; i++)
		puts(w->uids[i]);
	acknowledged += w->count;
	if (limit != 0 && acknowledged >= limit) {
		fflush(stdout);
		daemon_end(NULL);
		return;
	}
	fill(w);
	ask(w);
}

static void
ask(void *self)
{
	struct writer *w = self;
	struct audit_event events[BATCH];
	struct audit_append append = { 0 };
	struct err e;

	for (size_t i = 0; i < w->count; i++)
		events[i] = (struct audit_event){
			.uid = w->uids[i],
			.time_ms = 1,
			.event = event_artifact_signed,
			.principal = principal,
			.detail = detail,
		};
	append.events.items = events;
	append.events.count = w->count;
	if (bus_ask(
		&(struct ask){
		    .to = PEER_auditd,
		    .message = MSG_audit_append,
		    .request = &append,
		    .timeout_ms = 5000,
		    .self = w,
		    .done = on_done,
		},
		&e) == 0)
		loop_after(RETRY_MS, ask, w);
}

static int
start(struct err *e)
{
	(void)e;
	for (uint64_t i = 0; i < in_flight; i++) {
		fill(&writers[i]);
		ask(&writers[i]);
	}
	return 0;
}

static void
stop(void)
{
	fflush(stdout);
}

static const struct setting settings[] = {
	{ "writers", KIND_UINT, &in_flight, "8", 1, WRITERS, NULL, "Batches under way at once." },
	{ "batch", KIND_UINT, &batch, "50", 1, BATCH, NULL, "Events of the largest batch." },
	{ "events", KIND_UINT, &limit, "0", 0, INT64_MAX, NULL, "End after so many; 0: never." },
	{ 0 },
};

static const struct daemon self = {
	.self = PEER_snapshotd,
	.summary = "append events to the log of auditd, for tests",
	.settings = settings,
	.start = start,
	.stop = stop,
};

int
main(int argc, char **argv)
{
	static char line[1024];

	/* A buffer that stdio makes for itself it makes in the jail, by calls that are not listed.
	 */
	setvbuf(stdout, line, _IOLBF, sizeof line);
	return daemon_main(argc, argv, &self);
}
