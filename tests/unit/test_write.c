/* SPDX-License-Identifier: Apache-2.0 */
/* test_write.c - written values are read back unchanged, and the text is as short as possible. */
#include "gateway/rpc/constant.h"
#include "gateway/rpc/plain.h"
#include "gateway/rpc/write.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct text {
	char *data;
	size_t size, limit;
};

static int
append(const char *data, size_t size, void *self)
{
	struct text *t = self;

	if (size > t->limit - t->size)
		return -1;
	t->data = realloc(t->data, t->size + size + 1);
	memcpy(t->data + t->size, data, size);
	t->size += size;
	t->data[t->size] = '\0';
	return 0;
}

static char *
written(const json_t *value)
{
	struct text t = { .limit = SIZE_MAX };

	assert_int_equal(write_json(value, append, &t), 0);
	return t.data;
}

static void
writes_as_expected(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "44.51", "44.51" },
		{ "0.1", "0.1" },
		{ "0.30000000000000004", "0.30000000000000004" },
		{ "2.0", "2.0" },
		{ "0.0", "0.0" },
		{ "1.05", "1.05" },
		{ "0.000002", "0.000002" },
		{ "999999999.999999", "999999999.999999" },
		{ "1000000000.5", "1000000000.5" },
		{ "0.0000005", "5e-07" },
		{ "-0.0", "-0.0" },
		{ "1e300", "1e+300" },
		{ "5e-324", "4.94065645841247e-324" },
		{ "1.7976931348623157e308", "1.7976931348623157e+308" },
		{ "9007199254740993", "9007199254740993" },
		{ "-9223372036854775808", "-9223372036854775808" },
		{ "[]", "[]" },
		{ "{}", "{}" },
		{ "[true, false, null]", "[true,false,null]" },
		{ "{\"b\": 1, \"a\": [{}, []]}", "{\"b\":1,\"a\":[{},[]]}" },
		{ "\"\\u0000\\u0001\\u001f\\n\\t\\r\\b\\f\\\"\\\\/\\u007f\"",
		    "\"\\u0000\\u0001\\u001f\\n\\t\\r\\b\\f\\\"\\\\/\x7f\"" },
		{ "\"\\u00e9\\ud83d\\ude00\"", "\"\xc3\xa9\xf0\x9f\x98\x80\"" },
		{ "\"\\u2028\\u2028a\\u0085\\u2029\\u202a\\u0086\\n\\u2028\"",
		    "\"\\u2028\\u2028a\\u0085\\u2029\xe2\x80\xaa\xc2\x86\\n\\u2028\"" },
		{ "{\"a\\\"\\n\": \"\"}", "{\"a\\\"\\n\":\"\"}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		json_t *value = json_loads(cases[i].from, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

		assert_non_null(value);
		auto_free char *text = written(value);
		assert_string_equal(text, cases[i].to);
		json_decref(value);
	}
}

/* Pieces of every size, on both sides of what is held back. */
static void
joins_pieces_of_any_size(void **state)
{
	static const size_t sizes[] = { 0, 1, 4093, 4094, 4095, 4096, 4097, 100000 };
	json_t *all = json_array();

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		auto_free char *text = malloc(sizes[i] + 1);

		memset(text, 'x', sizes[i]);
		if (sizes[i] > 10)
			text[sizes[i] - 5] = '\n';
		json_array_append_new(all, json_stringn(text, sizes[i]));
		json_array_append_new(all, json_real(0.1 * (double)i));
	}
	auto_free char *text = written(all);
	json_t *again = json_loads(text, 0, NULL);
	assert_true(json_equal(all, again));
	json_decref(again);
	json_decref(all);
}

/* Whatever the bits of a double are, they come back. */
static void
keeps_every_bit_of_a_real(void **state)
{
	uint64_t bits = 0x3ff0000000000001;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		double value, again;

		bits = bits * 6364136223846793005 + 1442695040888963407;
		memcpy(&value, &bits, sizeof value);
		json_t *real = json_real(value);
		if (real == NULL)
			continue; /* not a finite number */
		auto_free char *text = written(real);
		again = strtod(text, NULL);
		assert_memory_equal(&again, &value, sizeof value);
		json_decref(real);
	}
}

/* Times come with few digits: written they are just those, each read back as what it was. */
static void
keeps_millionths_short(void **state)
{
	uint64_t n = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char expected[32];
		double value, again;

		n = n * 6364136223846793005 + 1442695040888963407;
		snprintf(expected, sizeof expected, "%llu.%06llu1",
		    (unsigned long long)(n >> 35) % 1000000000, (unsigned long long)(n % 100000));
		expected[strlen(expected) - 1 - (size_t)i % 6] = '\0';
		value = strtod(expected, NULL);
		for (char *end = expected + strlen(expected); end[-1] == '0' && end[-2] != '.';)
			*--end = '\0';
		json_t *real = json_real(value);
		auto_free char *text = written(real);
		again = strtod(text, NULL);
		assert_memory_equal(&again, &value, sizeof value);
		assert_string_equal(text, expected);
		json_decref(real);
	}
}

static void
stops_where_it_is_told_to(void **state)
{
	json_t *value = json_array();

	(void)state;
	for (int i = 0; i < 10000; i++)
		json_array_append_new(value, json_pack("{s:s, s:i}", "name", "text", "n", i));
	for (size_t limit = 0; limit < 100000; limit += 7919) {
		struct text t = { .limit = limit };

		assert_int_equal(write_json(value, append, &t), -1);
		assert_true(t.size <= limit);
		free(t.data);
	}
	json_decref(value);
}

/* Text of a constant is from when it became one, of whatever size and wherever it stands. */
static void
writes_constants_as_they_were(void **state)
{
	static const size_t sizes[] = { 1, 255, 256, 1000, 1024, 1025, 4096, 100000 };
	json_t *all = json_array(), *mirror = json_array();

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		auto_free char *text = malloc(sizes[i]);

		memset(text, '"', sizes[i]);
		json_t *one = json_pack("{s:s%, s:[i]}", "text", text, sizes[i], "n", (int)i);
		json_array_append_new(mirror, one);
		json_array_append(mirror, json_object_get(one, "text"));
		one = json_deep_copy(one);
		json_array_append_new(all, write_constant(one));
		json_array_append(all, write_constant(json_object_get(one, "text")));
		json_object_clear(one); /* against the rule, to see which text is written */
	}
	auto_free char *text = written(all), *expected = written(mirror);
	assert_string_equal(text, expected);
	json_decref(all);
	json_decref(mirror);
}

static void
takes_no_more_constants_than_fit(void **state)
{
	static json_t *values[2000];

	(void)state;
	assert_null(write_constant(NULL));
	for (size_t i = 0; i < COUNT(values); i++) {
		values[i] = json_pack("[i]", (int)i);
		assert_ptr_equal(write_constant(values[i]), values[i]);
		assert_ptr_equal(write_constant(values[i]), values[i]); /* once more is once */
	}
	assert_non_null(constant_find(values[0]));
	assert_null(constant_find(values[COUNT(values) - 1]));
	for (size_t i = 0; i < COUNT(values); i++) {
		char expected[16];
		auto_free char *text = written(values[i]);

		snprintf(expected, sizeof expected, "[%zu]", i);
		assert_string_equal(text, expected);
		json_decref(values[i]);
	}
}

/* Of all bytes, beside all others in a word, just those are no plain text that have to be escaped.
 */
static void
finds_each_byte_at_each_place(void **state)
{
	char text[24];

	(void)state;
	for (size_t at = 0; at < sizeof text; at++)
		for (int around = 0x20; around < 0x100; around++)
			for (int byte = 0; byte < 0x100; byte++) {
				bool plain = byte >= ' ' && byte != '"' && byte != '\\';

				if (around == '"' || around == '\\')
					continue;
				memset(text, around, sizeof text);
				text[at] = (char)byte;
				assert_ptr_equal(plain_end(text, text + sizeof text),
				    plain ? text + sizeof text : text + at);
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_as_expected),
		cmocka_unit_test(joins_pieces_of_any_size),
		cmocka_unit_test(keeps_every_bit_of_a_real),
		cmocka_unit_test(keeps_millionths_short),
		cmocka_unit_test(stops_where_it_is_told_to),
		cmocka_unit_test(writes_constants_as_they_were),
		cmocka_unit_test(takes_no_more_constants_than_fit),
		cmocka_unit_test(finds_each_byte_at_each_place),
	};

	return cmocka_run_group_tests_name("write", tests, NULL, NULL);
}
