/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_spool.c - the spool with an auditd of the test: events are acknowledged or sent again,
 * never lost.
 *
 * The files, the loop and the killed processes are real.
 */
#include "common/journal/spool.h"

#include "tests/unit/spooled.h"

#include "common/base/auto.h"
#include "common/crypto/checkpoint.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static void
sends_in_order_and_gives_the_disk_back(void **unused)
{
	char uids[10][UID];

	(void)unused;
	spooled_open(LIMIT);
	spooled_record_all(uids, 10, NULL);
	assert_int_equal(spool_waiting(), 10);
	assert_true(spooled_size("spool.0") > 0);
	spooled_drain();
	spooled_expect(uids, 10);
	assert_int_equal(spooled_auditd.asks, 1);
	spool_close();
	assert_int_equal(spooled_size("spool.0"), 0);
}

/* The records of a call go behind those of the last, until a second has gone by or enough is there.
 */
static void
a_short_file_is_emptied_at_rest(void **unused)
{
	char uids[30][UID];
	off_t first;

	(void)unused;
	spooled_open(LIMIT);
	spooled_record_all(uids, 10, NULL);
	spooled_drain();
	first = spooled_size("spool.0");
	assert_true(first > 0);
	spooled_record_all(uids + 10, 10, NULL);
	spooled_drain();
	assert_int_equal(spooled_size("spool.0"), 2 * first);
	spooled_turn(1300);
	assert_int_equal(spooled_size("spool.0"), 0);
	spooled_record_all(uids + 20, 10, NULL);
	spooled_drain();
	assert_int_equal(spooled_size("spool.0"), first);
	spooled_expect(uids, 30);
}

static void
a_longer_file_is_emptied_at_once(void **unused)
{
	static char uids[MANY][UID];
	char detail[401] = { 0 };

	(void)unused;
	memset(detail, 'd', sizeof(detail) - 1);
	spooled_open(LIMIT);
	spooled_record_all(uids, 30, detail);
	assert_true(spooled_size("spool.0") > 16 << 10);
	spooled_drain();
	assert_int_equal(spooled_size("spool.0"), 0);
}

/* At rest there is something to send: it stays, and is sent. */
static void
rest_leaves_what_waits(void **unused)
{
	char uids[20][UID];

	(void)unused;
	spooled_open(LIMIT);
	spooled_record_all(uids, 10, NULL);
	spooled_drain();
	spooled_auditd.away = true;
	spooled_record_all(uids + 10, 10, NULL);
	spooled_turn(1300);
	assert_int_equal(spool_waiting(), 10);
	spooled_auditd.away = false;
	spooled_drain();
	spooled_expect(uids, 20);
	spooled_turn(1300);
	assert_int_equal(spooled_size("spool.0"), 0);
}

static void
keeps_what_is_given(void **unused)
{
	struct audit_event event = {
		.uid = (char[]){ "mine" }, .time_ms = 77, .event = event_session_created
	};
	struct err e;

	(void)unused;
	spooled_open(LIMIT);
	assert_return_code(spool_record(&event, &e), 0);
	assert_string_equal(event.uid, "mine");
	assert_int_equal(event.time_ms, 77);
	spooled_drain();
	assert_string_equal(spooled_auditd.got[0], "mine");
}

static void
refuses_what_the_schema_refuses(void **unused)
{
	static char detail[1024];
	struct err e;

	(void)unused;
	memset(detail, 'x', sizeof(detail) - 1);
	spooled_open(LIMIT);
	assert_int_equal(spooled_record(detail, NULL, &e), -1);
	assert_non_null(strstr(e.text, "detail"));
	assert_int_equal(spool_waiting(), 0);
}

static void
sends_again_while_auditd_is_away(void **unused)
{
	char uids[20][UID];

	(void)unused;
	spooled_open(LIMIT);
	spooled_auditd.away = true;
	spooled_record_all(uids, 10, NULL);
	spooled_turn(400);
	assert_in_range(spooled_auditd.asks, 2, 6); /* again, but with patience */
	spooled_record_all(uids + 10, 10, NULL);
	assert_int_equal(spool_waiting(), 20);
	spooled_auditd.away = false;
	spooled_drain();
	spooled_expect(uids, 20);
}

static void
replays_after_a_restart(void **unused)
{
	char uids[12][UID];

	(void)unused;
	spooled_auditd.silent = true;
	spooled_open(LIMIT);
	spooled_record_all(uids, 12, NULL);
	spooled_turn(50);
	spool_close();
	spooled_auditd.silent = false;
	spooled_open(LIMIT);
	assert_int_equal(spool_waiting(), 12);
	spooled_drain();
	spooled_expect(uids, 12);
	spool_close();
	spooled_open(LIMIT);
	assert_int_equal(spool_waiting(), 0);
}

/* More than one file holds, in batches, with a restart in between: each once, in order. */
static void
files_take_turns(void **unused)
{
	static char uids[MANY][UID];
	char detail[401] = { 0 };

	(void)unused;
	memset(detail, 'd', sizeof(detail) - 1);
	spooled_auditd.away = true;
	spooled_open(LIMIT);
	spooled_record_all(uids, MANY / 2, detail);
	assert_true(spooled_size("spool.0") >= 1 << 20);
	assert_true(spooled_size("spool.1") > 0);
	spooled_turn(50);
	spool_close();
	spooled_open(LIMIT);
	spooled_record_all(uids + MANY / 2, MANY / 2, detail);
	spooled_auditd.away = false;
	spooled_drain();
	spooled_expect(uids, MANY);
	assert_in_range(spooled_auditd.largest, 2, 256);
	spool_close();
	assert_int_equal(spooled_size("spool.0") + spooled_size("spool.1"), 0);
}

static void
refuses_beyond_the_bound_and_recovers(void **unused)
{
	static char uids[MANY][UID];
	size_t count = 0;
	struct err e;

	(void)unused;
	spooled_auditd.away = true;
	spooled_open(65536);
	while (count < MANY && spooled_record(NULL, uids[count], &e) == 0)
		count++;
	assert_in_range(count, 100, 1000);
	assert_int_equal(e.code, ERR_unavailable);
	assert_non_null(strstr(e.text, "spool is full"));
	assert_true(spooled_size("spool.0") <= 65536);
	spooled_auditd.away = false;
	spooled_drain();
	spooled_expect(uids, count);
	assert_return_code(spooled_record(NULL, NULL, &e), 0);
}

/* Otherwise a program that had been let run could be answered without the record of its end. */
static void
what_ends_finds_room_where_nothing_may_begin(void **unused)
{
	static char uids[MANY][UID];
	size_t begun = 0, all;
	struct err e;

	(void)unused;
	spooled_auditd.away = true;
	spooled_open(65536);
	while (begun < MANY && spooled_record(NULL, uids[begun], &e) == 0)
		begun++;
	assert_int_equal(e.code, ERR_unavailable);
	for (all = begun; all < begun + 64; all++)
		assert_return_code(
		    spooled_record_as(event_execution_completed, NULL, uids[all], &e), 0);
	assert_int_equal(spooled_record(NULL, NULL, &e), -1);
	while (all < MANY && spooled_record_as(event_execution_completed, NULL, uids[all], &e) == 0)
		all++;
	assert_true(spooled_size("spool.0") <= 65536);
	spooled_auditd.away = false;
	spooled_drain();
	spooled_expect(uids, all);
}

static void
cuts_a_torn_tail(void **unused)
{
	char uids[5][UID];
	auto_fd int fd = -1;

	(void)unused;
	spooled_auditd.silent = true;
	spooled_open(LIMIT);
	spooled_record_all(uids, 5, "torn");
	spool_close();
	fd = openat(spooled_state, "spool.0", O_RDWR | O_CLOEXEC);

	off_t whole = spooled_size("spool.0");

	/* The last record loses a few bytes, as a kill in the middle of write(2) leaves it. */
	assert_return_code(ftruncate(fd, whole - 7), 0);
	spooled_auditd.silent = false;
	spooled_open(LIMIT);
	assert_int_equal(spool_waiting(), 4);
	assert_true(spooled_size("spool.0.torn") > 0);
	spooled_drain();
	spooled_expect(uids, 4);
}

static void
sends_nothing_from_behind_damage(void **unused)
{
	char uids[5][UID], byte;
	auto_fd int fd = -1;

	(void)unused;
	spooled_auditd.silent = true;
	spooled_open(LIMIT);
	spooled_record_all(uids, 5, "damaged");
	spool_close();
	fd = openat(spooled_state, "spool.0", O_RDWR | O_CLOEXEC);

	off_t each = spooled_size("spool.0") / 5, third = each * 2 + 100;

	assert_int_equal(pread(fd, &byte, 1, third), 1);
	byte ^= 4;
	assert_int_equal(pwrite(fd, &byte, 1, third), 1);
	spooled_auditd.silent = false;
	spooled_open(LIMIT);
	spooled_drain();
	spooled_expect(uids, 2);
	/* What could not be trusted is kept for whoever wants to look. */
	/* Zeros at its end, where the last seal has some, do not count. */
	assert_in_range(spooled_size("spool.0.torn"), each * 3 - 4, each * 3);
}

static void
shorten(const char *name, off_t bytes)
{
	auto_fd int fd = openat(spooled_state, name, O_RDWR | O_CLOEXEC);

	assert_return_code(ftruncate(fd, spooled_size(name) - bytes), 0);
}

static void
keeps_what_is_torn_of_either_file(void **unused)
{
	static char uids[MANY][UID];
	char detail[401] = { 0 };

	(void)unused;
	memset(detail, 'd', sizeof(detail) - 1);
	spooled_auditd.away = true;
	spooled_open(LIMIT);
	spooled_record_all(uids, MANY / 2, detail);
	spool_close();
	/* By more than the seal, which may end with zeros, as room made ahead does. */
	shorten("spool.0", 39);
	shorten("spool.1", 41);
	spooled_open(LIMIT);
	assert_int_equal(spool_waiting(), MANY / 2 - 2);
	assert_true(spooled_size("spool.0.torn") > 0);
	assert_int_equal(spooled_size("spool.0.torn") - spooled_size("spool.1.torn"), 2);
}

static void
has_one_owner(void **unused)
{
	struct err e;
	pid_t pid;
	int status;

	(void)unused;
	spooled_open(LIMIT);
	pid = fork();
	if (pid == 0) {
		spool_close(); /* of this process only */
		_exit(
		    spool_open(spooled_state, LIMIT, &e) < 0 && e.code == ERR_unavailable ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* The lock belongs to the open file, which the parent still has. */
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Records as fast as it can, and says each uid once spool_record() has returned. */
static void
record_until_killed(int to)
{
	char uid[UID];
	struct err e;

	signal(SIGPIPE, SIG_DFL);
	spooled_auditd.silent = true;
	if (spool_open(spooled_state, LIMIT, &e) < 0)
		_exit(1);
	while (spooled_record("written before it is said", uid, &e) == 0)
		if (write(to, uid, 36) != 36)
			_exit(1);
	_exit(2);
}

static void
survives_kill_9(void **unused)
{
	static char said[MANY][UID];
	size_t count = 0, at = 0;
	int link[2], status;

	(void)unused;
	assert_return_code(pipe(link), 0);

	pid_t pid = fork();

	if (pid == 0)
		record_until_killed(link[1]);
	close(link[1]);
	while (count < 500 && read(link[0], said[count], 36) == 36)
		count++;
	kill(pid, SIGKILL);
	while (count < MANY && read(link[0], said[count], 36) == 36)
		count++;
	close(link[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	spooled_open(LIMIT);
	spooled_drain();
	assert_true(spooled_auditd.count >= count);
	for (size_t i = 0; i < spooled_auditd.count && at < count; i++)
		at += strcmp(spooled_auditd.got[i], said[at]) == 0;
	assert_int_equal(at, count);
}

/* ---- checkpoints ---- */

/* What auditd says last goes back to it with the next events, also in the next life. */
static void
keeps_the_newest_checkpoint(void **unused)
{
	static const uint8_t secret[CHECKPOINT_SECRET];
	char text[2][CHECKPOINT_TEXT];
	struct err e;

	(void)unused;
	checkpoint_sign(&(struct checkpoint){ .number = 12345, .time_ms = 1 }, secret, text[0]);
	checkpoint_sign(&(struct checkpoint){ .number = 9, .time_ms = 1 }, secret, text[1]);
	assert_int_equal(strlen(text[0]), strlen(text[1]) + 4);
	spooled_open(LIMIT);
	assert_string_equal(spool_checkpoint(), "");
	for (int i = 0; i < 2; i++) {
		spooled_auditd.checkpoint = text[i];
		assert_return_code(spooled_record("x", NULL, &e), 0);
		spooled_drain();
		assert_string_equal(spooled_auditd.sent, i == 0 ? "" : text[0]);
		assert_string_equal(spool_checkpoint(), text[i]);
		assert_int_equal(spooled_size(SPOOL_CHECKPOINT), strlen(text[i]));
	}
	spool_close();
	spooled_open(LIMIT);
	assert_string_equal(spool_checkpoint(), text[1]);
	assert_return_code(spooled_record("x", NULL, &e), 0);
	spooled_drain();
	assert_string_equal(spooled_auditd.sent, text[1]);
}

/* As a power loss may leave it: it says nothing, and that is no reason not to start. */
static void
a_torn_checkpoint_is_none(void **unused)
{
	auto_fd int fd =
	    openat(spooled_state, SPOOL_CHECKPOINT, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	static const char zeros[300];
	struct err e;

	(void)unused;
	assert_int_equal(write(fd, zeros, sizeof zeros), sizeof zeros);
	assert_int_equal(write(fd, "half", 4), 4);
	spooled_open(LIMIT);
	assert_string_equal(spool_checkpoint(), "");
	assert_return_code(spooled_record("x", NULL, &e), 0);
	spooled_drain();
	assert_string_equal(spooled_auditd.sent, "");
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, spooled_set_up, spooled_tear_down)
	const struct CMUnitTest cases[] = {
		CASE(sends_in_order_and_gives_the_disk_back),
		CASE(a_short_file_is_emptied_at_rest),
		CASE(a_longer_file_is_emptied_at_once),
		CASE(rest_leaves_what_waits),
		CASE(keeps_what_is_given),
		CASE(refuses_what_the_schema_refuses),
		CASE(sends_again_while_auditd_is_away),
		CASE(replays_after_a_restart),
		CASE(files_take_turns),
		CASE(refuses_beyond_the_bound_and_recovers),
		CASE(what_ends_finds_room_where_nothing_may_begin),
		CASE(cuts_a_torn_tail),
		CASE(sends_nothing_from_behind_damage),
		CASE(keeps_what_is_torn_of_either_file),
		CASE(has_one_owner),
		CASE(survives_kill_9),
		CASE(keeps_the_newest_checkpoint),
		CASE(a_torn_checkpoint_is_none),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
