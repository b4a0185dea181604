/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_audit_group.c - who sends more than the disk takes holds up nobody else.
 *
 * The journal is real, but its disk waits for the test; call_reply() and call_fail() are the
 * test's.
 */
#include "tests/unit/ledger.h"
#include "tests/unit/scarce.h"

#include "auditd/group.h"
#include "auditd/journal.h"
#include "auditd/seen.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 2000 };

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static size_t sent, replied;
static struct err refused; /* of the call that failed last, where the case expects one to */
static bool may_fail;

int __wrap_fdatasync(int fd);

int
__wrap_fdatasync(int fd)
{
	(void)fd;
	pthread_mutex_lock(&disk);
	pthread_mutex_unlock(&disk);
	return 0;
}

void
call_reply(struct call *call, void *reply)
{
	(void)call, (void)reply;
	if (++replied == sent)
		loop_stop();
}

void
call_fail(struct call *call, const struct err *e)
{
	(void)call;
	if (!may_fail)
		fail_msg("%s", e->text);
	refused = *e;
	loop_stop();
}

void
daemon_end(const char *why)
{
	fail_msg("%s", why);
}

static int
append(enum peer from, struct err *e)
{
	static struct call calls[MANY + 8];
	char uid[37];
	struct audit_event event = { .uid = uid, .event = event_daemon_started };
	struct audit_append batch = { .events = { &event, 1 } };

	hash_uuid(uid);
	calls[sent] = (struct call){ .from = from, .message = MSG_audit_append };
	if (group_append(&calls[sent], &batch, e) < 0)
		return -1;
	sent++;
	return 0;
}

static int
set_up(void **state)
{
	struct err e;

	sent = replied = 0;
	seen_open();
	return loop_open(&e) < 0 || ledger_set_up(state) < 0 || group_open(0, &e) < 0 ? -1 : 0;
}

static int
tear_down(void **state)
{
	scarce_over();
	may_fail = false;
	/* A case that failed left it. */
	pthread_mutex_trylock(&disk);
	pthread_mutex_unlock(&disk);
	group_close();
	loop_close();
	return ledger_tear_down(state);
}

static void
a_flood_leaves_room_to_others(void **unused)
{
	struct err e;

	(void)unused;
	pthread_mutex_lock(&disk);
	while (sent < MANY && append(PEER_executor, &e) == 0) {
	}
	assert_true(sent > 100 && sent < MANY);
	assert_int_equal(e.code, ERR_queue_full);
	assert_int_equal(append(PEER_gateway, &e), 0);
	assert_int_equal(append(PEER_snapshotd, &e), 0);
	assert_int_equal(append(PEER_gateway, &e), -1);
	assert_int_equal(append(PEER_executor, &e), -1);
	pthread_mutex_unlock(&disk);
	assert_return_code(loop_run(&e), 0);
	assert_int_equal(replied, sent);
	assert_int_equal(append(PEER_executor, &e), 0);
	assert_int_equal(append(PEER_executor, &e), 0);
	assert_return_code(loop_run(&e), 0);
	assert_int_equal(replied, sent);
}

/* The log keeps what was acknowledged, without a half of what was not, and goes on. */
static void
a_used_up_disk_or_quota_is_named_and_got_over(void **unused)
{
	static const struct {
		int sys;
		const char *text;
	} rows[] = { { EDQUOT, "Disk quota exceeded; make room, or raise the disk quota" },
		{ ENOSPC, "No space left on device; make room on its file system" } };
	struct err e;

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(append(PEER_executor, &e), 0);
		assert_return_code(loop_run(&e), 0);

		uint64_t durable = journal_durable();

		scarce_room(20, rows[i].sys);
		may_fail = true;
		assert_int_equal(append(PEER_executor, &e), 0);
		assert_return_code(loop_run(&e), 0);
		assert_int_equal(refused.code, ERR_unavailable);
		assert_non_null(strstr(refused.text, "the audit log cannot be written"));
		assert_non_null(strstr(refused.text, rows[i].text));
		assert_int_equal(journal_durable(), durable);
		assert_int_equal(journal_last(), durable);
		scarce_over();
		may_fail = false;
		sent--; /* it is sent again */
	}
	assert_int_equal(append(PEER_executor, &e), 0);
	assert_return_code(loop_run(&e), 0);
	assert_int_equal(replied, sent);
	assert_int_equal(replied, COUNT(rows) + 1);
	assert_int_equal(journal_durable(), COUNT(rows) + 2); /* and that it was started */
}

int
main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(a_flood_leaves_room_to_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_used_up_disk_or_quota_is_named_and_got_over, set_up, tear_down),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
