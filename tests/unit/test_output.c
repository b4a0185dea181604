/* SPDX-License-Identifier: Apache-2.0 */
/* test_output.c - texts omitted from results: who may read them, which expire first, and whole
 * characters. */
#include "executor/kept/code.h"
#include "executor/kept/output.h"
#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct options options;

static const struct call me = { .owner = { "me", "" } }, other = { .owner = { "other", "" } },
			 elsewhere = { .owner = { "me", "n" } };
static struct output_piece got;

void
call_reply(struct call *call, void *reply)
{
	if (call->message != MSG_get_output)
		return;
	message_clear(MSG_output_piece, &got);
	got = *(struct output_piece *)reply;
	memset(reply, 0, sizeof got);
}

/* Only the code of the first text is kept. */
int
code_load(const struct owner *owner, const char *execution_id, struct blob *code, struct err *e)
{
	if (!owner_equal(owner, &me.owner) || strspn(execution_id, "0") != 32)
		return err_set(e, ERR_not_found, "no code");
	*code = blob_copy("print(1)", 8);
	return 0;
}

static enum err_code
keep(const struct call *who, unsigned id, struct blob text)
{
	struct call call = *who;
	char digits[33];
	struct err e;

	snprintf(digits, sizeof digits, "%032u", id);

	struct keep_output request = { strdup(digits), strdup("stdout"), text };
	int failed = output_on_keep_output(&call, &request, &e);

	message_clear(MSG_keep_output, &request);
	return failed < 0 ? e.code : ERR_none;
}

static enum err_code
read_named(const struct call *who, const char *of, unsigned id, uint64_t offset, uint64_t size)
{
	struct call call = *who;
	char digits[33], *name = (char *)(uintptr_t)of;
	struct get_output request = { digits, name, offset, size };
	struct err e;

	snprintf(digits, sizeof digits, "%032u", id);
	call.message = MSG_get_output;
	return output_on_get_output(&call, &request, &e) < 0 ? e.code : ERR_none;
}

static enum err_code
read_piece(const struct call *who, unsigned id, uint64_t offset, uint64_t size)
{
	return read_named(who, "stdout", id, offset, size);
}

static bool
is_there(const struct call *who, unsigned id)
{
	return read_piece(who, id, 0, 0) == ERR_none;
}

/* times that text */
static struct blob
repeat(const char *text, size_t times)
{
	size_t one = strlen(text);
	struct blob all = { malloc(times * one + 1), times * one };

	for (size_t i = 0; i < times; i++)
		memcpy((char *)all.data + i * one, text, one);
	return all;
}

static void
nobody_else_reads_it(void **state)
{
	(void)state;
	assert_int_equal(keep(&me, 1, repeat("secret ", 5000)), ERR_none);
	assert_int_equal(read_piece(&other, 1, 0, 0), ERR_not_found);
	assert_int_equal(read_piece(&elsewhere, 1, 0, 0), ERR_not_found);
	assert_int_equal(read_piece(&me, 2, 0, 0), ERR_not_found);
	assert_int_equal(read_piece(&me, 1, 0, 0), ERR_none);
	assert_int_equal(got.text.size, 35000);
	assert_int_equal(got.total, 35000);
	/* The same id of another owner is another text. */
	assert_int_equal(keep(&other, 1, repeat("x", 10)), ERR_none);
	assert_int_equal(read_piece(&me, 1, 0, 0), ERR_none);
	assert_int_equal(got.total, 35000);
}

static void
the_oldest_go_first(void **state)
{
	unsigned count = (unsigned)(options.kept_bytes >> 20);

	(void)state;
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(keep(&me, 100 + i, repeat("x", 1 << 20)), ERR_none);
	assert_true(is_there(&me, 100));
	assert_int_equal(keep(&me, 101, repeat("x", 1 << 20)), ERR_none); /* is young again */
	assert_int_equal(keep(&me, 200, repeat("x", 1 << 20)), ERR_none);
	assert_false(is_there(&me, 100));
	assert_int_equal(keep(&me, 201, repeat("x", 1 << 20)), ERR_none);
	assert_true(is_there(&me, 101));
	assert_false(is_there(&me, 102));
	assert_int_equal(keep(&me, 300, repeat("x", options.kept_bytes + 1)), ERR_limit_exceeded);
	/* So does the number of them. */
	for (unsigned i = 0; i < 257; i++)
		assert_int_equal(keep(&me, 1000 + i, repeat("x", 1)), ERR_none);
	assert_false(is_there(&me, 1000));
	assert_true(is_there(&me, 1001));
}

static void
nobody_pushes_out_all_of_anothers(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(keep(&me, 2000 + i, repeat("x", 1 << 18)), ERR_none);
	assert_int_equal(keep(&other, 3000, repeat("x", 1 << 18)), ERR_none);
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(
		    keep(&me, 4000 + i, repeat("x", i % 2 == 0 ? 1 << 18 : 1)), ERR_none);
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(keep(&me, 5000 + i, repeat("x", 1)), ERR_none);
	assert_true(is_there(&other, 3000));
}

static void
pieces_have_every_character_once(void **state)
{
	enum {
		PIECE = 40000,
	};
	struct blob text = repeat("a\xe6\xbc\xa2\xf0\x9f\x98\x80", 20000);
	struct blob copy = blob_copy(text.data, text.size);
	size_t read = 0;

	(void)state;
	assert_int_equal(keep(&me, 1, text), ERR_none);
	for (size_t offset = 0; offset < copy.size + PIECE; offset += PIECE) {
		assert_int_equal(read_piece(&me, 1, offset, PIECE), ERR_none);
		assert_true(utf8_valid(got.text.data, got.text.size));
		assert_memory_equal(got.text.data, (char *)copy.data + read, got.text.size);
		read += got.text.size;
	}
	assert_int_equal(read, copy.size);
	assert_int_equal(read_piece(&me, 1, INT64_MAX, INT64_MAX), ERR_none);
	assert_int_equal(got.text.size, 0);
	blob_clear(&copy);
}

static void
code_is_read_as_an_output_is(void **state)
{
	(void)state;
	assert_int_equal(read_named(&me, "code", 0, 6, 0), ERR_none);
	assert_memory_equal(got.text.data, "1)", 2);
	assert_int_equal(got.total, 8);
	assert_int_equal(read_named(&other, "code", 0, 0, 0), ERR_not_found);
	assert_int_equal(read_named(&me, "code", 77, 0, 0), ERR_not_found);
	assert_int_equal(read_named(&me, "stderr", 0, 0, 0), ERR_not_found);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_go_first), /* while there is nothing */
		cmocka_unit_test(nobody_else_reads_it),
		cmocka_unit_test(nobody_pushes_out_all_of_anothers),
		cmocka_unit_test(code_is_read_as_an_output_is),
		cmocka_unit_test(pieces_have_every_character_once),
	};

	options.kept_bytes = 4 << 20;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
