/* SPDX-License-Identifier: Apache-2.0 */
/* test_sealed.c - a seal opens only with the right key and context. */
#include "gateway/mcp/sealed.h"
#include "gateway/mcp/secretbox.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static json_t *value;
static const struct account someone = { .owner = { "q", "" } };

static int
start(void **state)
{
	struct err e;

	(void)state;
	value = json_pack("{s:s, s:i}", "name", "gr\xc3\xbc\xc3\x9f", "n", 7);
	return value == NULL ? -1 : sealed_open("", &e);
}

static int
stop(void **state)
{
	(void)state;
	json_decref(value);
	return 0;
}

static bool
opens(const char *purpose, const char *principal, const char *text)
{
	struct account who = { 0 };
	struct err e = { 0 };

	assert_true(owner_set(&who.owner, principal, NULL));
	json_t *got = sealed_read(purpose, &who, text, NULL, &e);
	bool same = json_equal(got, value);

	assert_int_equal(e.code, got == NULL ? ERR_invalid_argument : ERR_none);
	json_decref(got);
	return same;
}

static void
opens_for_whom_and_what_it_was_made(void **state)
{
	const struct account who = { .owner = { "local:7", "" } },
			     elsewhere = { .owner = { "local:7", "n" } };
	auto_free char *text = sealed_make("tools/call 12", &who, value, 60);
	auto_free char *apart = sealed_make("tools/call 12", &elsewhere, value, 60);

	(void)state;
	assert_true(opens("tools/call 12", "local:7", text));
	assert_true(opens("tools/call 12", "local:7", text)); /* within its life, again */
	assert_false(opens("tools/call 13", "local:7", text));
	assert_false(opens("tools/call 12", "local:8", text));
	assert_false(opens("tools/call 12", "local:7", apart));
	/* The two are not run together. */
	assert_false(opens("tools/call 1", "2local:7", text));
	assert_false(opens("tools/call 12local:7", "", text));
}

static void
hides_what_is_in_it(void **state)
{
	auto_free char *one = sealed_make("p", &someone, value, 60),
		       *other = sealed_make("p", &someone, value, 60);

	(void)state;
	assert_null(strstr(one, "name"));
	assert_string_not_equal(one, other);
}

static void
refuses_every_changed_letter(void **state)
{
	auto_free char *text = sealed_make("p", &someone, value, 60);

	(void)state;
	/* The last letter has bits that stand for nothing, which strict decoding wants to be 0. */
	for (size_t i = 0; text[i] != '\0'; i++) {
		char was = text[i];

		text[i] = was == 'A' ? 'B' : 'A';
		assert_false(opens("p", "q", text));
		text[i] = was;
	}
	assert_true(opens("p", "q", text));
}

static void
refuses_what_is_no_seal(void **state)
{
	static const char *const texts[] = { "", "x", "....", "AAAA",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"\xff\xfe" };
	auto_free char *text = sealed_make("p", &someone, value, 60);
	size_t n = strlen(text);
	auto_free char *huge = calloc(1, SECRETBOX_MAX + 2);

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_false(opens("p", "q", texts[i]));
	for (size_t size = 0; size < n; size++) {
		auto_free char *cut = strndup(text, size);

		assert_false(opens("p", "q", cut));
	}
	memset(huge, 'A', SECRETBOX_MAX + 1);
	assert_false(opens("p", "q", huge));
}

static void
refuses_what_is_too_old(void **state)
{
	auto_free char *text = sealed_make("p", &someone, value, -1);
	struct err e;

	(void)state;
	assert_null(sealed_read("p", &someone, text, NULL, &e));
	assert_non_null(strstr(e.text, "expired"));
}

static void
refuses_what_another_key_sealed(void **state)
{
	auto_free char *text = sealed_make("p", &someone, value, 60);
	struct err e;

	(void)state;
	assert_int_equal(sealed_open("", &e), 0);
	assert_false(opens("p", "q", text));
}

/* Makes the file; its descriptor is the caller's. */
static int
open_with_key(char *path)
{
	static const char key[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
	int fd = mkstemp(path);
	struct err e;

	assert_int_equal(write(fd, key, sizeof key - 1), sizeof key - 1);
	assert_int_equal(sealed_open(path, &e), 0);
	return fd;
}

static void
shares_a_key_by_a_file(void **state)
{
	char path[] = "/tmp/cloister-sealed-XXXXXX";
	auto_fd int fd = open_with_key(path);
	struct err e;

	(void)state;
	auto_free char *text = sealed_make("p", &someone, value, 60);

	assert_int_equal(sealed_open("", &e), 0);
	assert_false(opens("p", "q", text));
	assert_int_equal(sealed_open(path, &e), 0);
	assert_true(opens("p", "q", text));
	assert_int_equal(ftruncate(fd, 20), 0);
	assert_int_equal(sealed_open(path, &e), -1);
	assert_non_null(strstr(e.text, "seal_key"));
	unlink(path);
	assert_int_equal(sealed_open(path, &e), -1);
}

/* By which each is known, whoever opens it. */
static void
has_an_id_and_a_life_of_its_own(void **state)
{
	auto_free char *one = sealed_make("p", &someone, value, 60),
		       *two = sealed_make("p", &someone, value, 60);
	struct sealed_use first, again, second;
	struct err e;

	(void)state;
	json_decref(sealed_read("p", &someone, one, &first, &e));
	json_decref(sealed_read("p", &someone, one, &again, &e));
	json_decref(sealed_read("p", &someone, two, &second, &e));
	assert_string_equal(first.id, again.id);
	assert_int_equal(first.made_ms, again.made_ms);
	assert_int_equal(first.until_ms, again.until_ms);
	assert_int_equal(strlen(first.id), SEALED_ID);
	assert_string_not_equal(first.id, second.id);
	assert_int_equal(first.until_ms - first.made_ms, 60000);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opens_for_whom_and_what_it_was_made, start, stop),
		cmocka_unit_test_setup_teardown(hides_what_is_in_it, start, stop),
		cmocka_unit_test_setup_teardown(refuses_every_changed_letter, start, stop),
		cmocka_unit_test_setup_teardown(refuses_what_is_no_seal, start, stop),
		cmocka_unit_test_setup_teardown(refuses_what_is_too_old, start, stop),
		cmocka_unit_test_setup_teardown(refuses_what_another_key_sealed, start, stop),
		cmocka_unit_test_setup_teardown(shares_a_key_by_a_file, start, stop),
		cmocka_unit_test_setup_teardown(has_an_id_and_a_life_of_its_own, start, stop),
	};

	return cmocka_run_group_tests_name("sealed", tests, NULL, NULL);
}
