/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_audit_damage.c - damages the file of a real audit log in many ways. An unacknowledged tail
 * is cut off; any other damage is reported and left unchanged.
 */
#include "tests/unit/ledger.h"

#include "auditd/journal.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- what happens to the file ---- */

static void
a_tail_torn_anywhere_is_cut(void **unused)
{
	struct blob all;

	(void)unused;
	ledger_write(1, 3);
	all = ledger_load();

	size_t third = ledger_place(&all, 3);

	for (size_t size = third + 1; size < all.size; size++) {
		journal_close();
		ledger_store(all.data, size);
		ledger_reopen(2, ledger_torn(&all, third, size));
		ledger_write(3, 3);
		ledger_reopen(3, 0);
	}
	blob_clear(&all);
}

static void
a_bit_of_the_last_record_is_a_torn_tail(void **unused)
{
	struct blob all;

	(void)unused;
	ledger_write(1, 3);
	all = ledger_load();

	size_t third = ledger_place(&all, 3);

	for (size_t i = third; i < all.size; i += 5) {
		journal_close();
		((uint8_t *)all.data)[i] ^= 0x10;
		ledger_store(all.data, all.size);
		ledger_reopen(2, ledger_torn(&all, third, all.size));
		((uint8_t *)all.data)[i] ^= 0x10;
	}
	blob_clear(&all);
}

static void
assert_refused(const void *data, size_t size)
{
	uint64_t torn;
	struct err e;
	struct blob after;

	journal_close();
	ledger_store(data, size);
	assert_int_equal(ledger_open(&torn, &e), -1);
	assert_non_null(strstr(e.text, "audit.log"));
	assert_non_null(strstr(e.text, "damaged"));
	after = ledger_load();
	assert_int_equal(after.size, size);
	assert_memory_equal(after.data, data, size);
	blob_clear(&after);
}

static void
any_bit_before_the_last_record_is_damage(void **unused)
{
	struct blob all;

	(void)unused;
	ledger_write(1, 4);
	all = ledger_load();

	size_t fourth = ledger_place(&all, 4);

	for (size_t i = 0; i < fourth; i++) {
		((uint8_t *)all.data)[i] ^= (uint8_t)(1 << i % 8);
		assert_refused(all.data, all.size);
		((uint8_t *)all.data)[i] ^= (uint8_t)(1 << i % 8);
	}
	blob_clear(&all);
}

static void
a_record_taken_out_is_damage(void **unused)
{
	struct blob all;

	(void)unused;
	ledger_write(1, 5);
	all = ledger_load();

	size_t second = ledger_place(&all, 2), third = ledger_place(&all, 3);

	memmove((char *)all.data + second, (char *)all.data + third, all.size - third);
	assert_refused(all.data, all.size - (third - second));
	blob_clear(&all);
}

static void
records_in_another_order_are_damage(void **unused)
{
	struct blob all, other;

	(void)unused;
	ledger_write(1, 5);
	all = ledger_load();
	other = blob_copy(all.data, all.size);

	size_t second = ledger_place(&all, 2), third = ledger_place(&all, 3),
	       fourth = ledger_place(&all, 4);

	memcpy((char *)other.data + second, (char *)all.data + third, fourth - third);
	memcpy((char *)other.data + second + (fourth - third), (char *)all.data + second,
	    third - second);
	assert_refused(other.data, other.size);
	blob_clear(&all);
	blob_clear(&other);
}

/* A record that is whole by itself, but was made for another log. */
static void
a_record_of_another_log_is_damage(void **unused)
{
	struct blob all, other;

	(void)unused;
	ledger_write(1, 5);
	all = ledger_load();
	journal_close();
	ledger_store("", 0);
	ledger_reopen(0, 0);
	ledger_add(1);
	ledger_add(2);
	ledger_add(3); /* as above, but not the same times */
	ledger_commit();
	other = ledger_load();

	size_t third = ledger_place(&all, 3), fourth = ledger_place(&all, 4);
	size_t third_there = ledger_place(&other, 3);

	assert_int_equal(other.size - third_there, fourth - third);
	memcpy((char *)all.data + third, (char *)other.data + third_there, fourth - third);
	assert_refused(all.data, all.size);
	blob_clear(&all);
	blob_clear(&other);
}

/* A group of records is written at once, so any page of it may be missing after a power loss. */
static void
a_hole_in_the_last_group_is_a_torn_tail(void **unused)
{
	struct blob all;

	(void)unused;
	ledger_write(1, 2);
	for (uint64_t n = 3; n <= 40; n++)
		ledger_add(n);
	ledger_commit();
	all = ledger_load();

	size_t third = ledger_place(&all, 3), fifth = ledger_place(&all, 5);

	memset((char *)all.data + fifth, 0, 200);
	journal_close();
	ledger_store(all.data, all.size);
	ledger_reopen(4, ledger_torn(&all, fifth, all.size));
	assert_true(third < fifth);
	blob_clear(&all);
}

static void
something_else_is_not_cut(void **unused)
{
	uint64_t torn;
	struct err e;

	(void)unused;
	journal_close();

	auto_fd int fd = openat(ledger_directory, "audit.log", O_WRONLY | O_CLOEXEC);

	assert_return_code(ftruncate(fd, CHAIN_TAIL_MAX + 1), 0);
	assert_int_equal(ledger_open(&torn, &e), -1);
	assert_non_null(strstr(e.text, "too many for a torn tail"));
}

static void
a_link_is_not_followed(void **unused)
{
	uint64_t torn;
	struct err e;

	(void)unused;
	journal_close();
	assert_return_code(unlinkat(ledger_directory, "audit.log", 0), 0);
	assert_return_code(symlinkat("/dev/null", ledger_directory, "audit.log"), 0);
	assert_int_equal(ledger_open(&torn, &e), -1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, ledger_set_up, ledger_tear_down)

int
main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(a_tail_torn_anywhere_is_cut),
		CASE(a_bit_of_the_last_record_is_a_torn_tail),
		CASE(any_bit_before_the_last_record_is_damage),
		CASE(a_record_taken_out_is_damage),
		CASE(records_in_another_order_are_damage),
		CASE(a_record_of_another_log_is_damage),
		CASE(a_hole_in_the_last_group_is_a_torn_tail),
		CASE(something_else_is_not_cut),
		CASE(a_link_is_not_followed),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
