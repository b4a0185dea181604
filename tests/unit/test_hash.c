/* SPDX-License-Identifier: Apache-2.0 */
/* test_hash.c - SHA-256 by the vectors of FIPS 180-2, and random names. */
#include "common/base/auto.h"
#include "common/base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *data, *hex;
} vectors[] = {
	{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
};

static void
hashes_at_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++) {
		char hex[HASH_HEX];

		hash_hex(vectors[i].data, strlen(vectors[i].data), hex);
		assert_string_equal(hex, vectors[i].hex);
		assert_true(hash_is_hex(hex));
	}
}

static void
hashes_in_pieces(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(vectors); i++) {
		struct hash h;
		char hex[HASH_HEX];

		hash_begin(&h);
		for (const char *c = vectors[i].data; *c != 0; c++)
			hash_add(&h, c, 1);
		hash_add(&h, "", 0);
		hash_end_hex(&h, hex);
		assert_string_equal(hex, vectors[i].hex);
	}
}

static void
knows_a_digest(void **state)
{
	static const struct {
		const char *text;
		int is;
	} texts[] = {
		{ "", 0 },
		{ "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85", 0 },
		{ "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8555", 0 },
		{ "E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 0 },
		{ "g3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 0 },
		{ "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85/", 0 },
		{ "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_int_equal(hash_is_hex(texts[i].text), texts[i].is);
}

static void
makes_random_digits(void **state)
{
	char seen[64][33], digits[260];
	unsigned used[256] = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(seen); i++) {
		hash_random_hex(seen[i], sizeof seen[i]);
		assert_int_equal(strspn(seen[i], "0123456789abcdef"), 32);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(seen[i], seen[k]);
		for (const char *c = seen[i]; *c != 0; c++)
			used[(unsigned char)*c]++;
	}
	/* 2048 digits: one of sixteen missing would be a miracle. */
	for (const char *c = "0123456789abcdef"; *c != 0; c++)
		assert_true(used[(unsigned char)*c] > 0);
	for (size_t size = 1; size < sizeof digits; size += 2) {
		memset(digits, '!', sizeof digits);
		hash_random_hex(digits, size);
		assert_int_equal(strlen(digits), size - 1);
		assert_int_equal(digits[size], '!');
	}
}

static void
makes_uuids(void **state)
{
	static const char known[] = "89ab";
	unsigned variants = 0;

	(void)state;
	for (int i = 0; i < 256; i++) {
		char text[38] = "", version = 0;
		int used = 0;

		text[37] = '!';
		hash_uuid(text);
		assert_int_equal(text[37], '!');
		assert_int_equal(strlen(text), 36);
		sscanf(text, "%*8[0-9a-f]-%*4[0-9a-f]-%c%*3[0-9a-f]-%n", &version, &used);
		assert_int_equal(version, '4');
		assert_int_equal(used, 19);

		const char *variant = strchr(known, text[19]);

		assert_non_null(variant);
		variants |= 1u << (variant - known);
		assert_int_equal(text[23], '-');
		assert_int_equal(strspn(text + 24, "0123456789abcdef"), 12);
	}
	assert_int_equal(variants, 15);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_at_once),
		cmocka_unit_test(hashes_in_pieces),
		cmocka_unit_test(knows_a_digest),
		cmocka_unit_test(makes_random_digits),
		cmocka_unit_test(makes_uuids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
