/* SPDX-License-Identifier: Apache-2.0 */
/* test_artifact.c - which files a run changed, and the types assigned to them. */
#include "tests/unit/fake.h"

#include "executor/session/artifact.h"
#include "executor/session/mime.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char sha_a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static char sha_b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/* One file as it was and as it is. */
static void
finds_changes(void **state)
{
	static char name[] = "f";
	static const struct {
		bool was, is;
		struct tree_entry before, after;
		size_t found;
	} cases[] = {
		{ false, true, { 0 }, { .size = 1 }, 1 },
		{ true, false, { .size = 1 }, { 0 }, 0 },
		{ true, true, { .size = 1, .sha256 = sha_a }, { .size = 1, .sha256 = sha_a }, 0 },
		{ true, true, { .size = 1, .sha256 = sha_a }, { .size = 1, .sha256 = sha_b }, 1 },
		{ true, true, { .size = 1, .sha256 = sha_a }, { .size = 2, .sha256 = sha_a }, 1 },
		/* Written again with what it had: the program made it. */
		{ true, true, { .sha256 = sha_a, .mtime_ns = 1 },
		    { .sha256 = sha_a, .mtime_ns = 2 }, 1 },
		/* Too large to be hashed: size and time tell. */
		{ true, true, { .size = 9 }, { .size = 9 }, 0 },
		{ true, true, { .size = 9, .sha256 = sha_a }, { .size = 9 }, 0 },
		/* Only files count. */
		{ true, true, { .type = file_type_link }, { 0 }, 1 },
		{ true, true, { 0 }, { .type = file_type_link }, 0 },
		{ false, true, { 0 }, { .type = file_type_directory }, 0 },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tree_entry was = cases[i].before, is = cases[i].after;
		struct files_tree before = { .items = &was, .count = cases[i].was };
		struct files_tree after = { .items = &is, .count = cases[i].is };
		struct execution reply = { 0 };

		was.path = is.path = name;
		assert_int_equal(artifact_changes(&before, &after, &reply, &e), 0);
		assert_int_equal(reply.artifacts.count, cases[i].found);
		message_clear(MSG_execution, &reply);
	}
}

static void
walks_both_lists(void **state)
{
	static const char *const was[] = { "a", "b", "b/c", "d", "x" };
	static const char *const is[] = { "a", "a.txt", "b", "b/c", "c", "x", "y" };
	struct tree_entry old[COUNT(was)] = { 0 }, now[COUNT(is)] = { 0 };
	struct files_tree before = { .items = old, .count = COUNT(was) };
	struct files_tree after = { .items = now, .count = COUNT(is) };
	struct execution reply = { 0 };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(was); i++)
		old[i].path = (char *)(uintptr_t)was[i];
	for (size_t i = 0; i < COUNT(is); i++)
		now[i].path = (char *)(uintptr_t)is[i];
	assert_int_equal(artifact_changes(&before, &after, &reply, &e), 0);
	assert_int_equal(reply.artifacts.count, 3);
	assert_string_equal(reply.artifacts.items[0].filename, "a.txt");
	assert_string_equal(reply.artifacts.items[1].filename, "c");
	assert_string_equal(reply.artifacts.items[2].filename, "y");
	message_clear(MSG_execution, &reply);
}

static void
says_what_it_leaves_out(void **state)
{
	enum { MANY = ARTIFACT_MAX_OF_RUN + 7 };
	static char names[MANY][16];
	struct tree_entry *now = calloc(MANY, sizeof *now);
	struct files_tree before = { 0 }, after = { .items = now, .count = MANY };
	struct execution reply = { 0 };
	struct err e;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof names[i], "%05d", i);
		now[i].path = names[i];
	}
	assert_int_equal(artifact_changes(&before, &after, &reply, &e), 0);
	assert_int_equal(reply.artifacts.count, ARTIFACT_MAX_OF_RUN);
	assert_non_null(strstr(reply.notes.items[0], "7 more files"));
	message_clear(MSG_execution, &reply);
	free(now);
}

static void
guesses_types(void **state)
{
	static const struct {
		const char *name, *told, *type;
	} cases[] = {
		{ "a.png", "image/png", "image/png" },
		{ "A.PNG", "image/png", "image/png" },
		{ "a", "image/webp", "image/webp" },
		/* A name does not hide what a viewer would run. */
		{ "a.png", "text/html", "text/html" },
		{ "a.csv", "text/html", "text/html" },
		{ "a.txt", "image/svg+xml", "image/svg+xml" },
		{ "a.html", "image/jpeg", "image/jpeg" },
		{ "a.png", "text/plain", "text/plain" },
		/* It says which of many texts and archives one is. */
		{ "a.csv", "text/plain", "text/csv" },
		{ "a.json", "text/plain", "application/json" },
		{ "a.py", "text/x-script.python", "text/x-python" },
		{ "a.csv", "application/octet-stream", "application/octet-stream" },
		{ "a.xlsx", "application/zip",
		    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
		{ "a.dat", "application/zip", "application/zip" },
		{ "a.parquet", "application/octet-stream", "application/vnd.apache.parquet" },
		{ "dir.csv/data", "application/octet-stream", "application/octet-stream" },
		{ "a.json", "application/x-empty", "application/json" },
		{ "empty", "application/x-empty", "text/plain" },
		/* Nothing is told. */
		{ "plots/a.svg", "", "image/svg+xml" },
		{ "a", "", "application/octet-stream" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(mime_of(cases[i].name, cases[i].told), cases[i].type);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_changes),
		cmocka_unit_test(walks_both_lists),
		cmocka_unit_test(says_what_it_leaves_out),
		cmocka_unit_test(guesses_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
