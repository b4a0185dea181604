/* SPDX-License-Identifier: Apache-2.0 */
/* test_spool_short.c - a spool that lacks a system resource names it, and loses nothing. */
#include "common/journal/spool.h"

#include "tests/unit/scarce.h"
#include "tests/unit/spooled.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>

#include <cmocka.h>

static int log_file, real_stderr;

static void
log_begin(void)
{
	log_file = memfd_create("log", MFD_CLOEXEC);
	real_stderr = dup(STDERR_FILENO);
	assert_int_equal(dup2(log_file, STDERR_FILENO), STDERR_FILENO);
}

/* How often it was said since then. */
static size_t
log_end(const char *words)
{
	char text[16384];
	size_t said = 0;
	ssize_t size = pread(log_file, text, sizeof text - 1, 0);

	assert_int_equal(dup2(real_stderr, STDERR_FILENO), STDERR_FILENO);
	close(real_stderr);
	close(log_file);
	text[size < 0 ? 0 : size] = '\0';
	for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
		said++;
	return said;
}

/* Wherever in a record the room ends: the record is refused whole, and what is there stays. */
static void
a_used_up_disk_or_quota_is_named_and_got_over(void **unused)
{
	static const struct {
		int sys;
		const char *text, *remedy;
	} rows[] = { { ENOSPC, "No space left on device", "make room on its file system" },
		{ EDQUOT, "Disk quota exceeded", "raise the disk quota of its user" } };
	static char uids[256][UID];
	size_t count = 0;
	struct err e;

	(void)unused;
	spooled_auditd.away = true;
	spooled_open(LIMIT);
	log_begin();
	for (size_t i = 0; i < 40; i++) {
		spooled_record_all(uids + count++, 1, "before");

		off_t whole = spooled_size("spool.0");

		scarce_room((size_t)whole / count * i / 40, rows[i % 2].sys);
		for (int again = 0; again < 2; again++) {
			assert_int_equal(spooled_record("refused", NULL, &e), -1);
			assert_int_equal(e.code, ERR_unavailable);
			assert_non_null(strstr(e.text, "the audit spool cannot be written"));
			assert_non_null(strstr(e.text, rows[i % 2].text));
			assert_non_null(strstr(e.text, rows[i % 2].remedy));
			assert_int_equal(spooled_size("spool.0"), whole);
			assert_int_equal(spool_waiting(), count);
		}
		scarce_over();
	}
	assert_int_equal(log_end("the audit spool cannot take events; calls are refused"), 1);
	spooled_record_all(uids + count++, 1, "after");
	spool_close(); /* what an earlier life left is whole, too */
	spooled_open(LIMIT);
	assert_int_equal(spool_waiting(), count);
	assert_int_equal(spooled_size("spool.0.torn"), -1);
	spooled_auditd.away = false;
	spooled_drain();
	spooled_expect(uids, count);
}

/* On a small disk of its own, which something else has filled. */
static void
a_full_disk_gives_way_when_there_is_room(void **unused)
{
	static char uids[MANY][UID], filler[64 << 10];
	size_t count = 0;
	struct err e;

	(void)unused;
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", spooled_directory, "tmpfs", 0, "size=128k") < 0)
		skip();
	close(spooled_state);
	spooled_state = open(spooled_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	int other = openat(spooled_state, "other", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(write(other, filler, sizeof filler), sizeof filler);
	spooled_auditd.away = true;
	spooled_open(LIMIT);
	while (count < MANY && spooled_record("small disk", uids[count], &e) == 0)
		count++;
	assert_in_range(count, 10, MANY - 1);
	assert_non_null(strstr(e.text, "No space left on device; make room"));
	assert_int_equal(spooled_record("small disk", NULL, &e), -1);
	assert_return_code(ftruncate(other, 0), 0);
	close(other);
	assert_return_code(unlinkat(spooled_state, "other", 0), 0);
	spooled_record_all(uids + count++, 1, "there is room");
	spooled_auditd.away = false;
	spooled_drain();
	spooled_expect(uids, count);
	spool_close();
	close(spooled_state);
	assert_return_code(umount(spooled_directory), 0);
	spooled_state = open(spooled_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool stuck; /* no file can be cut */

int __wrap_ftruncate(int fd, off_t size);
int __real_ftruncate(int fd, off_t size);

int
__wrap_ftruncate(int fd, off_t size)
{
	errno = EIO;
	return stuck ? -1 : __real_ftruncate(fd, size);
}

static void
what_was_not_emptied_has_its_turn_again(void **unused)
{
	static char uids[MANY][UID];
	char detail[401] = { 0 };

	(void)unused;
	memset(detail, 'd', sizeof detail - 1);
	spooled_auditd.away = true;
	spooled_open(LIMIT);
	spooled_record_all(uids, MANY / 2, detail);
	assert_true(spooled_size("spool.0") >= 1 << 20);
	stuck = true;
	spooled_auditd.away = false;
	spooled_drain();
	stuck = false;
	assert_true(spooled_size("spool.0") >= 1 << 20);
	spooled_auditd.away = true;
	spooled_record_all(uids + MANY / 2, MANY / 2, detail);
	assert_in_range(spooled_size("spool.1"), 1 << 20, 3 << 19);
	spooled_auditd.away = false;
	spooled_drain();
	spooled_expect(uids, MANY);
}

static void
no_descriptor_in_the_system_is_named(void **unused)
{
	char uids[3][UID];
	struct err e;

	(void)unused;
	spooled_auditd.silent = true;
	spooled_open(LIMIT);
	spooled_record_all(uids, 3, NULL);
	spool_close();
	scarce_files(ENFILE);
	assert_int_equal(spool_open(spooled_state, LIMIT, &e), -1);
	assert_int_equal(e.code, ERR_unavailable);
	assert_non_null(strstr(e.text, "Too many open files in system"));
	assert_non_null(strstr(e.text, "fs.file-max"));
	scarce_over();
	spooled_auditd.silent = false;
	spooled_open(LIMIT);
	spooled_drain();
	spooled_expect(uids, 3);
}

static int
tear_down(void **unused)
{
	scarce_over();
	return spooled_tear_down(unused);
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, spooled_set_up, tear_down)
	const struct CMUnitTest cases[] = {
		CASE(a_used_up_disk_or_quota_is_named_and_got_over),
		CASE(a_full_disk_gives_way_when_there_is_room),
		CASE(what_was_not_emptied_has_its_turn_again),
		CASE(no_descriptor_in_the_system_is_named),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
