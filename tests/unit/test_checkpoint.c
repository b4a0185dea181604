/* SPDX-License-Identifier: Apache-2.0 */
/* test_checkpoint.c - a statement has exactly one form, and a signature fits no other text. */
#include "common/crypto/checkpoint.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* RFC 8032, 7.1, test 1. */
static const uint8_t seed[32] = { 0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a,
	0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b,
	0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60 };

static uint8_t public[CHECKPOINT_PUBLIC], secret[CHECKPOINT_SECRET];
static char text[CHECKPOINT_TEXT];

static int
set_up(void **unused)
{
	struct checkpoint c = { .number = 68, .time_ms = 1763905012345 };

	(void)unused;
	memset(c.seal, 0xab, sizeof c.seal);
	crypto_sign_seed_keypair(public, secret, seed);
	checkpoint_sign(&c, secret, text);
	return 0;
}

static void
says_what_was_signed(void **unused)
{
	struct checkpoint c;
	struct err e;

	(void)unused;
	assert_non_null(strstr(text, "\n68\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\ntime "
				     "1763905012345\n\n\xe2\x80\x94 "
				     "cloister-audit-sha256-chain/"));
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_return_code(checkpoint_verify(text, public, &c, &e), 0);
	assert_int_equal(c.number, 68);
	assert_int_equal(c.seal[31], 0xab);
	assert_int_equal(c.time_ms, 1763905012345);
}

static void
any_bit_makes_it_another(void **unused)
{
	struct checkpoint c;
	struct err e;

	(void)unused;
	for (size_t i = 0; i < strlen(text) - 1; i++)
		for (int bit = 0; bit < 7; bit++) {
			text[i] ^= (char)(1 << bit);
			if (checkpoint_verify(text, public, &c, &e) == 0)
				fail_msg("byte %zu, bit %d: %s", i, bit, text);
			text[i] ^= (char)(1 << bit);
		}
	assert_return_code(checkpoint_verify(text, public, &c, &e), 0);
}

static void
what_is_wrong_has_a_code_of_its_own(void **unused)
{
	static const struct {
		const char *from, *to;
		enum err_code code;
	} rows[] = {
		{ "68", "69", ERR_denied },
		{ "time 1", "time 2", ERR_denied },
		{ "68", "068", ERR_invalid_argument },
		{ "68", "+68", ERR_invalid_argument },
		{ "68", "", ERR_invalid_argument },
		{ "68", "99999999999999999999", ERR_invalid_argument },
		{ "time ", "Time ", ERR_invalid_argument },
		{ "\n\n", "\nmore\n\n", ERR_invalid_argument },
		{ "cloister", "Cloister", ERR_invalid_argument },
		{ "\xe2\x80\x94", "-", ERR_not_found },
	};
	char other[2 * CHECKPOINT_TEXT];
	struct checkpoint c;
	struct err e;

	(void)unused;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *at = strstr(text, rows[i].from);

		snprintf(other, sizeof other, "%.*s%s%s", (int)(at - text), text, rows[i].to,
		    at + strlen(rows[i].from));
		assert_int_equal(checkpoint_verify(other, public, &c, &e), -1);
		assert_int_equal(e.code, rows[i].code);
	}
	assert_int_equal(checkpoint_read("", &c, &e), -1);
	assert_int_equal(checkpoint_read("\n\n\n\n\n", &c, &e), -1);
}

/* A witness may have signed as well, before or behind. */
static void
signatures_of_others_are_passed_over(void **unused)
{
	char *body_end = strstr(text, "\n\n") + 2;
	char other[2 * CHECKPOINT_TEXT];
	struct checkpoint c;
	struct err e;

	(void)unused;
	snprintf(other, sizeof other, "%.*s\xe2\x80\x94 witness.example AAAA\n%s",
	    (int)(body_end - text), text, body_end);
	assert_return_code(checkpoint_verify(other, public, &c, &e), 0);
}

static void
another_key_is_named(void **unused)
{
	uint8_t mine[CHECKPOINT_PUBLIC], ignored[CHECKPOINT_SECRET];
	struct checkpoint c;
	struct err e;

	(void)unused;
	crypto_sign_keypair(mine, ignored);
	assert_int_equal(checkpoint_verify(text, mine, &c, &e), -1);
	assert_int_equal(e.code, ERR_not_found);
	assert_int_equal(c.number, 68);
}

static void
a_key_has_one_form(void **unused)
{
	char key[CHECKPOINT_KEY], broken[CHECKPOINT_KEY + 8];
	uint8_t got[CHECKPOINT_PUBLIC];
	struct err e;

	(void)unused;
	checkpoint_key_text(public, key);
	assert_memory_equal(key, text, strcspn(text, "\n"));
	assert_return_code(checkpoint_key_read(key, got, &e), 0);
	assert_memory_equal(got, public, sizeof got);
	snprintf(broken, sizeof broken, "%s\n", key);
	assert_return_code(checkpoint_key_read(broken, got, &e), 0);
	for (size_t i = 0; i < strlen(key); i++) {
		snprintf(broken, sizeof broken, "%s", key);
		broken[i] ^= 1;
		assert_int_equal(checkpoint_key_read(broken, got, &e), -1);
		assert_int_equal(checkpoint_key_read(key + i + 1, got, &e), -1);
	}
}

int
main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup(says_what_was_signed, set_up),
		cmocka_unit_test_setup(any_bit_makes_it_another, set_up),
		cmocka_unit_test_setup(what_is_wrong_has_a_code_of_its_own, set_up),
		cmocka_unit_test_setup(signatures_of_others_are_passed_over, set_up),
		cmocka_unit_test_setup(another_key_is_named, set_up),
		cmocka_unit_test_setup(a_key_has_one_form, set_up),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
