#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The guard of imports at run time: which imports of a program it refuses, which it must not be in the way of.

    test_imports.py DIRECTORY        of the drivers
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402

# As driver.py does it: the file's code in a scope of its own, the program in that of __main__.
HARNESS = """
import sys
file, payload, program = sys.argv[1:]
part = {"__name__": "imports.py"}
exec(compile(open(file).read(), file, "exec"), part)
guard, scope = part["Guard"](), sys.modules["__main__"].__dict__
for name in "file", "payload", "program", "part":
    del scope[name]
guard.hold(scope, sys.argv[2].encode())
exec(compile(sys.argv[3], "<code>", "exec"), scope)
"""
BASIC = "profile basic\ncollections\ndatetime\njson\nmath\nfunctools\nos.path\nurllib.parse\nxml.etree\n"


class Guards:
    def __init__(self, directory):
        self.file = os.path.join(directory, "python", "imports.py")

    def run(self, program, payload=BASIC):
        return subprocess.run(["/usr/bin/python3", "-I", "-B", "-c", HARNESS, self.file, payload, program],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def allow(self, program, payload=BASIC):
        end = self.run(program + "\nprint('ok')", payload)
        assert (end.stdout, end.stderr) == ("ok\n", ""), (program, end)

    def refuse(self, program, name, payload=BASIC, by="profile basic"):
        end = self.run(program, payload)
        wanted = f"ImportError: Import '{name}' is not allowed by {by}: do without it, or run this with a profile that allows it"
        assert end.returncode == 1 and end.stderr.splitlines()[-1] == wanted, (program, end)


def test_statements(guards):
    """import and from, in all their forms."""
    for program in ("import math, json", "import math as m", "from json import loads, dumps", "from json import *",
                    "import json.decoder", "from json.decoder import JSONDecoder", "import os.path", "from os import path",
                    "import xml.etree.ElementTree as E\nE.fromstring('<a/>')", "from xml.etree import ElementTree",
                    "from urllib import parse", "def f():\n    import math\nf()", "class A:\n    import math"):
        guards.allow(program)
    for program, name in (("import os", "os"), ("import math, os", "os"), ("from os import system", "os.system"),
                          ("from os import path, system", "os.system"), ("from os import *", "os"), ("import subprocess", "subprocess"),
                          ("from subprocess import run", "subprocess"), ("import urllib", "urllib"), ("import urllib.request", "urllib.request"),
                          ("from urllib import request", "urllib.request"), ("import jsonx", "jsonx"), ("import sys", "sys"),
                          ("import importlib", "importlib"), ("import builtins", "builtins"), ("import os.pathx", "os.pathx")):
        guards.refuse(program, name)


def test_dynamic(guards):
    """What no reading of the code sees: names that are worked out, text that is executed."""
    for program in ("__import__('o' + 's')", "__import__(name='os')", "list(map(__import__, ['math', 'os']))",
                    "exec('import os')", "exec('import os', {})", "eval('__import__(\"os\")')", "eval('__import__(\"os\")', {})",
                    "exec(compile('def f():\\n import os', '<x>', 'exec'))\nf()", "__builtins__.__import__('os')",
                    "exec('exec(\"import os\", {})', {})", "f = lambda: __import__('os')\nf()",
                    "import functools\nfunctools.partial(__import__, 'os')()", "__import__('os', globals(), locals(), ['system'], 0)"):
        guards.refuse(program, "os" if "['system']" not in program else "os.system")


def test_importlib(guards):
    """A program that has got hold of importlib; os and sys are loaded already, ctypes is not."""
    get = "i = type(math)('x')\nimport json\ni = json.codecs.builtins.__import__('importlib')\n"
    for name in "os", "sys", "ctypes":
        for call in f"i.import_module('{name}')", f"i.__import__('{name}')", f"list(map(i.import_module, ['{name}']))", f"exec('i.import_module(\"{name}\")')":
            guards.refuse("import math\n" + get + call, name)
    guards.refuse("import math\n" + get + "i.import_module('.path', 'posix')", "posix.path")
    guards.allow("import math\n" + get + "assert i.import_module('math') is math and i.import_module('json.decoder') is json.decoder")


def test_libraries(guards):
    """Code of libraries and functions in C import what they need on behalf of a program."""
    guards.allow("import datetime\ndatetime.datetime.strptime('2024', '%Y')")  # _strptime, imported by C
    guards.allow("import json, math, collections\njson.loads('[1]')\ncollections.namedtuple('A', 'b')(1)")
    guards.allow("import tempfile\nwith tempfile.TemporaryDirectory(): pass", "profile x\ntempfile\n")  # shutil, os, weakref
    guards.allow("import decimal, fractions, statistics\nstatistics.mean([1, 2])", "profile x\ndecimal\nfractions\nstatistics\n")
    guards.allow("import concurrent.futures as f\nwith f.ThreadPoolExecutor(1) as p: p.submit(len, '').result()", "profile x\nconcurrent\n")  # __getattr__
    guards.allow("import ctypes.util\nctypes.util.find_library('c')", "profile x\nctypes\n")


def test_threads(guards):
    """A program's function is the program's in whatever thread it runs."""
    guards.allow("import threading, math\nseen = []\ndef f():\n    try: import os\n    except ImportError as e: seen.append(e.name)\n"
                 "t = threading.Thread(target=f); t.start(); t.join()\nassert seen == ['os']", "profile x\nthreading\nmath\n")


def test_programs_catch_it(guards):
    """It is an ImportError like any other."""
    guards.allow("try:\n    import numpy\nexcept ImportError as error:\n    assert error.name == 'numpy'")


def test_nothing_allowed(guards):
    """An empty list of allowed_imports."""
    guards.refuse("import math", "math", "allowed_imports\n", "allowed_imports")
    guards.allow("print", "allowed_imports\n")


def test_sessions(guards):
    """Statements under one profile after another: functions keep to what is in force when they run."""
    guards.allow("def f(): return __import__('os')\n"
                 "guard.release(globals())\nf()\nexec('import ctypes')\n"
                 "guard.hold(globals(), b'profile strict\\nmath\\n')\n"
                 "try: f()\nexcept ImportError as e: assert 'profile strict' in str(e)\nelse: 1 / 0\n"
                 "try: exec('import os')\nexcept ImportError as e: assert 'profile strict' in str(e)\nelse: 1 / 0")


def test_renamed_modules(guards):
    """A later statement sees the public members of a module that has another name; under another profile, the module."""
    hold = "guard.hold(globals(), b'profile strict\\nrandom\\nxml.etree\\nimportlib\\n-xml.etree.ElementTree.parse\\n')\n"
    begin = hold + "import random as r, random\nfrom xml.etree import ElementTree as E\nreal = random\ndel real\n" + hold
    guards.allow(begin + "assert 0 <= r.random() < 1 and r.__name__ == 'random' and type(random) is type(r)\n"
                 "assert E.tostring(E.fromstring('<a/>')) == b'<a />' and isinstance(r, type(random)) and 'choice' in dir(r)")
    for program, text in (("r._os", "'random._os' is not allowed by profile strict"), ("E.sys", "'xml.etree.ElementTree.sys' is not allowed by profile strict"),
                          ("E.parse", "'xml.etree.ElementTree.parse' is not allowed by profile strict"),
                          ("r.nothing", "module 'random' has no attribute 'nothing'")):
        guards.allow(begin + f"try: {program}\nexcept AttributeError as e: assert str(e) == {text!r}, e\nelse: 1 / 0")
    guards.allow(begin + "guard.release(globals())\nassert r is random and r._os")
    guards.allow(begin + "guard.hold(globals(), b'allowed_imports\\nrandom\\n')\nassert r is random and r._os")


def test_sys(guards):
    """A view of sys has the members of the profile, and its streams are those of the moment."""
    hold = "guard.hold(globals(), b'profile strict\\nsys\\nio\\ncontextlib\\nmath\\n-x.y\\n=sys.argv\\n=sys.stdout\\n')\nimport io, sys\n"
    guards.allow(hold + "import contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as a:\n    print(1, file=sys.stdout)\nassert a.getvalue() == '1\\n'")
    guards.allow(hold + "old, sys.stdout = sys.stdout, io.StringIO()\nprint(1)\nsys.stdout, new = old, sys.stdout\nassert new.getvalue() == '1\\n'")
    for program in "sys.modules", "sys.maxsize", "sys._getframe", "sys.modules = 1", "sys.__stdout__", "from sys import modules":
        guards.allow(hold + f"try: {program}\nexcept (AttributeError, ImportError): pass\nelse: 1 / 0")
    guards.allow(hold + "from sys import *\nfrom math import *\nassert argv and pi and 'modules' not in globals()")


def test_fields(guards):
    """Names of a dataclass's fields are identifiers; ordinary dataclasses are as they were."""
    hold = "guard.hold(globals(), b'profile strict\\ndataclasses\\ntyping\\n-x.y\\n')\nimport dataclasses, typing\n"
    guards.allow(hold + "@dataclasses.dataclass(order=True, slots=True)\nclass A:\n    x: int\n    y: list = dataclasses.field(default_factory=list)\n"
                 "@dataclasses.dataclass\nclass B(A):\n    z: typing.ClassVar[int] = 1\n    n: dataclasses.InitVar[int] = 2\n"
                 "assert B(1) == B(1, []) and dataclasses.asdict(B(1)) == {'x': 1, 'y': []} and dataclasses.replace(A(1), x=2).x == 2\n"
                 "assert dataclasses.make_dataclass('C', ['a', ('b', int)])(1, 2).b == 2")
    for program in ("dataclasses.fields(A)[0].name = 'x=1'", "class F(dataclasses.Field): pass",
                    "@dataclasses.dataclass\nclass D(typing.TypedDict('T', {'x=1': int})): pass",
                    "class D: __dataclass_fields__ = {'x': 1}\n@dataclasses.dataclass\nclass E(D): pass"):
        body = "".join(f"    {line}\n" for line in program.split("\n"))
        guards.allow(hold + f"@dataclasses.dataclass\nclass A:\n    x: int\ntry:\n{body}except TypeError: pass\nelse: 1 / 0")


def test_builtins(guards):
    """What a program sees of builtins is what it would see without a guard."""
    guards.allow("assert type(__builtins__) is type(guard.view) and __builtins__.__name__ == 'builtins'\n"
                 "assert print is __builtins__.print and isinstance(1, int) and len([1]) == 1 and exit and sum({1, 2}) == 3\n"
                 "class A(Exception): pass\nassert A.__module__ == '__main__'")


def main():
    cases.run(sys.modules[__name__], Guards(sys.argv[1]))


if __name__ == "__main__":
    main()
