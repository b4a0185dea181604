/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wire.c - corner cases of encoding and decoding that follow from no row of the table.
 *
 * tests/wire covers every message. This file covers limits of a whole message, what a sender must
 * not send, and the forms of a number that our own encoder does not use.
 */
#include "common/base/auto.h"
#include "common/codec/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(s) s, sizeof(s) - 1

/* ---- numbers ---- */

static const struct {
	const char *bytes;
	size_t size;
	int64_t value;
} numbers[] = {
	{ BYTES("\x00"), 0 },
	{ BYTES("\x7f"), 127 },
	{ BYTES("\xcc\x05"), 5 },
	{ BYTES("\xcc\xff"), 255 },
	{ BYTES("\xcd\x01\x00"), 256 },
	{ BYTES("\xce\x80\x00\x00\x00"), INT64_C(1) << 31 },
	{ BYTES("\xcf\x7f\xff\xff\xff\xff\xff\xff\xff"), INT64_MAX },
	{ BYTES("\xd0\x05"), 5 },
	{ BYTES("\xd1\x00\xff"), 255 },
	{ BYTES("\xd2\x7f\xff\xff\xff"), INT32_MAX },
	{ BYTES("\xd3\x7f\xff\xff\xff\xff\xff\xff\xff"), INT64_MAX },
	{ BYTES("\xff"), -1 },
	{ BYTES("\xe0"), -32 },
	{ BYTES("\xd0\x80"), -128 },
	{ BYTES("\xd0\xff"), -1 },
	{ BYTES("\xd1\x80\x00"), -32768 },
	{ BYTES("\xd2\xff\xff\xff\xfe"), -2 },
	{ BYTES("\xd2\x80\x00\x00\x00"), INT32_MIN },
	{ BYTES("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), INT64_MIN },
};

static void
takes_numbers_of_every_width(void **state)
{
	static const char before[] = "\x85\xa4path\xa1"
				     "a\xa4type\xa4"
				     "file\xa4mode\x00\xa4size\x00\xa8mtime_ns";

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		char body[sizeof before + 16];
		struct packed p = { { body, sizeof before - 1 + numbers[i].size }, NULL, 0 };
		struct tree_entry entry = { 0 };
		struct err e = { 0 };

		memcpy(body, before, sizeof before - 1);
		memcpy(body + sizeof before - 1, numbers[i].bytes, numbers[i].size);
		if (wire_decode(MSG_tree_entry, &p, &entry, &e) < 0)
			fail_msg("number %zu: %s", i, e.text);
		assert_true(entry.mtime_ns == numbers[i].value);
		message_clear(MSG_tree_entry, &entry);
	}
}

static void
refuses_signs_where_there_is_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		static const char before[] = "\x82\xaa"
					     "checkpoint\xa1-\xa8sequence";
		char body[sizeof before + 16], says[64];
		struct packed p = { { body, sizeof before - 1 + numbers[i].size }, NULL, 0 };
		struct audit_mark mark = { 0 };
		struct err e = { 0 };

		memcpy(body, before, sizeof before - 1);
		memcpy(body + sizeof before - 1, numbers[i].bytes, numbers[i].size);
		if (wire_decode(MSG_audit_mark, &p, &mark, &e) == 0) {
			assert_true(numbers[i].value >= 0);
			assert_true((int64_t)mark.sequence == numbers[i].value);
			message_clear(MSG_audit_mark, &mark);
			continue;
		}
		snprintf(says, sizeof says, "sequence: %lld is under the minimum of 0",
		    (long long)numbers[i].value);
		assert_true(numbers[i].value < 0);
		assert_string_equal(e.text, says);
	}
}

/* ---- frames ---- */

/* As ZeroMQ may hand over a frame without a byte in it. */
static void
an_empty_frame_is_there(void **state)
{
	struct blob frame = { NULL, 0 };
	struct packed p = { { (void *)(uintptr_t) "\x81\xa7"
						  "content\x00",
				10 },
		&frame, 1 };
	struct snapshot_content content = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(wire_decode(MSG_snapshot_content, &p, &content, &e), 0);
	assert_non_null(content.content.data);
	assert_int_equal(content.content.size, 0);
	message_clear(MSG_snapshot_content, &content);
}

/* A blob is never copied: what is 256 MiB long must not be there twice. */
static void
blobs_move(void **state)
{
	struct snapshot_put put = { .sha256 = strdup("0123456789abcdef0123456789abcdef"
						     "0123456789abcdef0123456789abcdef"),
		.content = blob_text("content") };
	struct snapshot_put got = { 0 };
	const void *at = put.content.data;
	struct packed p;
	struct err e;

	(void)state;
	assert_int_equal(wire_encode(MSG_snapshot_put, &put, &p, &e), 0);
	assert_null(put.content.data);
	assert_int_equal(put.content.size, 0);
	assert_ptr_equal(p.blobs[0].data, at);
	assert_int_equal(wire_decode(MSG_snapshot_put, &p, &got, &e), 0);
	assert_null(p.blobs[0].data);
	assert_ptr_equal(got.content.data, at);
	assert_string_equal(got.sha256, put.sha256);
	message_clear(MSG_snapshot_put, &put);
	message_clear(MSG_snapshot_put, &got);
	packed_clear(&p);
}

static void
zero_bytes_of_a_page_stay(void **state)
{
	struct stream_part part = { .text = blob_copy("a\0b", 3) }, got = { 0 };
	struct packed p;
	struct err e;

	(void)state;
	assert_int_equal(wire_encode(MSG_stream_part, &part, &p, &e), 0);
	assert_int_equal(wire_decode(MSG_stream_part, &p, &got, &e), 0);
	assert_int_equal(got.text.size, 3);
	assert_memory_equal(got.text.data, "a\0b", 3);
	message_clear(MSG_stream_part, &part);
	message_clear(MSG_stream_part, &got);
	packed_clear(&p);
}

/* ---- what is not sent ---- */

static void
check_not_sent(enum msg_id id, void *msg, enum err_code code, const char *says)
{
	struct packed p = { .count = 7 };
	struct err e = { 0 };

	assert_int_equal(wire_encode(id, msg, &p, &e), -1);
	assert_int_equal(e.code, code);
	assert_string_equal(e.text, says);
	assert_null(p.body.data);
	assert_null(p.blobs);
	assert_int_equal(p.count, 0);
	message_clear(id, msg);
}

static void
keeps_a_body_that_is_too_long(void **state)
{
	struct snapshot_commit commit = { .session_id = strdup("s") };
	char path[16001];

	(void)state;
	memset(path, 'x', sizeof path - 1);
	path[sizeof path - 1] = 0;
	for (int i = 0; i < 4300; i++) {
		struct tree_entry *entry = list_add(&commit.entries, sizeof *entry);

		entry->path = strdup(path);
	}
	check_not_sent(MSG_snapshot_commit, &commit, ERR_limit_exceeded,
	    "snapshot_commit: over the limit of 67108864 bytes, or of memory");
}

static void
keeps_what_a_peer_would_refuse(void **state)
{
	struct stream_part nothing = { .channel = channel_COUNT };
	struct stream_part negative = { .progress = -1 };
	struct stream_part nan = { .progress = __builtin_nan("") };
	struct stream_part bytes = { .text = blob_copy("a\xff", 2) };
	struct session_status nameless = { .status = strdup("closed") };
	struct session_status empty = { .status = strdup("") };
	struct audit_execution unlimited = { 0 };
	struct state inside = { .session_id = strdup("s") };
	char longer[5000];

	(void)state;
	check_not_sent(
	    MSG_stream_part, &nothing, ERR_invalid_argument, "channel: no word has the number 3");
	check_not_sent(MSG_stream_part, &negative, ERR_invalid_argument,
	    "progress: -1 is under the minimum of 0");
	check_not_sent(
	    MSG_stream_part, &nan, ERR_invalid_argument, "progress: not a finite number");
	check_not_sent(MSG_stream_part, &bytes, ERR_invalid_argument, "text: not UTF-8");
	check_not_sent(MSG_session_status, &nameless, ERR_invalid_argument, "session_id: missing");
	check_not_sent(MSG_session_status, &empty, ERR_invalid_argument,
	    "status: 0 bytes are under the minimum of 1");
	check_not_sent(MSG_audit_execution, &unlimited, ERR_invalid_argument,
	    "limit: 0 is under the minimum of 1");

	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = 0;
	assert_int_equal(texts_add(&inside.variables, longer), 0);
	check_not_sent(MSG_state, &inside, ERR_limit_exceeded,
	    "variables[0]: 4999 bytes are over the limit of 4096");
}

/* Absent and empty are not the same, where a list is optional; where one is needed it is there. */
static void
lists_may_be_absent(void **state)
{
	static const struct {
		const char *body;
		size_t size;
		bool there;
	} bodies[] = {
		{ BYTES("\x81\xa4"
			"code\x00"),
		    false },
		{ BYTES("\x82\xa4"
			"code\x00\xaf"
			"allowed_imports\x90"),
		    true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bodies); i++) {
		struct blob code = blob_text("1");
		struct packed p = { { (void *)(uintptr_t)bodies[i].body, bodies[i].size }, &code,
			1 };
		struct execute_code call = { 0 };
		struct packed again;
		struct err e;

		assert_int_equal(wire_decode(MSG_execute_code, &p, &call, &e), 0);
		assert_int_equal(call.allowed_imports.count, 0);
		assert_true((call.allowed_imports.items != NULL) == bodies[i].there);
		assert_int_equal(wire_encode(MSG_execute_code, &call, &again, &e), 0);
		assert_true((memmem(again.body.data, again.body.size,
				 BYTES("allowed_imports\x90")) != NULL) == bodies[i].there);
		message_clear(MSG_execute_code, &call);
		packed_clear(&again);
	}

	struct digests none = { 0 };
	struct packed p;
	struct err e;

	assert_int_equal(wire_encode(MSG_digests, &none, &p, &e), 0);
	assert_int_equal(p.body.size, 9);
	assert_memory_equal(p.body.data, "\x81\xa6sha256\x90", 9);
	packed_clear(&p);
}

/* Who serves it lets no longer part in. */
static void
the_largest_is_no_smaller_than_any(void **state)
{
	static char name[4097];
	struct validate_code full = { .code = blob_copy("x", 1) };
	struct packed packed;
	struct err e;

	(void)state;
	memset(name, 'n', sizeof name - 1);
	for (int i = 0; i < 256; i++)
		assert_int_equal(texts_add(&full.allowed_imports, name), 0);
	assert_int_equal(wire_encode(MSG_validate_code, &full, &packed, &e), 0);
	assert_true(packed.body.size <= wire_bounds(MSG_validate_code).part);
	packed_clear(&packed);
	message_clear(MSG_validate_code, &full);
}

/* A message as a file, cut or grown at any byte, or of numbers that are too large. */
static void
is_flattened_and_raised(void **state)
{
	struct blob frames[] = { { (void *)(uintptr_t) "one", 3 }, { (void *)(uintptr_t) "", 0 } };
	const struct packed p = { { (void *)(uintptr_t) "body", 4 }, frames, 2 };
	struct blob bytes, spoiled;
	struct packed again;
	struct err e;

	(void)state;
	assert_int_equal(wire_flatten(&p, &bytes, &e), 0);
	assert_int_equal(wire_raise(&bytes, &again, &e), 0);
	assert_int_equal(again.count, 2);
	assert_int_equal(again.body.size, 4);
	assert_memory_equal(again.body.data, "body", 4);
	assert_int_equal(again.blobs[0].size, 3);
	assert_memory_equal(again.blobs[0].data, "one", 3);
	assert_non_null(again.blobs[1].data);
	assert_int_equal(again.blobs[1].size, 0);
	packed_clear(&again);
	for (size_t size = 0; size < bytes.size; size++) {
		spoiled = blob_copy(bytes.data, size);
		assert_int_equal(wire_raise(&spoiled, &again, &e), -1);
		assert_int_equal(e.code, ERR_invalid_argument);
		assert_null(again.blobs);
		blob_clear(&spoiled);
	}
	spoiled = blob_copy(bytes.data, bytes.size);
	spoiled.size++; /* there is a zero byte behind it */
	assert_int_equal(wire_raise(&spoiled, &again, &e), -1);
	blob_clear(&spoiled);
	for (size_t i = 0; i < 4; i++) {
		spoiled = blob_copy(bytes.data, bytes.size);
		memset((char *)spoiled.data + i * 8, 0xff, 8);
		assert_int_equal(wire_raise(&spoiled, &again, &e), -1);
		blob_clear(&spoiled);
	}
	blob_clear(&bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_numbers_of_every_width),
		cmocka_unit_test(refuses_signs_where_there_is_none),
		cmocka_unit_test(an_empty_frame_is_there),
		cmocka_unit_test(blobs_move),
		cmocka_unit_test(zero_bytes_of_a_page_stay),
		cmocka_unit_test(keeps_a_body_that_is_too_long),
		cmocka_unit_test(keeps_what_a_peer_would_refuse),
		cmocka_unit_test(the_largest_is_no_smaller_than_any),
		cmocka_unit_test(lists_may_be_absent),
		cmocka_unit_test(is_flattened_and_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
