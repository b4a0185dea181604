/* SPDX-License-Identifier: Apache-2.0 */
/* test_path.c - file names: which are refused before any system call, and that none is lost. */
#include "executor/files/path.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const struct {
	const char *given, *says;
} refused[] = {
	{ "", "empty" },
	{ "/workspace", "empty" },
	{ "/workspace/", "empty" },
	{ "a/", "empty component" },
	{ "a//b", "empty component" },
	{ "..", "\"..\"" },
	{ ".", "\".\"" },
	{ "a/../b", "\"..\"" },
	{ "./a", "\".\"" },
	{ "/workspace/../etc/shadow", "\"..\"" },
	{ "%2e%2e/x", "\"..\"" },
	{ "/etc/shadow", "absolute" },
	{ "/workspacex/a", "absolute" },
	{ "/mnt/datax", "absolute" },
	{ "/workspace//etc/shadow", "absolute" },
	{ "a\nb", "control character" },
	{ "a\x1b[2J", "control character" },
	{ "a\x7f", "control character" },
	{ "a%", "%25" },
	{ "50%.csv", "%25" },
	{ "a%0", "%25" },
	{ "a%00b", "zero" },
	{ "a%2fb", "'/'" },
	{ "a%2Fb", "'/'" },
};

static const struct {
	const char *given, *becomes, *real;
} allowed[] = {
	{ "a.csv", "a.csv", "a.csv" },
	{ "data/a.csv", "data/a.csv", "data/a.csv" },
	{ "/workspace/a", "a", "a" },
	{ "/mnt/data/a/b", "a/b", "a/b" },
	{ "/sandbox/workspace/a", "a", "a" },
	{ "workspace/a", "workspace/a", "workspace/a" },
	{ "...", "...", "..." },
	{ ".a", ".a", ".a" },
	{ "-rf", "-rf", "-rf" },
	{ "a b;$(x)`'\"\\", "a b;$(x)`'\"\\", "a b;$(x)`'\"\\" },
	{ "na\xc3\xafve", "na\xc3\xafve", "na\xc3\xafve" },
	{ "100%25", "100%25", "100%" },
	{ "%61%2E", "a.", "a." },
	{ "a%0ab", "a%0Ab", "a\nb" },
	{ "%ff%FE", "%FF%FE", "\xff\xfe" },
	{ "%ed%a0%80", "%ED%A0%80", "\xed\xa0\x80" },
	{ "%c3%af", "\xc3\xaf", "\xc3\xaf" },
};

static void
what_is_no_path_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct err e = { 0 };

		if (path_check("filename", refused[i].given, &e) != NULL)
			fail_msg("%s was allowed", refused[i].given);
		assert_int_equal(e.code, ERR_path_not_allowed);
		assert_ptr_equal(strstr(e.text, "filename: "), e.text);
		if (strstr(e.text, refused[i].says) == NULL)
			fail_msg("%s: \"%s\" does not say %s", refused[i].given, e.text,
			    refused[i].says);
	}
}

static void
what_is_one_has_one_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(allowed); i++) {
		struct err e = { 0 };
		auto_free char *path = path_check("path", allowed[i].given, &e);

		if (path == NULL)
			fail_msg("%s: %s", allowed[i].given, e.text);
		assert_string_equal(path, allowed[i].becomes);

		auto_free char *real = path_decode("path", path, &e);

		assert_non_null(real);
		assert_string_equal(real, allowed[i].real);
	}
}

static void
lengths_are_bounded(void **state)
{
	char path[8192] = "";
	struct err e;

	(void)state;
	memset(path, 'x', 255);
	auto_free char *name = path_check("path", path, &e);
	assert_non_null(name);
	path[255] = 'x';
	assert_null(path_check("path", path, &e));
	assert_non_null(strstr(e.text, "255"));

	for (size_t i = 0; i < 4095; i++)
		path[i] = i % 2 == 0 ? 'a' : '/';
	path[4095] = 0;
	auto_free char *longest = path_check("path", path, &e);
	assert_non_null(longest);
	strcpy(path + 4095, "/a");
	assert_null(path_check("path", path, &e));
	assert_non_null(strstr(e.text, "4095"));
}

/* Any name that a file can have is told as text that can be shown, and comes back as it was. */
static void
every_name_comes_back(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char real[64];
		size_t size = 0;

		while (size < 60) {
			seed = seed * 1664525 + 1013904223;
			/* Many lead and continuation bytes, so that some are UTF-8. */
			real[size] = (char)(seed >> 24 | (seed >> 16 & 1 ? 0x80 : 0));
			if (real[size] != 0 && real[size] != '/')
				size++;
			if (seed % 23 == 0)
				break;
		}
		real[size] = 0;
		if (size == 0 || strcmp(real, ".") == 0 || strcmp(real, "..") == 0)
			continue;

		struct err e;
		auto_free char *path = path_encode(real, size);
		assert_true(utf8_valid(path, strlen(path)));
		for (const char *at = path; *at != 0; at++)
			assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
		auto_free char *again = path_check("path", path, &e);
		assert_non_null(again);
		assert_string_equal(again, path);
		auto_free char *back = path_decode("path", path, &e);
		assert_string_equal(back, real);
	}
}

/* A name may not reverse the text around it, or end a line of it. */
static void
names_do_not_deceive(void **state)
{
	static const char *const tricks[] = { "a\xe2\x80\xae"
					      "txt.exe",
		"\xe2\x80\xa8", "\xe2\x81\xa6",
		"\xc2\x9b"
		"2J" };

	(void)state;
	for (size_t i = 0; i < COUNT(tricks); i++) {
		auto_free char *path = path_encode(tricks[i], strlen(tricks[i]));

		assert_non_null(strchr(path, '%'));
	}
}

static void
targets_are_any_bytes(void **state)
{
	struct err e;

	(void)state;
	auto_free char *target = path_decode_target("target", "../../etc/%FFx//", &e);
	assert_string_equal(target, "../../etc/\xffx//");
	assert_null(path_decode_target("target", "", &e));
	assert_null(path_decode_target("target", "a%00", &e));
}

/* Of processor time, to tell a megabyte of this byte. */
static clock_t
cost_of(char byte, size_t length)
{
	const size_t size = 1 << 20;
	auto_free char *bytes = malloc(size);
	clock_t least = 0;

	memset(bytes, byte, size);
	for (int i = 0; i < 9; i++) {
		clock_t began = clock();
		auto_free char *text = path_encode(bytes, size);
		clock_t cost = clock() - began;

		assert_int_equal(strlen(text), length * size);
		if (i == 0 || cost < least)
			least = cost;
	}
	return least;
}

/* Of a program's 16,000 links to 4,000 such bytes each everybody waits for all.  Beside others, as
 * how long either takes is the machine's: by snprintf it was some fifty times as long. */
static void
odd_bytes_cost_little(void **state)
{
	(void)state;
	assert_true(cost_of(1, 3) < 8 * cost_of('a', 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_path_is_refused),
		cmocka_unit_test(what_is_one_has_one_form),
		cmocka_unit_test(lengths_are_bounded),
		cmocka_unit_test(every_name_comes_back),
		cmocka_unit_test(odd_bytes_cost_little),
		cmocka_unit_test(names_do_not_deceive),
		cmocka_unit_test(targets_are_any_bytes),
	};

	return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
