/* SPDX-License-Identifier: Apache-2.0 */
/* test_schema.c - the tables are consistent, and properties that hold for every message. */
#include "common/base/auto.h"
#include "common/codec/wire.h"
#include "common/table/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void
finds_messages_by_name(void **state)
{
	(void)state;
	for (int id = MSG_none + 1; id < MSG_COUNT; id++)
		assert_int_equal(message_find(messages[id].name), id);
	assert_int_equal(message_find("none"), MSG_none);
	assert_int_equal(message_find(""), MSG_none);
	assert_int_equal(message_find("Execute_code"), MSG_none);
	assert_int_equal(message_find("execute_code "), MSG_none);
}

/* What is right next to each other in C is so in the table: a file frame in it would corrupt
 * memory. */
static void
fields_lie_in_their_struct(void **state)
{
	static const size_t sizes[] = {
		[KIND_TEXT] = sizeof(char *),
		[KIND_PAGE] = sizeof(struct blob),
		[KIND_BLOB] = sizeof(struct blob),
		[KIND_ANY] = sizeof(struct blob),
		[KIND_UINT] = sizeof(uint64_t),
		[KIND_INT] = sizeof(int64_t),
		[KIND_REAL] = sizeof(double),
		[KIND_FLAG] = sizeof(bool),
		[KIND_WORD] = sizeof(int),
		[KIND_TEXTS] = sizeof(struct texts),
		[KIND_ITEM] = sizeof(void *),
		[KIND_LIST] = sizeof(struct list),
	};

	(void)state;
	for (int id = MSG_none + 1; id < MSG_COUNT; id++) {
		const struct message *m = &messages[id];
		size_t end = 0;

		assert_in_range(m->nfields, 1, WIRE_MAX_FIELDS);
		for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
			assert_true(f->offset >= end);
			end = f->offset + sizes[f->kind];
			assert_true(f->low <= f->high);
			assert_true((f->kind == KIND_WORD) == (f->set != SET_none));
			assert_true(
			    (f->kind == KIND_ITEM || f->kind == KIND_LIST) == (f->of != MSG_none));
		}
		assert_true(end <= m->size);
		assert_true(m->title == NULL || m->server != PEER_none);
	}
}

static size_t
depth_of(enum msg_id id)
{
	const struct message *m = &messages[id];
	size_t deepest = 0;

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		size_t depth = f->of != MSG_none ? depth_of(f->of) : 0;

		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + 1;
}

/* The codecs recurse as deep as the table says; in a circle that would be for ever. */
static void
messages_are_shallow(void **state)
{
	(void)state;
	for (int id = MSG_none + 1; id < MSG_COUNT; id++)
		assert_in_range(depth_of(id), 1, 8);
}

static void
hashes_differ(void **state)
{
	uint64_t hashes[MSG_COUNT];

	(void)state;
	for (int id = MSG_none + 1; id < MSG_COUNT; id++) {
		hashes[id] = message_hash(id);
		assert_true(hashes[id] <= INT64_MAX); /* as a greeting carries it */
		assert_int_equal(hashes[id], message_hash(id));
		for (int other = MSG_none + 1; other < id; other++)
			assert_true(hashes[id] != hashes[other]);
	}
}

static void
words_go_both_ways(void **state)
{
	(void)state;
	for (int set = SET_none + 1; set < SET_COUNT; set++) {
		int word = 0;

		for (const char *text; (text = word_text(set, word)) != NULL; word++) {
			assert_int_equal(word_parse(set, text, strlen(text)), word);
			assert_int_equal(word_parse(set, text, strlen(text) - 1), -1);
			assert_int_equal(word_parse(set, text, strlen(text) + 1), -1);
		}
		assert_true(word > 0);
		assert_null(word_text(set, -1));
	}
	assert_string_equal(word_text(SET_language, language_node), "node");
	assert_null(word_text(SET_language, language_COUNT));
	assert_int_equal(word_parse(SET_language, "js", 2), language_node);
	assert_int_equal(word_parse(SET_language, "python3", 7), language_python);
	assert_int_equal(word_parse(SET_language, "python2", 7), -1);
	assert_int_equal(word_parse(SET_frame, "js", 2), -1);
	assert_null(word_text(SET_none, 0));
}

static void
blobs_end_in_a_zero_byte(void **state)
{
	struct blob empty = blob_copy(NULL, 0), some = blob_copy("a\0b", 3),
		    text = blob_text("abc");

	(void)state;
	assert_non_null(empty.data);
	assert_int_equal(empty.size, 0);
	assert_int_equal(some.size, 3);
	assert_memory_equal(some.data, "a\0b", 4);
	assert_string_equal(text.data, "abc");
	blob_clear(&empty);
	blob_clear(&some);
	blob_clear(&text);
	assert_null(text.data);
	assert_int_equal(text.size, 0);
	blob_clear(&text);
}

static void
texts_grow(void **state)
{
	struct texts t = { 0 };

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		char text[2] = { (char)('a' + i % 26) };

		assert_int_equal(texts_add(&t, text), 0);
		assert_int_equal(t.count, i + 1);
	}
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(t.items[i][0], 'a' + i % 26);
	texts_clear(&t);
	assert_null(t.items);
	assert_int_equal(t.count, 0);
}

/* Also when elements were taken off the end meanwhile. */
static void
lists_grow(void **state)
{
	struct artifact_list list = { 0 };

	(void)state;
	for (int round = 0; round < 3; round++) {
		while (list.artifacts.count < 100) {
			struct artifact *a = list_add(&list.artifacts, sizeof *a);

			assert_ptr_equal(a, &list.artifacts.items[list.artifacts.count - 1]);
			assert_null(a->filename);
			assert_int_equal(a->size, 0);
			a->filename = strdup("a");
			a->size = list.artifacts.count;
		}
		for (size_t i = 0; i < 100; i++)
			assert_int_equal(list.artifacts.items[i].size, i + 1);
		while (list.artifacts.count > 33)
			message_clear(MSG_artifact, &list.artifacts.items[--list.artifacts.count]);
	}
	message_clear(MSG_artifact_list, &list);
	assert_null(list.artifacts.items);
}

static void
clearing_frees_all(void **state)
{
	struct execution x = {
		.execution_id = strdup("exec_1"),
		.stdout = blob_text("out"),
		.usage = calloc(1, sizeof *x.usage),
		.error = calloc(1, sizeof *x.error),
		.exit_code = 3,
	};
	static const struct execution zero;
	struct artifact *a = list_add(&x.artifacts, sizeof *a);

	(void)state;
	a->filename = strdup("a.csv");
	x.error->message = strdup("no");
	assert_int_equal(texts_add(&x.variables, "v"), 0);
	message_clear(MSG_execution, &x);
	assert_memory_equal(&x, &zero, sizeof x);
	message_clear(MSG_execution, &x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_messages_by_name),
		cmocka_unit_test(fields_lie_in_their_struct),
		cmocka_unit_test(messages_are_shallow),
		cmocka_unit_test(hashes_differ),
		cmocka_unit_test(words_go_both_ways),
		cmocka_unit_test(blobs_end_in_a_zero_byte),
		cmocka_unit_test(texts_grow),
		cmocka_unit_test(lists_grow),
		cmocka_unit_test(clearing_frees_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
