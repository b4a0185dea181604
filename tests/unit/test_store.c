/* SPDX-License-Identifier: Apache-2.0 */
/* test_store.c - a directory of the store that cannot be read completely prevents the start,
 * because unseen contents would be collected. An exhausted resource is named. */
#include "snapshotd/store.h"

#include "tests/unit/scarce.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#define ID "01234567-89ab-4cde-8f01-23456789abcd"

static char path[32];
static int reads, fails_at;
static int contents, manifests;

struct dirent *__wrap_readdir(DIR *dir);
struct dirent *__real_readdir(DIR *dir);

struct dirent *
__wrap_readdir(DIR *dir)
{
	if (++reads != fails_at)
		return __real_readdir(dir);
	errno = EIO;
	return NULL;
}

static int
see_content(const char *owner, const char *digest, uint64_t size, struct err *e)
{
	(void)owner, (void)digest, (void)size, (void)e;
	contents++;
	return 0;
}

static int
see_manifest(const char *owner, const char *id, const struct blob *file, struct err *e)
{
	(void)owner, (void)id, (void)file, (void)e;
	manifests++;
	return 0;
}

static const struct store_visitor visitor = { see_content, see_manifest };

static int
reopen(int state, int failing, struct err *e)
{
	reads = contents = manifests = 0;
	fails_at = failing;

	int status = store_open(state, &visitor, e);

	store_close();
	return status;
}

static int
open_store(char owner[HASH_HEX], const struct blob *file, char digest[HASH_HEX])
{
	int state = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e;

	hash_hex("ann", 3, owner);
	hash_hex(file->data, file->size, digest);
	assert_int_equal(store_open(state, &visitor, &e), 0);
	assert_int_equal(store_add_owner(owner, &e), 0);
	return state;
}

static void
an_unreadable_directory_is_no_empty_one(void **unused)
{
	const struct blob file = { (void *)(uintptr_t) "text", 4 };
	char owner[HASH_HEX], digest[HASH_HEX];
	auto_fd int state = open_store(owner, &file, digest);
	struct err e;

	(void)unused;
	assert_int_equal(store_put_content(owner, digest, &file, &e), 0);
	assert_int_equal(store_put_manifest(owner, ID, &file, &e), 0);
	store_close();
	assert_int_equal(reopen(state, 0, &e), 0);
	assert_int_equal(contents, 1);
	assert_int_equal(manifests, 1);
	for (int i = 1, all = reads; i <= all; i++) {
		assert_int_equal(reopen(state, i, &e), -1);
		assert_int_equal(e.sys, EIO);
	}
}

static void
expect_no_descriptor(int status, const struct err *e)
{
	assert_int_equal(status, -1);
	assert_int_equal(e->code, ERR_unavailable);
	assert_non_null(strstr(e->text, "LimitNOFILE"));
}

static void
no_descriptor_is_no_fault_of_a_snapshot(void **unused)
{
	const struct blob file = { (void *)(uintptr_t) "text", 4 };
	char owner[HASH_HEX], digest[HASH_HEX];
	struct blob found = { 0 };
	auto_fd int state = open_store(owner, &file, digest);
	struct rlimit before, few;
	int spare[64], n = 0;
	struct err e;

	(void)unused;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ COUNT(spare), before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while ((spare[n] = dup(state)) >= 0)
		n++;
	expect_no_descriptor(store_put_content(owner, digest, &file, &e), &e);
	expect_no_descriptor(store_get_content(owner, digest, file.size, &found, &e), &e);
	expect_no_descriptor(store_put_manifest(owner, ID, &file, &e), &e);
	expect_no_descriptor(store_get_manifest(owner, ID, &found, &e), &e);
	expect_no_descriptor(store_remove_manifest(owner, ID, &e), &e);
	expect_no_descriptor(store_add_owner(digest, &e), &e);
	close(spare[--n]); /* the directory can be opened, and no file in it */
	expect_no_descriptor(store_put_content(owner, digest, &file, &e), &e);
	expect_no_descriptor(store_get_content(owner, digest, file.size, &found, &e), &e);
	expect_no_descriptor(store_get_manifest(owner, ID, &found, &e), &e);
	while (n > 0)
		close(spare[--n]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(store_put_content(owner, digest, &file, &e), 0);
	assert_int_equal(store_get_content(owner, digest, file.size, &found, &e), 0);
	blob_clear(&found);
	store_close();
}

/* A store keeps what it has, and says of what there is too little. */
static void
what_is_used_up_is_named_and_got_over(void **unused)
{
	static const struct {
		int sys;
		bool files; /* none can be made; otherwise none written */
		enum err_code code;
		const char *short_of, *remedy;
	} rows[] = {
		{ ENFILE, true, ERR_unavailable, "Too many open files in system", "fs.file-max" },
		{ EMFILE, true, ERR_unavailable, "Too many open files", "LimitNOFILE" },
		{ EDQUOT, false, ERR_limit_exceeded, "disk quota", "delete snapshots" },
		{ EDQUOT, true, ERR_limit_exceeded, "disk quota", "raise the disk quota" },
		{ ENOSPC, false, ERR_limit_exceeded, "disk of the snapshot store is full",
		    "delete snapshots" },
	};
	const struct blob file = { (void *)(uintptr_t) "text", 4 };
	char owner[HASH_HEX], digest[HASH_HEX];
	auto_fd int state = open_store(owner, &file, digest);
	struct blob found = { 0 };
	struct err e;

	(void)unused;
	assert_int_equal(store_put_content(owner, digest, &file, &e), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].files)
			scarce_files(rows[i].sys);
		else
			scarce_room(2, rows[i].sys);
		assert_int_equal(store_put_manifest(owner, ID, &file, &e), -1);
		assert_int_equal(e.code, rows[i].code);
		assert_non_null(strstr(e.text, rows[i].short_of));
		assert_non_null(strstr(e.text, rows[i].remedy));
		scarce_over();
		assert_int_equal(reopen(state, 0, &e), 0);
		assert_int_equal(contents, 1);
		assert_int_equal(manifests, 0); /* nor a half */
		assert_int_equal(store_open(state, &visitor, &e), 0);
	}
	assert_int_equal(store_put_manifest(owner, ID, &file, &e), 0);
	assert_int_equal(store_get_manifest(owner, ID, &found, &e), 0);
	blob_clear(&found);
	assert_int_equal(store_get_content(owner, digest, file.size, &found, &e), 0);
	blob_clear(&found);
	store_close();
}

static void
assert_away(const struct err *e, const char *owner, const char *why)
{
	assert_int_equal(e->code, ERR_unavailable);
	assert_non_null(strstr(e->text, "the snapshot store cannot be used"));
	assert_non_null(strstr(e->text, why));
	assert_null(strstr(e->text, owner));
}

/* Whoever asks cannot help it, and is told no name of the store's own. */
static void
a_store_that_is_away_is_no_fault_of_the_caller(void **unused)
{
	static const struct {
		int sys;
		const char *why;
	} rows[] = {
		{ EIO, "Input/output error" },
		{ EROFS, "Read-only file system" },
		{ EACCES, "Permission denied" },
	};
	const struct blob file = { (void *)(uintptr_t) "text", 4 };
	char owner[HASH_HEX], digest[HASH_HEX], directory[128];
	auto_fd int state = open_store(owner, &file, digest);
	struct blob found = { 0 };
	struct err e;

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		scarce_files(rows[i].sys);
		assert_int_equal(store_put_manifest(owner, ID, &file, &e), -1);
		assert_away(&e, owner, rows[i].why);
		scarce_over();
		scarce_room(2, rows[i].sys);
		assert_int_equal(store_put_content(owner, digest, &file, &e), -1);
		assert_away(&e, owner, rows[i].why);
		scarce_over();
	}
	snprintf(directory, sizeof directory, "store/%s", owner);
	assert_int_equal(renameat(state, directory, state, "moved"), 0);
	assert_int_equal(store_put_manifest(owner, ID, &file, &e), -1);
	assert_away(&e, owner, "No such file");
	assert_int_equal(store_put_content(owner, digest, &file, &e), -1);
	assert_away(&e, owner, "No such file");
	assert_int_equal(store_get_manifest(owner, ID, &found, &e), -1);
	assert_away(&e, owner, "No such file");
	assert_int_equal(store_get_content(owner, digest, file.size, &found, &e), -1);
	assert_away(&e, owner, "No such file");
	assert_int_equal(store_remove_manifest(owner, ID, &e), -1);
	assert_away(&e, owner, "No such file");
	store_close();
}

static int
set_up(void **unused)
{
	(void)unused;
	snprintf(path, sizeof path, "/tmp/store-XXXXXX");
	return mkdtemp(path) != NULL ? 0 : -1;
}

static int
tear_down(void **unused)
{
	char command[64];

	(void)unused;
	scarce_over();
	snprintf(command, sizeof command, "rm -r %s", path);
	return system(command);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    an_unreadable_directory_is_no_empty_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    no_descriptor_is_no_fault_of_a_snapshot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    what_is_used_up_is_named_and_got_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_store_that_is_away_is_no_fault_of_the_caller, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
