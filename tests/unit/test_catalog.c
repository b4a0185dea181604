/* SPDX-License-Identifier: Apache-2.0 */
/* test_catalog.c - which contents may be collected, when, and what counts towards the limits. */
#include "snapshotd/catalog.h"

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

static struct catalog *
new_catalog(void)
{
	struct owner owner = { 0 };
	struct err e;

	snprintf(owner.principal, sizeof owner.principal, "somebody %u", principals++);
	assert_null(catalog_find(&owner));
	struct catalog *catalog = catalog_make(&owner, &e);
	assert_ptr_equal(catalog_find(&owner), catalog);
	return catalog;
}

static struct content *
put(struct catalog *catalog, const char *text)
{
	char digest[HASH_HEX];
	struct err e;

	hash_hex(text, strlen(text), digest);
	struct content *c = catalog_add_content(catalog, digest, strlen(text), &wide, &e);
	c->here = true;
	return c;
}

/* A snapshot of files with these contents; NULL with *e. */
static struct record *
commit_at(struct catalog *catalog, const char *time, const char *const *texts, struct err *e)
{
	struct manifest m = { .session_id = strdup("s") };
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
	r = catalog_add_record(catalog, &m, 100, &wide, e);
	manifest_clear(&m);
	return r;
}

static struct record *
commit(struct catalog *catalog, const char *const *texts)
{
	char time[32];
	struct err e;

	snprintf(time, sizeof time, "2026-01-01T00:00:00.%06uZ", snapshots++);
	struct record *r = commit_at(catalog, time, texts, &e);
	assert_non_null(r);
	return r;
}

static void
what_is_put_is_held_for_a_while(void **state)
{
	struct catalog *catalog = new_catalog();
	struct content *first = put(catalog, "first"), *second;

	(void)state;
	catalog_hold(catalog, first);
	now_ms += 1000;
	second = put(catalog, "second");
	catalog_hold(catalog, second);
	assert_null(catalog_expired(catalog));
	now_ms += HOLD_MS - 1000;
	assert_ptr_equal(catalog_expired(catalog), first);
	catalog_hold(catalog, first); /* offered again */
	assert_null(catalog_expired(catalog));
	now_ms += 1000;
	assert_ptr_equal(catalog_expired(catalog), second);
	second->busy++;
	assert_null(catalog_expired(catalog));
	second->busy--;
	catalog_remove_content(catalog, second);
	assert_ptr_equal(catalog_content(catalog, first->digest), first);
	now_ms += HOLD_MS;
	catalog_remove_content(catalog, catalog_expired(catalog));
	assert_null(catalog_expired(catalog));
	assert_int_equal(catalog->bytes, 0);
}

static void
what_a_snapshot_needs_stays(void **state)
{
	struct catalog *catalog = new_catalog();
	struct content *shared = put(catalog, "shared"), *own = put(catalog, "own");
	struct record *one = commit(catalog, (const char *[]){ "shared", "own", "shared", NULL });
	struct record *two = commit(catalog, (const char *[]){ "shared", NULL });

	(void)state;
	now_ms += 10ll * HOLD_MS;
	assert_null(catalog_expired(catalog));
	assert_int_equal(one->ncontents, 2);
	assert_int_equal(shared->needed, 2);
	assert_ptr_equal(catalog_record_content(one, own->digest), own);
	assert_null(catalog_record_content(two, own->digest));
	catalog_remove_record(catalog, one);
	assert_ptr_equal(catalog_expired(catalog), own);
	catalog_remove_content(catalog, own);
	assert_null(catalog_expired(catalog));
	catalog_remove_record(catalog, two);
	assert_ptr_equal(catalog_expired(catalog), shared);
	catalog_remove_content(catalog, shared);
	assert_int_equal(catalog->bytes, 0);
	assert_int_equal(catalog->nrecords, 0);
}

/* Somebody else's offer counts on what is dropped. */
static void
a_drop_respects_an_offer(void **state)
{
	struct catalog *catalog = new_catalog();
	struct content *c = put(catalog, "c"), *d = put(catalog, "d");
	struct record *r = commit(catalog, (const char *[]){ "c", "d", NULL });

	(void)state;
	catalog_hold(catalog, c);
	catalog_remove_record(catalog, r);
	assert_ptr_equal(catalog_expired(catalog), d);
	catalog_remove_content(catalog, d);
	assert_null(catalog_expired(catalog));
	now_ms += HOLD_MS;
	assert_ptr_equal(catalog_expired(catalog), c);
}

static void
a_commit_needs_all_of_it_here(void **state)
{
	struct catalog *catalog = new_catalog();
	struct content *c = put(catalog, "c");
	struct err e;

	(void)state;
	assert_null(commit_at(catalog, "t", (const char *[]){ "c", "absent", NULL }, &e));
	assert_int_equal(e.code, ERR_not_found);
	assert_int_equal(c->needed, 0);
	c->here = false;
	assert_null(commit_at(catalog, "t", (const char *[]){ "c", NULL }, &e));
	assert_int_equal(catalog->nrecords, 0);
	assert_int_equal(catalog->bytes, BLOCK);
}

static void
records_are_in_order_of_time(void **state)
{
	static const char *const times[] = { "2", "4", "1", "3", "2" };
	struct catalog *catalog = new_catalog();
	const char *const nothing[] = { NULL };
	struct err e;

	(void)state;
	assert_non_null(catalog_add_broken(catalog, "b9c5cb36-7a9b-4b6e-8d0c-1f1f1f1f1f1f", &e));
	for (size_t i = 0; i < COUNT(times); i++)
		assert_non_null(commit_at(catalog, times[i], nothing, &e));
	assert_non_null(catalog_add_broken(catalog, "c9c5cb36-7a9b-4b6e-8d0c-1f1f1f1f1f1f", &e));
	assert_int_equal(catalog->nrecords, 7);
	assert_true(catalog->records[0]->broken && catalog->records[1]->broken);
	for (size_t i = 3; i < 7; i++)
		assert_true(strcmp(catalog->records[i - 1]->about.created_at,
				catalog->records[i]->about.created_at) <= 0);
}

static void
a_record_is_found_by_its_id(void **state)
{
	struct catalog *catalog = new_catalog();
	struct record *r = commit(catalog, (const char *[]){ NULL });
	struct err e;

	(void)state;
	assert_ptr_equal(catalog_record(catalog, r->id, &e), r);
	assert_null(catalog_record(new_catalog(), r->id, &e));
	assert_int_equal(e.code, ERR_not_found);
	assert_null(catalog_record(NULL, r->id, &e));
	r->hidden = true;
	assert_null(catalog_record(catalog, r->id, &e));
}

static void
limits_count_what_the_disk_gives(void **state)
{
	struct catalog *catalog = new_catalog();
	const struct options tight = { .max_store_bytes = UINT64_MAX / 2,
		.max_principal_bytes = 3 * BLOCK };
	char digest[HASH_HEX];
	struct err e;

	(void)state;
	for (int i = 0; i < 4; i++) {
		hash_hex(&i, sizeof i, digest);
		struct content *c = catalog_add_content(catalog, digest, 1, &tight, &e);
		assert_true((c != NULL) == (i < 3));
	}
	assert_int_equal(e.code, ERR_limit_exceeded);
	assert_non_null(strstr(e.text, "max_principal_bytes"));
	assert_int_equal(catalog->bytes, 3 * BLOCK);
	catalog_set_size(catalog, TAILQ_FIRST(&catalog->idle), BLOCK);
	assert_int_equal(catalog->bytes, 4 * BLOCK);
}

static void
orphans_of_a_start(void **state)
{
	struct catalog *good = new_catalog(), *bad = new_catalog();
	struct content *c = put(good, "c");
	struct err e;

	(void)state;
	put(bad, "c");
	assert_non_null(catalog_add_broken(bad, "b9c5cb36-7a9b-4b6e-8d0c-1f1f1f1f1f1f", &e));
	struct content *needed = put(good, "needed");
	struct record *r = commit(good, (const char *[]){ "needed", NULL });
	catalog_settle(good);
	catalog_settle(bad);
	assert_null(catalog_expired(good));
	/* An offer may have said before the start that it is here. */
	catalog_remove_record(good, r);
	assert_true(needed->held_until_ms > now_ms);
	assert_null(catalog_expired(good));
	now_ms += HOLD_MS;
	assert_ptr_equal(catalog_expired(good), c);
	catalog_remove_content(good, c);
	assert_ptr_equal(catalog_expired(good), needed);
	now_ms += 1000ll * HOLD_MS;
	assert_null(catalog_expired(bad));
}

/* Not even the existence of a content is visible from another namespace. */
static void
each_namespace_has_its_own(void **state)
{
	const struct owner owners[] = { { "ann", "" }, { "ann", "x" }, { "ann", "y" },
		{ "annx", "" }, { "an", "nx" } };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(owners); i++) {
		assert_null(catalog_find(&owners[i]));

		struct catalog *catalog = catalog_make(&owners[i], &e);
		char digest[HASH_HEX];

		hash_hex("text", 4, digest);
		assert_null(catalog_content(catalog, digest));
		put(catalog, "text");
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
		cmocka_unit_test(a_record_is_found_by_its_id),
		cmocka_unit_test(limits_count_what_the_disk_gives),
		cmocka_unit_test(orphans_of_a_start),
		cmocka_unit_test(each_namespace_has_its_own),
	};

	options.hold_seconds = HOLD_MS / 1000;
	return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
