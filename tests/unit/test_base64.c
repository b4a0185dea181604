/* SPDX-License-Identifier: Apache-2.0 */
/* test_base64.c - encodes and decodes bytes, and compares with libsodium's slower code. */
#include "common/codec/base64.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <sodium.h>

enum {
	VARIANT = sodium_base64_VARIANT_ORIGINAL,
	MOST = 100,
};

static void
writes_and_reads_all_sizes(void **state)
{
	uint8_t bytes[MOST], back[MOST + 3];
	char text[2 * MOST], wanted[2 * MOST];
	size_t got;

	(void)state;
	for (size_t size = 0; size <= MOST; size++) {
		randombytes_buf(bytes, size);
		assert_int_equal(base64_room(size), sodium_base64_encoded_len(size, VARIANT));
		sodium_bin2base64(wanted, sizeof wanted, bytes, size, VARIANT);
		assert_int_equal(base64_write(text, bytes, size), strlen(wanted));
		assert_string_equal(text, wanted);
		assert_true(base64_most(strlen(text)) >= size);
		assert_int_equal(base64_read(back, &got, text, strlen(text)), 0);
		assert_int_equal(got, size);
		assert_memory_equal(back, bytes, size);
	}
}

/* All that four characters can be, and six where the first two are letters. */
static void
reads_nothing_else(void **state)
{
	static const char kinds[] = "AQgw/+9z=-_ \n\xff";
	const size_t n = sizeof kinds; /* a zero byte, too */
	char text[8] = "QUJD";

	(void)state;
	for (size_t i = 0; i < n * n * n * n; i++)
		for (size_t before = 0; before <= 4; before += 4)
			for (size_t cut = 0; cut < 4; cut++) {
				size_t size = before + 4 - cut, got = 0, theirs = 0;
				uint8_t bytes[8], other[8];
				const char *end;

				for (size_t k = 0, left = i; k < 4; k++, left /= n)
					text[before + k] = kinds[left % n];

				bool valid = sodium_base642bin(other, sizeof other, text, size,
						 NULL, &theirs, &end, VARIANT) == 0 &&
				             end == text + size &&
				             memchr(text, 0xff, size) ==
				                 NULL; /* which it takes for a letter */

				assert_int_equal(
				    base64_read(bytes, &got, text, size), valid ? 0 : -1);
				if (valid) {
					assert_int_equal(got, theirs);
					assert_memory_equal(bytes, other, got);
				}
				memcpy(text, "QUJD", 4);
			}
}

/* A file of 50 MB, which a client sends and is sent, is everybody's wait. */
static void
costs_little(void **state)
{
	const size_t size = 128 << 20;
	auto_free char *text = malloc(base64_room(size));
	auto_free uint8_t *bytes = calloc(1, size + 3);
	clock_t began = clock();
	size_t got;

	(void)state;
	assert_int_equal(base64_write(text, bytes, size), base64_room(size) - 1);
	assert_int_equal(base64_read(bytes, &got, text, base64_room(size) - 1), 0);
	assert_int_equal(got, size);
	assert_true(clock() - began < 4 * CLOCKS_PER_SEC);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_and_reads_all_sizes),
		cmocka_unit_test(reads_nothing_else),
		cmocka_unit_test(costs_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
