/* SPDX-License-Identifier: Apache-2.0 */
/* test_unfinished.c - where `cloister shell` asks for another line. */
#include "compose/cloister/shell/unfinished.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct {
	int language;
	const char *text;
	bool goes_on;
} cases[] = {
	{ language_python, "1 + 1\n", false },
	{ language_python, "f(1,\n", true },
	{ language_python, "f(1,\n2)\n", false },
	{ language_python, "def f(x):\n", true },
	{ language_python, "def f(x):\n    return x\n", true },
	{ language_python, "def f(x):\n    return x\n\n", false },
	{ language_python, "for x in y: # why\n", true },
	{ language_python, "@cache\n", true },
	{ language_python, "d = {'a': 1}\n", false },
	{ language_python, "x = d[1:\n", true },
	{ language_python, "s = \"\"\"a\n", true },
	{ language_python, "s = \"\"\"a\nb ' \\\"\"\" \"\"\"\n", false },
	{ language_python, "s = 'open\n", false },
	{ language_python, "s = '(' + \")\" # (\n", false },
	{ language_python, "x = 1 + \\\n", true },
	{ language_python, ")\n", false },
	{ language_python, "", false },
	{ language_node, "if (x) {\n", true },
	{ language_node, "if (x) {\n}\n", false },
	{ language_node, "`a ${b}\n", true },
	{ language_node, "f('(') // (\n", false },
	{ language_node, "x = 'it\\'s'\n", false },
	{ language_shell, "for i in 1 2; do\n", true },
	{ language_shell, "for i in 1 2; do\necho $i\ndone\n", false },
	{ language_shell, "if true; then echo do; fi\n", false },
	{ language_shell, "case x in\n", true },
	{ language_shell, "case x in a) echo;; b) ;;\n", true },
	{ language_shell, "case x in a) echo;;\nesac\n", false },
	{ language_shell, "f() {\n", true },
	{ language_shell, "f() {\n}\n", false },
	{ language_shell, "echo 'a\n", true },
	{ language_shell, "echo \"it's\"\n", false },
	{ language_shell, "ls |\n", true },
	{ language_shell, "a &&\n", true },
	{ language_shell, "sleep 1 &\n", false },
	{ language_shell, "echo \\\n", true },
	{ language_shell, "echo $# ${x}\n", false },
	{ language_shell, "echo done\n", false },
};

static void
says_whether_a_statement_goes_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (unfinished(cases[i].language, cases[i].text) != cases[i].goes_on)
			fail_msg("%s", cases[i].text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(says_whether_a_statement_goes_on) };

	return cmocka_run_group_tests_name("unfinished", tests, NULL, NULL);
}
