/* SPDX-License-Identifier: Apache-2.0 */
/* test_manifest.c - the file of a snapshot is intact, or refused if any bit has changed. */
#include "snapshotd/manifest.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "snapshotd/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define TEXT(s)           ((char *)(uintptr_t)(s))
/* SHA-256 of the file of the sample. */
#define BEFORE_HARD_LINKS "99f15a9fdca6dd28ac35f9c29b73cad77c9f1dcefcf2352942377db7a3c49001"

static struct tree_entry entries[] = {
	{ .path = TEXT("a"), .type = file_type_directory, .mode = 0755, .mtime_ns = -1 },
	{ .path = TEXT("a/f"), .mode = 0640, .mtime_ns = INT64_MAX, .size = 7, .sha256 = NULL },
	{ .path = TEXT("l"), .type = file_type_link, .target = TEXT("../%FF") },
};

/* Texts are lent, and entries: cleared by hand. */
static struct manifest
sample(struct snapshot *about)
{
	static char digest[HASH_HEX];

	hash_hex("content", 7, digest);
	entries[1].sha256 = digest;
	*about = (struct snapshot){
		.snapshot_id = TEXT("b9c5cb36-7a9b-4b6e-8d0c-1f1f1f1f1f1f"),
		.created_at = TEXT("2026-01-02T03:04:05.678901Z"),
		.description = TEXT("a \xe2\x82\xac"),
		.file_count = 1,
		.total_bytes = 7,
		.new_bytes = 7,
	};
	return (struct manifest){
		.owner = { .principal = "local:1000" },
		.session_id = TEXT("sess_1"),
		.tree = { .snapshot = about, .entries = { entries, COUNT(entries) } },
	};
}

static struct blob
write_sample(void)
{
	struct snapshot about;
	struct manifest m = sample(&about);
	struct blob file = { 0 };
	struct err e;

	assert_int_equal(manifest_write(&m, &file, &e), 0);
	return file;
}

static void
what_is_written_is_read(void **state)
{
	struct blob file = write_sample();
	struct manifest m = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(manifest_read(&file, &m, &e), 0);
	assert_string_equal(m.owner.principal, "local:1000");
	assert_string_equal(m.owner.namespace, "");
	assert_string_equal(m.session_id, "sess_1");
	assert_string_equal(m.tree.snapshot->description, "a \xe2\x82\xac");
	assert_int_equal(m.tree.entries.count, COUNT(entries));
	assert_string_equal(m.tree.entries.items[1].path, "a/f");
	assert_string_equal(m.tree.entries.items[1].sha256, entries[1].sha256);
	assert_int_equal(m.tree.entries.items[1].mtime_ns, INT64_MAX);
	assert_string_equal(m.tree.entries.items[2].target, "../%FF");
	manifest_clear(&m);
	blob_clear(&file);
}

static void
expect_corrupt(const struct blob *file)
{
	struct manifest m = { 0 };
	struct err e = { 0 };

	assert_int_equal(manifest_read(file, &m, &e), -1);
	assert_int_equal(e.code, ERR_snapshot_corrupt);
	assert_string_equal(m.owner.principal, "");
	assert_null(m.tree.snapshot);
}

static void
every_changed_bit_is_noticed(void **state)
{
	struct blob file = write_sample();

	(void)state;
	for (size_t bit = 0; bit < file.size * 8; bit++) {
		((uint8_t *)file.data)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		expect_corrupt(&file);
		((uint8_t *)file.data)[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	blob_clear(&file);
}

static void
every_torn_end_is_noticed(void **state)
{
	struct blob file = write_sample();
	struct blob longer = { calloc(1, file.size + 1), file.size + 1 };

	(void)state;
	for (size_t size = 0; size < file.size; size++) {
		struct blob torn = blob_copy(file.data, size);

		expect_corrupt(&torn);
		blob_clear(&torn);
	}
	memcpy(longer.data, file.data, file.size);
	expect_corrupt(&longer);
	blob_clear(&longer);
	blob_clear(&file);
}

/* A digest that is right does not make sizes right: whoever can write the file can compute it. */
static void
sizes_are_not_believed(void **state)
{
	enum { DIGEST = 8, NAMES = DIGEST + HASH_BYTES + 4, BODY = NAMES + 3 * 4 };
	static const uint32_t lies[] = { 1, 255, 257, 0x7fffffff, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < COUNT(lies); i++)
		for (size_t at = DIGEST + HASH_BYTES; at < BODY + 8; at += 4) {
			struct blob file = write_sample();
			uint8_t *bytes = file.data;
			struct hash hash;

			memcpy(bytes + at, &lies[i], 4);
			hash_begin(&hash);
			hash_add(&hash, bytes, DIGEST);
			hash_add(
			    &hash, bytes + DIGEST + HASH_BYTES, file.size - DIGEST - HASH_BYTES);
			hash_end(&hash, bytes + DIGEST);
			if (at != DIGEST + HASH_BYTES || lies[i] != 1) /* its true version */
				expect_corrupt(&file);
			blob_clear(&file);
		}
}

static void
what_cannot_be_restored_is_not_read(void **state)
{
	struct snapshot about;
	struct manifest m = sample(&about);
	struct blob file = { 0 };
	struct err e;

	(void)state;
	entries[1].path = TEXT("../f");
	assert_int_equal(manifest_write(&m, &file, &e), 0);
	expect_corrupt(&file);
	blob_clear(&file);
	entries[1].path = TEXT("a/f");
	about.file_count = 2;
	assert_int_equal(manifest_write(&m, &file, &e), 0);
	expect_corrupt(&file);
	blob_clear(&file);
}

/* A manifest without hard links has the bytes that it had before there were any. */
static void
a_hard_link_is_kept_beside_older_manifests(void **state)
{
	static char digest[HASH_HEX];
	struct snapshot about;
	struct manifest m = sample(&about), read = { 0 };
	struct blob file = write_sample(), again = { 0 };
	struct tree_entry linked[] = { entries[0], entries[1], entries[1] };
	struct err e;

	(void)state;
	hash_hex(file.data, file.size, digest);
	assert_string_equal(digest, BEFORE_HARD_LINKS);
	linked[2].path = TEXT("a/g");
	linked[2].same_as = TEXT("a/f");
	about.file_count = 2;
	m.tree.entries.items = linked;
	assert_int_equal(manifest_write(&m, &again, &e), 0);
	assert_int_equal(manifest_read(&again, &read, &e), 0);
	assert_string_equal(read.tree.entries.items[2].same_as, "a/f");
	manifest_clear(&read);
	blob_clear(&again);
	linked[2].same_as = TEXT("../f");
	assert_int_equal(manifest_write(&m, &again, &e), 0);
	expect_corrupt(&again);
	blob_clear(&again);
	blob_clear(&file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(every_changed_bit_is_noticed),
		cmocka_unit_test(every_torn_end_is_noticed),
		cmocka_unit_test(sizes_are_not_believed),
		cmocka_unit_test(what_cannot_be_restored_is_not_read),
		cmocka_unit_test(a_hard_link_is_kept_beside_older_manifests),
	};

	return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
