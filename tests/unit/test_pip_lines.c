/* SPDX-License-Identifier: Apache-2.0 */
/* test_pip_lines.c - which lines are taken out of a program, and what they name. */
#include "executor/run/pip_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* names: joined by blanks; left: what remains of the code. */
static void
expect(const char *text, const char *names, const char *left)
{
	char code[512], joined[512] = "";
	struct blob blob = { code, strlen(text) };
	struct texts packages = { 0 };
	struct err e;

	memcpy(code, text, strlen(text) + 1);
	assert_int_equal(pip_lines_take(&blob, &packages, &e), 0);
	for (size_t i = 0; i < packages.count; i++)
		snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s",
		    i > 0 ? " " : "", packages.items[i]);
	assert_string_equal(joined, names);
	assert_string_equal(code, left);
	texts_clear(&packages);
}

static void
takes_lines_of_notebooks(void **state)
{
	(void)state;
	expect("!pip install six\nimport six", "six", "                \nimport six");
	expect("%pip install -q 'pandas>=2,<3' \"numpy\"  # both", "pandas>=2,<3 numpy",
	    "                                              ");
	expect("x = 1\n!python3 -m pip install -U six >/dev/null 2>&1\r\n2", "six",
	    "x = 1\n                                               \n2");
}

static void
leaves_other_lines(void **state)
{
	static const char *const kept[] = { "!pip install -r requirements.txt", "!pip list",
		"  !pip install six", "!pip install ./here", "!pip install a; rm b",
		"!pip install ", "text = \"\"\"\n!pip install six\n\"\"\"", "# !pip install six",
		"!pip install --index-url x six", "!pip install git+https://a.example/b" };

	(void)state;
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		expect(kept[i], "", kept[i]);
}

static void
sees_the_end_of_strings(void **state)
{
	(void)state;
	expect("a = '''b'''\n!pip install six", "six", "a = '''b'''\n                ");
	expect("a = '''\nb'''\n!pip install six", "six", "a = '''\nb'''\n                ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_lines_of_notebooks),
		cmocka_unit_test(leaves_other_lines),
		cmocka_unit_test(sees_the_end_of_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
