/* SPDX-License-Identifier: Apache-2.0 */
/* test_lines.c - lines do not depend on how reads split them, and long ones do not use memory. */
#include "gateway/rpc/lines.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
	LIMIT = 100000,
};

static void
feed(struct lines *l, const char *data, size_t size, size_t step)
{
	while (size > 0) {
		size_t room, n = size < step ? size : step;
		char *to = lines_room(l, &room);

		assert_non_null(to);
		assert_true(room > 0);
		if (n > room)
			n = room;
		memcpy(to, data, n);
		lines_filled(l, n);
		data += n;
		size -= n;
	}
}

/* Every cut of a stream of short, empty and long lines gives the same lines. */
static void
cuts_anywhere(void **state)
{
	static const char stream[] =
	    "{\"id\":1}\n\n{\"id\":\"two\"}\r\n   \n{\"id\":3,\"x\":[[]]}\nrest";
	static const char *const want[] = { "{\"id\":1}", "", "{\"id\":\"two\"}\r", "   ",
		"{\"id\":3,\"x\":[[]]}", "rest" };

	(void)state;
	for (size_t step = 1; step <= sizeof stream; step++) {
		struct lines l = { .limit = LIMIT };
		struct line line;
		size_t n = 0;

		for (size_t at = 0; at < sizeof stream - 1; at += step) {
			size_t left = sizeof stream - 1 - at;

			feed(&l, stream + at, left < step ? left : step, step);
			for (; lines_next(&l, &line); n++) {
				assert_int_equal(line.size, strlen(want[n]));
				assert_memory_equal(line.data, want[n], line.size);
				assert_false(line.over);
			}
		}
		assert_int_equal(n, COUNT(want) - 1);
		assert_true(lines_last(&l, &line));
		assert_memory_equal(line.data, "rest", 4);
		assert_int_equal(line.size, 4);
		assert_false(lines_last(&l, &line));
		lines_free(&l);
	}
}

static void
scans_across_reads(void **state)
{
	static const char text[] =
	    "{\"method\":\"x\\\"\",\"params\":{\"id\":1},\"id\":9007199254740993}\n";

	(void)state;
	for (size_t step = 1; step < sizeof text; step++) {
		struct lines l = { .limit = LIMIT };
		struct line line;

		for (size_t at = 0; at < sizeof text - 1; at += step) {
			size_t left = sizeof text - 1 - at;

			assert_false(lines_next(&l, &line));
			feed(&l, text + at, left < step ? left : step, step);
		}
		assert_true(lines_next(&l, &line));
		json_t *id = scan_id(line.scan);
		assert_true(json_integer_value(id) == 9007199254740993);
		json_decref(id);
		lines_free(&l);
	}
}

/* A line of any length: one report, the id that stands at its end, bounded memory, and life goes
 * on. */
static void
skips_long_lines(void **state)
{
	static const size_t sizes[] = { LIMIT + 1, 2 * LIMIT, 300 * LIMIT };
	struct lines l = { .limit = LIMIT };
	struct line line;
	char fill[8192];

	(void)state;
	memset(fill, 'x', sizeof fill);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		feed(&l, "{\"a\":\"", 6, 4096);
		for (size_t fed = 0; fed < sizes[i]; fed += sizeof fill) {
			feed(&l, fill, sizeof fill, 4096);
			assert_false(lines_next(&l, &line));
			assert_true(l.room <= LIMIT + 65536);
		}
		feed(&l, "\",\"id\":7}\n{}\n", 13, 4096);
		assert_true(lines_next(&l, &line));
		assert_true(line.over);
		json_t *id = scan_id(line.scan);
		assert_int_equal(json_integer_value(id), 7);
		json_decref(id);
		assert_true(lines_next(&l, &line));
		assert_false(line.over);
		assert_int_equal(line.size, 2);
		assert_false(lines_next(&l, &line));
	}
	lines_free(&l);
}

/* At the limit, one below and one above it, in one read. */
static void
knows_its_limit(void **state)
{
	struct lines l = { .limit = 1024 };
	char data[1027];
	struct line line;

	(void)state;
	for (size_t size = 1023; size <= 1025; size++) {
		memset(data, '0', size);
		data[size] = '\n';
		feed(&l, data, size + 1, sizeof data);
		assert_true(lines_next(&l, &line));
		assert_int_equal(line.over, size > 1024);
		assert_false(lines_next(&l, &line));
	}
	lines_free(&l);
}

static void
gives_memory_back(void **state)
{
	struct lines l = { .limit = 8 << 20 };
	char fill[65536];
	struct line line;
	size_t room;

	(void)state;
	memset(fill, 'x', sizeof fill);
	for (size_t i = 0; i < 64; i++)
		feed(&l, fill, sizeof fill, 4096);
	feed(&l, "\n", 1, 1);
	assert_true(l.room >= 4 << 20);
	assert_true(lines_next(&l, &line));
	assert_int_equal(line.size, 64 * sizeof fill);
	assert_false(lines_next(&l, &line));
	assert_int_equal(l.room, 0);
	assert_non_null(lines_room(&l, &room));
	lines_free(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_anywhere),
		cmocka_unit_test(scans_across_reads),
		cmocka_unit_test(skips_long_lines),
		cmocka_unit_test(knows_its_limit),
		cmocka_unit_test(gives_memory_back),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
