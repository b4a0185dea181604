/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_spool.c - the spool against an auditd of our own: acknowledged or sent again, never lost.
 *
 * bus_ask() is replaced; the files, the loop and the processes that are killed are real.
 */
#include "common/journal/spool.h"

#include "common/auto.h"
#include "common/bus.h"
#include "common/loop.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

enum {
	LIMIT = 8 << 20,
	MANY = 6000,
	UID = 40,
};

/* ---- an auditd ---- */

static struct {
	bool away;     /* answers unavailable */
	bool silent;   /* does not answer at all */
	uint64_t asks; /* also the last id */
	char got[MANY + 64][UID];
	size_t count;
	size_t largest; /* batch */
	void (*done)(void *self, void *reply, const struct err *e);
	void *self;
} auditd;

static void
answer(void *unused)
{
	struct audit_mark mark = { .sequence = 1 };
	struct err e;

	(void)unused;
	if (auditd.silent)
		return;
	err_set(&e, ERR_unavailable, "away");
	auditd.done(auditd.self, auditd.away ? NULL : &mark, &e);
}

uint64_t
bus_ask(const struct ask *ask, struct err *e)
{
	const struct audit_append *batch = ask->request;

	(void)e;
	assert_int_equal(ask->to, PEER_auditd);
	assert_int_equal(ask->message, MSG_audit_append);
	assert_true(ask->timeout_ms > 0);
	assert_in_range(batch->events.count, 1, 1000);
	if (batch->events.count > auditd.largest)
		auditd.largest = batch->events.count;
	for (size_t i = 0; !auditd.away && !auditd.silent && i < batch->events.count; i++) {
		assert_true(auditd.count < COUNT(auditd.got));
		assert_true(batch->events.items[i].time_ms > 0);
		snprintf(auditd.got[auditd.count++], UID, "%s", batch->events.items[i].uid);
	}
	auditd.done = ask->done;
	auditd.self = ask->self;
	loop_after(0, answer, NULL);
	return ++auditd.asks;
}

void
bus_cancel(uint64_t id)
{
	(void)id;
}

/* ---- helpers ---- */

static char folder[] = "/tmp/test-spool-XXXXXX";
static int state = -1;

static void
stop(void *unused)
{
	(void)unused;
	loop_stop();
}

static void
turn(int64_t ms)
{
	struct err e;

	loop_after(ms, stop, NULL);
	assert_int_equal(loop_run(&e), 0);
}

/* Until nothing waits. */
static void
drain(void)
{
	for (int i = 0; spool_waiting() > 0 && i < 500; i++)
		turn(20);
	assert_int_equal(spool_waiting(), 0);
}

static void
open_spool(uint64_t limit)
{
	struct err e;

	assert_return_code(spool_open(state, limit, &e), 0);
}

static int
record_as(enum event what, const char *detail, char uid[UID], struct err *e)
{
	struct audit_event event = { .event = (int)what, .detail = (char *)detail };
	int status = spool_record(&event, e);

	if (uid != NULL && event.uid != NULL)
		snprintf(uid, UID, "%s", event.uid);
	free(event.uid);
	return status;
}

static int
record(const char *detail, char uid[UID], struct err *e)
{
	return record_as(event_execution_started, detail, uid, e);
}

static void
record_all(char uids[][UID], size_t count, const char *detail)
{
	struct err e;

	for (size_t i = 0; i < count; i++)
		assert_return_code(record(detail, uids[i], &e), 0);
}

static void
assert_got(char uids[][UID], size_t count)
{
	assert_int_equal(auditd.count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(auditd.got[i], uids[i]);
}

static off_t
size_of(const char *name)
{
	struct stat st;

	return fstatat(state, name, &st, 0) < 0 ? -1 : st.st_size;
}

static int
set_up(void **unused)
{
	struct err e;

	(void)unused;
	memset(&auditd, 0, sizeof(auditd));
	snprintf(folder, sizeof(folder), "/tmp/test-spool-XXXXXX");
	assert_non_null(mkdtemp(folder));
	state = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(loop_open(&e), 0);
	return 0;
}

static int
tear_down(void **unused)
{
	(void)unused;
	spool_close();
	loop_close();
	for (const char *const *name = (const char *const[]){ "spool.0", "spool.1", "spool.0.torn",
		 "spool.1.torn", NULL };
	     *name != NULL; name++)
		unlinkat(state, *name, 0);
	close(state);
	return rmdir(folder);
}

/* ---- cases ---- */

static void
sends_in_order_and_gives_the_disk_back(void **unused)
{
	char uids[10][UID];

	(void)unused;
	open_spool(LIMIT);
	record_all(uids, 10, NULL);
	assert_int_equal(spool_waiting(), 10);
	assert_true(size_of("spool.0") > 0);
	drain();
	assert_got(uids, 10);
	assert_int_equal(auditd.asks, 1);
	assert_int_equal(size_of("spool.0"), 0);
}

static void
keeps_what_is_given(void **unused)
{
	struct audit_event event = {
		.uid = (char[]){ "mine" }, .time_ms = 77, .event = event_session_created
	};
	struct err e;

	(void)unused;
	open_spool(LIMIT);
	assert_return_code(spool_record(&event, &e), 0);
	assert_string_equal(event.uid, "mine");
	assert_int_equal(event.time_ms, 77);
	drain();
	assert_string_equal(auditd.got[0], "mine");
}

static void
refuses_what_the_schema_refuses(void **unused)
{
	static char detail[1024];
	struct err e;

	(void)unused;
	memset(detail, 'x', sizeof(detail) - 1);
	open_spool(LIMIT);
	assert_int_equal(record(detail, NULL, &e), -1);
	assert_non_null(strstr(e.text, "detail"));
	assert_int_equal(spool_waiting(), 0);
}

static void
sends_again_while_auditd_is_away(void **unused)
{
	char uids[20][UID];

	(void)unused;
	open_spool(LIMIT);
	auditd.away = true;
	record_all(uids, 10, NULL);
	turn(400);
	assert_in_range(auditd.asks, 2, 6); /* again, but with patience */
	record_all(uids + 10, 10, NULL);
	assert_int_equal(spool_waiting(), 20);
	auditd.away = false;
	drain();
	assert_got(uids, 20);
}

static void
replays_after_a_restart(void **unused)
{
	char uids[12][UID];

	(void)unused;
	auditd.silent = true;
	open_spool(LIMIT);
	record_all(uids, 12, NULL);
	turn(50);
	spool_close();
	auditd.silent = false;
	open_spool(LIMIT);
	assert_int_equal(spool_waiting(), 12);
	drain();
	assert_got(uids, 12);
	spool_close();
	open_spool(LIMIT);
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
	auditd.away = true;
	open_spool(LIMIT);
	record_all(uids, MANY / 2, detail);
	assert_true(size_of("spool.0") >= 1 << 20);
	assert_true(size_of("spool.1") > 0);
	turn(50);
	spool_close();
	open_spool(LIMIT);
	record_all(uids + MANY / 2, MANY / 2, detail);
	auditd.away = false;
	drain();
	assert_got(uids, MANY);
	assert_in_range(auditd.largest, 2, 256);
	assert_int_equal(size_of("spool.0") + size_of("spool.1"), 0);
}

static void
refuses_beyond_the_bound_and_recovers(void **unused)
{
	static char uids[MANY][UID];
	size_t count = 0;
	struct err e;

	(void)unused;
	auditd.away = true;
	open_spool(65536);
	while (count < MANY && record(NULL, uids[count], &e) == 0)
		count++;
	assert_in_range(count, 100, 1000);
	assert_int_equal(e.code, ERR_unavailable);
	assert_non_null(strstr(e.text, "spool is full"));
	assert_true(size_of("spool.0") <= 65536);
	auditd.away = false;
	drain();
	assert_got(uids, count);
	assert_return_code(record(NULL, NULL, &e), 0);
}

/* Otherwise a program that had been let run could be answered without the record of its end. */
static void
what_ends_finds_room_where_nothing_may_begin(void **unused)
{
	static char uids[MANY][UID];
	size_t begun = 0, all;
	struct err e;

	(void)unused;
	auditd.away = true;
	open_spool(65536);
	while (begun < MANY && record(NULL, uids[begun], &e) == 0)
		begun++;
	assert_int_equal(e.code, ERR_unavailable);
	for (all = begun; all < begun + 64; all++)
		assert_return_code(record_as(event_execution_completed, NULL, uids[all], &e), 0);
	assert_int_equal(record(NULL, NULL, &e), -1);
	while (all < MANY && record_as(event_execution_completed, NULL, uids[all], &e) == 0)
		all++;
	assert_true(size_of("spool.0") <= 65536);
	auditd.away = false;
	drain();
	assert_got(uids, all);
}

static void
cuts_a_torn_tail(void **unused)
{
	char uids[5][UID];
	auto_fd int fd = -1;

	(void)unused;
	auditd.silent = true;
	open_spool(LIMIT);
	record_all(uids, 5, "torn");
	spool_close();
	fd = openat(state, "spool.0", O_RDWR | O_CLOEXEC);

	off_t whole = size_of("spool.0");

	/* The last record loses a few bytes, as a kill in the middle of write(2) leaves it. */
	assert_return_code(ftruncate(fd, whole - 7), 0);
	auditd.silent = false;
	open_spool(LIMIT);
	assert_int_equal(spool_waiting(), 4);
	assert_true(size_of("spool.0.torn") > 0);
	drain();
	assert_got(uids, 4);
}

static void
sends_nothing_from_behind_damage(void **unused)
{
	char uids[5][UID], byte;
	auto_fd int fd = -1;

	(void)unused;
	auditd.silent = true;
	open_spool(LIMIT);
	record_all(uids, 5, "damaged");
	spool_close();
	fd = openat(state, "spool.0", O_RDWR | O_CLOEXEC);

	off_t third = size_of("spool.0") / 5 * 2 + 100;

	assert_int_equal(pread(fd, &byte, 1, third), 1);
	byte ^= 4;
	assert_int_equal(pwrite(fd, &byte, 1, third), 1);
	auditd.silent = false;
	open_spool(LIMIT);
	drain();
	assert_got(uids, 2);
	/* What could not be trusted is kept for whoever wants to look. */
	assert_int_equal(size_of("spool.0.torn"), size_of("spool.0.torn") / 3 * 3);
	assert_true(size_of("spool.0.torn") > 0);
}

static void
shorten(const char *name, off_t bytes)
{
	auto_fd int fd = openat(state, name, O_RDWR | O_CLOEXEC);

	assert_return_code(ftruncate(fd, size_of(name) - bytes), 0);
}

static void
keeps_what_is_torn_of_either_file(void **unused)
{
	static char uids[MANY][UID];
	char detail[401] = { 0 };

	(void)unused;
	memset(detail, 'd', sizeof(detail) - 1);
	auditd.away = true;
	open_spool(LIMIT);
	record_all(uids, MANY / 2, detail);
	spool_close();
	shorten("spool.0", 7);
	shorten("spool.1", 9);
	open_spool(LIMIT);
	assert_int_equal(spool_waiting(), MANY / 2 - 2);
	assert_true(size_of("spool.0.torn") > 0);
	assert_int_equal(size_of("spool.0.torn") - size_of("spool.1.torn"), 2);
}

static void
has_one_owner(void **unused)
{
	struct err e;
	pid_t pid;
	int status;

	(void)unused;
	open_spool(LIMIT);
	pid = fork();
	if (pid == 0) {
		spool_close(); /* of this process only */
		_exit(spool_open(state, LIMIT, &e) < 0 && e.code == ERR_unavailable ? 0 : 1);
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
	auditd.silent = true;
	if (spool_open(state, LIMIT, &e) < 0)
		_exit(1);
	while (record("written before it is said", uid, &e) == 0)
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
	open_spool(LIMIT);
	drain();
	assert_true(auditd.count >= count);
	for (size_t i = 0; i < auditd.count && at < count; i++)
		at += strcmp(auditd.got[i], said[at]) == 0;
	assert_int_equal(at, count);
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest cases[] = {
		CASE(sends_in_order_and_gives_the_disk_back),
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
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
