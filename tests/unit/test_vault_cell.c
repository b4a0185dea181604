/* SPDX-License-Identifier: Apache-2.0 */
/* test_vault_cell.c - a cell opens with its own key and for its own label, and only unchanged. */
#include "executor/vault/cell.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { OVERHEAD = 24 + 16 }; /* nonce, tag */

static uint8_t key[32] = { 1 };
static const struct blob label = { (void *)(uintptr_t) "ann\0token", 9 };

static int
opens(const struct blob *cell)
{
	struct blob data = { 0 };
	struct err e;
	int status = cell_open(key, &label, cell, &data, &e);

	assert_true(status == 0 || data.data == NULL);
	cell_wipe(&data);
	return status;
}

static struct blob
seal(const char *text, size_t size)
{
	struct blob cell = { 0 };
	struct err e;

	assert_int_equal(cell_seal(key, &label, text, size, &cell, &e), 0);
	assert_int_equal(cell.size, size + OVERHEAD);
	return cell;
}

static void
what_is_sealed_opens(void **unused)
{
	static char text[70000];

	(void)unused;
	memset(text, 'x', sizeof text);
	for (size_t size = 0; size <= sizeof text; size = size * 3 + 1) {
		struct blob cell = seal(text, size), data = { 0 };
		struct err e;

		assert_int_equal(cell_open(key, &label, &cell, &data, &e), 0);
		assert_int_equal(data.size, size);
		assert_memory_equal(data.data, text, size);
		assert_int_equal(((char *)data.data)[size], 0);
		cell_wipe(&data);
		assert_null(data.data);
		blob_clear(&cell);
	}
}

/* A nonce that repeats would show which secrets are equal. */
static void
equal_values_have_different_cells(void **unused)
{
	struct blob one = seal("password", 8), two = seal("password", 8);

	(void)unused;
	assert_memory_not_equal(one.data, two.data, 24);
	assert_memory_not_equal((char *)one.data + 24, (char *)two.data + 24, 8);
	blob_clear(&one);
	blob_clear(&two);
}

static void
no_changed_bit_opens(void **unused)
{
	struct blob cell = seal("password", 8);
	uint8_t *bytes = cell.data;

	(void)unused;
	for (size_t bit = 0; bit < cell.size * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(opens(&cell), -1);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_int_equal(opens(&cell), 0);
	blob_clear(&cell);
}

static void
no_part_opens(void **unused)
{
	struct blob cell = seal("password", 8);

	(void)unused;
	for (size_t size = 0; size < cell.size; size++) {
		struct blob part = blob_copy(cell.data, size);

		assert_int_equal(opens(&part), -1);
		blob_clear(&part);
	}
	blob_clear(&cell);
}

static void
no_other_key_or_label_opens(void **unused)
{
	static const struct blob others[] = { { (void *)(uintptr_t) "bob\0token", 9 },
		{ (void *)(uintptr_t) "ann\0token", 8 }, { NULL, 0 } };
	struct blob cell = seal("password", 8), data = { 0 };
	struct err e;

	(void)unused;
	for (size_t i = 0; i < COUNT(others); i++) {
		assert_int_equal(cell_open(key, &others[i], &cell, &data, &e), -1);
		assert_null(data.data);
		assert_null(strstr(e.text, "password"));
	}
	for (size_t bit = 0; bit < sizeof key * 8; bit++) {
		key[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(opens(&cell), -1);
		key[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	blob_clear(&cell);
}

static int
set_up(void **unused)
{
	(void)unused;
	return sodium_init() < 0 ? -1 : 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sealed_opens),
		cmocka_unit_test(equal_values_have_different_cells),
		cmocka_unit_test(no_changed_bit_opens),
		cmocka_unit_test(no_part_opens),
		cmocka_unit_test(no_other_key_or_label_opens),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
