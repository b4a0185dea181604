/* SPDX-License-Identifier: Apache-2.0 */
/* test_shelf.c - which contents may go, when, and what counts against the limits. */
#include "snapshotd/shelf.h"

#include "common/base/auto.h"
#include "snapshotd/options.h"
#include "snapshotd/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Time and disk, as the tests want them. */
static int64_t now_ms = 1000;

int64_t __wrap_loop_now_ms(void);
int __wrap_store_add_owner(const char *owner, struct err *e);

int64_t
__wrap_loop_now_ms(void)
{
	return now_ms;
}

int
__wrap_store_add_owner(const char *owner, struct err *e)
{
	(void)owner;
	(void)e;
	return 0;
}

enum {
	HOLD_MS = 15 * 60 * 1000,
	BLOCK = 4096,
};

static const struct options wide = { .max_store_bytes = UINT64_MAX / 2,
	.max_principal_bytes = UINT64_MAX / 2 };
static unsigned principals, snapshots;

static struct shelf *
new_shelf(void)
{
	char name[32];
	struct err e;

	snprintf(name, sizeof name, "somebody %u", principals++);
	assert_null(shelf_find(name, ""));
	struct shelf *shelf = shelf_make(name, "", &e);
	assert_ptr_equal(shelf_find(name, ""), shelf);
	return shelf;
}

static struct content *
put(struct shelf *shelf, const char *text)
{
	char digest[HASH_HEX];
	struct err e;

	hash_hex(text, strlen(text), digest);
	struct content *c = shelf_add_content(shelf, digest, strlen(text), &wide, &e);
	c->here = true;
	return c;
}

/* A snapshot of files with these contents; NULL with *e. */
static struct record *
commit_at(struct shelf *shelf, const char *time, const char *const *texts, struct err *e)
{
	struct manifest m = { .space = strdup("ns"), .session_id = strdup("s") };
	char id[37], path[24];
	struct record *r;

	m.tree.snapshot = calloc(1, sizeof *m.tree.snapshot);
	hash_uuid(id);
	m.tree.snapshot->snapshot_id = strdup(id);
	m.tree.snapshot->created_at = strdup(time);
	for (size_t i = 0; texts[i] != NULL; i++) {
		struct tree_entry *t = list_add(&m.tree.entries, sizeof *t);

		snprintf(path, sizeof path, "f%zu", i);
		t->path = strdup(path);
		t->size = strlen(texts[i]);
		t->sha256 = malloc(HASH_HEX);
		hash_hex(texts[i], strlen(texts[i]), t->sha256);
	}
	r = shelf_add_record(shelf, &m, 100, &wide, e);
	manifest_clear(&m);
	return r;
}

static struct record *
commit(struct shelf *shelf, const char *const *texts)
{
	char time[32];
	struct err e;

	snprintf(time, sizeof time, "2026-01-01T00:00:00.%06uZ", snapshots++);
	struct record *r = commit_at(shelf, time, texts, &e);
	assert_non_null(r);
	return r;
}

static void
what_is_put_is_held_for_a_while(void **state)
{
	struct shelf *shelf = new_shelf();
	struct content *first = put(shelf, "first"), *second;

	(void)state;
	shelf_hold(shelf, first);
	now_ms += 1000;
	second = put(shelf, "second");
	shelf_hold(shelf, second);
	assert_null(shelf_expired(shelf));
	now_ms += HOLD_MS - 1000;
	assert_ptr_equal(shelf_expired(shelf), first);
	shelf_hold(shelf, first); /* offered again */
	assert_null(shelf_expired(shelf));
	now_ms += 1000;
	assert_ptr_equal(shelf_expired(shelf), second);
	second->busy++;
	assert_null(shelf_expired(shelf));
	second->busy--;
	shelf_remove_content(shelf, second);
	assert_ptr_equal(shelf_content(shelf, first->digest), first);
	now_ms += HOLD_MS;
	shelf_remove_content(shelf, shelf_expired(shelf));
	assert_null(shelf_expired(shelf));
	assert_int_equal(shelf->bytes, 0);
}

static void
what_a_snapshot_needs_stays(void **state)
{
	struct shelf *shelf = new_shelf();
	struct content *shared = put(shelf, "shared"), *own = put(shelf, "own");
	struct record *one = commit(shelf, (const char *[]){ "shared", "own", "shared", NULL });
	struct record *two = commit(shelf, (const char *[]){ "shared", NULL });

	(void)state;
	now_ms += 10ll * HOLD_MS;
	assert_null(shelf_expired(shelf));
	assert_int_equal(one->ncontents, 2);
	assert_int_equal(shared->needed, 2);
	assert_ptr_equal(shelf_record_content(one, own->digest), own);
	assert_null(shelf_record_content(two, own->digest));
	shelf_remove_record(shelf, one);
	assert_ptr_equal(shelf_expired(shelf), own);
	shelf_remove_content(shelf, own);
	assert_null(shelf_expired(shelf));
	shelf_remove_record(shelf, two);
	assert_ptr_equal(shelf_expired(shelf), shared);
	shelf_remove_content(shelf, shared);
	assert_int_equal(shelf->bytes, 0);
	assert_int_equal(shelf->nrecords, 0);
}

/* Somebody else's offer counts on what is dropped. */
static void
a_drop_respects_an_offer(void **state)
{
	struct shelf *shelf = new_shelf();
	struct content *c = put(shelf, "c"), *d = put(shelf, "d");
	struct record *r = commit(shelf, (const char *[]){ "c", "d", NULL });

	(void)state;
	shelf_hold(shelf, c);
	shelf_remove_record(shelf, r);
	assert_ptr_equal(shelf_expired(shelf), d);
	shelf_remove_content(shelf, d);
	assert_null(shelf_expired(shelf));
	now_ms += HOLD_MS;
	assert_ptr_equal(shelf_expired(shelf), c);
}

static void
a_commit_needs_all_of_it_here(void **state)
{
	struct shelf *shelf = new_shelf();
	struct content *c = put(shelf, "c");
	struct err e;

	(void)state;
	assert_null(commit_at(shelf, "t", (const char *[]){ "c", "absent", NULL }, &e));
	assert_int_equal(e.code, ERR_not_found);
	assert_int_equal(c->needed, 0);
	c->here = false;
	assert_null(commit_at(shelf, "t", (const char *[]){ "c", NULL }, &e));
	assert_int_equal(shelf->nrecords, 0);
	assert_int_equal(shelf->bytes, BLOCK);
}

static void
records_are_in_order_of_time(void **state)
{
	static const char *const times[] = { "2", "4", "1", "3", "2" };
	struct shelf *shelf = new_shelf();
	const char *const nothing[] = { NULL };
	struct err e;

	(void)state;
	assert_non_null(shelf_add_broken(shelf, "b9c5cb36-7a9b-4b6e-8d0c-1f1f1f1f1f1f", &e));
	for (size_t i = 0; i < COUNT(times); i++)
		assert_non_null(commit_at(shelf, times[i], nothing, &e));
	assert_non_null(shelf_add_broken(shelf, "c9c5cb36-7a9b-4b6e-8d0c-1f1f1f1f1f1f", &e));
	assert_int_equal(shelf->nrecords, 7);
	assert_true(shelf->records[0]->broken && shelf->records[1]->broken);
	for (size_t i = 3; i < 7; i++)
		assert_true(strcmp(shelf->records[i - 1]->about.created_at,
				shelf->records[i]->about.created_at) <= 0);
}

static void
a_record_is_its_name_spaces(void **state)
{
	struct shelf *shelf = new_shelf();
	struct record *r = commit(shelf, (const char *[]){ NULL });
	struct err e;

	(void)state;
	assert_ptr_equal(shelf_record(shelf, r->id, "ns", &e), r);
	assert_null(shelf_record(shelf, r->id, "", &e));
	assert_int_equal(e.code, ERR_not_found);
	assert_null(shelf_record(NULL, r->id, "ns", &e));
	r->hidden = true;
	assert_null(shelf_record(shelf, r->id, "ns", &e));
}

static void
limits_count_what_the_disk_gives(void **state)
{
	struct shelf *shelf = new_shelf();
	const struct options tight = { .max_store_bytes = UINT64_MAX / 2,
		.max_principal_bytes = 3 * BLOCK };
	char digest[HASH_HEX];
	struct err e;

	(void)state;
	for (int i = 0; i < 4; i++) {
		hash_hex(&i, sizeof i, digest);
		struct content *c = shelf_add_content(shelf, digest, 1, &tight, &e);
		assert_true((c != NULL) == (i < 3));
	}
	assert_int_equal(e.code, ERR_limit_exceeded);
	assert_non_null(strstr(e.text, "max_principal_bytes"));
	assert_int_equal(shelf->bytes, 3 * BLOCK);
	shelf_set_size(shelf, TAILQ_FIRST(&shelf->idle), BLOCK);
	assert_int_equal(shelf->bytes, 4 * BLOCK);
}

static void
orphans_of_a_start(void **state)
{
	struct shelf *good = new_shelf(), *bad = new_shelf();
	struct content *c = put(good, "c");
	struct err e;

	(void)state;
	put(bad, "c");
	assert_non_null(shelf_add_broken(bad, "b9c5cb36-7a9b-4b6e-8d0c-1f1f1f1f1f1f", &e));
	struct content *needed = put(good, "needed");
	struct record *r = commit(good, (const char *[]){ "needed", NULL });
	shelf_settle(good);
	shelf_settle(bad);
	assert_null(shelf_expired(good));
	/* An offer may have said before the start that it is here. */
	shelf_remove_record(good, r);
	assert_true(needed->held_until_ms > now_ms);
	assert_null(shelf_expired(good));
	now_ms += HOLD_MS;
	assert_ptr_equal(shelf_expired(good), c);
	shelf_remove_content(good, c);
	assert_ptr_equal(shelf_expired(good), needed);
	now_ms += 1000ll * HOLD_MS;
	assert_null(shelf_expired(bad));
}

/* Not even whether a content is there can be seen from another name space. */
static void
each_name_space_has_its_own(void **state)
{
	const char *const names[][2] = { { "ann", "" }, { "ann", "x" }, { "ann", "y" },
		{ "annx", "" }, { "an", "nx" } };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_null(shelf_find(names[i][0], names[i][1]));

		struct shelf *shelf = shelf_make(names[i][0], names[i][1], &e);
		char digest[HASH_HEX];

		hash_hex("text", 4, digest);
		assert_null(shelf_content(shelf, digest));
		put(shelf, "text");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_is_held_for_a_while),
		cmocka_unit_test(what_a_snapshot_needs_stays),
		cmocka_unit_test(a_drop_respects_an_offer),
		cmocka_unit_test(a_commit_needs_all_of_it_here),
		cmocka_unit_test(records_are_in_order_of_time),
		cmocka_unit_test(a_record_is_its_name_spaces),
		cmocka_unit_test(limits_count_what_the_disk_gives),
		cmocka_unit_test(orphans_of_a_start),
		cmocka_unit_test(each_name_space_has_its_own),
	};

	options.hold_seconds = HOLD_MS / 1000;
	return cmocka_run_group_tests_name("shelf", tests, NULL, NULL);
}
