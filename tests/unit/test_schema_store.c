/* SPDX-License-Identifier: Apache-2.0 */
/* test_schema_store.c - a schema is on the disk completely or not at all, is its owner's alone, and
 * no name leaves its directory. */
#include "snapshotd/schema_store.h"

#include "tests/unit/scarce.h"
#include "tests/unit/scratch.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char path[] = "/tmp/schemas-XXXXXX";
static char ann[HASH_HEX], bob[HASH_HEX];
static int state_fd = -1;

static int
open_state(void **unused)
{
	struct err e;

	(void)unused;
	if (scratch_make(path) < 0)
		return -1;
	state_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	hash_hex("ann", 3, ann);
	hash_hex("bob", 3, bob);
	return schema_store_open(state_fd, &e);
}

static int
close_state(void **unused)
{
	(void)unused;
	schema_store_close();
	close(state_fd);
	return scratch_remove(path);
}

static int
put(const char *owner, const char *name, const char *text, struct err *e)
{
	char digest[HASH_HEX], when[] = "2026-01-01T00:00:00Z", words[] = "a \"test\"\n";
	const struct blob schema = { (void *)(uintptr_t)text, strlen(text) };
	const struct registered_schema about = { .name = (char *)(uintptr_t)name,
		.description = words,
		.size = schema.size,
		.sha256 = digest,
		.registered_at = when };

	hash_hex(schema.data, schema.size, digest);
	return schema_store_put(owner, &about, &schema, e);
}

static void
expect_text(const char *owner, const char *name, const char *text)
{
	struct registered_schema about = { 0 };
	struct blob schema = { 0 };
	struct err e;

	assert_int_equal(schema_store_get(owner, name, &about, &schema, &e), 0);
	assert_int_equal(schema.size, strlen(text));
	assert_memory_equal(schema.data, text, schema.size);
	assert_string_equal(about.name, name);
	assert_string_equal(about.description, "a \"test\"\n");
	message_clear(MSG_registered_schema, &about);
	blob_clear(&schema);
}

static void
expect_none(const char *owner, const char *name, enum err_code code)
{
	struct registered_schema about = { 0 };
	struct blob schema = { 0 };
	struct err e;

	assert_int_equal(schema_store_get(owner, name, &about, &schema, &e), -1);
	assert_int_equal(e.code, code);
	assert_null(schema.data);
	message_clear(MSG_registered_schema, &about);
}

/* names: of the list, each followed by a space, and by "! " if it is damaged. */
static void
expect_list(const char *owner, const char *names)
{
	struct schema_list all = { 0 };
	char text[256] = "";
	struct err e;

	assert_int_equal(schema_store_list(owner, &all, &e), 0);
	for (size_t i = 0; i < all.schemas.count; i++) {
		const struct registered_schema *s =
		    (struct registered_schema *)all.schemas.items + i;

		size_t used = strlen(text);

		snprintf(text + used, sizeof text - used, "%s%s", s->name, s->damaged ? "! " : " ");
	}
	assert_string_equal(text, names);
	message_clear(MSG_schema_list, &all);
}

static void
reopen(void)
{
	struct err e;

	schema_store_close();
	assert_int_equal(schema_store_open(state_fd, &e), 0);
}

static int
open_owner(const char *owner)
{
	char directory[128];

	snprintf(directory, sizeof directory, "schemas/%s", owner);
	return openat(state_fd, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void
schemas_are_kept_for_each_owner(void **unused)
{
	struct err e;

	(void)unused;
	expect_list(ann, "");
	assert_int_equal(put(ann, "two", "{\"a\": \n1}", &e), 0);
	assert_int_equal(put(ann, "one", "{}", &e), 0);
	assert_int_equal(put(ann, "one", "{\"type\":\"null\"}", &e), 0);
	reopen();
	expect_list(ann, "one two ");
	expect_text(ann, "one", "{\"type\":\"null\"}");
	expect_text(ann, "two", "{\"a\": \n1}");
	expect_list(bob, "");
	expect_none(bob, "one", ERR_not_found);
	assert_int_equal(schema_store_remove(bob, "one", &e), -1);
	assert_int_equal(e.code, ERR_not_found);
	assert_int_equal(schema_store_remove(ann, "one", &e), 0);
	assert_int_equal(schema_store_remove(ann, "one", &e), -1);
	assert_int_equal(e.code, ERR_not_found);
	expect_list(ann, "two ");
}

static void
no_name_leaves_the_directory(void **unused)
{
	static const char *const names[] = { "", ".", "..", "../x", "a/b", "/etc/passwd",
		".draft-1", "a b", "a\n", "\xc3\xa9",
		"12345678901234567890123456789012345678901234567890123456789012345" };
	struct err e;

	(void)unused;
	assert_int_equal(put(ann, "a", "{}", &e), 0);
	for (size_t i = 0; i < COUNT(names); i++) {
		expect_none(ann, names[i], ERR_not_found);
		assert_int_equal(schema_store_remove(ann, names[i], &e), -1);
		assert_int_equal(e.code, ERR_not_found);
	}
	expect_list(ann, "a ");
}

/* What a crash between write and rename leaves. */
static void
a_draft_is_no_schema(void **unused)
{
	const char half[] = "{\"name\":\"a\"";
	struct err e;

	(void)unused;
	assert_int_equal(put(ann, "a", "{}", &e), 0);

	auto_fd int directory = open_owner(ann);
	auto_fd int draft =
	    openat(directory, FDIO_DRAFT "0123", O_WRONLY | O_CREAT | O_CLOEXEC, 0400);

	assert_int_equal(write(draft, half, sizeof half), sizeof half);
	expect_list(ann, "a ");
	reopen();
	expect_list(ann, "a ");
	assert_int_equal(faccessat(directory, FDIO_DRAFT "0123", F_OK, 0), -1);
	expect_text(ann, "a", "{}");
}

static void
a_full_disk_keeps_what_was_there(void **unused)
{
	struct err e;

	(void)unused;
	assert_int_equal(put(ann, "a", "{}", &e), 0);
	scarce_room(2, ENOSPC);
	assert_int_equal(put(ann, "a", "{\"type\":\"null\"}", &e), -1);
	assert_int_equal(e.sys, ENOSPC);
	assert_int_equal(put(ann, "b", "{}", &e), -1);
	scarce_over();
	expect_list(ann, "a ");
	expect_text(ann, "a", "{}");
}

static void
damage_is_found(void **unused)
{
	struct err e;

	(void)unused;
	assert_int_equal(put(ann, "a", "{\"type\":\"null\"}", &e), 0);
	assert_int_equal(put(ann, "b", "{}", &e), 0);

	auto_fd int directory = open_owner(ann);

	assert_int_equal(fchmodat(directory, "a", 0600, 0), 0);

	auto_fd int a = openat(directory, "a", O_RDWR | O_CLOEXEC);

	assert_int_equal(pwrite(a, "x", 1, lseek(a, 0, SEEK_END) - 3), 1);
	expect_none(ann, "a", ERR_schema_invalid);
	assert_int_equal(ftruncate(a, 20), 0);
	expect_none(ann, "a", ERR_schema_invalid);
	expect_list(ann, "a! b ");
	assert_int_equal(put(ann, "a", "{}", &e), 0);
	expect_list(ann, "a b ");
	/* Under the name of another one it is nobody's. */
	assert_int_equal(renameat(directory, "b", directory, "c"), 0);
	expect_none(ann, "c", ERR_schema_invalid);
	expect_list(ann, "a c! ");
	assert_int_equal(schema_store_remove(ann, "c", &e), 0);
	expect_list(ann, "a ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    schemas_are_kept_for_each_owner, open_state, close_state),
		cmocka_unit_test_setup_teardown(
		    no_name_leaves_the_directory, open_state, close_state),
		cmocka_unit_test_setup_teardown(a_draft_is_no_schema, open_state, close_state),
		cmocka_unit_test_setup_teardown(
		    a_full_disk_keeps_what_was_there, open_state, close_state),
		cmocka_unit_test_setup_teardown(damage_is_found, open_state, close_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
