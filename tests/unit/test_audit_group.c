/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_audit_group.c - a daemon that sends more than the disk can write does not delay the others.
 *
 * The journal is real, but its disk waits for the test; call_reply() and call_fail() are the
 * test's.
 */
#include "tests/unit/ledger.h"
#include "tests/unit/scarce.h"

#include "auditd/group.h"
#include "auditd/journal.h"
#include "auditd/key.h"
#include "auditd/seen.h"
#include "auditd/witness.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/daemon/daemon.h"
#include "common/journal/batch.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	MANY = 2000,
	ACCEPTED = 4000, /* records of a checkpoint that may be missing */
};

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static size_t sent, replied;
static struct err refused; /* of the call that failed last, where the case expects one to */
static bool may_fail, may_end;
static int ends;
static char checkpoint[CHECKPOINT_TEXT]; /* of the last reply */

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
	(void)call;
	snprintf(checkpoint, sizeof checkpoint, "%s", ((struct audit_mark *)reply)->checkpoint);
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
	if (!may_end)
		fail_msg("%s", why);
	ends++;
}

static int
append_with(enum peer from, char *with, struct err *e)
{
	static struct call calls[MANY + 8];
	char uid[37];
	struct audit_event event = { .uid = uid, .event = event_daemon_started };
	struct audit_append batch = { .checkpoint = with };

	hash_uuid(uid);
	assert_return_code(batch_of(&event, &batch.events, e), 0);
	calls[sent] = (struct call){ .from = from, .message = MSG_audit_append };

	int status = group_append(&calls[sent], &batch, e);

	blob_clear(&batch.events);
	sent += status == 0;
	return status;
}

static int
append(enum peer from, struct err *e)
{
	return append_with(from, NULL, e);
}

static int
set_up(void **state)
{
	struct err e;

	sent = replied = 0;
	ends = 0;
	seen_open();
	return loop_open(&e) < 0 || ledger_set_up(state) < 0 ||
	               key_open(ledger_directory, false, &e) < 0 ||
	               witness_open(ledger_path(), &e) < 0 ||
	               group_open(&(struct group_start){ .accept_loss = ACCEPTED }, &e) < 0
	           ? -1
	           : 0;
}

static int
tear_down(void **state)
{
	scarce_over();
	may_fail = may_end = false;
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

/* ---- checkpoints ---- */

static void
append_and_wait(char *with)
{
	struct err e;

	assert_return_code(append_with(PEER_executor, with, &e), 0);
	assert_return_code(loop_run(&e), 0);
}

static void
an_acknowledgement_carries_a_checkpoint_of_what_is_durable(void **unused)
{
	struct checkpoint c;
	char first[CHECKPOINT_TEXT];
	struct err e;

	(void)unused;
	append_and_wait(NULL);
	assert_return_code(checkpoint_verify(checkpoint, key_public(), &c, &e), 0);
	assert_int_equal(c.number, journal_durable());
	assert_memory_equal(c.seal, journal_end()->seal, HASH_BYTES);
	memcpy(first, checkpoint, sizeof first);
	append_and_wait(first);
	assert_string_not_equal(checkpoint, first);
	append_and_wait(first); /* an old one is held as well */
}

/* It was signed for another past of this log: nothing more is added. */
static void
a_log_that_lacks_what_it_signed_takes_no_events(void **unused)
{
	char text[CHECKPOINT_TEXT];
	uint64_t before;
	struct err e;

	(void)unused;
	append_and_wait(NULL);
	before = journal_last();
	may_end = true;
	ledger_sign(&(struct checkpoint){ .number = 1, .time_ms = 1 }, text);
	assert_int_equal(append_with(PEER_executor, text, &e), -1);
	assert_non_null(strstr(e.text, "record 1 of 2 "));
	assert_int_equal(ends, 1);
	ledger_sign(&(struct checkpoint){ .number = 7, .time_ms = 1 }, text);
	assert_int_equal(append_with(PEER_executor, text, &e), -1);
	assert_non_null(strstr(e.text, "ends at record 2, a checkpoint says 7"));
	assert_int_equal(ends, 2);
	assert_int_equal(journal_last(), before);
}

/* Whoever lies about it ends nobody else. */
static void
a_checkpoint_of_another_key_stops_only_its_sender(void **unused)
{
	uint8_t public[CHECKPOINT_PUBLIC], secret[CHECKPOINT_SECRET];
	char text[CHECKPOINT_TEXT];
	struct err e;

	(void)unused;
	crypto_sign_keypair(public, secret);
	checkpoint_sign(&(struct checkpoint){ .number = 7, .time_ms = 1 }, secret, text);
	assert_int_equal(append_with(PEER_executor, text, &e), -1);
	assert_non_null(strstr(e.text, "signed by another key says 7"));
	assert_int_equal(append(PEER_gateway, &e), 0);
	append_and_wait((char *)"no checkpoint");
}

/* It stands in the log then, and is not asked about again. */
static void
an_accepted_loss_is_recorded_once(void **unused)
{
	char text[CHECKPOINT_TEXT];

	(void)unused;
	ledger_sign(&(struct checkpoint){ .number = ACCEPTED, .time_ms = 5 }, text);
	append_and_wait(text);
	assert_int_equal(journal_durable(), 3); /* it started, it accepts, the event */
	append_and_wait(text);
	assert_int_equal(journal_durable(), 4);
}

/* ---- batches ---- */

static void
a_batch_that_is_not_whole_is_refused(void **unused)
{
	static const struct {
		const char *bytes, *says;
		size_t size;
	} rows[] = {
		{ "\0\0\0\0\x80", "byte 0 of 5", 5 },
		{ "\2\0\0\0\x80", "byte 0 of 5", 5 },
		{ "\xff\xff\xff\xff\x80", "byte 0 of 5", 5 },
		{ "\1\0\0\0\x80", "event 1: ", 5 },
		{ "\1\0\0\0\xc0", "event 1: ", 5 },
	};
	static struct call call = { .from = PEER_executor };
	struct err e;

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct audit_append batch = {
			.events = { (void *)(uintptr_t)rows[i].bytes, rows[i].size },
		};

		assert_int_equal(group_append(&call, &batch, &e), -1);
		assert_int_equal(e.code, ERR_invalid_argument);
		assert_non_null(strstr(e.text, rows[i].says));
	}
	assert_int_equal(journal_last(), 1);
}

int
main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(a_flood_leaves_room_to_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_used_up_disk_or_quota_is_named_and_got_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    an_acknowledgement_carries_a_checkpoint_of_what_is_durable, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_log_that_lacks_what_it_signed_takes_no_events, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_checkpoint_of_another_key_stops_only_its_sender, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    an_accepted_loss_is_recorded_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_batch_that_is_not_whole_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
