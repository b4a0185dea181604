/* SPDX-License-Identifier: Apache-2.0 */
/* spooled.c - implements bus_ask() with an auditd played by the test, and records events for it. */
#include "tests/unit/spooled.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/bus/bus.h"
#include "common/codec/wire.h"
#include "common/journal/batch.h"
#include "common/journal/spool.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

struct spooled_auditd spooled_auditd;

static void
answer(void *unused)
{
	struct audit_mark mark = { .sequence = 1, .checkpoint = spooled_auditd.checkpoint };
	struct err e;

	(void)unused;
	if (spooled_auditd.silent)
		return;
	err_set(&e, ERR_unavailable, "away");
	spooled_auditd.done(spooled_auditd.self, spooled_auditd.away ? NULL : &mark, &e);
}

static void
take_event(const struct blob *packed)
{
	struct audit_event event = { 0 };
	struct err e;

	assert_return_code(
	    wire_decode(MSG_audit_event, &(struct packed){ .body = *packed }, &event, &e), 0);
	assert_true(spooled_auditd.count < COUNT(spooled_auditd.got));
	assert_true(event.time_ms > 0);
	snprintf(spooled_auditd.got[spooled_auditd.count++], UID, "%s", event.uid);
	message_clear(MSG_audit_event, &event);
}

static void
take_events(const struct blob *batch)
{
	size_t offset = 0, count = 0;

	for (struct blob packed; batch_next(batch, &offset, &packed); count++)
		if (!spooled_auditd.away && !spooled_auditd.silent)
			take_event(&packed);
	assert_int_equal(offset, batch->size);
	assert_in_range(count, 1, BATCH_EVENTS_MAX);
	if (count > spooled_auditd.largest)
		spooled_auditd.largest = count;
}

uint64_t
bus_ask(const struct ask *ask, struct err *e)
{
	const struct audit_append *batch = ask->request;

	(void)e;
	assert_int_equal(ask->to, PEER_auditd);
	assert_int_equal(ask->message, MSG_audit_append);
	assert_true(ask->timeout_ms > 0);
	take_events(&batch->events);
	snprintf(spooled_auditd.sent, sizeof(spooled_auditd.sent), "%s",
	    batch->checkpoint != NULL ? batch->checkpoint : "");
	spooled_auditd.done = ask->done;
	spooled_auditd.self = ask->self;
	loop_after(0, answer, NULL);
	return ++spooled_auditd.asks;
}

void
bus_cancel(uint64_t id)
{
	(void)id;
}

char spooled_directory[] = "/tmp/test-spool-XXXXXX";
int spooled_state = -1;

static void
stop(void *unused)
{
	(void)unused;
	loop_stop();
}

void
spooled_turn(int64_t ms)
{
	struct err e;

	loop_after(ms, stop, NULL);
	assert_int_equal(loop_run(&e), 0);
}

void
spooled_drain(void)
{
	for (int i = 0; spool_waiting() > 0 && i < 500; i++)
		spooled_turn(20);
	assert_int_equal(spool_waiting(), 0);
}

void
spooled_open(uint64_t limit)
{
	struct err e;

	assert_return_code(spool_open(spooled_state, limit, &e), 0);
}

int
spooled_record_as(enum event what, const char *detail, char uid[UID], struct err *e)
{
	struct audit_event event = { .event = (int)what, .detail = (char *)detail };
	int status = spool_record(&event, e);

	if (uid != NULL && event.uid != NULL)
		snprintf(uid, UID, "%s", event.uid);
	free(event.uid);
	return status;
}

int
spooled_record(const char *detail, char uid[UID], struct err *e)
{
	return spooled_record_as(event_execution_started, detail, uid, e);
}

void
spooled_record_all(char uids[][UID], size_t count, const char *detail)
{
	struct err e;

	for (size_t i = 0; i < count; i++)
		assert_return_code(spooled_record(detail, uids[i], &e), 0);
}

void
spooled_expect(char uids[][UID], size_t count)
{
	assert_int_equal(spooled_auditd.count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(spooled_auditd.got[i], uids[i]);
}

off_t
spooled_size(const char *name)
{
	struct stat st;

	return fstatat(spooled_state, name, &st, 0) < 0 ? -1 : st.st_size;
}

int
spooled_set_up(void **unused)
{
	struct err e;

	(void)unused;
	memset(&spooled_auditd, 0, sizeof(spooled_auditd));
	spooled_auditd.checkpoint = (char *)"-";
	snprintf(spooled_directory, sizeof(spooled_directory), "/tmp/test-spool-XXXXXX");
	assert_non_null(mkdtemp(spooled_directory));
	spooled_state = open(spooled_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(loop_open(&e), 0);
	return 0;
}

int
spooled_tear_down(void **unused)
{
	(void)unused;
	spool_close();
	loop_close();
	for (const char *const *name = (const char *const[]){ "spool.0", "spool.1", "spool.0.torn",
		 "spool.1.torn", SPOOL_CHECKPOINT, NULL };
	     *name != NULL; name++)
		unlinkat(spooled_state, *name, 0);
	close(spooled_state);
	return rmdir(spooled_directory);
}
