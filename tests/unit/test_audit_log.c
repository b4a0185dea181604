/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_audit_log.c - the file of the audit log: durable records survive, in order.
 *
 * A crash is simulated by killing a process while it writes.
 */
#include "tests/unit/ledger.h"

#include "auditd/journal.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int syncs;
static bool sync_fails;

int __wrap_fdatasync(int fd);
int __real_fdatasync(int fd);

int
__wrap_fdatasync(int fd)
{
	syncs++;
	if (!sync_fails)
		return __real_fdatasync(fd);
	errno = EIO;
	return -1;
}

/* ---- what is written ---- */

static void
numbers_have_no_gaps_over_restarts(void **unused)
{
	(void)unused;
	ledger_write(1, 5);
	ledger_reopen(5, 0);
	ledger_add(6);
	ledger_add(7);
	ledger_commit();
	ledger_reopen(7, 0);
}

static void
is_not_there_before_it_is_durable(void **unused)
{
	(void)unused;
	ledger_write(1, 2);
	ledger_add(3);
	assert_int_equal(journal_last(), 3);
	assert_int_equal(journal_durable(), 2);
	ledger_reopen(2, 0);
}

/* One killed between write and fdatasync leaves a record in memory; the next one's records claim
 * that it was durable. */
static void
is_durable_before_it_is_found(void **unused)
{
	struct blob all;
	uint64_t torn;
	struct err e;
	int before;

	(void)unused;
	ledger_write(1, 2);
	all = ledger_load();
	journal_close();
	ledger_store(all.data, all.size);
	before = syncs;
	ledger_reopen(2, 0);
	assert_true(syncs > before);
	journal_close();
	sync_fails = true;
	assert_int_equal(ledger_open(&torn, &e), -1);
	assert_int_equal(e.sys, EIO);
	sync_fails = false;
	ledger_reopen(2, 0);
	blob_clear(&all);
}

static void
undo_forgets_the_written_and_the_filled_part(void **unused)
{
	bool wrote;
	struct err e;
	struct blob before, after;

	(void)unused;
	ledger_write(1, 2);
	before = ledger_load();
	ledger_add(3);
	assert_return_code(journal_write(&wrote, &e), 0);
	ledger_add(4);
	assert_return_code(journal_undo(&e), 0);
	after = ledger_load();
	assert_int_equal(after.size, before.size);
	blob_clear(&before);
	blob_clear(&after);
	assert_int_equal(journal_last(), 2);
	assert_int_equal(journal_filled(), 0);
	ledger_write(3, 4);
	ledger_reopen(4, 0);
}

static void
what_fills_while_it_writes_comes_next(void **unused)
{
	bool wrote;
	struct err e;

	(void)unused;
	ledger_add(1);
	assert_return_code(journal_write(&wrote, &e), 0);
	ledger_add(2);
	journal_settle();
	assert_int_equal(journal_durable(), 1);
	ledger_commit();
	ledger_reopen(2, 0);
}

static void
room_made_ahead_is_no_torn_tail(void **unused)
{
	struct blob part;
	struct stat before, after;
	auto_fd int killed = -1;

	(void)unused;
	ledger_write(1, 2);
	part = ledger_load();
	assert_return_code(fstatat(ledger_directory, "audit.log", &before, 0), 0);
	assert_true((size_t)before.st_size > part.size);
	ledger_write(3, 3);
	assert_return_code(fstatat(ledger_directory, "audit.log", &after, 0), 0);
	assert_int_equal(before.st_size, after.st_size);
	blob_clear(&part);
	part = ledger_load();
	ledger_reopen(3, 0); /* cuts it off */
	assert_return_code(fstatat(ledger_directory, "audit.log", &after, 0), 0);
	assert_int_equal(after.st_size, part.size);

	/* As kill -9 leaves it. */
	killed = openat(ledger_directory, "audit.log", O_WRONLY | O_CLOEXEC);
	assert_return_code(ftruncate(killed, before.st_size), 0);
	ledger_reopen(3, 0);
	assert_int_equal(faccessat(ledger_directory, "audit.torn", F_OK, 0), -1);
	ledger_write(4, 4);
	ledger_reopen(4, 0);
	blob_clear(&part);
}

static void
any_record_can_be_read(void **unused)
{
	(void)unused;
	for (uint64_t n = 1; n <= 3 * JOURNAL_STEP + 1; n++)
		ledger_add(n);
	ledger_commit();
	for (int again = 0; again < 2; again++) {
		for (uint64_t n = 1; n <= 3 * JOURNAL_STEP + 1; n++) {
			size_t size;
			struct err e;
			const uint8_t *run = journal_read(n, &size, &e);
			struct chain_link link;

			assert_non_null(run);
			assert_true(chain_parse(run, size, &link) > 0);
			assert_int_equal((link.number - 1) % JOURNAL_STEP, 0);
			assert_in_range(n, link.number, link.number + JOURNAL_STEP - 1);
		}
		ledger_reopen(3 * JOURNAL_STEP + 1, 0);
	}
}

static void
has_one_writer(void **unused)
{
	uint64_t torn;
	struct err e;
	int status;
	pid_t pid = fork();

	(void)unused;
	if (pid == 0)
		_exit(ledger_open(&torn, &e) < 0 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- crashes ---- */

/* Groups of records; says the last number of each once it is durable. */
static void
write_until_killed(int to)
{
	struct err e;
	bool wrote;

	for (uint64_t n = 1;;) {
		for (int i = 0; i < 20; i++, n++)
			if (journal_add("a record of some length, to be torn", 35, &e) != n)
				_exit(1);
		if (journal_write(&wrote, &e) < 0)
			_exit(2);
		journal_settle();

		uint64_t durable = journal_durable();

		if (write(to, &durable, sizeof(durable)) != sizeof(durable))
			_exit(3);
	}
}

static void
nothing_durable_is_lost_by_kill_9(void **unused)
{
	(void)unused;
	for (int life = 0; life < 20; life++) {
		uint64_t said = 0, torn;
		int link[2], status;
		struct err e;

		journal_close();
		unlinkat(ledger_directory, "audit.log", 0);
		assert_return_code(ledger_open(&torn, &e), 0);
		assert_return_code(pipe(link), 0);

		pid_t pid = fork();

		if (pid == 0)
			write_until_killed(link[1]);
		close(link[1]);
		for (int i = 0; i < 3 + life; i++)
			assert_int_equal(read(link[0], &said, sizeof(said)), sizeof(said));
		kill(pid, SIGKILL);
		while (read(link[0], &said, sizeof(said)) == sizeof(said)) {
		}
		close(link[0]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		journal_close();
		assert_return_code(ledger_open(&torn, &e), 0);
		assert_true(journal_durable() >= said);
	}
}

/* What is in a file without a name ends with who writes it; what is sent again stands in a new one.
 */
static void
a_file_that_was_removed_takes_nothing(void **unused)
{
	bool wrote;
	uint64_t torn;
	struct err e;

	(void)unused;
	ledger_write(1, 2);
	assert_return_code(unlinkat(ledger_directory, "audit.log", 0), errno);
	ledger_add(3);
	assert_int_equal(journal_write(&wrote, &e), -1);
	assert_true(wrote); /* so that who writes ends, and starts again */
	assert_non_null(strstr(e.text, "removed audit.log"));
	journal_settle();
	assert_int_equal(journal_durable(), 2);
	journal_close();
	assert_return_code(ledger_open(&torn, &e), 0);
	assert_int_equal(journal_durable(), 0);
	ledger_write(1, 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, ledger_set_up, ledger_tear_down)

int
main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(numbers_have_no_gaps_over_restarts),
		CASE(is_not_there_before_it_is_durable),
		CASE(is_durable_before_it_is_found),
		CASE(undo_forgets_the_written_and_the_filled_part),
		CASE(what_fills_while_it_writes_comes_next),
		CASE(room_made_ahead_is_no_torn_tail),
		CASE(any_record_can_be_read),
		CASE(has_one_writer),
		CASE(a_file_that_was_removed_takes_nothing),
		CASE(nothing_durable_is_lost_by_kill_9),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
