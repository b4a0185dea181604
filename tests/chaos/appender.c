/* SPDX-License-Identifier: Apache-2.0 */
/*
 * appender.c - a daemon under snapshotd's name that fills auditd's log as fast as it is let.
 *
 * Prints the uid of each event once auditd has said that it is durable.  A batch that fails is sent
 * again, the same, as a spool does.  Ends by SIGTERM, or after --events, and logs how many events
 * were acknowledged and how long their batches waited for it.
 */
#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/codec/wire.h"
#include "common/crypto/checkpoint.h"
#include "common/daemon/daemon.h"
#include "common/journal/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	WRITERS = 16,
	BATCH = 50,
	UID = 40,
	EVENT_BYTES = 256, /* packed, at most */
	RETRY_MS = 20,
	WAIT_STEP_US = 10,
	WAIT_STEPS = 20000,
};

struct writer {
	char uids[BATCH][UID];
	size_t count;
	int64_t begun_us;
};

static struct writer writers[WRITERS];
static char principal[] = "local:1000", detail[] = "appended by a test";
static uint64_t in_flight, batch, limit, acknowledged;
static char life[17]; /* what tells the uids of this process from those of others */
static bool prints;
static char checkpoint[CHECKPOINT_TEXT]; /* the newest, sent along as a spool does */
static int64_t started_us;
/* Batches by how long they waited; the last place holds all that waited longer. */
static uint64_t waits[WAIT_STEPS], nwaits;

static void ask(void *self);

static void
pack(struct blob *to, char *uid)
{
	struct audit_event event = {
		.uid = uid,
		.time_ms = 1,
		.event = event_artifact_signed,
		.principal = principal,
		.detail = detail,
	};
	struct packed packed = { 0 };
	struct err e;

	must(wire_encode(MSG_audit_event, &event, &packed, &e) == 0);
	must(BATCH_SIZE_BYTES + packed.body.size <= EVENT_BYTES);
	batch_put(to, packed.body.data, packed.body.size);
	packed_clear(&packed);
}

static void
fill(struct writer *w)
{
	static uint64_t batches, events;

	w->count = 1 + batches++ % batch;
	for (size_t i = 0; i < w->count; i++)
		snprintf(w->uids[i], UID, "%s-%" PRIu64, life, events++);
	w->begun_us = loop_now_us();
}

static void
count_wait(int64_t us)
{
	int64_t step = us / WAIT_STEP_US;

	waits[step < WAIT_STEPS ? step : WAIT_STEPS - 1]++;
	nwaits++;
}

/* Microseconds within which that part of the batches was acknowledged. */
static int64_t
waited_us(uint64_t percent)
{
	uint64_t sum = 0;
	int64_t step = 0;

	while (step < WAIT_STEPS - 1 && (sum += waits[step]) * 100 < nwaits * percent)
		step++;
	return (step + 1) * WAIT_STEP_US;
}

static void
on_done(void *self, void *reply, const struct err *e)
{
	struct writer *w = self;

	if (reply != NULL)
		snprintf(
		    checkpoint, sizeof checkpoint, "%s", ((struct audit_mark *)reply)->checkpoint);
	if (reply == NULL) {
		log_warn("not acknowledged", LOG_E(e), LOG_S("code", err_name(e->code)));
		loop_after(RETRY_MS, ask, w);
		return;
	}
	for (size_t i = 0; prints && i < w->count; i++)
		puts(w->uids[i]);
	acknowledged += w->count;
	count_wait(loop_now_us() - w->begun_us);
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
	struct audit_append append = { .checkpoint = checkpoint[0] != '\0' ? checkpoint : NULL };
	struct err e;

	append.events.data = malloc(BATCH * EVENT_BYTES);
	must(append.events.data != NULL);
	for (size_t i = 0; i < w->count; i++)
		pack(&append.events, w->uids[i]);
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
	blob_clear(&append.events);
}

static int
start(struct err *e)
{
	(void)e;
	hash_random_hex(life, sizeof life);
	started_us = loop_now_us();
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
	log_info("appended", LOG_N("events", acknowledged),
	    LOG_N("took_us", loop_now_us() - started_us), LOG_N("p50_us", waited_us(50)),
	    LOG_N("p99_us", waited_us(99)));
}

static const struct setting settings[] = {
	{ "writers", KIND_UINT, &in_flight, "8", 1, WRITERS, NULL, "Batches under way at once." },
	{ "batch", KIND_UINT, &batch, "50", 1, BATCH, NULL, "Events of the largest batch." },
	{ "events", KIND_UINT, &limit, "0", 0, INT64_MAX, NULL, "End after so many; 0: never." },
	{ "print", KIND_FLAG, &prints, "true", 0, 0, NULL, "Print what is acknowledged." },
	{ 0 },
};

static const struct daemon self = {
	.self = PEER_snapshotd,
	.summary = "append events to the log of auditd, for tests",
	.settings = settings,
	.stateless = true,
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
