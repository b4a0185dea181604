/* SPDX-License-Identifier: Apache-2.0 */
/* test_approvald_store.c - records survive a restart one by one; a damaged one grants nothing, and
 * costs no other. */
#include "asked.h"

#include "tests/unit/scarce.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILE = 1 << 16 };

static struct blob
file(const char *name)
{
	struct blob bytes = { 0 };
	struct err e;

	assert_int_equal(fdio_load(asked.state, name, MAX_FILE, &bytes, &e), 0);
	return bytes;
}

static void
write_file(const char *name, const void *data, size_t size)
{
	struct err e;

	assert_int_equal(fdio_store(asked.state, name, data, size, 0600, &e), 0);
}

static bool
has(const char *name)
{
	return faccessat(asked.state, name, F_OK, 0) == 0;
}

static size_t
count_files(void)
{
	auto_dir DIR *dir = opendir(asked.directory);
	size_t n = 0;

	assert_non_null(dir);
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
		n += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	return n;
}

static struct approval *
make(const char *subject)
{
	const struct wish w = asked_wish(subject);

	return asked_make(&w);
}

static size_t
count_records(void)
{
	size_t n = 0;

	while (store_at(n) != NULL)
		n++;
	return n;
}

static void
each_record_is_a_file_that_survives(void **unused)
{
	struct approval *a = make("a.test");
	char id[17];
	struct stat st;

	(void)unused;
	snprintf(id, sizeof id, "%s", a->request_id);
	asked_answer(a, approval_verdict_approve, approval_duration_namespace);
	asked.now_ms++;
	assert_string_not_equal(make("b.test")->request_id, id);
	assert_int_equal(count_files(), 2);
	assert_int_equal(fstatat(asked.state, id, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	asked_restart();
	assert_int_equal(count_records(), 2);
	assert_string_equal(store_at(1)->subject, "b.test");
	assert_int_equal(store_at(1)->state, approval_state_pending);
	a = store_find(id);
	assert_ptr_equal(a, store_at(0));
	assert_string_equal(a->subject, "a.test");
	assert_int_equal(a->state, approval_state_approved);
	assert_string_equal(a->answered_by, "uid 0");
	assert_string_equal(a->principal, asked_ann.principal);
	assert_null(store_find("0123456789abcdef"));
}

/* It is set aside as it is, and the other record stays. */
static void
is_set_aside(const char *id, const void *data, size_t size)
{
	char aside[32];
	struct blob kept;

	write_file(id, data, size);
	asked_restart();
	assert_int_equal(count_records(), 1);
	assert_string_equal(store_at(0)->subject, "b.test");
	assert_false(has(id));
	snprintf(aside, sizeof aside, "%s.damaged", id);
	kept = file(aside);
	assert_int_equal(kept.size, size);
	assert_memory_equal(kept.data, data, size);
	blob_clear(&kept);
}

static void
a_torn_or_changed_record_grants_nothing(void **unused)
{
	struct approval *a = make("a.test");
	struct blob bytes;
	char id[17];

	(void)unused;
	asked_answer(a, approval_verdict_approve, approval_duration_namespace);
	make("b.test");
	snprintf(id, sizeof id, "%s", a->request_id);
	bytes = file(id);
	for (size_t size = 0; size < bytes.size; size += 3)
		is_set_aside(id, bytes.data, size);
	for (size_t at = 0; at < bytes.size; at += 3) {
		((char *)bytes.data)[at] ^= 4;
		is_set_aside(id, bytes.data, bytes.size);
		((char *)bytes.data)[at] ^= 4;
	}
	write_file(id, bytes.data, bytes.size);
	asked_restart();
	assert_int_equal(count_records(), 2);
	blob_clear(&bytes);
}

static void
append_hash(char *bytes, size_t size)
{
	struct hash h;

	hash_begin(&h);
	hash_add(&h, bytes, size);
	hash_end(&h, (uint8_t *)bytes + size);
}

/* The hash is right, and the record is another's or none. */
static void
a_record_under_another_id_grants_nothing(void **unused)
{
	static const char *const texts[] = { "", "x", "\x80", "\x81\xa1" };
	static const char other[] = "0123456789abcdef";
	struct approval *a = make("b.test");
	struct blob bytes = file(a->request_id);
	char made[64];

	(void)unused;
	is_set_aside(other, bytes.data, bytes.size);
	blob_clear(&bytes);
	for (size_t i = 0; i < COUNT(texts); i++) {
		size_t size = strlen(texts[i]);

		memcpy(made, texts[i], size);
		append_hash(made, size);
		is_set_aside(other, made, size + HASH_BYTES);
	}
	assert_int_equal(symlinkat("/etc/passwd", asked.state, other), 0);
	asked_restart();
	assert_int_equal(count_records(), 1);
	assert_false(has(other));
}

static void
only_drafts_are_removed(void **unused)
{
	static const char *const others[] = { "note", "0123456789ABCDEF", "0123456789abcdef0",
		"0123456789abcde" };

	(void)unused;
	make("b.test");
	write_file(FDIO_DRAFT "0123456789abcdef", "half", 4);
	for (size_t i = 0; i < COUNT(others); i++)
		write_file(others[i], "x", 1);
	asked_restart();
	assert_false(has(FDIO_DRAFT "0123456789abcdef"));
	for (size_t i = 0; i < COUNT(others); i++)
		assert_true(has(others[i]));
	assert_int_equal(count_records(), 1);
}

static void
a_full_disk_changes_nothing(void **unused)
{
	const struct wish w = asked_wish("b.test");
	struct approval *a = make("a.test"), next;
	struct err e;

	(void)unused;
	for (size_t room = 0; room < 64; room += 9) {
		scarce_room(room, ENOSPC);
		assert_null(request_make(&w, asked.now_ms, &e));
		next = *a;
		next.state = approval_state_approved;
		next.answered_by = strdup("uid 0");
		assert_int_equal(store_change(a, &next, &e), -1);
		scarce_over();
		assert_int_equal(a->state, approval_state_pending);
		assert_null(a->answered_by);
		assert_int_equal(count_files(), 1);
		asked_restart();
		a = store_at(0);
		assert_int_equal(a->state, approval_state_pending);
		assert_int_equal(count_records(), 1);
	}
}

static int
add_for(const char *principal, int state, struct err *e)
{
	struct approval fresh = { .kind = approval_kind_egress,
		.state = state,
		.subject = strdup("a.test"),
		.created_ms = ++asked.now_ms,
		.principal = strdup(principal) };

	return store_add(&fresh, e) == NULL ? -1 : 0;
}

static size_t
count_of(const char *principal)
{
	size_t n = 0;

	for (size_t i = 0; store_at(i) != NULL; i++)
		n += strcmp(store_at(i)->principal, principal) == 0;
	return n;
}

/* Its own oldest record without effect goes first. */
static void
a_principal_that_fills_its_records_loses_its_own(void **unused)
{
	struct err e;

	(void)unused;
	options.max_records = 3;
	assert_int_equal(add_for("bob", approval_state_denied, &e), 0);
	assert_int_equal(add_for("ann", approval_state_approved, &e), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(add_for("ann", approval_state_denied, &e), 0);
	assert_int_equal(count_of("ann"), 3);
	assert_int_equal(count_of("bob"), 1);
	assert_int_equal(store_at(1)->state, approval_state_approved);
	assert_int_equal(store_at(3)->created_ms, asked.now_ms);
	assert_int_equal(count_files(), 4);
	assert_int_equal(add_for("ann", approval_state_pending, &e), 0);
	assert_int_equal(add_for("ann", approval_state_pending, &e), 0);
	assert_int_equal(add_for("ann", approval_state_pending, &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
	assert_int_equal(add_for("bob", approval_state_pending, &e), 0);
	asked_restart();
	assert_int_equal(count_of("ann"), 3);
	assert_int_equal(count_of("bob"), 2);
}

static void
all_together_have_a_bound(void **unused)
{
	struct err e;

	(void)unused;
	options.max_all_records = 2;
	assert_int_equal(add_for("ann", approval_state_denied, &e), 0);
	assert_int_equal(add_for("bob", approval_state_pending, &e), 0);
	assert_int_equal(add_for("bob", approval_state_approved, &e), 0);
	assert_int_equal(count_of("ann"), 0);
	assert_int_equal(add_for("ann", approval_state_pending, &e), -1);
	assert_int_equal(e.code, ERR_limit_exceeded);
	assert_int_equal(count_files(), 2);
}

static void
owners(void **unused)
{
	const struct owner work = { "local:1000", "work" };
	struct approval *a = make("a.test");

	(void)unused;
	assert_true(store_owned(a, &asked_ann));
	assert_false(store_owned(a, &asked_bob));
	assert_false(store_owned(a, &work));
	a->granted = true;
	assert_false(store_owned(a, &asked_ann));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ASKED_TEST(each_record_is_a_file_that_survives),
		ASKED_TEST(a_torn_or_changed_record_grants_nothing),
		ASKED_TEST(a_record_under_another_id_grants_nothing),
		ASKED_TEST(only_drafts_are_removed),
		ASKED_TEST(a_full_disk_changes_nothing),
		ASKED_TEST(a_principal_that_fills_its_records_loses_its_own),
		ASKED_TEST(all_together_have_a_bound),
		ASKED_TEST(owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
