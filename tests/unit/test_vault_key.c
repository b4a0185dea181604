/* SPDX-License-Identifier: Apache-2.0 */
/* test_vault_key.c - where keys come from, and that none is lost when a new one cannot be stored.
 */
#include "vault_setup.h"

#include "tests/unit/scarce.h"

#include "common/crypto/seal.h"

#include <errno.h>
#include <sodium.h>

enum { OLDER = 4 };

static uint8_t seen[KEY_BYTES];

/* The text of a key whose bytes all have that value. */
static const char *
text_of(uint8_t value)
{
	static char texts[OLDER + 2][SEAL_KEY];
	uint8_t key[KEY_BYTES];

	memset(key, value, sizeof key);
	sodium_bin2base64(texts[value], SEAL_KEY, key, sizeof key, sodium_base64_VARIANT_ORIGINAL);
	return texts[value];
}

static void
expect_key(size_t i, uint8_t value)
{
	assert_non_null(key_at(i));
	for (size_t n = 0; n < KEY_BYTES; n++)
		assert_int_equal(key_at(i)[n], value);
}

static int
start(bool sealed_exists, struct err *e)
{
	key_close();
	return key_open(e) < 0 ? -1 : key_start(vault_state, sealed_exists, e);
}

static void
start_and_note(void)
{
	struct err e;

	assert_int_equal(start(false, &e), 0);
	memcpy(seen, key_at(0), KEY_BYTES);
}

static bool
has_file(void)
{
	struct stat st;

	return fstatat(vault_state, "vault.key", &st, 0) == 0;
}

static void
the_vault_makes_one_and_keeps_it(void **unused)
{
	struct stat st;
	struct err e;

	(void)unused;
	start_and_note();
	assert_int_equal(fstatat(vault_state, "vault.key", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_null(key_at(1));
	assert_int_equal(start(true, &e), 0);
	assert_memory_equal(key_at(0), seen, KEY_BYTES);
	assert_memory_not_equal(key_of_memory(), seen, KEY_BYTES);
}

static void
no_key_is_made_beside_a_sealed_file(void **unused)
{
	struct err e;

	(void)unused;
	assert_int_equal(start(true, &e), -1);
	assert_int_equal(e.code, ERR_not_found);
	assert_false(has_file());
}

static void
without_a_directory_no_file_is_made(void **unused)
{
	struct err e;

	(void)unused;
	assert_int_equal(key_open(&e), 0);
	assert_int_equal(key_start(-1, false, &e), 0);
	assert_non_null(key_at(0));
	assert_int_equal(key_renew(&e), 0);
	assert_int_equal(key_forget_old(&e), 0);
	assert_false(has_file());
}

static void
a_damaged_file_is_no_key(void **unused)
{
	static const char *const texts[] = { "", "\n\n", "short\n",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", /* 33 bytes */
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==\n", /* 31 bytes */
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=x\n" };
	struct err e;

	(void)unused;
	for (size_t i = 0; i < COUNT(texts); i++) {
		vault_write("vault.key", texts[i], 0600);
		if (start(false, &e) == 0)
			fail_msg("%zu is accepted", i);
		assert_true(has_file());
	}
}

static void
give(size_t keys, mode_t mode)
{
	static char path[256];
	char text[(OLDER + 2) * SEAL_KEY] = "";

	for (size_t i = 0; i < keys; i++) {
		strcat(text, text_of((uint8_t)(i + 1)));
		strcat(text, "\n");
	}
	vault_write("given", text, mode);
	snprintf(path, sizeof path, "%s/given", vault_directory);
	options.key_file = path;
}

static void
the_operators_keys_are_used_in_their_order(void **unused)
{
	struct err e;

	(void)unused;
	give(KEY_MAX, 0600);
	assert_int_equal(start(true, &e), 0);
	for (size_t i = 0; i < KEY_MAX; i++)
		expect_key(i, (uint8_t)(i + 1));
	assert_null(key_at(KEY_MAX));
	assert_int_equal(key_renew(&e), -1);
	assert_int_equal(e.code, ERR_denied);
	assert_int_equal(key_forget_old(&e), 0);
	expect_key(KEY_MAX - 1, KEY_MAX);
	assert_false(has_file());
	give(KEY_MAX + 1, 0600);
	assert_int_equal(start(true, &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
}

static void
others_may_not_read_the_operators_file(void **unused)
{
	struct err e;

	(void)unused;
	for (mode_t bit = 1; bit <= 040; bit <<= 1) {
		give(1, 0600 | bit);
		assert_int_equal(start(false, &e), -1);
		assert_int_equal(e.code, ERR_denied);
	}
	options.key_file = (char *)(uintptr_t) "/nonexistent/key";
	assert_int_equal(start(false, &e), -1);
}

/* systemd mounts credentials with its own modes. */
static void
a_credential_is_used_if_it_exists(void **unused)
{
	char text[256];
	struct err e;

	(void)unused;
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", "/nonexistent", 1), 0);
	assert_int_equal(start(false, &e), 0);
	snprintf(text, sizeof text, "%s\n", text_of(1));
	vault_write("vault.key", text, 0440);
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", vault_directory, 1), 0);
	assert_int_equal(start(true, &e), 0);
	expect_key(0, 1);
	assert_int_equal(key_renew(&e), -1);
}

static void
a_renewed_key_stands_before_the_old_one(void **unused)
{
	uint8_t fresh[KEY_BYTES];
	struct err e;

	(void)unused;
	start_and_note();
	assert_int_equal(key_renew(&e), 0);
	memcpy(fresh, key_at(0), KEY_BYTES);
	assert_memory_not_equal(fresh, seen, KEY_BYTES);
	assert_memory_equal(key_at(1), seen, KEY_BYTES);
	assert_int_equal(start(true, &e), 0);
	assert_memory_equal(key_at(0), fresh, KEY_BYTES);
	assert_memory_equal(key_at(1), seen, KEY_BYTES);
	assert_int_equal(key_forget_old(&e), 0);
	assert_null(key_at(1));
	assert_int_equal(start(true, &e), 0);
	assert_memory_equal(key_at(0), fresh, KEY_BYTES);
	assert_null(key_at(1));
}

/* What would be sealed with a key that no file has could never be opened again. */
static void
a_key_that_cannot_be_stored_is_not_used(void **unused)
{
	struct err e;

	(void)unused;
	start_and_note();
	scarce_room(10, ENOSPC);
	assert_int_equal(key_renew(&e), -1);
	scarce_over();
	assert_memory_equal(key_at(0), seen, KEY_BYTES);
	assert_null(key_at(1));
	assert_int_equal(start(true, &e), 0);
	assert_memory_equal(key_at(0), seen, KEY_BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		VAULT_TEST(the_vault_makes_one_and_keeps_it),
		VAULT_TEST(no_key_is_made_beside_a_sealed_file),
		VAULT_TEST(without_a_directory_no_file_is_made),
		VAULT_TEST(a_damaged_file_is_no_key),
		VAULT_TEST(the_operators_keys_are_used_in_their_order),
		VAULT_TEST(others_may_not_read_the_operators_file),
		VAULT_TEST(a_credential_is_used_if_it_exists),
		VAULT_TEST(a_renewed_key_stands_before_the_old_one),
		VAULT_TEST(a_key_that_cannot_be_stored_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
