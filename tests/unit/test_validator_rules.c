/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_validator_rules.c - the findings in Python code under each profile, their positions, and
 * what is not a finding.
 */
#include "checked.h"

#include "common/base/auto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct rule_case {
	const char *profile, *imports, *code, *found;
} cases[] = {
	/* what strict is for */
	{ "strict", NULL, "import math\nprint(math.pi)\n", "" },
	{ "strict", NULL, "import os\nos.getcwd()\n", "1:8 forbidden-import" },
	{ "strict", NULL, "import os, math, subprocess\n",
	    "1:8 forbidden-import, 1:18 forbidden-import" },
	{ "strict", NULL, "import sys\nsys.exit(sys.argv)\nsys.modules\n", "3:5 module-attribute" },
	{ "basic", NULL, "import sys\nsys.stdin.buffer.raw\n", "2:18 dunder-attribute" },
	{ "strict", NULL, "from socket import socket\n", "1:20 forbidden-import" },
	{ "strict", NULL, "exec('1')\neval('2')\ncompile('3', '', 'exec')\n",
	    "1:1 forbidden-call, 2:1 forbidden-call, 3:1 forbidden-call" },
	{ "strict", NULL, "f = eval\n", "1:5 forbidden-call" },
	{ "strict", NULL, "@exec\n@input\nclass x: pass\n", "1:2 forbidden-call" },
	{ "strict", NULL, "__import__('os')\n", "1:1 forbidden-call" },
	{ "strict", NULL, "breakpoint()\n", "1:1 forbidden-call" },
	{ "strict", NULL, "globals()\nlocals()\nvars()\n",
	    "1:1 forbidden-call, 2:1 forbidden-call, 3:1 forbidden-call" },
	{ "strict", NULL, "open('data.csv').read()\n", "" },
	{ "strict", NULL, "().__class__.__bases__[0].__subclasses__()\n",
	    "1:14 dunder-attribute, 1:27 dunder-attribute" },
	{ "strict", NULL, "type(1).mro()\n", "1:9 dunder-attribute" },
	{ "strict", NULL, "(x for x in []).gi_frame.f_globals\n",
	    "1:17 dunder-attribute, 1:26 dunder-attribute" },
	{ "strict", NULL, "print(__builtins__)\n", "1:7 dunder-name" },
	{ "strict", NULL, "__builtins__ = {}\n", "1:1 dunder-name" },
	{ "strict", NULL, "print(__loader__, __name__, __file__)\n", "1:7 dunder-name" },
	{ "strict", NULL, "getattr(1, 'real')\n", "" },
	{ "strict", NULL, "getattr(1, '__class__')\n", "1:12 dunder-attribute" },
	{ "strict", NULL, "getattr(1, '__cl' + 'ass__')\n", "1:1 computed-name" },
	{ "strict", NULL, "g = getattr\n", "1:5 computed-name" },
	{ "strict", NULL, "setattr(x, n, 1)\n", "1:1 computed-name" },
	{ "strict", NULL, "'{0.__class__}'.format(1)\n", "1:1 format-attribute" },
	{ "strict", NULL, "s = '{a[__init__]}'\n", "1:5 format-attribute" },
	{ "strict", NULL, "s = '{} {x.real} __class__'\n", "" },
	{ "strict", NULL, "match x:\n case object(__class__=c): pass\n", "2:7 dunder-attribute" },
	{ "strict", NULL, "from math import *\n", "" },
	{ "strict,data_science", NULL, "from sympy import *\n", "1:19 star-import" },
	{ "data_science", NULL, "from sympy import *\nos.name\n", "2:1 module-attribute" },
	{ "strict", NULL, "from functools import *\nw = wraps\n", "2:5 indirect-use" },
	{ "strict", NULL, "from . import a\nfrom .b import c\n",
	    "1:1 relative-import, 2:1 relative-import" },
	/* what strict must not be in the way of */
	{ "strict", NULL,
	    "class A:\n    __slots__ = ()\n    def __init__(self):\n        super().__init__()\n"
	    "    def __eq__(self, o):\n        return NotImplemented\n",
	    "" },
	{ "strict", NULL, "if __name__ == '__main__':\n    print(1)\n", "" },
	{ "strict", NULL, "async def f(): pass\nawait f()\n", "" },
	{ "strict", NULL, "def f():\n    await g()\n", "2:5 syntax-error" },
	{ "strict", NULL, "import re\nre.compile('a')\n", "" },
	{ "strict", NULL, "from __future__ import annotations\nimport collections.abc\n", "" },
	{ "strict", NULL, "from xml.etree import ElementTree as E\nE.fromstring('<a/>')\n", "" },
	{ "strict", NULL,
	    "from urllib.parse import quote\nimport urllib.parse\nurllib.parse.quote('')\n", "" },
	/* doors in allowed modules */
	{ "strict", NULL, "import random\nrandom._os.getcwd()\n", "2:8 module-attribute" },
	{ "strict", NULL, "from random import _os as o\n", "1:20 module-attribute" },
	{ "strict", NULL, "import collections.abc as c\nc.sys\n", "2:3 module-attribute" },
	{ "strict", NULL, "import json\njson.decoder.scanner.sys\n",
	    "2:14 module-attribute, 2:22 module-attribute" },
	{ "strict", NULL, "import urllib.parse\nurllib.request\n", "2:8 module-attribute" },
	{ "strict", NULL, "import urllib.parse\nu = urllib\n", "2:5 module-attribute" },
	{ "strict", NULL, "import operator\noperator.attrgetter('x')\n", "2:10 module-attribute" },
	{ "strict", NULL, "from typing import get_type_hints\n", "1:20 module-attribute" },
	{ "strict", NULL, "class A:\n    os = 1\nA.os\n", "" },
	/* a module is only dotted, and only by public members */
	{ "strict", NULL, "import random\nm = [random]\n", "2:6 module-attribute" },
	{ "strict", NULL, "import random as r\nf(r)\n", "2:3 module-attribute" },
	{ "strict", NULL, "import uuid\nuuid._generate_time_safe\n", "2:6 module-attribute" },
	{ "strict", NULL, "import enum\nenum.bltns.eval\n", "2:6 module-attribute" },
	/* what an earlier statement bound may be anything */
	{ "strict", NULL, "datetime.now()\nf(time, random)\n", "" },
	{ "strict", NULL, "m.update_wrapper(a, b)\nu = m.update_wrapper\n", "2:5 indirect-use" },
	{ "strict", NULL, "getattr(m, 'ABCMeta')\n", "1:12 dunder-attribute" },
	{ "strict", NULL, "import math as m\nimport io as m\nm.open\n", "3:1 module-attribute" },
	{ "strict", NULL, "class A:\n    import math\n", "2:12 class-import" },
	{ "strict", NULL, "class A:\n    def f(self):\n        import math\n", "" },
	{ "basic", NULL, "import xml.etree.ElementTree as E\nE.parse('x')\n",
	    "2:3 module-attribute" },
	{ "open", NULL, "import random\nm = random\nclass A:\n    import math\n", "" },
	/* what reads attributes by data */
	{ "basic", NULL, "f(x).format(1)\n", "1:1 computed-format" },
	{ "basic", NULL, "s = '{}'\ns.format(1)\n", "" },
	{ "basic", NULL, "s = '{}'\ns += t\ns.format(1)\n", "3:1 computed-format" },
	{ "strict", NULL, "'{0.gi_frame}'.format(x)\n", "1:1 format-attribute" },
	{ "strict", NULL, "class A: pass\nmatch x:\n case A(v): pass\n", "" },
	{ "strict", NULL, "class A(B): pass\nmatch x:\n case A(v): pass\n", "3:7 class-pattern" },
	{ "strict", NULL, "class A:\n    __match_args__ = ('a',)\n", "" },
	{ "strict", NULL, "class A:\n    __match_args__ = (a,)\n", "2:5 dunder-name" },
	{ "strict", NULL, "class A:\n    def __instancecheck__(c, o): pass\n", "2:5 dunder-name" },
	{ "basic", NULL, "t = type\ntype(1)('A', (), {})\n", "1:5 type-use, 2:1 type-use" },
	{ "basic", NULL, "type('A', (), {})\ntype(int)('A', (), {})\n",
	    "1:1 type-use, 2:1 type-use" },
	{ "strict", NULL, "import functools\nfunctools.wraps(f, a)\nw = functools.wraps\n",
	    "2:1 indirect-use, 3:5 indirect-use" },
	/* several on a line, in characters and not in bytes */
	{ "strict", NULL, "ä = 'ö'; eval(''); import os\n",
	    "1:10 forbidden-call, 1:27 forbidden-import" },
	{ "strict", NULL, "x = 1\r\ny = 2\rimport os\n", "3:8 forbidden-import" },
	{ "strict", NULL, "def f(\n", "1:6 syntax-error" },
	{ "strict", NULL, "x = 'ä' +\n", "1:10 syntax-error" },
	{ "strict", NULL, "return 1\n", "1:1 syntax-error" },
	{ "strict", NULL, "import os\nbreak\n", "1:8 forbidden-import, 2:1 syntax-error" },
	{ "strict", NULL, "# coding: latin-1\nx = 'ä'; import os\n", "2:17 forbidden-import" },
	/* the others, and several of them */
	{ NULL, NULL, "import os\n", "1:8 forbidden-import" },
	{ "basic", NULL, "import math\n(1).__class__.__name__\n", "" },
	{ "basic", NULL, "getattr(a, b)\n", "1:1 computed-name" },
	{ "network", NULL, "getattr(a, b)\n", "" },
	{ "basic", NULL, "(1).__class__.__subclasses__()\n", "1:15 dunder-attribute" },
	{ "basic", NULL, "open('x')\nimport io\nio.open('x')\n",
	    "1:1 forbidden-call, 3:4 module-attribute" },
	{ "basic", NULL, "from io import open, StringIO\n", "1:16 module-attribute" },
	{ "basic", NULL, "import numpy\n", "1:8 forbidden-import" },
	{ "data_science", NULL, "import numpy as np, pandas as pd, math\n", "" },
	{ "data_science", NULL, "import pathlib\n", "1:8 forbidden-import" },
	{ "network", NULL, "import urllib.request, requests\n", "" },
	{ "network", NULL, "import socket\n", "1:8 forbidden-import" },
	{ "filesystem", NULL, "import pathlib, os.path\nopen('x')\nos.path.join('a')\n", "" },
	{ "filesystem", NULL, "import os.path\nos.getcwd()\n", "2:4 module-attribute" },
	{ "filesystem", NULL, "from os import path, system\n", "1:22 forbidden-import" },
	{ "filesystem", NULL, "import os\n", "1:8 forbidden-import" },
	{ "filesystem", NULL, "import shutil\nshutil.os.getcwd()\n", "2:8 module-attribute" },
	{ "basic,filesystem", NULL, "open('x')\nimport glob\n", "" },
	{ " network , data_science ", NULL, "import numpy, requests\n", "" },
	/* strict among others brings its rules, they bring their modules */
	{ "strict,basic", NULL, "open((1).__class__)\n", "1:6 type-use" },
	{ "strict", NULL, "print(x.__class__.__name__)\nobject.__setattr__(x, 'y', 1)\n", "" },
	{ "strict", NULL, "object.__setattr__(x, y, 1)\nobject.__setattr__(x, '__class__', 1)\n",
	    "1:8 dunder-attribute, 2:8 dunder-attribute" },
	{ "basic", NULL, "getattr(x, '__class__')\n", "1:12 dunder-attribute" },
	{ "data_science", NULL, "from scipy import signal\nsignal.find_peaks\n", "" },
	{ "data_science", NULL, "import pandas as pd\npd.api.types\npd.core.types\n",
	    "3:9 module-attribute" },
	{ "strict", NULL, "import threading as t\nt.Lock()\nt.settrace(f)\n",
	    "3:3 module-attribute" },
	{ "data_science,strict", NULL, "import numpy\nopen('x')\ngetattr(numpy, a)\n",
	    "3:1 computed-name, 3:9 module-attribute" },
	{ "strict,filesystem", NULL, "import pathlib, os\npathlib.Path.__subclasses__()\n",
	    "1:17 forbidden-import, 2:14 dunder-attribute" },
	{ "open", NULL,
	    "import os\nexec('1')\n().__class__.__bases__\nfrom os import *\nfrom . import a\n",
	    "" },
	{ "open", NULL, "x = = 1\n", "1:5 syntax-error" },
	/* allowed_imports narrows */
	{ "strict", "math", "import math, json\n", "1:14 forbidden-import" },
	{ "strict", "os", "import os\n", "1:8 forbidden-import" },
	{ "open", "math xml.etree", "import math, os, xml.etree.ElementTree\n",
	    "1:14 forbidden-import" },
	{ "open", "", "import math\n", "1:8 forbidden-import" },
	{ "open", "os.path", "import os.path\nos.path.join('')\nos.getcwd()\n",
	    "3:4 module-attribute" },
};

static void
finds(void **state)
{
	const struct rule_case *c = *state;
	struct checked got;

	checked_run(&got, c->code, strlen(c->code), c->profile, c->imports, false);
	assert_int_equal(got.status, 0);
	assert_string_equal(got.found, c->found);
	assert_int_equal(got.report.validation->valid, c->found[0] == '\0');
	assert_int_equal(got.report.validation->errors.count, got.report.findings.count);
	checked_clear(&got);
}

static const struct hint_case {
	const char *profile, *imports, *code, *message, *hint;
} hints[] = {
	{ "strict", NULL, "import os", "Import 'os' is not allowed",
	    "Do without it; no profile but open allows it." },
	{ "strict", NULL, "import numpy", "Import 'numpy' is not allowed", "Profile data_science" },
	{ "strict", "math", "import json", "Import 'json' is not allowed", "allowed_imports" },
	{ "strict", NULL, "eval('')", "'eval' is not allowed", "json.loads()" },
	{ "basic", NULL, "open('')", "'open' is not allowed", "filesystem" },
	{ "open", NULL, "print 'x'", "Syntax error: Missing parentheses", "Python 3" },
	{ "open", NULL, "```python\nx\n```", "Syntax error", "auto_fix removes it" },
	{ "open", NULL, "x = \xe2\x80\x9c", "Syntax error: invalid character", "ASCII" },
};

static void
hints_at(void **state)
{
	const struct hint_case *c = *state;
	struct checked got;

	checked_run(&got, c->code, strlen(c->code), c->profile, c->imports, false);
	assert_int_equal(got.report.findings.count, 1);
	assert_non_null(strstr(got.report.findings.items[0].message, c->message));
	assert_non_null(strstr(got.report.findings.items[0].hint, c->hint));
	checked_clear(&got);
}

static void
answers_as_documented(void **state)
{
	static const char code[] = "import os\nos.system"
				   "('ls')";
	struct checked got;

	(void)state;
	checked_run(&got, code, strlen(code), NULL, NULL, false);
	assert_false(got.report.validation->valid);
	assert_int_equal(got.report.validation->errors.count, 1);
	assert_string_equal(
	    got.report.validation->errors.items[0], "Line 1: Import 'os' is not allowed");
	assert_string_equal(got.report.validation->message, "Code contains restricted operations");
	assert_int_equal(got.report.analysis->line_count, 2);
	assert_int_equal(got.report.analysis->character_count, 25);
	assert_string_equal(got.report.analysis->estimated_complexity, "low");
	assert_string_equal(got.report.recommendations.items[0],
	    "Some operations may be restricted in sandbox environment");
	checked_clear(&got);
}

static void
measures(void **state)
{
	static const char code[] = "import json, os.path\nfrom math import pi\nimport json\n"
				   "def f(a, b):\n"
				   "    for x in a:\n"              /* 2 */
				   "        if x and b or not a:\n" /* 3, and 4, or 5 */
				   "            yield [y for y in x if y if x]\n" /* 6, 7, 8 */
				   "    while b:\n"                               /* 9 */
				   "        try:\n            pass\n"
				   "        except E:\n            pass\n" /* 10 */
				   "    return (lambda: 1) if b else 2\n"  /* 11 */
				   "async def g(): pass\n";
	struct checked got;

	(void)state;
	checked_run(&got, code, strlen(code), "open", NULL, false);
	assert_int_equal(got.report.analysis->cyclomatic, 11);
	assert_string_equal(got.report.analysis->estimated_complexity, "medium");
	assert_int_equal(got.report.analysis->functions, 3);
	assert_int_equal(got.report.analysis->imports.count, 3);
	assert_string_equal(got.report.analysis->imports.items[1], "os.path");
	assert_int_equal(got.report.analysis->line_count, 14);
	assert_int_equal(got.report.analysis->most_complex.count, 1);
	assert_string_equal(got.report.analysis->most_complex.items[0].name, "f");
	assert_int_equal(got.report.analysis->most_complex.items[0].cyclomatic, 11);
	checked_clear(&got);
}

/* Functions within others count for themselves; 20 functions, of which 16 are listed. */
static void
measures_functions(void **state)
{
	char code[4096] = "class A:\n    def m(self):\n        def inner(x): return x or 1\n"
			  "        return inner if self else None\n";
	struct checked got;

	(void)state;
	for (size_t n = 0; n < 20; n++)
		snprintf(code + strlen(code), sizeof code - strlen(code),
		    "def f%zu(x):\n    return %s x\n", n, n == 7 ? "x or x or x or" : "x or");
	checked_run(&got, code, strlen(code), "open", NULL, false);

	const struct analysis *analysis = got.report.analysis;

	assert_int_equal(analysis->functions, 22);
	assert_int_equal(analysis->most_complex.count, 16);
	assert_string_equal(analysis->most_complex.items[0].name, "f7");
	assert_int_equal(analysis->most_complex.items[0].cyclomatic, 4);
	assert_int_equal(analysis->most_complex.items[0].line, 19);
	assert_string_equal(analysis->most_complex.items[1].name, "A.m");
	assert_string_equal(analysis->most_complex.items[2].name, "A.m.inner");
	/* No function is complex, so neither is the program. */
	assert_true(analysis->cyclomatic > 20);
	assert_string_equal(analysis->estimated_complexity, "low");
	checked_clear(&got);
}

static void
gives_advice(void **state)
{
	static const char code[] = "x = json.dumps(input())\nos.getcwd()\n";
	struct checked got;

	(void)state;
	checked_run(&got, code, strlen(code), NULL, "json os", false);
	assert_true(got.report.validation->valid);
	assert_int_equal(got.report.recommendations.count, 4);
	assert_string_equal(got.report.recommendations.items[0],
	    "allowed_imports names 'os', which profile strict does not allow");
	assert_non_null(strstr(got.report.recommendations.items[1], "input()"));
	assert_string_equal(got.report.recommendations.items[2],
	    "json is used but not imported; auto_fix adds 'import json'");
	assert_string_equal(got.report.recommendations.items[3],
	    "os is used but not imported, and strict does not allow it");
	checked_clear(&got);
}

static const struct {
	const char *code, *advice; /* a part of it; NULL: there is none */
} dangers[] = {
	{ "while True:\n    print(1)\n", "Line 1: this loop never ends" },
	{ "while 1:\n    for x in y: break\n", "never ends" },
	{ "while True:\n    if f(): break\n", NULL },
	{ "def f():\n    while True:\n        yield 1\n", NULL },
	{ "def f():\n    while True:\n        for x in y:\n            return x\n", NULL },
	{ "import sys\nwhile True:\n    sys.exit()\n", NULL },
	{ "while True:\n    def f(): return 1\n", "never ends" },
	{ "while x:\n    print(1)\n", NULL },
	{ "def f(n):\n    return n * f(n - 1)\n", "Line 1: f() always calls itself" },
	{ "def f(n):\n    return n * f(n - 1) if n else 1\n", NULL },
	{ "def f(n):\n    return n and f(n - 1)\n", NULL },
	{ "def f(n):\n    return lambda: f(n)\n", NULL },
	{ "class A:\n    def hash(self):\n        return hash(1)\n", NULL },
	{ "x = 9 ** 9 ** 9\n", "millions of digits" },
	{ "x = 10 ** 100 + 2 ** 1000\n", NULL },
	{ "x = [0] * 10 ** 10\n", "more memory" },
	{ "x = 10 ** 9 * 'a'\n", "more memory" },
	{ "x = [0] * 10 ** 6\n", NULL },
	{ "x = list(range(10 ** 10))\n", "more memory" },
	{ "for x in range(10 ** 10): pass\n", NULL },
	{ "x = eval(input())\n", "eval() runs whatever is typed" },
	{ "import subprocess as s\ns.run('ls', shell=True)\n", "Line 2: shell=True" },
	{ "import pickle\npickle.loads(b'')\n", "Line 2: pickle.loads() runs code" },
	{ "from pickle import loads as l\nl(b'')\n", "pickle.loads() runs code" },
	{ "import os\nwhile f():\n    os.fork()\n", "os.fork() copies" },
	{ "import math\nmath.sqr(2)\n",
	    "Line 2: module math has no public member 'sqr'; did you mean 'sqrt'?" },
	{ "from math import squareroot\n", "no public member 'squareroot'" },
	{ "import math, sys\nmath.sqrt(2)\nsys.path\n", NULL },
	{ "print(undefined_name)\n", "'undefined_name' is bound nowhere" },
	{ "for x in [1]: print(x, __name__)\n", NULL },
};

static void
warns_of_dangers(void **state)
{
	struct checked got;

	(void)state;
	for (size_t n = 0; n < COUNT(dangers); n++) {
		const char *wanted = dangers[n].advice != NULL ? dangers[n].advice : "Line ";
		const struct texts *told = &got.report.recommendations;
		bool found = false;

		checked_run(&got, dangers[n].code, strlen(dangers[n].code), "open", NULL, false);
		assert_true(got.report.validation->valid);
		for (size_t i = 0; i < told->count; i++)
			found = found || strstr(told->items[i], wanted) != NULL;
		if (found != (dangers[n].advice != NULL))
			fail_msg("%s: %s", dangers[n].code,
			    told->count > 0 ? told->items[0] : "nothing is told");
		checked_clear(&got);
	}
}

/* More than the report may hold: the first are told, all are counted. */
static void
tells_the_first_of_many(void **state)
{
	char code[300 * 10 + 1] = "";
	struct checked got;

	(void)state;
	for (int n = 0; n < 300; n++)
		memcpy(code + n * 10, "import os\n", 10);
	checked_run(&got, code, strlen(code), NULL, NULL, false);
	assert_int_equal(got.status, 0);
	assert_int_equal(got.report.findings.count, 256);
	assert_int_equal(got.report.findings.items[255].line, 256);
	assert_non_null(strstr(got.report.validation->message, "300"));
	checked_clear(&got);
}

/* Code as the name of a test: of one line. */
static const char *
name_of(const char *code)
{
	static char names[COUNT(cases) + COUNT(hints)][64];
	static size_t used;
	char *name = names[used++];

	for (size_t n = 0; n + 1 < sizeof names[0] && code[n] != '\0'; n++)
		name[n] = code[n] == '\n' || code[n] == '\r' ? '|' : code[n];
	return name;
}

int
main(void)
{
	struct CMUnitTest tests[COUNT(cases) + COUNT(hints) + 8];
	size_t n = 0;

	checked_start(512 << 20);
	for (size_t i = 0; i < COUNT(cases); i++)
		tests[n++] = (struct CMUnitTest){ name_of(cases[i].code), finds, NULL, NULL,
			(void *)(uintptr_t)&cases[i] };
	for (size_t i = 0; i < COUNT(hints); i++)
		tests[n++] = (struct CMUnitTest){ name_of(hints[i].code), hints_at, NULL, NULL,
			(void *)(uintptr_t)&hints[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(answers_as_documented);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(measures);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(measures_functions);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(gives_advice);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(warns_of_dangers);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(tells_the_first_of_many);
	return _cmocka_run_group_tests("validator rules", tests, n, NULL, NULL);
}
