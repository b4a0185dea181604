/* SPDX-License-Identifier: Apache-2.0 */
/* test_rights.c - policies: what the file may say, whom one is for, and what it allows. */
#include "common/rights/rights.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "ci:\n"
			   "  for: {principal: 'token:ci', namespace: build}\n"
			   "  tools: [execute_code, 'sandbox_*']\n"
			   "  languages: [python]\n"
			   "  domains: ['*.example.com', pypi.org]\n"
			   "  calls_per_minute: 60\n"
			   "  sessions: 0\n"
			   "guests:\n"
			   "  for: {namespace: guests}\n"
			   "  languages: []\n"
			   "everybody:\n"
			   "  memory_mb: 256\n";

static struct rights_book book;

static int
read_text(const char *yaml, struct err *e)
{
	struct blob file = { (char *)(uintptr_t)yaml, strlen(yaml) };

	rights_clear(&book);
	return rights_read(&file, &book, e);
}

static const char *
name_for(const char *principal, const char *namespace)
{
	struct owner owner;
	const struct rights *found;

	assert_true(owner_set(&owner, principal, namespace));
	found = rights_find(&book, &owner);
	return found != NULL ? found->name : NULL;
}

static void
is_for_the_first_that_fits(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(read_text(text, &e), 0);
	assert_int_equal(book.count, 3);
	assert_string_equal(name_for("token:ci", "build"), "ci");
	assert_string_equal(name_for("token:ci", ""), "everybody");
	assert_string_equal(name_for("token:ann", "guests"), "guests");
	assert_string_equal(name_for("local:0", ""), "everybody");
	assert_int_equal(read_text("ci: {for: {principal: a}}", &e), 0);
	assert_null(name_for("b", ""));
	assert_int_equal(read_text("", &e), 0);
	assert_null(name_for("a", ""));
}

static void
allows_what_it_names(void **state)
{
	static const struct {
		const char *name;
		bool tool, domain;
	} cases[] = { { "execute_code", true, false }, { "execute_code2", false, false },
		{ "sandbox_stats", true, false }, { "sandbox", false, false },
		{ "a.example.com", false, true }, { "example.com", false, false },
		{ "badexample.com", false, false }, { "pypi.org", false, true },
		{ "", false, false } };
	const struct rights *ci;
	struct err e;

	(void)state;
	assert_int_equal(read_text(text, &e), 0);
	ci = &book.items[0];
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(rights_allow(&ci->tools, cases[i].name), cases[i].tool);
		assert_int_equal(rights_allow(&ci->domains, cases[i].name), cases[i].domain);
	}
	assert_true(rights_allow(&ci->secrets, "anything")); /* it says nothing about these */
	assert_false(rights_allow(&book.items[1].languages, "python"));
	assert_int_equal(rights_check(ci, &ci->languages, "language", "node", &e), -1);
	assert_int_equal(e.code, ERR_denied);
	assert_string_equal(
	    e.text, "language: 'node' is not allowed by policy ci, which allows python");
	assert_int_equal(rights_check(NULL, NULL, "language", "node", &e), 0);
	assert_int_equal(rights_check(ci, &ci->languages, "language", NULL, &e), 0);
}

static void
has_numbers(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(read_text(text, &e), 0);
	assert_int_equal(rights_number(&book.items[0], &book.items[0].sessions, 16), 0);
	assert_int_equal(rights_number(&book.items[0], &book.items[0].waiting, 48), 48);
	assert_int_equal(rights_number(NULL, NULL, 48), 48);
}

static void
refuses_the_file_as_a_whole(void **state)
{
	static const char *const cases[][2] = {
		{ "ci: {for: {principal: a}, tolls: [x]}",
		    "unknown 'tolls'; known are for, tools" },
		{ "ci: {for: {principal: a}, tools: x}", "a list is needed" },
		{ "ci: {for: {principal: a}, tools: [[x]]}", "one text is needed" },
		{ "ci: {for: {principal: a}, sessions: 1001}",
		    "sessions must be a number from 0 to 1000" },
		{ "ci: {for: {principal: a}, sessions: -1}", "sessions must be" },
		{ "ci: {for: {principal: a}, sessions: 1x}", "sessions must be" },
		{ "ci: {for: {principal: a}, sessions: 99999999999999999999}", "sessions must be" },
		{ "ci: {for: {user: a}}", "`for` has principal and namespace" },
		{ "ci: {for: {principal: ''}}", "a principal has 1 to 128 bytes" },
		{ "ci: {tools: [x]}", "`for` is missing" },
		{ "ci: {for: {}}", "`for` is missing" },
		{ "ci: {for: {principal: a}}\nci: {for: {principal: b}}",
		    "line 2: the same name twice" },
		{ "ci: {for: {principal: a}, tools: [a], tools: [b]}", "ci: the same name twice" },
		{ "'a b': {for: {principal: a}}", "the name of a policy has" },
		{ "- a", "a mapping is needed" },
		{ "a: b", "a mapping is needed" },
		{ "a: [", "did not find" },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(read_text(cases[i][0], &e), -1);
		if (strstr(e.text, cases[i][1]) == NULL)
			fail_msg("%s: %s", cases[i][0], e.text);
		assert_int_equal(book.count, 0);
	}
}

static void
holds_many_and_no_more(void **state)
{
	char *yaml = NULL;
	size_t size;
	FILE *to = open_memstream(&yaml, &size);
	struct err e;

	(void)state;
	for (int i = 0; i < RIGHTS_MAX; i++)
		fprintf(to, "p%d: {for: {principal: a%d}}\n", i, i);
	fflush(to);
	assert_int_equal(read_text(yaml, &e), 0);
	assert_string_equal(name_for("a999", ""), "p999");
	fprintf(to, "more: {for: {principal: b}}\n");
	fclose(to);
	assert_int_equal(read_text(yaml, &e), -1);
	assert_non_null(strstr(e.text, "more than 1000"));
	free(yaml);
}

static int
end(void **state)
{
	(void)state;
	rights_clear(&book);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(is_for_the_first_that_fits, end),
		cmocka_unit_test_teardown(allows_what_it_names, end),
		cmocka_unit_test_teardown(has_numbers, end),
		cmocka_unit_test_teardown(refuses_the_file_as_a_whole, end),
		cmocka_unit_test_teardown(holds_many_and_no_more, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
