/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_validator_limits.c - hostile code and wrong calls cause an error with a remedy, never a
 * crash, and leave nothing behind.
 */
#include "checked.h"

#include "validator/check.h"
#include "validator/python/memory.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct refusal {
	const char *name, *code;
	size_t size;
	const char *profile;
	enum err_code error;
	const char *text;
} refusals[] = {
#define BYTES(s) s, sizeof(s) - 1
	{ "a zero byte", BYTES("x = 1\n\0y"), NULL, ERR_invalid_argument, "code: byte 7 is zero" },
	{ "not UTF-8", BYTES("x = '\xff'"), NULL, ERR_invalid_argument, "code: is not UTF-8" },
	{ "an unknown profile", BYTES("x"), "lax", ERR_invalid_argument,
	    "profile: unknown profile \"lax\"; known: strict, basic, data_science, network, "
	    "filesystem, "
	    "open" },
	{ "one unknown profile of several", BYTES("x"), "strict,,basic", ERR_invalid_argument,
	    "unknown profile \"\"" },
	{ "open and another", BYTES("x"), "open,basic", ERR_invalid_argument, "cannot be joined" },
	{ "an empty profile at the end", BYTES("x"), "strict,", ERR_invalid_argument,
	    "unknown profile \"\"" },
};

static void
refuses(void **state)
{
	const struct refusal *c = *state;
	struct checked got;

	checked_run(&got, c->code, c->size, c->profile, NULL, true);
	assert_int_equal(got.status, -1);
	assert_int_equal(got.error.code, c->error);
	assert_non_null(strstr(got.error.text, c->text));
	checked_clear(&got);
}

static void
refuses_other_languages(void **state)
{
	static const int others[] = { language_node, language_shell };

	(void)state;
	for (size_t n = 0; n < COUNT(others); n++) {
		struct validate_code ask = { .code = blob_text("1"), .language = others[n] };
		struct validation_report report = { 0 };
		struct err e;

		assert_int_equal(check_code(&ask, 10, &report, &e), -1);
		assert_int_equal(e.code, ERR_runtime_missing);
		assert_non_null(strstr(e.text, word_text(SET_language, others[n])));
		message_clear(MSG_validate_code, &ask);
	}
}

static void
refuses_more_than_its_limit(void **state)
{
	struct validate_code ask = { .code = blob_text("0123456789") };
	struct validation_report report = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(check_code(&ask, 9, &report, &e), -1);
	assert_int_equal(e.code, ERR_code_too_large);
	assert_string_equal(e.text, "code: 10 bytes are over the limit of 9");
	assert_int_equal(check_code(&ask, 10, &report, &e), 0);
	message_clear(MSG_validation_report, &report);
	message_clear(MSG_validate_code, &ask);
}

/* A part that is repeated: what the parser makes of it is one of the three. */
enum outcome {
	PASSES,
	SYNTAX,
	LIMIT,
};

static const struct bomb {
	const char *begin, *part, *end;
	size_t count;
	enum outcome outcome;
} bombs[] = {
	{ "", "(", "", 100000, SYNTAX },
	{ "", "[", "", 100000, SYNTAX },
	{ "x = ", "{", "", 5000, SYNTAX },
	{ "x = ", "-", "1", 100000, LIMIT },
	{ "x = ", "not ", "1", 50000, LIMIT },
	{ "x = ", "2**", "2", 50000, LIMIT },
	{ "x = ", "lambda: ", "1", 20000, LIMIT },
	{ "x = ", "1 if 1 else ", "1", 20000, LIMIT },
	{ "x = 0", "+1", "", 50000, LIMIT },
	{ "x = a", ".b", "", 50000, LIMIT },
	{ "x = a", "()", "", 50000, LIMIT },
	{ "x = a", "[0]", "", 50000, LIMIT },
	{ "if a: pass\n", "elif a: pass\n", "", 50000, LIMIT },
	{ "x = ", "1", "", 1000000, SYNTAX },
	{ "", "x=1\n", "", 1000, PASSES },
	{ "", "ä", " = 1", 100000, PASSES },
	{ "x = '", "{", "'", 500000, PASSES },
	{ "import ", "a.", "a", 100000, LIMIT },
	{ "x = ", "f'{", "", 100, SYNTAX },
};

static char *
repeat(const struct bomb *c, size_t *size)
{
	size_t part = strlen(c->part), begin = strlen(c->begin);
	char *code = malloc(begin + part * c->count + strlen(c->end) + 1);

	assert_non_null(code);
	memcpy(code, c->begin, begin);
	for (size_t n = 0; n < c->count; n++)
		memcpy(code + begin + n * part, c->part, part);
	memcpy(code + begin + part * c->count, c->end, strlen(c->end) + 1);
	*size = begin + part * c->count + strlen(c->end);
	return code;
}

static void
survives(void **state)
{
	const struct bomb *c = *state;
	struct checked got;
	size_t size;
	auto_free char *code = repeat(c, &size);

	checked_run(&got, code, size, "open", NULL, true);
	if (c->outcome == LIMIT) {
		assert_int_equal(got.status, -1);
		assert_int_equal(got.error.code, ERR_limit_exceeded);
	} else {
		assert_int_equal(got.status, 0);
		assert_int_equal(got.report.validation->valid, c->outcome == PASSES);
	}
	checked_clear(&got);
}

/* A megabyte of one-character statements would take a gigabyte: refused, and all of it given back.
 */
static void
keeps_to_its_memory(void **state)
{
	const struct bomb dense = { "", "~a\n", "", 340000, LIMIT };
	struct checked got;
	size_t size;
	auto_free char *code = repeat(&dense, &size);

	(void)state;
	uint64_t before = memory_used();
	for (int n = 0; n < 3; n++) {
		checked_run(&got, code, size, "strict", NULL, true);
		assert_int_equal(got.status, -1);
		assert_int_equal(got.error.code, ERR_limit_exceeded);
		checked_clear(&got);
	}
	assert_true(memory_used() < before + (16 << 20));
	checked_run(&got, "import os", 9, "strict", NULL, true);
	assert_string_equal(got.found, "1:8 forbidden-import");
	checked_clear(&got);
}

/* Many findings on one line of a megabyte: a column costs a walk along the line. */
static void
counts_columns_only_where_told(void **state)
{
	const struct bomb wide = { "", "eval;", "", 100000, PASSES };
	struct checked got;
	size_t size;
	auto_free char *code = repeat(&wide, &size);

	(void)state;
	checked_run(&got, code, size, "strict", NULL, false);
	assert_int_equal(got.status, 0);
	assert_int_equal(got.report.findings.count, 256);
	assert_int_equal(got.report.findings.items[255].column, 255 * 5 + 1);
	checked_clear(&got);
}

/* Names of any length and script are cut at a character, within the bounds of the schema. */
static void
cuts_long_names(void **state)
{
	const struct bomb name = { "import a", "\xc3\xa4", "", 5000, PASSES };
	struct checked got;
	size_t size;
	auto_free char *code = repeat(&name, &size);

	(void)state;
	checked_run(&got, code, size, "strict", NULL, false);
	assert_int_equal(got.status, 0);
	const char *message = got.report.findings.items[0].message;
	assert_true(strlen(message) <= 1024);
	assert_true(utf8_valid(message, strlen(message)));
	checked_clear(&got);
}

/* The same checks over and over leave the interpreter as large as it was. */
static void
does_not_grow(void **state)
{
	static const char *const codes[] = { "import os\nx = [y for y in z]\n", "def f(:\n",
		"print(json.dumps(\xe2\x80\x9cx\xe2\x80\x9d))\n", "x = (" };
	struct checked got;
	uint64_t after_first = 0;

	(void)state;
	for (int n = 0; n < 2000; n++) {
		const char *code = codes[n % 4];
		checked_run(&got, code, strlen(code), NULL, NULL, true);
		checked_clear(&got);
		if (n == 200)
			after_first = memory_used();
	}
	assert_true(memory_used() <= after_first + (64 << 10));
}

int
main(void)
{
	struct CMUnitTest tests[COUNT(refusals) + COUNT(bombs) + 6];
	size_t n = 0;

	checked_start(256 << 20);
	for (size_t i = 0; i < COUNT(refusals); i++)
		tests[n++] = (struct CMUnitTest){ refusals[i].name, refuses, NULL, NULL,
			(void *)(uintptr_t)&refusals[i] };
	for (size_t i = 0; i < COUNT(bombs); i++)
		tests[n++] = (struct CMUnitTest){ bombs[i].part, survives, NULL, NULL,
			(void *)(uintptr_t)&bombs[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(refuses_other_languages);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(refuses_more_than_its_limit);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(keeps_to_its_memory);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(counts_columns_only_where_told);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(cuts_long_names);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(does_not_grow);
	return _cmocka_run_group_tests("validator limits", tests, n, NULL, NULL);
}
