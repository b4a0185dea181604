/* SPDX-License-Identifier: Apache-2.0 */
/* test_code.c - code of runs on the disk: for whom, how long, and how much of it. */
#include "executor/kept/code.h"

#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/work.h"
#include "common/daemon/daemon.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define ID "exec_0123456789ab"

enum {
	MOST = 64 << 10,
	BLOCK = 4096, /* that a small file counts for */
};

const char *
daemon_instance(void)
{
	return "e1";
}

static struct {
	char path[64];
	struct owner mine, other;
	int directory;
} self;

static int
start(void **state)
{
	(void)state;
	snprintf(self.path, sizeof self.path, "/tmp/cloister-code-XXXXXX");
	if (mkdtemp(self.path) == NULL)
		return -1;
	self.mine = (struct owner){ "local:7", "" };
	self.other = (struct owner){ "local:8", "" };
	self.directory = open(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	options.keep_code = 1;
	options.keep_code_bytes = MOST;
	code_open(self.directory);
	return 0;
}

static int
stop(void **state)
{
	char command[128];

	(void)state;
	options.keep_code = 0;
	code_open(-1);
	close(self.directory);
	snprintf(command, sizeof command, "rm -rf '%s'", self.path);
	return system(command);
}

static void
keep(const struct owner *owner, const char *id, size_t size)
{
	static char text[MOST];
	struct blob code = { text, size };

	memset(text, 'x', sizeof text);
	code_keep(owner, id, &code);
}

/* The size of what is kept; -1: nothing is. */
static ssize_t
kept(const struct owner *owner, const char *id)
{
	struct blob found = { 0 };
	struct err e;

	if (code_load(owner, id, &found, &e) < 0) {
		assert_int_equal(e.code, ERR_not_found);
		return -1;
	}
	ssize_t size = (ssize_t)found.size;

	blob_clear(&found);
	return size;
}

static void
is_for_its_owner(void **state)
{
	(void)state;
	keep(&self.mine, ID, 10);
	assert_int_equal(kept(&self.mine, ID), 10);
	assert_int_equal(kept(&self.other, ID), -1);
	assert_int_equal(kept(&self.mine, "exec_0123456789ac"), -1);
}

static void
takes_no_path_for_an_id(void **state)
{
	static const char *const wrong[] = { "", "exec_", "exec_..", "exec_/etc/passwd", "../" ID,
		ID "/.", "exec_0123456789AB", "code" };

	(void)state;
	keep(&self.mine, ID, 10);
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(kept(&self.mine, wrong[i]), -1);
}

static void
is_off_by_default(void **state)
{
	(void)state;
	options.keep_code = 0;
	keep(&self.mine, ID, 10);
	options.keep_code = 1;
	assert_int_equal(kept(&self.mine, ID), -1);
}

/* Sets the time of all files of the directory. */
static void
make_old(const char *path, time_t age_s)
{
	char command[192];

	snprintf(command, sizeof command, "find '%s' -type f -exec touch -d @%lld {} +", path,
	    (long long)(time(NULL) - age_s));
	assert_int_equal(system(command), 0);
}

static void
goes_after_its_time(void **state)
{
	(void)state;
	keep(&self.mine, ID, 10);
	make_old(self.path, 3500);
	assert_int_equal(kept(&self.mine, ID), 10);
	make_old(self.path, 3700);
	assert_int_equal(kept(&self.mine, ID), -1);
	code_open(self.directory);
	make_old(self.path, 0);
	assert_int_equal(kept(&self.mine, ID), -1); /* it was removed, not hidden */
}

static void
goes_at_once_if_nothing_is_to_be_kept(void **state)
{
	(void)state;
	keep(&self.mine, ID, 10);
	options.keep_code = 0;
	code_open(self.directory);
	options.keep_code = 1;
	assert_int_equal(kept(&self.mine, ID), -1);
}

static void
pass_ms(int ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000 };

	nanosleep(&time, NULL);
}

static size_t
count_kept(int most, char newest[32])
{
	size_t count = 0;

	for (int i = 0; i < most; i++) {
		snprintf(newest, 32, "exec_%04x", (unsigned)i);
		count += kept(&self.mine, newest) >= 0;
	}
	return count;
}

/* One owner has at most a quarter, and loses its own oldest. */
static void
is_bounded(void **state)
{
	enum { SHARE = MOST / 4 / BLOCK };
	char id[32];

	(void)state;
	keep(&self.other, ID, 100);
	for (int i = 0; i < 10; i++) {
		snprintf(id, sizeof id, "exec_%04x", (unsigned)i);
		pass_ms(12); /* times of files may be as coarse as a tick */
		keep(&self.mine, id, 100);
	}
	assert_int_equal(count_kept(10, id), 10);
	code_open(self.directory);
	assert_int_equal(count_kept(10, id), SHARE);
	assert_int_equal(kept(&self.mine, id), 100);
	assert_int_equal(kept(&self.mine, "exec_0000"), -1);
	assert_int_equal(kept(&self.other, ID), 100);
	keep(&self.mine, "exec_ffff", MOST / 4 + 1); /* too large for all that it may have */
	assert_int_equal(kept(&self.mine, "exec_ffff"), -1);
}

/* Many owners share what there is. */
static void
is_bounded_for_many_owners(void **state)
{
	size_t all = 0;

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct owner owner = { "", "" };

		snprintf(owner.principal, sizeof owner.principal, "local:%d", i);
		keep(&owner, ID, 100);
		keep(&owner, "exec_00", 100);
	}
	code_open(self.directory);
	for (int i = 0; i < 40; i++) {
		struct owner owner = { "", "" };

		snprintf(owner.principal, sizeof owner.principal, "local:%d", i);
		all += (kept(&owner, ID) >= 0) + (kept(&owner, "exec_00") >= 0);
	}
	assert_in_range(all * BLOCK, 0, MOST);
}

/* Without a restart, too. */
static void
is_swept_while_it_runs(void **state)
{
	char id[32];

	(void)state;
	for (int i = 0; i < 200; i++) {
		snprintf(id, sizeof id, "exec_%04x", (unsigned)i);
		keep(&self.mine, id, 100);
	}
	work_close();
	assert_in_range(count_kept(200, id), 1, 64 + MOST / 4 / BLOCK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_for_its_owner, start, stop),
		cmocka_unit_test_setup_teardown(takes_no_path_for_an_id, start, stop),
		cmocka_unit_test_setup_teardown(is_off_by_default, start, stop),
		cmocka_unit_test_setup_teardown(goes_after_its_time, start, stop),
		cmocka_unit_test_setup_teardown(goes_at_once_if_nothing_is_to_be_kept, start, stop),
		cmocka_unit_test_setup_teardown(is_bounded, start, stop),
		cmocka_unit_test_setup_teardown(is_bounded_for_many_owners, start, stop),
		cmocka_unit_test_setup_teardown(is_swept_while_it_runs, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
