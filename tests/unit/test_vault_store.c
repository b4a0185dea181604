/* SPDX-License-Identifier: Apache-2.0 */
/* test_vault_store.c - what was stored is there after a restart, sealed, whole or as before. */
#include "vault_setup.h"

#include "tests/unit/scarce.h"

#include "common/base/fdio.h"

#include <errno.h>

enum { MAX_FILE = 1 << 20 };

static struct blob
file(void)
{
	struct blob bytes = { 0 };
	struct err e;

	assert_int_equal(fdio_load(vault_state, "vault.sealed", MAX_FILE, &bytes, &e), 0);
	return bytes;
}

static void
open_now(void)
{
	struct err e = { 0 };

	if (vault_open(&e) < 0)
		fail_msg("%s", e.text);
}

static void
put(const struct owner *owner, const char *name, const char *value)
{
	struct err e = { 0 };

	if (vault_put(owner, name, value, &e) < 0)
		fail_msg("%s", e.text);
}

static int
drop(const struct owner *owner, const char *text)
{
	const struct name name = vault_name(owner, NULL, text);
	struct err e;

	return store_delete(&name, &e);
}

static void
a_change_is_durable_before_it_returns(void **unused)
{
	(void)unused;
	open_now();
	put(&ann, "ONE", "first value");
	put(&ann, "TWO", "second value");
	put(&bob, "ONE", "of another");
	put(&ann_work, "ONE", "of the same at work");
	open_now();
	vault_expect(&ann, "ONE", "first value");
	vault_expect(&ann, "TWO", "second value");
	vault_expect(&bob, "ONE", "of another");
	vault_expect(&bob, "TWO", NULL);
	vault_expect(&ann_work, "ONE", "of the same at work");
	assert_int_equal(drop(&ann, "ONE"), 0);
	assert_int_equal(drop(&ann, "ONE"), -1);
	open_now();
	vault_expect(&ann, "ONE", NULL);
	vault_expect(&ann, "TWO", "second value");
	vault_expect(&bob, "ONE", "of another");
}

static void
a_replaced_value_keeps_its_first_time(void **unused)
{
	const struct name name = vault_name(&ann, NULL, "ONE");
	uint64_t created_ms;

	(void)unused;
	open_now();
	put(&ann, "ONE", "first value");
	created_ms = store_find(&name)->created_ms;
	usleep(2000);
	put(&ann, "ONE", "a longer second value");
	assert_int_equal(store_find(&name)->created_ms, created_ms);
	assert_true(store_find(&name)->changed_ms > created_ms);
	open_now();
	assert_int_equal(store_find(&name)->created_ms, created_ms);
	vault_expect(&ann, "ONE", "a longer second value");
}

static void
nothing_in_the_file_is_clear(void **unused)
{
	static const char *const words[] = { "open sesame", "SESAME", "local:1000" };
	struct blob bytes;
	struct stat st;

	(void)unused;
	open_now();
	put(&ann, "SESAME", "open sesame");
	bytes = file();
	for (size_t i = 0; i < COUNT(words); i++)
		assert_null(memmem(bytes.data, bytes.size, words[i], strlen(words[i])));
	blob_clear(&bytes);
	assert_int_equal(fstatat(vault_state, "vault.sealed", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

/* It neither starts with what is left, nor writes over it. */
static void
refuses(const void *data, size_t size)
{
	struct blob after;
	struct err e;

	assert_int_equal(fdio_store(vault_state, "vault.sealed", data, size, 0600, &e), 0);
	assert_int_equal(vault_open(&e), -1);
	after = file();
	assert_int_equal(after.size, size);
	assert_memory_equal(after.data, data, size);
	blob_clear(&after);
}

static void
a_torn_or_changed_file_is_refused_and_kept(void **unused)
{
	struct blob bytes;
	struct err e;

	(void)unused;
	open_now();
	put(&ann, "ONE", "first value");
	bytes = file();
	for (size_t size = 0; size < bytes.size; size += size < 48 ? 1 : 13)
		refuses(bytes.data, size);
	for (size_t at = 0; at < bytes.size; at += 7) {
		((char *)bytes.data)[at] ^= 1;
		refuses(bytes.data, bytes.size);
		((char *)bytes.data)[at] ^= 1;
	}
	assert_int_equal(
	    fdio_store(vault_state, "vault.sealed", bytes.data, bytes.size, 0600, &e), 0);
	open_now();
	vault_expect(&ann, "ONE", "first value");
	blob_clear(&bytes);
}

static void
another_key_does_not_open_it(void **unused)
{
	struct blob before;

	(void)unused;
	open_now();
	put(&ann, "ONE", "first value");
	before = file();
	vault_write("vault.key", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", 0600);
	refuses(before.data, before.size);
	blob_clear(&before);
}

/* The operator puts a new key before the old one, and later removes the old one. */
static void
an_older_key_opens_and_the_first_one_seals(void **unused)
{
	static char path[256];
	static const char fresh[] = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
	struct blob old = { 0 };
	char both[200];
	struct err e;

	(void)unused;
	open_now();
	put(&ann, "ONE", "first value");
	assert_int_equal(fdio_load(vault_state, "vault.key", 100, &old, &e), 0);
	snprintf(both, sizeof both, "%s%s", fresh, (char *)old.data);
	blob_clear(&old);
	vault_write("given", both, 0600);
	snprintf(path, sizeof path, "%s/given", vault_directory);
	options.key_file = path;
	open_now();
	vault_expect(&ann, "ONE", "first value");
	put(&ann, "TWO", "second value");
	vault_write("given", fresh, 0600);
	open_now();
	vault_expect(&ann, "ONE", "first value");
	vault_expect(&ann, "TWO", "second value");
}

/* A record of another file of this vault does not open under another name. */
static void
a_value_opens_only_in_its_own_record(void **unused)
{
	const struct name one = vault_name(&ann, NULL, "ONE"), two = vault_name(&ann, NULL, "TWO");
	struct vault_record mixed;
	struct blob value = { 0 };
	struct err e;

	(void)unused;
	open_now();
	put(&ann, "ONE", "first value");
	put(&ann, "TWO", "second value");
	mixed = *store_find(&one);
	mixed.sealed = store_find(&two)->sealed;
	assert_int_equal(store_reveal(&mixed, &value, &e), -1);
	mixed = *store_find(&one);
	mixed.principal = (char *)(uintptr_t) "token:bob";
	assert_int_equal(store_reveal(&mixed, &value, &e), -1);
	mixed = *store_find(&one);
	mixed.changed_ms++;
	assert_int_equal(store_reveal(&mixed, &value, &e), -1);
	assert_null(value.data);
}

static void
expect_as_before(void)
{
	vault_expect(&ann, "ONE", "first value");
	vault_expect(&ann, "TWO", "second value");
	vault_expect(&ann, "NEW", NULL);
}

/* The disk is full after any number of bytes: memory and disk are as before. */
static void
a_full_disk_changes_nothing(void **unused)
{
	struct blob whole;
	struct err e;

	(void)unused;
	open_now();
	put(&ann, "ONE", "first value");
	put(&ann, "TWO", "second value");
	whole = file();
	for (size_t room = 0; room < whole.size; room += 40) {
		scarce_room(room, ENOSPC);
		assert_int_equal(vault_put(&ann, "NEW", "a new value", &e), -1);
		assert_int_equal(vault_put(&ann, "ONE", "another value", &e), -1);
		assert_int_equal(drop(&ann, "ONE"), -1);
		scarce_over();
		expect_as_before();
	}
	blob_clear(&whole);
	open_now();
	expect_as_before();
}

/* After a failed change of the key: what was stored opens, and so does what is stored next. */
static void
a_full_disk_at_a_new_key_loses_nothing(void **unused)
{
	int failures = 0;
	struct err e;

	(void)unused;
	open_now();
	put(&ann, "ONE", "first value");
	put(&ann, "TWO", "second value");
	for (size_t room = 0; room < 700; room += 11) {
		scarce_room(room, ENOSPC);
		failures += store_rekey(&e) < 0;
		scarce_over();
		expect_as_before();
		if (room % 2 == 0)
			put(&ann, "ONE", "first value");
		open_now();
		expect_as_before();
	}
	assert_in_range(failures, 20, 62);
}

static void
a_new_key_seals_everything(void **unused)
{
	struct blob before, after;
	struct err e;

	(void)unused;
	open_now();
	put(&ann, "ONE", "first value");
	put(&bob, "TWO", "second value");
	before = file();
	assert_int_equal(store_rekey(&e), 0);
	assert_null(key_at(1));
	after = file();
	open_now();
	vault_expect(&ann, "ONE", "first value");
	vault_expect(&bob, "TWO", "second value");
	refuses(before.data, before.size);
	blob_clear(&before);
	blob_clear(&after);
}

static void
bounds_are_per_principal_and_in_all(void **unused)
{
	struct err e;

	(void)unused;
	options.max_secrets = 2;
	open_now();
	put(&ann, "ONE", "first value");
	put(&ann_work, "TWO", "second value");
	assert_int_equal(vault_put(&ann, "NEW", "third value", &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
	put(&ann, "ONE", "replaced value");
	put(&bob, "ONE", "of another");
	options.max_bytes = 300;
	assert_int_equal(vault_put(&bob, "TWO",
			     "a value of more than that, "
			     "and then some more of the same kind of text, "
			     "so that all together it is over the limit; "
			     "and then some more of the same kind of text",
			     &e),
	    -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
	assert_int_equal(drop(&ann, "ONE"), 0);
	put(&ann, "NEW", "third value");
}

static int
count(void *self, const struct vault_record *r, struct err *e)
{
	(void)r, (void)e;
	++*(int *)self;
	return 0;
}

static void
in_memory_nothing_is_written(void **unused)
{
	int n = 0;
	struct err e;

	(void)unused;
	assert_int_equal(key_open(&e), 0);
	assert_int_equal(key_start(-1, false, &e), 0);
	assert_int_equal(store_open(-1, &e), 0);
	put(&ann, "ONE", "first value");
	assert_int_equal(store_rekey(&e), 0);
	vault_expect(&ann, "ONE", "first value");
	assert_int_equal(store_each(&ann, count, &n, &e), 0);
	assert_int_equal(store_each(&bob, count, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_false(store_exists(vault_state));
	assert_int_equal(faccessat(vault_state, "vault.key", F_OK, 0), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		VAULT_TEST(a_change_is_durable_before_it_returns),
		VAULT_TEST(a_replaced_value_keeps_its_first_time),
		VAULT_TEST(nothing_in_the_file_is_clear),
		VAULT_TEST(a_torn_or_changed_file_is_refused_and_kept),
		VAULT_TEST(another_key_does_not_open_it),
		VAULT_TEST(an_older_key_opens_and_the_first_one_seals),
		VAULT_TEST(a_value_opens_only_in_its_own_record),
		VAULT_TEST(a_full_disk_changes_nothing),
		VAULT_TEST(a_full_disk_at_a_new_key_loses_nothing),
		VAULT_TEST(a_new_key_seals_everything),
		VAULT_TEST(bounds_are_per_principal_and_in_all),
		VAULT_TEST(in_memory_nothing_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
