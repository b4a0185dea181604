/* SPDX-License-Identifier: Apache-2.0 */
/* test_snapshot.c - data sent to the store and received from it, and all failures of both. */
#include "fake.h"

#include "executor/options.h"
#include "executor/session/snapshot/snapshot.h"
#include "executor/tools/info.h"
#include "executor/tools/session_tools.h"

#include "common/base/auto.h"
#include "common/base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char sha_one[HASH_HEX], sha_two[HASH_HEX];
static char path_a[] = "a", path_b[] = "b", path_c[] = "c", path_d[] = "d", path_s[] = "s";
static char snapshot_id[] = "00000000-0000-4000-8000-000000000000", when[] = "2026-01-01T00:00:00Z";

static int
begin(void **state)
{
	struct err e;

	(void)state;
	fake_reset();
	hash_hex("one", 3, sha_one);
	hash_hex("two", 3, sha_two);
	if (fake_options(&e) < 0)
		return -1;
	return session_id_open(&e);
}

static int
end(void **state)
{
	(void)state;
	session_end_all();
	assert_int_equal(fake.workspaces, 0);
	return 0;
}

/* Of the default session, which is made for it. */
static struct fake_call *
take(void)
{
	struct fake_call *c = fake_call(MSG_create_state_snapshot, "ann");
	struct create_state_snapshot ask = { 0 };
	struct err e;

	assert_int_equal(snapshot_take_on_create_state_snapshot(&c->call, &ask, &e), 0);
	if (fake_find(FAKE_WORKSPACE) != NULL)
		fake_make(NULL);
	return c;
}

static struct fake_call *
restore(void)
{
	struct fake_call *c = fake_call(MSG_restore_state_snapshot, "ann");
	struct restore_state_snapshot ask = { .snapshot_id = strdup(snapshot_id) };
	struct err e;

	assert_int_equal(snapshot_restore_on_restore_state_snapshot(&c->call, &ask, &e), 0);
	if (fake_find(FAKE_WORKSPACE) != NULL)
		fake_make(NULL);
	return c;
}

static void
list_three(void)
{
	struct tree_entry tree[] = {
		{ .path = path_a, .size = 3, .sha256 = sha_one },
		{ .path = path_b, .size = 3, .sha256 = sha_two },
		{ .path = path_c, .size = 3, .sha256 = sha_one },
		{ .path = path_d, .type = file_type_directory },
	};

	fake_list(tree, COUNT(tree), NULL);
}

static void
answer_missing(char *sha256)
{
	char *missing[] = { sha256 };
	struct digests digests = { .sha256 = { missing, sha256 != NULL } };

	fake_answer(MSG_snapshot_offer, &digests, NULL);
}

static void
answer_commit(void)
{
	struct snapshot snapshot = {
		.snapshot_id = snapshot_id, .created_at = when, .file_count = 3
	};

	fake_answer(MSG_snapshot_commit, &snapshot, NULL);
}

static void
sends_what_is_missing_once(void **state)
{
	struct nothing done = { .ok = true };
	struct fake_call *c = take();

	(void)state;
	list_three();
	answer_missing(sha_two);
	assert_string_equal(fake_find(FAKE_READ)->path, "b");
	fake_read("two", NULL);
	assert_null(fake_find(FAKE_READ));
	assert_null(fake_asked(MSG_snapshot_commit));
	fake_answer(MSG_snapshot_put, &done, NULL);
	answer_commit();
	assert_int_equal(c->why.code, ERR_none);
	memset(&c->reply, 0, sizeof c->reply); /* static texts */
	fake_forget(c);

	/* The next is told which was before, and moves nothing. */
	c = take();
	list_three();
	answer_missing(NULL);
	assert_null(fake_find(FAKE_READ));
	answer_commit();
	assert_string_equal(session_first()->parent, snapshot_id);
	memset(&c->reply, 0, sizeof c->reply);
	fake_forget(c);
}

static void
begins_anew_once_when_files_change(void **state)
{
	struct fake_call *c = take();
	struct err gone;

	(void)state;
	err_set(&gone, ERR_not_found, "gone");
	list_three();
	answer_missing(sha_two);
	fake_read("2", NULL);
	assert_null(fake_asked(MSG_snapshot_put));
	list_three();
	answer_missing(sha_one);
	fake_read(NULL, &gone);
	assert_int_equal(c->why.code, ERR_session_busy);
	fake_forget(c);
}

static void
believes_the_store_only_so_far(void **state)
{
	struct fake_call *c = take();
	char never[HASH_HEX];

	(void)state;
	hash_hex("never offered", 13, never);
	list_three();
	answer_missing(never);
	assert_int_equal(c->why.code, ERR_internal);
	fake_forget(c);
}

static void
keeps_others_out_meanwhile(void **state)
{
	struct fake_call *c = take(), *second = fake_call(MSG_create_state_snapshot, "ann");
	struct create_state_snapshot ask = { 0 };
	struct err e, away;

	(void)state;
	assert_int_equal(snapshot_take_on_create_state_snapshot(&second->call, &ask, &e), -1);
	assert_int_equal(e.code, ERR_session_busy);
	free(second);
	err_set(&away, ERR_unavailable, "snapshotd is away");
	list_three();
	fake_answer(MSG_snapshot_offer, NULL, &away);
	assert_int_equal(c->why.code, ERR_unavailable);
	fake_forget(c);
}

static void
waits_for_all_that_is_under_way(void **state)
{
	struct nothing done = { .ok = true };
	struct fake_call *c = take();
	char *missing[] = { sha_one, sha_two };
	struct digests digests = { .sha256 = { missing, 2 } };

	(void)state;
	list_three();
	fake_answer(MSG_snapshot_offer, &digests, NULL);
	fake_read("one", NULL);
	/* A put and a read are under way. */
	c->call.on_cancel(&c->call, ERR_cancelled);
	fake_read("two", NULL);
	assert_int_equal(c->ended, 0);
	fake_answer(MSG_snapshot_put, &done, NULL);
	assert_int_equal(c->why.code, ERR_cancelled);
	assert_null(fake_asked(MSG_snapshot_put));
	fake_forget(c);
}

/* ---- restoring ---- */

static void
answer_manifest(void)
{
	struct tree_entry entries[] = {
		{ .path = strdup(path_b), .size = 3, .sha256 = strdup(sha_one) },
		{ .path = strdup(path_c), .size = 3, .sha256 = strdup(sha_one) },
		{ .path = strdup(path_s), .type = file_type_link, .target = strdup(path_a) },
	};
	struct snapshot_manifest manifest = { .entries.count = COUNT(entries) };

	manifest.entries.items = malloc(sizeof entries);
	memcpy(manifest.entries.items, entries, sizeof entries);
	fake_answer(MSG_snapshot_open, &manifest, NULL);
}

static void
puts_another_workspace_in_place(void **state)
{
	struct fake_call *c = restore();
	struct snapshot_content content = { .content = blob_text("one") };
	void (*want)(void *, size_t);

	(void)state;
	list_three();
	answer_manifest();
	assert_int_equal(fake.workspaces, 1);
	fake_make(NULL);
	assert_int_equal(fake.workspaces, 2);
	want = fake_find(FAKE_FILL)->want;
	want(fake_find(FAKE_FILL)->self, 0);
	fake_answer(MSG_snapshot_get, &content, NULL);
	assert_int_equal(fake.given, 1);
	fake_fill(NULL);
	assert_int_equal(fake.workspaces, 1);
	assert_int_equal(fake_count(event_snapshot_restored), 1);
	assert_int_equal(c->reply.restored.restored, 2); /* and a link */
	assert_string_equal(c->reply.restored.deleted.items[0], "a");
	assert_string_equal(c->reply.restored.rewritten.items[0], "b");
	assert_string_equal(c->reply.restored.recreated.items[0], "s");
	assert_int_equal(c->reply.restored.deleted_count, 1);
	assert_int_equal(c->reply.restored.rewritten_count, 1);
	assert_int_equal(c->reply.restored.recreated_count, 1);
	fake_forget(c);
}

static void
leaves_the_old_one_when_it_fails(void **state)
{
	struct fake_call *c;
	struct err full;

	(void)state;
	err_set(&full, ERR_disk_full, "full");
	for (int at = 0; at < 5; at++) {
		c = restore();
		if (at == 0)
			fake_list(NULL, 0, &full);
		else
			list_three();
		if (at == 1)
			fake_answer(MSG_snapshot_open, NULL, &full);
		else
			answer_manifest();
		if (at == 2)
			fake_make(&full);
		else if (at > 2)
			fake_make(NULL);
		if (at == 3)
			fake_fill(&full);
		if (at == 4) {
			/* Not even recorded: not done. */
			fake.spool_full = true;
			fake_fill(NULL);
			fake.spool_full = false;
		}
		assert_int_equal(c->why.code, at == 4 ? ERR_unavailable : ERR_disk_full);
		assert_int_equal(fake.workspaces, 1);
		assert_null(session_first()->parent);
		fake_forget(c);
	}
}

/* Both are there for a while. */
static void
finds_room_for_both(void **state)
{
	struct fake_call *c = restore();

	(void)state;
	options.all_workspaces_mb_each = 300;
	list_three();
	answer_manifest();
	assert_int_equal(c->why.code, ERR_session_limit);
	fake_forget(c);
	options.all_workspaces_mb_each = 2 * 272;
	c = restore();
	list_three();
	answer_manifest();
	fake_make(NULL);
	assert_int_equal(share_of(SHARE_WORKSPACES, "ann").bytes, 2 * 272 * LIMITS_MIB);
	fake_fill(NULL);
	fake_forget(c);
	assert_int_equal(share_of(SHARE_WORKSPACES, "ann").bytes, 272 * LIMITS_MIB);
}

static void
is_given_up_while_it_fills(void **state)
{
	struct fake_call *c = restore();
	struct snapshot_content content = { .content = blob_text("one") };
	void (*want)(void *, size_t);
	struct err told;

	(void)state;
	err_set(&told, ERR_cancelled, "as files_give() was told");
	list_three();
	answer_manifest();
	fake_make(NULL);
	want = fake_find(FAKE_FILL)->want;
	want(fake_find(FAKE_FILL)->self, 0);
	c->call.on_cancel(&c->call, ERR_cancelled);
	fake_answer(MSG_snapshot_get, &content, NULL);
	blob_clear(&content.content);
	assert_int_equal(fake.given, 0);
	fake_fill(&told);
	assert_int_equal(c->why.code, ERR_cancelled);
	assert_int_equal(fake.workspaces, 1);
	fake_forget(c);
}

/* As where the file helper finds no room while the store is asked for the next file. */
static void
fails_while_a_content_is_on_its_way(void **state)
{
	struct fake_call *c = restore();
	struct snapshot_content content = { .content = blob_text("one") };
	void (*want)(void *, size_t);
	struct err full;

	(void)state;
	err_set(&full, ERR_disk_full, "full");
	list_three();
	answer_manifest();
	fake_make(NULL);
	want = fake_find(FAKE_FILL)->want;
	want(fake_find(FAKE_FILL)->self, 0);
	fake_fill(&full);
	assert_int_equal(c->ended, 0);
	fake_answer(MSG_snapshot_get, &content, NULL);
	blob_clear(&content.content);
	assert_int_equal(c->why.code, ERR_disk_full);
	assert_int_equal(fake.workspaces, 1);
	fake_forget(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sends_what_is_missing_once, begin, end),
		cmocka_unit_test_setup_teardown(begins_anew_once_when_files_change, begin, end),
		cmocka_unit_test_setup_teardown(believes_the_store_only_so_far, begin, end),
		cmocka_unit_test_setup_teardown(keeps_others_out_meanwhile, begin, end),
		cmocka_unit_test_setup_teardown(waits_for_all_that_is_under_way, begin, end),
		cmocka_unit_test_setup_teardown(puts_another_workspace_in_place, begin, end),
		cmocka_unit_test_setup_teardown(leaves_the_old_one_when_it_fails, begin, end),
		cmocka_unit_test_setup_teardown(finds_room_for_both, begin, end),
		cmocka_unit_test_setup_teardown(is_given_up_while_it_fills, begin, end),
		cmocka_unit_test_setup_teardown(fails_while_a_content_is_on_its_way, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
