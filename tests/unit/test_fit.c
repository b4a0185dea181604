/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit.c - results use the permitted size, and characters are not split. */
#include "gateway/mcp/resource/fit.h"
#include "gateway/mcp/resource/keep.h"
#include "gateway/options.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct account me = { .owner = { "me", "" } };

static size_t
length(const json_t *value)
{
	auto_free char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	return strlen(text);
}

/* size bytes of that text, again and again; whole ones only. */
static json_t *
repeat(const char *text, size_t size)
{
	size_t one = strlen(text), times = size / one;
	auto_free char *all = malloc(times * one + 1);

	for (size_t i = 0; i < times; i++)
		memcpy(all + i * one, text, one);
	return json_stringn(all, times * one);
}

static const char *
text_of(const json_t *value, const char *name)
{
	return json_string_value(json_object_get(value, name));
}

/* What an executor has. */
static struct {
	char uri[KEEP_URI_MAX];
	json_t *text;
} kept[8];
static unsigned nkept;
static bool is_away;

int
keep_text(const struct account *who, const char *name, const json_t *text, char uri[KEEP_URI_MAX])
{
	typeof(kept[0]) *k = &kept[nkept++ % COUNT(kept)];

	if (is_away)
		return -1;
	assert_ptr_equal(who, &me);
	snprintf(uri, KEEP_URI_MAX, KEEP_URI "%032u/%s", nkept, name);
	memcpy(k->uri, uri, KEEP_URI_MAX);
	json_decref(k->text);
	k->text = json_incref((json_t *)(uintptr_t)text);
	return 0;
}

/* The text behind the URI. */
static json_t *
whole_of(const char *uri)
{
	for (size_t i = 0; i < COUNT(kept); i++)
		if (strcmp(kept[i].uri, uri) == 0)
			return json_incref(kept[i].text);
	return NULL;
}

static size_t measured; /* bytes of JSON */

struct seen {
	int (*put)(const char *data, size_t size, void *self);
	void *self;
};

static int
see(const char *data, size_t size, void *self)
{
	const struct seen *seen = self;

	measured += size;
	return seen->put(data, size, seen->self);
}

int __real_write_json(const json_t *, int (*)(const char *, size_t, void *), void *);
int __wrap_write_json(const json_t *, int (*)(const char *, size_t, void *), void *);

int
__wrap_write_json(
    const json_t *value, int (*put)(const char *data, size_t size, void *self), void *self)
{
	struct seen seen = { put, self };

	return __real_write_json(value, see, &seen);
}

static json_t *
fit(json_t *value, size_t limit)
{
	json_t *links = fit_value(&me, MSG_execution, value, limit);

	assert_non_null(links);
	return links;
}

static void
short_results_stay(void **state)
{
	json_t *value =
	    json_pack("{s:b, s:o, s:s}", "success", 1, "stdout", repeat("x", 900), "stderr", "y");
	json_t *before = json_deep_copy(value);

	(void)state;
	/* The first fits, the second has nothing that is long enough, the third may be any length.
	 */
	for (size_t i = 0; i < 3; i++) {
		json_t *links = fit(value, (const size_t[]){ 1000, 10, 0 }[i]);

		assert_true(json_equal(value, before));
		assert_int_equal(json_array_size(links), 0);
		json_decref(links);
	}
	json_decref(value);
	json_decref(before);
}

/* Texts of every kind of byte, at limits that fall into the middle of characters. */
static void
the_middle_goes_and_is_kept(void **state)
{
	static const char *const texts[] = { "x", "line\n", "\"\\", "\x01\x02", "\xc3\xa4",
		"\xe6\xbc\xa2", "\xf0\x9f\x98\x80", "a\xf0\x9f\x98\x80\n\xc3\xa4" };

	(void)state;
	for (size_t i = 0; i < COUNT(texts) * 7; i++) {
		size_t limit = 9000 + i % 7;
		json_t *all = repeat(texts[i / 7], 100000);
		json_t *value = json_pack("{s:b, s:O, s:s, s:b, s:b}", "success", 1, "stdout", all,
		    "stderr", "short", "stdout_truncated", 0, "stderr_truncated", 0);
		json_t *links = fit(value, limit);
		const char *uri = text_of(json_array_get(links, 0), "uri"),
			   *part = text_of(value, "stdout");
		json_t *whole = whole_of(uri);

		assert_in_range(length(value), limit - 700, limit);
		assert_true(utf8_valid(part, strlen(part)));
		assert_memory_equal(part, json_string_value(all), 500);
		assert_string_equal(part + strlen(part) - 500,
		    json_string_value(all) + json_string_length(all) - 500);
		assert_non_null(strstr(part, uri));
		assert_true(json_equal(whole, all));
		assert_int_equal(json_array_size(links), 1);
		assert_int_equal(
		    json_integer_value(json_object_get(json_array_get(links, 0), "size")),
		    json_string_length(all));
		assert_true(json_is_true(json_object_get(value, "stdout_truncated")));
		assert_true(json_is_false(json_object_get(value, "stderr_truncated")));
		assert_string_equal(text_of(value, "stderr"), "short");
		json_decref(whole);
		json_decref(links);
		json_decref(value);
		json_decref(all);
	}
}

/* However small the limit is, long texts keep 4,096 bytes together. */
static void
small_limits_are_in_force(void **state)
{
	(void)state;
	for (size_t limit = 1; limit < 9000; limit += 300) {
		json_t *value = json_pack(
		    "{s:o, s:o}", "stdout", repeat("o", 100000), "stderr", repeat("\x01", 100000));
		json_t *links = fit(value, limit);

		assert_in_range(length(value), 2000, limit < 4500 ? 4500 : limit);
		assert_int_equal(json_array_size(links), 2);
		json_decref(links);
		json_decref(value);
	}
}

/* Everybody waits while it is looked at. */
static void
what_is_far_too_long_is_not_measured(void **state)
{
	json_t *value = json_pack("{s:o, s:o, s:[s]}", "stdout", repeat("o", 1 << 20), "stderr",
	    repeat("\x01", 1 << 20), "notes", "a note");

	(void)state;
	measured = 0;

	json_t *links = fit(value, 20000);

	assert_in_range(measured, 20000, 200000);
	assert_in_range(length(value), 18500, 20000);
	assert_int_equal(json_array_size(links), 2);
	json_decref(links);
	json_decref(value);
}

/* A short one leaves its room to the long ones; those in lists and JSON values count too. */
static void
long_texts_share_the_room(void **state)
{
	json_t *rows = json_array();

	(void)state;
	for (int i = 0; i < 5000; i++)
		json_array_append_new(rows, json_integer(100000 + i));

	json_t *value = json_pack("{s:o, s:o, s:o, s:[{s:s, s:o}]}", "stdout", repeat("o", 50000),
	    "stderr", repeat("e", 2000), "result", rows, "rich", "mime_type", "text/html", "text",
	    repeat("h", 50000));
	json_t *links = fit(value, 20000);
	const char *result = text_of(value, "result");

	assert_in_range(length(value), 18500, 20000);
	assert_int_equal(json_string_length(json_object_get(value, "stderr")), 2000);
	assert_int_equal(json_array_size(links), 3);
	assert_non_null(result);
	assert_memory_equal(result, "[100000,100001", 14);

	json_t *whole = whole_of(text_of(json_array_get(links, 2), "uri"));

	for (size_t i = 0; i < 3; i++)
		if (strcmp(text_of(json_array_get(links, i), "name"), "result") == 0) {
			json_decref(whole);
			whole = whole_of(text_of(json_array_get(links, i), "uri"));
		}

	json_t *again = json_loads(json_string_value(whole), 0, NULL);

	assert_int_equal(json_array_size(again), 5000);
	json_decref(again);
	json_decref(whole);
	json_decref(links);
	json_decref(value);
}

static json_t *
files(size_t count)
{
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
		    all, json_pack("{s:o, s:s, s:i}", "filename", json_sprintf("file-%zu", i),
			     "path", "/workspace/x", "size", 5));
	return all;
}

/* The first items stay; the reply says that there are more, in its flag or in its notes. */
static void
the_end_of_a_list_goes(void **state)
{
	json_t *run = json_pack("{s:o, s:s}", "artifacts", files(1000), "stdout", "x");
	json_t *listing = json_pack("{s:o, s:b}", "artifacts", files(1000), "truncated", 0);
	json_t *page = json_pack("{s:o}", "snapshots", files(1000)), *whole, *again;
	json_t *of_run = fit(run, 9000),
	       *of_listing = fit_value(&me, MSG_artifact_list, listing, 9000);
	json_t *of_page = fit_value(&me, MSG_snapshot_list, page, 9000);
	json_t *left = json_object_get(run, "artifacts");
	char said[64];

	(void)state;
	assert_in_range(length(run), 8000, 9000);
	snprintf(said, sizeof said, "only the first %zu of 1000;", json_array_size(left));
	assert_non_null(
	    strstr(json_string_value(json_array_get(json_object_get(run, "notes"), 0)), said));
	assert_string_equal(text_of(json_array_get(left, 0), "filename"), "file-0");
	assert_in_range(length(listing), 8000, 9000);
	assert_true(json_is_true(json_object_get(listing, "truncated")));
	assert_null(json_object_get(listing, "notes"));
	/* What could not say so is whole. */
	assert_int_equal(json_array_size(json_object_get(page, "snapshots")), 1000);
	assert_int_equal(json_array_size(of_page), 0);

	whole = whole_of(text_of(json_array_get(of_listing, 0), "uri"));
	again = json_loads(json_string_value(whole), 0, NULL);
	assert_int_equal(json_array_size(again), 1000);
	for (size_t i = 0; i < 8; i++)
		json_decref((json_t *const[]){
		    run, listing, page, of_run, of_listing, of_page, whole, again }[i]);
}

/* What nobody keeps says that it cannot be read again. */
static void
what_is_not_kept_says_so(void **state)
{
	json_t *value = json_pack("{s:o}", "stdout", repeat("x", 20000));
	json_t *links;

	(void)state;
	is_away = true;
	links = fit(value, 10000);
	is_away = false;
	assert_int_equal(json_array_size(links), 0);
	assert_non_null(strstr(text_of(value, "stdout"), "run it again"));
	json_decref(links);
	json_decref(value);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_results_stay),
		cmocka_unit_test(the_middle_goes_and_is_kept),
		cmocka_unit_test(small_limits_are_in_force),
		cmocka_unit_test(what_is_far_too_long_is_not_measured),
		cmocka_unit_test(long_texts_share_the_room),
		cmocka_unit_test(the_end_of_a_list_goes),
		cmocka_unit_test(what_is_not_kept_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
