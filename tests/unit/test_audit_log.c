/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_audit_log.c - the file of the audit log: what is durable stays, in order, or it is noticed.
 *
 * Each way to harm the file is done to a real one; a crash is a process killed while it writes.
 */
#include "auditd/journal.h"
#include "auditd/record.h"
#include "auditd/seen.h"
#include "auditd/verify.h"

#include "common/auto.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

static char folder[64];
static int state = -1;
static uint64_t shown; /* links that journal_open() showed */

/* ---- helpers ---- */

static void
show(const struct chain_link *link)
{
	shown++;
	assert_int_equal(link->number, shown);
}

static int
open_journal(uint64_t *torn, struct err *e)
{
	shown = 0;
	return journal_open(state, show, torn, e);
}

static void
reopen(uint64_t records, uint64_t torn_bytes)
{
	uint64_t torn = 0;
	struct err e;

	journal_close();
	assert_return_code(open_journal(&torn, &e), 0);
	assert_int_equal(journal_durable(), records);
	assert_int_equal(journal_last(), records);
	assert_int_equal(shown, records);
	assert_int_equal(torn, torn_bytes);
}

static void
add(uint64_t number)
{
	char text[32];
	struct err e;

	snprintf(text, sizeof(text), "record %" PRIu64, number);
	assert_int_equal(journal_add(text, strlen(text), &e), number);
}

static void
commit(void)
{
	bool wrote;
	struct err e;

	assert_return_code(journal_write(&wrote, &e), 0);
	assert_true(wrote);
	journal_settle();
}

/* Records first to last, each durable before the next. */
static void
write_each(uint64_t first, uint64_t last)
{
	for (uint64_t n = first; n <= last; n++) {
		add(n);
		commit();
	}
}

/* Of what stands behind the last whole record: zeros at its end are not counted as torn. */
static uint64_t
torn_part(const struct blob *all, size_t from, size_t to)
{
	while (to > from && ((const char *)all->data)[to - 1] == 0)
		to--;
	return to - from;
}

/* The file, without the room behind its last record. */
static struct blob
load(void)
{
	auto_fd int fd = openat(state, "audit.log", O_RDONLY | O_CLOEXEC);
	struct stat st;
	struct blob all;

	assert_return_code(fstat(fd, &st), 0);
	all.size = (size_t)st.st_size;
	all.data = malloc(all.size);
	assert_int_equal(read(fd, all.data, all.size), all.size);

	struct chain_link link;
	size_t at = 0;

	for (ssize_t n; (n = chain_parse((uint8_t *)all.data + at, all.size - at, &link)) > 0;)
		at += (size_t)n;
	if (torn_part(&all, at, all.size) == 0)
		all.size = at;
	return all;
}

static void
store(const void *data, size_t size)
{
	auto_fd int fd = openat(state, "audit.log", O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_int_equal(write(fd, data, size), size);
}

/* Where record n of the file starts; the last plus one is its end. */
static size_t
place_of(const struct blob *all, uint64_t n)
{
	size_t at = 0;
	struct chain_link link;

	for (; n > 1; n--) {
		ssize_t size = chain_parse((const uint8_t *)all->data + at, all->size - at, &link);

		assert_true(size > 0);
		at += (size_t)size;
	}
	return at;
}

static int
set_up(void **unused)
{
	uint64_t torn;
	struct err e;

	(void)unused;
	snprintf(folder, sizeof(folder), "/tmp/test-audit-XXXXXX");
	assert_non_null(mkdtemp(folder));
	state = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(open_journal(&torn, &e), 0);
	return 0;
}

static int
tear_down(void **unused)
{
	(void)unused;
	journal_close();
	unlinkat(state, "audit.log", 0);
	unlinkat(state, "audit.torn", 0);
	close(state);
	return rmdir(folder);
}

/* ---- what is written ---- */

static void
numbers_have_no_gaps_over_restarts(void **unused)
{
	(void)unused;
	write_each(1, 5);
	reopen(5, 0);
	add(6);
	add(7);
	commit();
	reopen(7, 0);
}

static void
is_not_there_before_it_is_durable(void **unused)
{
	(void)unused;
	write_each(1, 2);
	add(3);
	assert_int_equal(journal_last(), 3);
	assert_int_equal(journal_durable(), 2);
	reopen(2, 0);
}

static void
undo_forgets_the_written_and_the_filled_part(void **unused)
{
	bool wrote;
	struct err e;
	struct blob before, after;

	(void)unused;
	write_each(1, 2);
	before = load();
	add(3);
	assert_return_code(journal_write(&wrote, &e), 0);
	add(4);
	assert_return_code(journal_undo(&e), 0);
	after = load();
	assert_int_equal(after.size, before.size);
	blob_clear(&before);
	blob_clear(&after);
	assert_int_equal(journal_last(), 2);
	assert_int_equal(journal_filled(), 0);
	write_each(3, 4);
	reopen(4, 0);
}

static void
what_fills_while_it_writes_comes_next(void **unused)
{
	bool wrote;
	struct err e;

	(void)unused;
	add(1);
	assert_return_code(journal_write(&wrote, &e), 0);
	add(2);
	journal_settle();
	assert_int_equal(journal_durable(), 1);
	commit();
	reopen(2, 0);
}

static void
room_made_ahead_is_no_torn_tail(void **unused)
{
	struct blob part;
	struct stat before, after;
	auto_fd int killed = -1;

	(void)unused;
	write_each(1, 2);
	part = load();
	assert_return_code(fstatat(state, "audit.log", &before, 0), 0);
	assert_true((size_t)before.st_size > part.size);
	write_each(3, 3);
	assert_return_code(fstatat(state, "audit.log", &after, 0), 0);
	assert_int_equal(before.st_size, after.st_size);
	blob_clear(&part);
	part = load();
	reopen(3, 0); /* cuts it off */
	assert_return_code(fstatat(state, "audit.log", &after, 0), 0);
	assert_int_equal(after.st_size, part.size);

	/* As kill -9 leaves it. */
	killed = openat(state, "audit.log", O_WRONLY | O_CLOEXEC);
	assert_return_code(ftruncate(killed, before.st_size), 0);
	reopen(3, 0);
	assert_int_equal(faccessat(state, "audit.torn", F_OK, 0), -1);
	write_each(4, 4);
	reopen(4, 0);
	blob_clear(&part);
}

static void
any_record_can_be_read(void **unused)
{
	(void)unused;
	for (uint64_t n = 1; n <= 3 * JOURNAL_STEP + 1; n++)
		add(n);
	commit();
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
		reopen(3 * JOURNAL_STEP + 1, 0);
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
		_exit(journal_open(state, show, &torn, &e) < 0 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- what happens to the file ---- */

static void
a_tail_torn_anywhere_is_cut(void **unused)
{
	struct blob all;

	(void)unused;
	write_each(1, 3);
	all = load();

	size_t third = place_of(&all, 3);

	for (size_t size = third + 1; size < all.size; size++) {
		journal_close();
		store(all.data, size);
		reopen(2, torn_part(&all, third, size));
		write_each(3, 3);
		reopen(3, 0);
	}
	blob_clear(&all);
}

static void
a_bit_of_the_last_record_is_a_torn_tail(void **unused)
{
	struct blob all;

	(void)unused;
	write_each(1, 3);
	all = load();

	size_t third = place_of(&all, 3);

	for (size_t i = third; i < all.size; i += 5) {
		journal_close();
		((uint8_t *)all.data)[i] ^= 0x10;
		store(all.data, all.size);
		reopen(2, torn_part(&all, third, all.size));
		((uint8_t *)all.data)[i] ^= 0x10;
	}
	blob_clear(&all);
}

static void
assert_refused(const void *data, size_t size)
{
	uint64_t torn;
	struct err e;
	struct blob after;

	journal_close();
	store(data, size);
	assert_int_equal(open_journal(&torn, &e), -1);
	assert_non_null(strstr(e.text, "audit.log"));
	assert_non_null(strstr(e.text, "damaged"));
	after = load();
	assert_int_equal(after.size, size);
	assert_memory_equal(after.data, data, size);
	blob_clear(&after);
}

static void
any_bit_before_the_last_record_is_damage(void **unused)
{
	struct blob all;

	(void)unused;
	write_each(1, 4);
	all = load();

	size_t fourth = place_of(&all, 4);

	for (size_t i = 0; i < fourth; i++) {
		((uint8_t *)all.data)[i] ^= (uint8_t)(1 << i % 8);
		assert_refused(all.data, all.size);
		((uint8_t *)all.data)[i] ^= (uint8_t)(1 << i % 8);
	}
	blob_clear(&all);
}

static void
a_record_taken_out_is_damage(void **unused)
{
	struct blob all;

	(void)unused;
	write_each(1, 5);
	all = load();

	size_t second = place_of(&all, 2), third = place_of(&all, 3);

	memmove((char *)all.data + second, (char *)all.data + third, all.size - third);
	assert_refused(all.data, all.size - (third - second));
	blob_clear(&all);
}

static void
records_in_another_order_are_damage(void **unused)
{
	struct blob all, other;

	(void)unused;
	write_each(1, 5);
	all = load();
	other = blob_copy(all.data, all.size);

	size_t second = place_of(&all, 2), third = place_of(&all, 3), fourth = place_of(&all, 4);

	memcpy((char *)other.data + second, (char *)all.data + third, fourth - third);
	memcpy((char *)other.data + second + (fourth - third), (char *)all.data + second,
	    third - second);
	assert_refused(other.data, other.size);
	blob_clear(&all);
	blob_clear(&other);
}

/* A record that is whole by itself, but was made for another log. */
static void
a_record_of_another_log_is_damage(void **unused)
{
	struct blob all, other;

	(void)unused;
	write_each(1, 5);
	all = load();
	journal_close();
	store("", 0);
	reopen(0, 0);
	add(1);
	add(2);
	add(3); /* as above, but not the same times */
	commit();
	other = load();

	size_t third = place_of(&all, 3), fourth = place_of(&all, 4);
	size_t third_there = place_of(&other, 3);

	assert_int_equal(other.size - third_there, fourth - third);
	memcpy((char *)all.data + third, (char *)other.data + third_there, fourth - third);
	assert_refused(all.data, all.size);
	blob_clear(&all);
	blob_clear(&other);
}

/* A group of records is written at once, so any page of it may be missing after a power loss. */
static void
a_hole_in_the_last_group_is_a_torn_tail(void **unused)
{
	struct blob all;

	(void)unused;
	write_each(1, 2);
	for (uint64_t n = 3; n <= 40; n++)
		add(n);
	commit();
	all = load();

	size_t third = place_of(&all, 3), fifth = place_of(&all, 5);

	memset((char *)all.data + fifth, 0, 200);
	journal_close();
	store(all.data, all.size);
	reopen(4, torn_part(&all, fifth, all.size));
	assert_true(third < fifth);
	blob_clear(&all);
}

static void
something_else_is_not_cut(void **unused)
{
	uint64_t torn;
	struct err e;

	(void)unused;
	journal_close();

	auto_fd int fd = openat(state, "audit.log", O_WRONLY | O_CLOEXEC);

	assert_return_code(ftruncate(fd, CHAIN_TAIL_MAX + 1), 0);
	assert_int_equal(open_journal(&torn, &e), -1);
	assert_non_null(strstr(e.text, "too many for a torn tail"));
}

static void
a_link_is_not_followed(void **unused)
{
	uint64_t torn;
	struct err e;

	(void)unused;
	journal_close();
	assert_return_code(unlinkat(state, "audit.log", 0), 0);
	assert_return_code(symlinkat("/dev/null", state, "audit.log"), 0);
	assert_int_equal(open_journal(&torn, &e), -1);
}

/* ---- verify ---- */

static int
verify(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/audit.log", folder);
	return verify_file(path);
}

static void
verify_tells_whole_from_damaged(void **unused)
{
	struct audit_event event = {
		.uid = (char[]){ "u" }, .time_ms = 1, .event = event_vault_accessed
	};
	struct blob all;
	struct err e;

	(void)unused;
	for (int i = 0; i < 3; i++) {
		size_t size;
		auto_free uint8_t *record = record_encode("executor", &event, &size, &e);

		assert_non_null(record);
		assert_true(journal_add(record, size, &e) > 0);
		commit();
	}
	assert_int_equal(verify(), 0);
	all = load();
	store(all.data, all.size - 1);
	assert_int_equal(verify(), 0);
	((uint8_t *)all.data)[70] ^= 1;
	store(all.data, all.size);
	assert_int_equal(verify(), 1);
	blob_clear(&all);
	unlinkat(state, "audit.log", 0);
	assert_int_equal(verify(), 1);
}

/* ---- records and uids ---- */

static void
records_say_who_reported(void **unused)
{
	struct audit_event event = {
		.uid = (char[]){ "u-1" },
		.time_ms = 5,
		.event = event_session_killed,
		.principal = (char[]){ "local:0" },
		.wall_ms = 1.5,
	};
	struct audit_entry entry = { 0 };
	struct chain_buffer buffer = { 0 };
	struct chain_end end = { 0 };
	struct chain_link link;
	struct err e;
	size_t size;
	auto_free uint8_t *record = record_encode("snapshotd", &event, &size, &e);

	(void)unused;
	assert_non_null(record);
	assert_return_code(chain_add(&buffer, &end, 0, record, size, &e), 0);
	assert_int_equal(chain_parse(buffer.data, buffer.size, &link), buffer.size);
	assert_return_code(record_decode(&link, &entry, &e), 0);
	assert_int_equal(entry.sequence, 1);
	assert_string_equal(entry.daemon, "snapshotd");
	assert_string_equal(entry.event->uid, "u-1");
	assert_string_equal(entry.event->principal, "local:0");
	assert_int_equal(entry.event->event, event_session_killed);
	assert_true(strspn(entry.previous, "0") == 64);
	assert_true(hash_is_hex(entry.hash));
	message_clear(MSG_audit_entry, &entry);
	link.size = 3;
	assert_int_equal(record_decode(&link, &entry, &e), -1);
	link.size = 0;
	assert_int_equal(record_decode(&link, &entry, &e), -1);
	chain_buffer_clear(&buffer);
}

static void
a_uid_is_taken_once_for_each_daemon(void **unused)
{
	(void)unused;
	seen_open();
	assert_true(seen_add("executor", "a"));
	assert_false(seen_add("executor", "a"));
	assert_true(seen_add("gateway", "a"));
	assert_true(seen_add("executor", "b"));
	seen_undo(1);
	assert_true(seen_add("executor", "b"));
	assert_false(seen_add("executor", "a"));
}

static void
the_last_65536_uids_are_known(void **unused)
{
	char uid[32];

	(void)unused;
	seen_open();
	for (int i = 0; i < 200000; i++) {
		snprintf(uid, sizeof(uid), "uid-%d", i);
		assert_true(seen_add("executor", uid));
	}
	for (int i = 200000 - 65536; i < 200000; i++) {
		snprintf(uid, sizeof(uid), "uid-%d", i);
		assert_false(seen_add("executor", uid));
	}
	assert_true(seen_add("executor", "uid-0"));
	seen_undo(65536);
	for (int i = 200000 - 65536; i < 200000; i++) {
		snprintf(uid, sizeof(uid), "uid-%d", i);
		assert_true(seen_add("executor", uid));
	}
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
		unlinkat(state, "audit.log", 0);
		assert_return_code(open_journal(&torn, &e), 0);
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
		assert_return_code(open_journal(&torn, &e), 0);
		assert_true(journal_durable() >= said);
	}
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest cases[] = {
		CASE(numbers_have_no_gaps_over_restarts),
		CASE(is_not_there_before_it_is_durable),
		CASE(undo_forgets_the_written_and_the_filled_part),
		CASE(what_fills_while_it_writes_comes_next),
		CASE(room_made_ahead_is_no_torn_tail),
		CASE(any_record_can_be_read),
		CASE(has_one_writer),
		CASE(a_tail_torn_anywhere_is_cut),
		CASE(a_bit_of_the_last_record_is_a_torn_tail),
		CASE(any_bit_before_the_last_record_is_damage),
		CASE(a_record_taken_out_is_damage),
		CASE(records_in_another_order_are_damage),
		CASE(a_record_of_another_log_is_damage),
		CASE(a_hole_in_the_last_group_is_a_torn_tail),
		CASE(something_else_is_not_cut),
		CASE(a_link_is_not_followed),
		CASE(verify_tells_whole_from_damaged),
		CASE(records_say_who_reported),
		CASE(a_uid_is_taken_once_for_each_daemon),
		CASE(the_last_65536_uids_are_known),
		CASE(nothing_durable_is_lost_by_kill_9),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
