/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_audit_rotate.c - the log over several segments: none of its records is lost when one is
 * closed, begun or removed.
 *
 * A crash is simulated by ending a process at each of its calls that change a file.
 */
#include "tests/unit/ledger.h"
#include "tests/unit/segmented.h"

#include "auditd/journal.h"
#include "auditd/key.h"
#include "auditd/logfile.h"
#include "auditd/options.h"
#include "auditd/rotate.h"
#include "auditd/segments.h"
#include "auditd/verify.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { KILLED = 9 };

/* ---- calls that change a file ---- */

static int step, killed_at = -1;
static size_t written; /* of what the killed call would write, in eighths */
static bool no_next;

static void
die(void)
{
	if (++step == killed_at)
		_exit(KILLED);
}

#define WRAP(type, name, parameters, arguments) \
	type __wrap_##name parameters; \
	type __real_##name parameters; \
	type __wrap_##name parameters \
	{ \
		die(); \
		return __real_##name arguments; \
	}

WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, ftruncate, (int fd, off_t size), (fd, size))
WRAP(int, unlinkat, (int dir, const char *name, int flags), (dir, name, flags))
WRAP(
    int, renameat, (int from, const char *name, int to, const char *other), (from, name, to, other))

ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t at);
ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t at);
int __wrap_openat(int dir, const char *path, int flags, ...);
int __real_openat(int dir, const char *path, int flags, ...);

ssize_t
__wrap_pwrite(int fd, const void *data, size_t size, off_t at)
{
	if (step + 1 == killed_at)
		__real_pwrite(fd, data, size * written / 8, at);
	die();
	return __real_pwrite(fd, data, size, at);
}

int
__wrap_openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = (flags & O_CREAT) != 0 ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (no_next && strcmp(path, "audit.next") == 0) {
		errno = ENOSPC;
		return -1;
	}
	if ((flags & O_CREAT) != 0)
		die();
	return __real_openat(dir, path, flags, mode);
}

/* ---- closing ---- */

static void
a_full_segment_is_closed_and_the_chain_goes_on(void **unused)
{
	(void)unused;
	segmented_write_records(RECORDS);
	assert_true(segments_count() > 2);

	uint64_t last = journal_durable();

	for (int again = 0; again < 2; again++) {
		for (uint64_t n = 1; n <= last; n++)
			segmented_is_event(n, event_daemon_started);
		assert_int_equal(segmented_verify_all(), VERDICT_WHOLE);
		assert_int_equal(segmented_verify_since("audit.log", NULL), VERDICT_WHOLE);
		ledger_reopen(last, 0);
	}
}

static void
assert_states(uint64_t number, enum event event)
{
	struct audit_entry entry;
	struct checkpoint c;
	struct err e;
	uint8_t seal[HASH_BYTES];

	segmented_read_entry(number, &entry);
	assert_int_equal(entry.event->event, event);
	assert_return_code(checkpoint_verify(entry.event->detail, key_public(), &c, &e), 0);
	message_clear(MSG_audit_entry, &entry);
	assert_int_equal(c.number, number - 1);
	assert_return_code(journal_seal(number - 1, seal, &e), 0);
	assert_memory_equal(c.seal, seal, HASH_BYTES);
}

static void
a_segment_ends_and_begins_with_a_signed_statement(void **unused)
{
	char name[LOGFILE_NAME], text[CHECKPOINT_TEXT];
	const struct segment *s;

	(void)unused;
	segmented_write_records(RECORDS);
	for (size_t i = 0; (s = segments_at(i)) != NULL; i++) {
		assert_states(s->last, event_audit_segment_closed);
		assert_states(s->last + 1, event_audit_segment_opened);
	}
	logfile_name(segments_at(1)->first, name);
	segmented_sign(segments_at(1)->last, text);
	assert_int_equal(segmented_verify_since(name, text), VERDICT_WHOLE); /* by itself */
}

static void
days_close_a_segment_too(void **unused)
{
	(void)unused;
	options.segment_bytes = 0;
	options.segment_days = 2;
	segmented_write_records(RECORDS);
	segmented_later_ms = DAY_MS;
	segmented_write_records(1);
	assert_int_equal(segments_count(), 0);
	segmented_later_ms = (uint64_t)2 * DAY_MS;
	segmented_write_records(1);
	assert_int_equal(segments_count(), 1);
	segmented_write_records(1);
	segmented_later_ms = (uint64_t)3 * DAY_MS;
	ledger_reopen(journal_durable(), 0);
	segmented_write_records(1);
	assert_int_equal(segments_count(), 1);
}

/* As a version without segments left it. */
static void
an_old_log_is_the_first_segment(void **unused)
{
	struct blob before, after;
	struct stat was, is;
	char name[LOGFILE_NAME];

	(void)unused;
	options.segment_bytes = 0;
	segmented_write_records(RECORDS);
	before = ledger_load();
	assert_return_code(fstatat(ledger_directory, "audit.log", &was, 0), errno);
	ledger_reopen(RECORDS, 0);
	options.segment_bytes = SEGMENT;
	segmented_write_records(1);
	assert_int_equal(segments_count(), 1);
	logfile_name(1, name);
	assert_return_code(fstatat(ledger_directory, name, &is, 0), errno);
	assert_int_equal(was.st_ino, is.st_ino);
	after = blob_copy(before.data, before.size);

	auto_fd int fd = openat(ledger_directory, name, O_RDONLY | O_CLOEXEC);

	assert_int_equal(read(fd, after.data, after.size), after.size);
	assert_memory_equal(before.data, after.data, after.size);
	blob_clear(&before);
	blob_clear(&after);
	assert_int_equal(segmented_verify_all(), VERDICT_WHOLE);
}

/* It is closed once, when there is room for the next one. */
static void
a_full_disk_puts_it_off(void **unused)
{
	struct err e;
	uint64_t closed = 0;

	(void)unused;
	while (!journal_can_cut() || journal_size() < SEGMENT)
		segmented_write_records(1);
	no_next = true;
	for (int i = 0; i < 3; i++) {
		segmented_record();
		assert_int_equal(segmented_commit(&e), -1);
		assert_int_equal(e.sys, ENOSPC);
		journal_settle();
		assert_return_code(journal_undo(&e), 0);
		rotate_undone();
	}
	assert_int_equal(segments_count(), 0);
	no_next = false;
	segmented_write_records(3);
	assert_int_equal(segments_count(), 1);
	for (uint64_t n = 1; n <= journal_durable(); n++)
		closed += segmented_is_event(n, event_audit_segment_closed);
	assert_int_equal(closed, 1);
	ledger_reopen(journal_durable(), 0);
	assert_int_equal(segmented_verify_all(), VERDICT_WHOLE);
}

/* Records come while the writer is between two files. */
static void
what_is_undone_in_a_new_file_comes_again(void **unused)
{
	struct err e;
	bool wrote;

	(void)unused;
	while (journal_size() < SEGMENT)
		segmented_write_records(1);

	uint64_t durable = journal_durable();

	segmented_record();
	assert_return_code(journal_write(&wrote, &e), 0); /* the end of the old file */
	segmented_record();
	journal_settle();
	assert_int_equal(journal_durable(), durable + 1);
	assert_return_code(journal_write(&wrote, &e), 0); /* the new one */
	segmented_record();
	assert_true(segmented_is_event(durable + 1, event_audit_segment_closed));
	journal_settle();
	assert_int_equal(segments_count(), 1);
	assert_return_code(journal_undo(&e), 0);
	segmented_write_records(RECORDS);
	ledger_reopen(journal_durable(), 0);
	assert_int_equal(segmented_verify_all(), VERDICT_WHOLE);
}

/* ---- crashes ---- */

/* Says in *durable what was acknowledged. */
static void
work(uint64_t *durable)
{
	struct err e;

	for (int i = 0; i < RECORDS; i++) {
		segmented_record();
		if (i % 3 == 0)
			segmented_record();
		if (segmented_commit(&e) < 0)
			_exit(1);
		*durable = journal_durable();
	}
	options.retention_days = 1;
	segmented_later_ms = (uint64_t)2 * DAY_MS;
	rotate_retain();
	_exit(segmented_commit(&e) < 0 ? 1 : 0);
}

static int
end_at(int at, uint64_t *durable)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		step = 0;
		killed_at = at;
		work(durable);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == KILLED);
	return WEXITSTATUS(status);
}

static void
check_after(uint64_t durable)
{
	uint64_t torn, first, last;
	struct err e;

	if (ledger_open(&torn, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(journal_durable() >= durable);
	for (uint64_t n = 1; n <= journal_durable(); n++)
		if (!journal_removed(n, &first, &last))
			segmented_is_event(n, event_daemon_started);
	assert_int_equal(segmented_verify_all(), VERDICT_WHOLE);
	segmented_write_records(RECORDS);
	ledger_reopen(journal_durable(), 0);
	assert_int_equal(segmented_verify_all(), VERDICT_WHOLE);
}

static void
nothing_is_lost_at_any_call(void **unused)
{
	uint64_t *durable =
	    mmap(NULL, sizeof *durable, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t torn;
	struct err e;
	int how = KILLED;

	(void)unused;
	assert_true(durable != MAP_FAILED);
	for (int at = 1; how == KILLED; at++) {
		journal_close();
		ledger_remove_segments();
		unlinkat(ledger_directory, "audit.log", 0);
		unlinkat(ledger_directory, "audit.next", 0);
		*durable = 0;
		rotate_closed(0);
		written = (size_t)at % 9;
		assert_return_code(ledger_open(&torn, &e), 0);
		how = end_at(at, durable);
		journal_close();
		check_after(*durable);
	}
	munmap(durable, sizeof *durable);
}

/* As a power loss may leave it, from nothing on. */
static void
a_new_segment_may_be_torn_anywhere(void **unused)
{
	struct blob all;

	(void)unused;
	while (segments_count() == 0)
		segmented_write_records(1);

	uint64_t closed = segments_at(0)->last;

	ledger_reopen(journal_durable(), 0);
	all = ledger_load();
	for (size_t size = 0; size < all.size; size++) {
		uint64_t whole = size >= ledger_place(&all, 2);
		size_t from = whole == 1 ? ledger_place(&all, 2) : 0;

		journal_close();
		ledger_store(all.data, size);
		ledger_reopen(closed + whole, ledger_torn(&all, from, size));
		segmented_write_records(1);
		assert_true(segmented_is_event(closed + 1, event_audit_segment_opened));
		assert_int_equal(journal_durable(), closed + 2);
	}
	assert_int_equal(segmented_verify_all(), VERDICT_WHOLE);
	blob_clear(&all);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, segmented_set_up, segmented_tear_down)

int
main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(a_full_segment_is_closed_and_the_chain_goes_on),
		CASE(a_segment_ends_and_begins_with_a_signed_statement),
		CASE(days_close_a_segment_too),
		CASE(an_old_log_is_the_first_segment),
		CASE(a_full_disk_puts_it_off),
		CASE(what_is_undone_in_a_new_file_comes_again),
		CASE(nothing_is_lost_at_any_call),
		CASE(a_new_segment_may_be_torn_anywhere),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
