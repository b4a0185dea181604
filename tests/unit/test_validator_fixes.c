/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_validator_fixes.c - what auto_fix changes in code, what it records, and what it leaves
 * unchanged.
 */
#include "checked.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct fix_case {
	const char *name, *profile, *code;
	const char *fixed; /* NULL: nothing is offered */
	const char *edits; /* "2 indentation, 1 missing-import" */
} cases[] = {
	{ "nothing to mend", "strict", "x = 1\n", NULL, "" },
	{ "a fence", "strict", "```python\nx = 1\n```\n", "x = 1\n", "1 fence" },
	{ "a fence of tildes, not closed", "strict", "~~~\nx = 1\n", "x = 1\n", "1 fence" },
	{ "a fence within talk", "strict",
	    "Here you are:\n\n```py\nx = 1\ny = 2\n```\n\nIt's done.\n", "x = 1\ny = 2\n",
	    "3 fence" },
	{ "only the fence at the end", "strict", "x = 1\n```\n", "x = 1\n", "2 fence" },
	{ "two fences", "strict", "First:\n```python\nx = 1\n```\nThen:\n```\nprint(x)\n```\n",
	    "x = 1\nprint(x)\n", "2 fence" },
	{ "a fence of the output", "strict", "```python\nx = 1\n```\n```text\nok 1\n```\n",
	    "x = 1\n", "1 fence" },
	{ "a console", "strict", ">>> x = 1\n>>> for y in [x]:\n...     print(y)\n...\n1\n",
	    "x = 1\nfor y in [x]:\n    print(y)\n\n", "1 prompt" },
	{ "a notebook", "strict", "%matplotlib inline\n!ls\nx = 1\n",
	    "# %matplotlib inline\n# !ls\nx = 1\n", "1 magic" },
	{ "prose around code", "strict",
	    "Here is the code you asked for:\n\nx = 1\nprint(x)\n\nIt\xe2\x80\x99s short, isn't "
	    "it?\n",
	    "# Here is the code you asked for:\n\nx = 1\nprint(x)\n\n"
	    "# It\xe2\x80\x99s short, isn't it?\n",
	    "1 prose" },
	{ "prose as a list", "strict", "1. First do this\n- **Then** do that\nx = 1\n",
	    "# 1. First do this\n# - **Then** do that\nx = 1\n", "1 prose" },
	{ "prose in a string stays", "strict", "Here is the code\nx = '''\nHere is the text\n'''\n",
	    "# Here is the code\nx = '''\nHere is the text\n'''\n", "1 prose" },
	{ "a misspelt keyword is no prose", "strict", "improt os as x\n", NULL, "" },
	{ "code that begins with a capital", "strict", "X = (1 if 2\nNone or 3 else 4\n", NULL,
	    "" },
	{ "literals of JSON", "strict",
	    "x = {'a': true, 'b': [null, false], 'true': 'null'}  # null\nprint(x, end=null)\n",
	    "x = {'a': True, 'b': [None, False], 'true': 'null'}  # null\nprint(x, end=None)\n",
	    "1 literal" },
	{ "literals and an import", "strict", "print(math.pi, true)\n",
	    "import math\nprint(math.pi, True)\n", "1 literal, 1 missing-import" },
	{ "names that are bound", "strict", "true = 1\nprint(true)\n", NULL, "" },
	{ "arguments and attributes stay", "strict",
	    "def f(null=1, **x):\n    return null\nf(true=f(1))\n", NULL, "" },
	{ "colons", "strict", "def f(x)  # twice\n    if x == '#'\n        return 2 * x\n",
	    "def f(x):  # twice\n    if x == '#':\n        return 2 * x\n", "1 colon, 2 colon" },
	{ "statements of Python 2", "strict", "x = 1\nprint x, 'a'  # b\nprint \"c\"\n",
	    "x = 1\nprint(x, 'a')  # b\nprint(\"c\")\n", "2 print, 3 print" },
	{ "a bracket", "strict", "x = [1]\nprint(max(x)  # a\nprint(x)\n",
	    "x = [1]\nprint(max(x))  # a\nprint(x)\n", "2 bracket" },
	{ "a bracket before a colon", "strict", "def f(x:\n    return x\n",
	    "def f(x):\n    return x\n", "1 bracket" },
	{ "several brackets", "strict", "x = {'a': [(1, 2\nprint(x)\n",
	    "x = {'a': [(1, 2)]}\nprint(x)\n", "1 bracket" },
	{ "a bracket at the end", "strict", "x = sum([1, 2]\n", "x = sum([1, 2])\n", "1 bracket" },
	{ "words of C", "strict", "x = 1\nif x && 2:\n    x = '&&'\nelse if x || 3:\n    x = 2\n",
	    "x = 1\nif x and 2:\n    x = '&&'\nelif x or 3:\n    x = 2\n", "2 words" },
	{ "a fence in a string", "strict", "x = '''\n```\ny\n```\n'''\n", NULL, "" },
	{ "typographic quotes", "strict", "print(\xe2\x80\x9chello\xe2\x80\x9d)\n",
	    "print(\"hello\")\n", "1 characters" },
	{ "an apostrophe in quotes", "strict",
	    "x = 1\nprint(\xe2\x80\x9cit\xe2\x80\x99s\xe2\x80\x9d)\n",
	    "x = 1\nprint(\"it\xe2\x80\x99s\")\n", "2 characters" },
	{ "quotes in a string stay", "strict",
	    "a = '\xe2\x80\x9cx\xe2\x80\x9d' # \xe2\x80\x9c\nb = \xe2\x80\x98y\xe2\x80\x99\n",
	    "a = '\xe2\x80\x9cx\xe2\x80\x9d' # \xe2\x80\x9c\nb = 'y'\n", "2 characters" },
	{ "invisible characters", "strict", "x\xc2\xa0= 1\xe2\x80\x8b\n", "x = 1\n",
	    "1 characters, 1 characters" },
	{ "a byte order mark", "strict", "\xef\xbb\xbfx = 1\n", "x = 1\n", "1 characters" },
	{ "a minus sign", "strict", "x = 3 \xe2\x88\x92 1\n", "x = 3 - 1\n", "1 characters" },
	{ "tabs of four", "strict", "if 1:\n    x = 1\n\ty = 2\n", "if 1:\n    x = 1\n    y = 2\n",
	    "3 indentation" },
	{ "tabs of eight", "strict", "if 1:\n        x = 1\n\ty = 2\n",
	    "if 1:\n        x = 1\n        y = 2\n", "3 indentation" },
	{ "tabs in a string stay", "strict", "if 1:\n    x = '''\n\ta'''\n\ty = 2\n",
	    "if 1:\n    x = '''\n\ta'''\n    y = 2\n", "4 indentation" },
	{ "tabs that are consistent", "strict", "if 1:\n\tx = 1\n\ty = 2\n", NULL, "" },
	{ "everything indented", "strict", "    x = 1\n    if x:\n        y = 2\n\n    # a\n",
	    "x = 1\nif x:\n    y = 2\n\n# a\n", "1 indentation" },
	{ "several faults at once", "strict",
	    "```python\n    x = \xe2\x80\x9c"
	    "a\xe2\x80\x9d\n    print(math.pi)\n```",
	    "import math\nx = \"a\"\nprint(math.pi)\n",
	    "1 fence, 1 characters, 1 indentation, 1 missing-import" },
	{ "an import", "strict", "print(json.dumps({}))\n", "import json\nprint(json.dumps({}))\n",
	    "1 missing-import" },
	{ "imports, each once, in order", "strict", "re.match(math.pi, math.e)\n",
	    "import re\nimport math\nre.match(math.pi, math.e)\n",
	    "1 missing-import, 1 missing-import" },
	{ "behind docstring and __future__", "strict",
	    "# note\n'''doc'''\nfrom __future__ import annotations\nmath.pi\n",
	    "# note\n'''doc'''\nfrom __future__ import annotations\nimport math\nmath.pi\n",
	    "4 missing-import" },
	{ "before a decorator", "strict", "@lru_cache\ndef f(): pass\n",
	    "from functools import lru_cache\n@lru_cache\ndef f(): pass\n", "1 missing-import" },
	{ "no line of its own for an import", "strict", "'''doc''' ; math", NULL, "" },
	{ "no line feed at the end", "strict", "'doc'\n# math\nmath",
	    "'doc'\nimport math\n# math\nmath", "2 missing-import" },
	{ "an alias", "data_science", "np.zeros(1)\n", "import numpy as np\nnp.zeros(1)\n",
	    "1 missing-import" },
	{ "an alias that is not allowed", "strict", "np.zeros(1)\n", NULL, "" },
	{ "the class or the module", "strict", "datetime.now()\n",
	    "from datetime import datetime\ndatetime.now()\n", "1 missing-import" },
	{ "the module or the class", "strict", "datetime.date(1, 1, 1)\n",
	    "import datetime\ndatetime.date(1, 1, 1)\n", "1 missing-import" },
	{ "bound by assignment", "strict", "json = 1\njson.x\n", NULL, "" },
	{ "bound by a parameter", "strict", "def f(json): return json\n", NULL, "" },
	{ "bound by a star import", "open", "from a import *\njson.x\n", NULL, "" },
	{ "a name nobody knows", "strict", "frobnicate(1)\n", NULL, "" },
	{ "no way to mend it", "strict", "x = (\n", NULL, "" },
};

static void
fixes(void **state)
{
	const struct fix_case *c = *state;
	struct checked got;
	char edits[512] = "";
	size_t used = 0;

	checked_run(&got, c->code, strlen(c->code), c->profile, NULL, true);
	assert_int_equal(got.status, 0);
	const struct blob *fixed = &got.report.fixed_code;
	if (c->fixed == NULL) {
		assert_null(fixed->data);
	} else {
		assert_non_null(fixed->data);
		assert_int_equal(fixed->size, strlen(c->fixed));
		assert_memory_equal(fixed->data, c->fixed, fixed->size);
	}
	for (size_t n = 0; n < got.report.edits.count; n++)
		used += (size_t)snprintf(edits + used, sizeof edits - used, "%s%d %s",
		    n == 0 ? "" : ", ", (int)got.report.edits.items[n].line,
		    got.report.edits.items[n].rule);
	assert_string_equal(edits, c->edits);
	checked_clear(&got);
}

static void
not_unless_asked(void **state)
{
	static const char code[] = "print(json.dumps({}))\n";
	struct checked got;

	(void)state;
	checked_run(&got, code, strlen(code), NULL, NULL, false);
	assert_null(got.report.fixed_code.data);
	assert_int_equal(got.report.edits.count, 0);
	checked_clear(&got);
}

static void
says_whether_it_passes(void **state)
{
	static const char good[] = "json.dumps(\xe2\x80\x9cx\xe2\x80\x9d)\n";
	static const char bad[] = "exec(\xe2\x80\x9cx\xe2\x80\x9d)\n";
	struct checked got;

	(void)state;
	checked_run(&got, good, strlen(good), NULL, NULL, true);
	assert_false(got.report.validation->valid);
	assert_string_equal(
	    got.report.recommendations.items[0], "fixed_code passes the checks of profile strict");
	checked_clear(&got);
	checked_run(&got, bad, strlen(bad), NULL, NULL, true);
	assert_string_equal(got.report.recommendations.items[0],
	    "fixed_code still has 1 findings under profile strict");
	checked_clear(&got);
}

/* Beyond the bound nothing is tried, and the report says so. */
static void
leaves_large_code_alone(void **state)
{
	static char code[300 << 10];
	struct checked got;

	(void)state;
	memset(code, '#', sizeof code);
	memcpy(code, "json\n", 5);
	checked_run(&got, code, sizeof code, NULL, NULL, true);
	assert_int_equal(got.status, 0);
	assert_null(got.report.fixed_code.data);
	assert_non_null(strstr(got.report.recommendations.items[1], "262144"));
	checked_clear(&got);
}

int
main(void)
{
	struct CMUnitTest tests[COUNT(cases) + 3];
	size_t n = 0;

	checked_start(512 << 20);
	for (; n < COUNT(cases); n++)
		tests[n] = (struct CMUnitTest){ cases[n].name, fixes, NULL, NULL,
			(void *)(uintptr_t)&cases[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(not_unless_asked);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(says_whether_it_passes);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(leaves_large_code_alone);
	return _cmocka_run_group_tests("validator fixes", tests, n, NULL, NULL);
}
