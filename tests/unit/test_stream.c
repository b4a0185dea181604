/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream.c - events of a stream: what a reader receives, what is stored, and resumption. */
#include "gateway/transport/client.h"
#include "gateway/transport/http/state.h"
#include "gateway/transport/http/stream.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- the server, played ---- */

static int woken;

static void
wake(struct http_request *r)
{
	(void)r;
	woken++;
}

static void
add(struct stream *s, int value)
{
	json_t *message = json_pack("{s:i}", "n", value);

	assert_int_equal(stream_add(s, message, 4096), 0);
	json_decref(message);
}

/* All that waits, in pieces of that size. */
static const char *
all(struct stream *s, size_t step)
{
	static char text[8192];
	size_t used = 0, n;

	while ((n = stream_read(s, text + used, step)) > 0)
		used += n;
	text[used] = '\0';
	return text;
}

static void
is_empty(struct stream *s)
{
	stream_clear(s);
	assert_int_equal(web_counts.waiting, 0);
	assert_int_equal(web_counts.kept, 0);
}

/* ---- tests ---- */

static void
gives_events_in_any_pieces(void **state)
{
	(void)state;
	for (size_t step = 1; step < 80; step++) {
		struct stream s = { 0 };

		add(&s, 1);
		add(&s, 2);
		assert_string_equal(all(&s, step), "event: message\ndata: {\"n\":1}\n\n"
						   "event: message\ndata: {\"n\":2}\n\n");
		assert_int_equal(s.bytes, 0);
		assert_null(s.first);
		is_empty(&s);
	}
}

static void
numbers_events_to_come_back_to(void **state)
{
	struct stream s = { .tag = 7 };

	(void)state;
	assert_int_equal(stream_prime(&s, 1500), 0);
	add(&s, 1);
	assert_string_equal(all(&s, 100), "id: 7-1\nretry: 1500\ndata: \n\n"
					  "id: 7-2\nevent: message\ndata: {\"n\":1}\n\n");
	is_empty(&s);
}

static void
comes_back(void **state)
{
	struct stream s = { .tag = 1 };

	(void)state;
	for (int i = 1; i <= 4; i++)
		add(&s, i);
	all(&s, 100);
	assert_true(stream_rewind(&s, 2));
	assert_string_equal(all(&s, 9), "id: 1-3\nevent: message\ndata: {\"n\":3}\n\n"
					"id: 1-4\nevent: message\ndata: {\"n\":4}\n\n");
	assert_true(stream_rewind(&s, 4));
	assert_string_equal(all(&s, 9), "");
	assert_true(stream_rewind(&s, 0));
	assert_false(stream_rewind(&s, 5));
	all(&s, 50);
	stream_trim(&s, s.bytes / 2);
	assert_false(stream_rewind(&s, 0));
	assert_true(stream_rewind(&s, 2));
	stream_trim(&s, 0);
	assert_true(s.waiting > 0); /* what was not sent is not trimmed */
	is_empty(&s);
}

static void
sends_anew_what_was_cut(void **state)
{
	struct stream s = { .tag = 1 };
	char some[10];

	(void)state;
	add(&s, 1);
	assert_int_equal(stream_read(&s, some, sizeof some), sizeof some);
	stream_detach(&s);
	assert_string_equal(all(&s, 100), "id: 1-1\nevent: message\ndata: {\"n\":1}\n\n");
	is_empty(&s);
}

/* What counts as kept is what could be given up: whole events that were sent. */
static void
counts_what_is_kept(void **state)
{
	struct account account = { .owner = { "p", "" } };
	struct stream s = { .tag = 3, .account = &account }, once = { .account = &account };
	char some[64];

	(void)state;
	add(&s, 1);
	add(&s, 2);
	add(&once, 3);
	stream_read(&s, some, 5);
	stream_read(&once, some, 5);
	assert_int_equal(account.kept, 0);
	all(&once, 7);
	all(&s, 7);
	assert_int_equal(account.kept, s.bytes);
	assert_int_equal(web_counts.kept, s.bytes);
	assert_true(stream_rewind(&s, 1));
	assert_int_equal(account.kept, s.bytes - s.waiting);
	stream_trim(&s, 0);
	assert_int_equal(account.kept, 0);
	assert_int_equal(account.waiting, s.bytes);
	all(&s, 4096);
	is_empty(&s);
	is_empty(&once);
	assert_int_equal(account.kept + account.waiting, 0);
}

static void
is_bounded(void **state)
{
	struct stream s = { 0 };
	json_t *large = json_pack("{s:s}", "text", "0123456789012345678901234567890123456789");
	int added = 0;

	(void)state;
	while (stream_add(&s, large, 1000) == 0)
		added++;
	assert_true(added > 5 && s.waiting <= 1000);
	all(&s, 1000);
	assert_int_equal(stream_add(&s, large, 1000), 0);
	json_decref(large);
	is_empty(&s);
}

static void
comments_only_in_silence(void **state)
{
	struct stream s = { .tag = 1 };

	(void)state;
	stream_comment(&s);
	add(&s, 1);
	assert_non_null(strstr(all(&s, 100), "}\n\n: alive\n\n"));
	assert_int_equal(s.number, 1);
	assert_string_equal(all(&s, 100), "");
	is_empty(&s);
}

static void
wakes_who_reads(void **state)
{
	struct stream s = { .request = (struct http_request *)&s, .wake = wake };

	(void)state;
	woken = 0;
	add(&s, 1);
	stream_comment(&s);
	stream_end(&s);
	assert_int_equal(woken, 3);
	is_empty(&s);
}

static const struct id {
	const char *text;
	bool good;
	uint64_t tag, number;
} ids[] = {
	{ "1-0", true, 1, 0 },
	{ "12-345", true, 12, 345 },
	{ "0-1", false, 0, 0 },
	{ "", false, 0, 0 },
	{ "-", false, 0, 0 },
	{ "1", false, 0, 0 },
	{ "1-", false, 0, 0 },
	{ "-1", false, 0, 0 },
	{ "1-2-3", false, 0, 0 },
	{ "1-2 ", false, 0, 0 },
	{ " 1-2", false, 0, 0 },
	{ "+1-2", false, 0, 0 },
	{ "99999999999999999999999-1", false, 0, 0 },
};

static void
reads_ids(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++) {
		uint64_t tag = 0, number = 0;

		assert_int_equal(stream_parse(ids[i].text, &tag, &number), ids[i].good);
		if (!ids[i].good)
			continue;
		assert_int_equal(tag, ids[i].tag);
		assert_int_equal(number, ids[i].number);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_events_in_any_pieces),
		cmocka_unit_test(numbers_events_to_come_back_to),
		cmocka_unit_test(comes_back),
		cmocka_unit_test(sends_anew_what_was_cut),
		cmocka_unit_test(is_bounded),
		cmocka_unit_test(counts_what_is_kept),
		cmocka_unit_test(comments_only_in_silence),
		cmocka_unit_test(wakes_who_reads),
		cmocka_unit_test(reads_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
