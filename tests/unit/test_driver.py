#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python driver without a box: what a program sees, what is told of it, and what it cannot break for others.

    test_driver.py DIRECTORY        of the drivers
"""

import argparse
import itertools
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402


class Ran:
    """One run: exit code, stdout, stderr, and the frames that came, by kind."""

    def __init__(self, directory, code, files=None, env=None, kind=b"C"):
        self.frames, self._came = {}, bytearray()
        with tempfile.TemporaryDirectory() as workspace:
            for name, content in (files or {}).items():
                with open(os.path.join(workspace, name), "w", encoding="utf-8") as file:
                    file.write(content)
            near, far = socket.socketpair()
            os.set_inheritable(far.fileno(), True)
            # bash gives it the number 3; there is no simpler way that needs no preexec_fn.
            program = subprocess.Popen(
                ["/bin/bash", "-c", f'exec 3<&{far.fileno()} {far.fileno()}<&-; exec "$@"', "-", "/usr/bin/python3", "-I", "-B",
                 os.path.join(directory, "python", "driver.py")],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=workspace,
                pass_fds=[far.fileno()], env={"PATH": "/usr/bin", "LANG": "C.UTF-8", **(env or {})})
            far.close()
            reader = threading.Thread(target=self._read, args=(near,))
            reader.start()
            data = code if isinstance(code, bytes) else code.encode()
            near.sendall(kind + len(data).to_bytes(4, "little") + data)
            near.shutdown(socket.SHUT_WR)  # a program that is over waits for that, or to be killed
            out, err = program.communicate(timeout=60)
            self.exit, self.stdout, self.stderr = program.returncode, out.decode(), err.decode()
            reader.join()
            near.close()
            self._split()
            self.left = {name: open(os.path.join(workspace, name), "rb").read() for name in os.listdir(workspace)
                         if os.path.isfile(os.path.join(workspace, name))}

    def _read(self, near):
        try:
            while part := near.recv(1 << 16):
                self._came += part
        except ConnectionResetError:
            pass  # it ended without having read everything

    def _split(self):
        data = bytes(self._came)
        while data:
            size = int.from_bytes(data[1:5], "little")
            assert data[:1] not in self.frames and len(data) >= 5 + size, data[:100]
            self.frames[data[:1]], data = data[5:5 + size], data[5 + size:]
        # That it waited, and that nothing was left to do.
        assert self.frames.pop(b"I") == b"" and self.frames.pop(b"D", str(self.exit).encode()) == str(self.exit).encode()

    @property
    def result(self):
        return json.loads(self.frames[b"R"]) if b"R" in self.frames else None

    @property
    def names(self):
        return self.frames[b"V"].decode().split()

    @property
    def error(self):
        return tuple(self.frames.get(b"E", self.frames.get(b"U")).decode().split("\n", 2))


def test_results(directory):
    nan = float("nan")
    for code, result in (
            ("result = 5", 5), ("1 + 1", 2), ("result = 1; 2", 1), ("result = None; 2", None), ("x = 3", None),
            ("print(1)", None), ("", None), ("# only this", None), ("'text'", "text"), ('"""doc"""', "doc"),
            ("if 1:\n    7", None), ("a = 1\na;", 1), ("(yes := 4)", 4), ("[i for i in range(3)]", [0, 1, 2]),
            ("None", None), ("True", True), ("0.1", 0.1), ("1e400", "inf"), ("-1e400", "-inf"), ("1e400 - 1e400", "nan"),
            ("2**63 - 1", 2**63 - 1), ("2**63", str(2**63)), ("-2**63", -2**63), ("-2**63 - 1", str(-2**63 - 1)),
            ("10**30000", hex(10**30000)), ("'\\ud800x'", "\ufffdx"), ("'a\\x00\\n\"\\u2028'", "a\0\n\"\u2028"),
            ("(1, (2,))", [1, [2]]), ("{3, 1, 2}", [1, 2, 3]), ("frozenset([(1, 'a')])", [[1, "a"]]),
            ("{'a': {1: 2.5, None: True, 1.5: 'x', False: 0, (1, 2): 'pair'}}",
             {"a": {"1": 2.5, "null": True, "1.5": "x", "false": 0, "(1, 2)": "pair"}}),
            ("{1: 'a', '1': 'b'}", [[1, "a"], ["1", "b"]]), ("b'bytes'", "b'bytes'"), ("1j", "1j"), ("range(3)", "range(0, 3)"),
            ("a = [1]; a.append(a); a", [1, "[1, [...]]"]), ("d = {}; d['d'] = d; d", {"d": "{'d': {...}}"}),
            ("[[1], [1]]", [[1], [1]]), ("x = [1]; [x, x]", [[1], [1]]),
            ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: list\nP(1, [2])",
             {"x": 1, "y": [2]}),
            ("import datetime as d; [d.datetime(2020, 1, 2, 3), d.date(2020, 1, 2), d.time(1), d.timedelta(1)]",
             ["2020-01-02T03:00:00", "2020-01-02", "01:00:00", "1 day, 0:00:00"]),
            ("from decimal import Decimal as D; [D('1.10'), D('NaN')]", ["1.10", "NaN"]),
            ("from fractions import Fraction as F; F(1, 3)", "1/3"),
            ("import enum\nclass E(enum.Enum):\n    A = [1]\nclass I(enum.IntEnum):\n    B = 2\n[E.A, I.B]", [[1], 2]),
            ("import pathlib, uuid; [pathlib.Path('/x'), uuid.UUID(int=1)]",
             ["/x", "00000000-0000-0000-0000-000000000001"]),
            ("import collections as c; [c.Counter('aab'), c.deque([1]), c.OrderedDict(a=1), c.namedtuple('T', 'x')(1)]",
             [{"a": 2, "b": 1}, [1], {"a": 1}, [1]]),
            ("class S(str): pass\nclass L(list): pass\n[S('s'), L([1])]", ["s", [1]]),
            ("{'a': 1}.keys()", ["a"]), ("float('nan')", str(nan))):
        ran = Ran(directory, code)
        assert ran.exit == 0 and ran.stderr == "", (code, ran.stderr)
        assert ran.result == result and (b"R" in ran.frames) == (result is not None or "result" in code), (
            code, ran.result)


def test_a_deep_value_ends(directory):
    ran = Ran(directory, "x = []\nfor _ in range(900): x = [x]\nx")
    depth, value = 0, ran.result
    while isinstance(value, list) and value:
        depth, value = depth + 1, value[0]
    assert depth == 64 and isinstance(value, str), depth


def test_large_results_are_cut(directory):
    for code, kind in (("'x' * (1 << 21)", "str"), ("list(range(10**6))", "list"), ("'\\u20ac' * 500000", "str"),
                       ("{str(i): i for i in range(10**6)}", "dict"), ("[0] * 10**7", "list")):
        ran = Ran(directory, code)
        assert ran.result.startswith(f"{kind} of more than 1048576 bytes as JSON"), ran.result[:200]
        assert len(ran.frames[b"R"]) < 20000
    fits = "x" * ((1 << 20) - 2)
    assert Ran(directory, f"'x' * {len(fits)}").result == fits
    assert len(Ran(directory, "class R:\n    def __repr__(self): return 'r' * 10**8\nR()").result) < 70000


def test_values_of_numpy_and_pandas(directory):
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise cases.Skip("numpy is not installed") from None
    ran = Ran(directory, "import numpy as n\n[n.int64(1), n.float32(0.5), n.bool_(True), n.arange(3), n.eye(2), n.nan,"
                      " n.longdouble(1), n.array([1+2j]), n.zeros(10**6)]")
    assert ran.result[:6] == [1, 0.5, True, [0, 1, 2], [[1.0, 0.0], [0.0, 1.0]], "nan"], ran.result
    assert ran.result[7] == ["(1+2j)"] and ran.result[8] == "[0. 0. 0. ... 0. 0. 0.]", ran.result[6:]
    try:
        import pandas  # noqa: F401
    except ImportError:
        return
    ran = Ran(directory, "import pandas as p\nresult = p.DataFrame({'a': range(90000), 'b': 'some text'})")
    assert ran.result.startswith("DataFrame of more than 1048576 bytes as JSON; write it to a file instead. It begins: \n           a          b\n0")
    assert "89999  some text" in ran.result and len(ran.result) < 1000, ran.result
    ran = Ran(directory, "import pandas as p\nd = p.DataFrame({'a': [1, 2], 'b': ['x', None]})\n[d, d['a'], d.index]")
    assert ran.result == [{"index": [0, 1], "columns": ["a", "b"], "data": [[1, "x"], [2, None]]},
                          {"name": "a", "index": [0, 1], "data": [1, 2]}, [0, 1]], ran.result
    # One that is only looked at is cut as it cuts itself; one that is handed over is not.
    table, ends = "import numpy as n, pandas as p\nd = p.DataFrame({'a': range(61)})\n", [0, 1, 2, 3, 4, 56, 57, 58, 59, 60]
    ran = Ran(directory, table + "[d, d['a'], d[:60], n.arange(1001), n.arange(1000), p.Index(range(1001))]")
    frame, series, short, long_array, array, index = ran.result
    assert frame["index"] == ends and frame["data"] == [[n] for n in ends] and frame["shape"] == [61, 1], frame
    assert series["data"] == ends and series["shape"] == [61] and "first and last 5 rows" in series["note"], series
    assert len(short["data"]) == 60 and "shape" not in short and long_array == "[   0    1    2 ...  998  999 1000]", (short, long_array)
    assert len(array) == 1000 and index.startswith("RangeIndex("), index
    result = Ran(directory, table + "result = [d, d['a'], n.arange(1001)]").result
    assert [len(result[0]["data"]), len(result[1]["data"]), len(result[2])] == [61, 61, 1001]


def test_names(directory):
    ran = Ran(directory, "import os, sys as system\nfrom math import pi\na = 1\n_b = 2\ndef f(): pass\nclass C: pass\n"
                      "for i in range(2): pass\nwert\u00e4 = 1\nglobals()['no\\nname'] = globals()['a b'] = 1\n"
                      "globals()[5] = 1\nglobals()['x' * 300] = 1")
    assert ran.names == ["pi", "a", "f", "C", "i", "wert\u00e4"], ran.names
    assert len(Ran(directory, "for i in range(999): globals()[f'v{i}'] = i").names) == 256


def test_what_a_program_sees(directory):
    code = """
import sys, os, __main__
assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
assert sys.argv == [__file__] == [os.getcwd() + "/code.py"] and sys.path[0] == os.getcwd() and sorted(globals()) == [
    "__builtins__", "__doc__", "__file__", "__loader__", "__main__", "__name__", "__package__", "__spec__", "os", "sys"], sorted(globals())
import helper, json, pickle
assert helper.value == 42 and "site-packages" not in json.__file__
class Point:
    def __init__(self): self.x = 1
assert pickle.loads(pickle.dumps(Point())).x == 1
import inspect
assert inspect.getsource(Point.__init__) == "    def __init__(self): self.x = 1\\n"
assert inspect.getsource(Point).startswith("class Point:") and open(__file__).read().startswith("\\nimport sys, os, __main__")
try:
    input()
except EOFError:
    print("no input")
try:
    os.fstat(4)
except OSError:
    print("no descriptor")
print(sys.flags.isolated, sys.dont_write_bytecode, sys.stdout.encoding, sys.stdin.read() == "")
"""
    ran = Ran(directory, code, {"helper.py": "value = 42"})
    assert (ran.exit, ran.stdout) == (0, "no input\nno descriptor\n1 True utf-8 True\n"), (ran.stdout, ran.stderr)
    assert set(ran.left) == {"helper.py"}


def test_children_do_not_inherit_the_channel(directory):
    ran = Ran(directory, "import subprocess, sys\n"
                      "print(subprocess.run([sys.executable, '-c', 'import os; os.fstat(3)'], close_fds=False,"
                      " stderr=subprocess.PIPE).returncode)")
    assert ran.stdout == "1\n", (ran.stdout, ran.stderr)


def test_output_comes_as_it_is_written(directory):
    ran = Ran(directory, "import os, sys\nprint('one')\nos.write(1, b'two\\n')\nprint('\\ud800\\u20ac')\nsys.stdout.write('end')"
                      "\nprint('err', file=sys.stderr)")
    assert ran.stdout == "one\ntwo\n\\ud800\u20ac\nend" and ran.stderr == "err\n", ran.stdout


def test_exceptions_are_shown_and_told(directory):
    for code, error, lines in (
            ("def f():\n    raise ValueError('b\u00e4d')\nf()", ("ValueError", "2", "b\u00e4d"),
             ['  File "<code>", line 3, in <module>', "    f()", '  File "<code>", line 2, in f',
              "    raise ValueError('b\u00e4d')", "ValueError: b\u00e4d"]),
            ("x = (", ("SyntaxError", "1", "'(' was never closed"), ['  File "<code>", line 1', "    x = ("]),
            ("a\n  b", ("IndentationError", "2", "unexpected indent"), ['  File "<code>", line 2']),
            ("return 1", ("SyntaxError", "1", "'return' outside function"), ['  File "<code>", line 1', "    return 1"]),
            ("class A:\n    await x", ("SyntaxError", "2", "'await' outside function"), ['  File "<code>", line 2', "    await x"]),
            ("1\neval('1 +')", ("SyntaxError", "2", "invalid syntax (<string>, line 1)"), ["    eval('1 +')"]),
            ("a\0b", ("ValueError", "0", "source code string cannot contain null bytes"), []),
            ("import json\njson.loads('{')", ("json.decoder.JSONDecodeError", "2",
                                              "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
             ["    json.loads('{')"]),
            ("class E(Exception):\n    def __str__(self): raise E\nraise E", ("E", "3", ""), ["    raise E"]),
            ("try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e", ("KeyError", "4", "'k'"),
             ["    1/0", "The above exception was the direct cause of the following exception:"]),
            ("raise KeyboardInterrupt", ("KeyboardInterrupt", "1", ""), []),
            ("def f(): f()\nf()", ("RecursionError", "1", "maximum recursion depth exceeded"), ["  [Previous line repeated"]),
            ("raise Exception('x' * 10**6)", ("Exception", "1", "x" * 4096), []),
            ("1\n\n1/0", ("ZeroDivisionError", "3", "division by zero"), ["    1/0"]),
            # The compiler's lines, and the columns that it means.
            ("x = '\u2028'\n'a\x0cb'\r\n[][x]\r\n5", ("TypeError", "3", "list indices must be integers or slices, not str"),
             ["    [][x]", "    ~~^^^"]),
            ("f = None\nf.x()", ("AttributeError", "2", "'NoneType' object has no attribute 'x'"), ["    f.x()", "    ^^^"])):
        ran = Ran(directory, code)
        assert ran.exit == 1 and ran.error == error, (code, ran.error)
        assert (b"U" in ran.frames) == (error[0] in ("SyntaxError", "IndentationError") and "eval" not in code), (code, ran.frames)
        shown = ran.stderr.split("\n")
        for line in lines:
            assert any(s.startswith(line) for s in shown), (code, line, ran.stderr)
        assert "driver" not in ran.stderr and "exec(" not in ran.stderr, ran.stderr


def test_what_was_found_before_an_exception_is_told(directory):
    ran = Ran(directory, "result = [1]\nx = 2\n1/0")
    assert ran.result == [1] and ran.names == ["result", "x"] and ran.exit == 1


def test_programs_can_show_their_own_lines(directory):
    ran = Ran(directory, "import traceback\ndef f():\n    1 / 0  # here\ntry:\n    f()\nexcept Exception:\n    traceback.print_exc()")
    assert "1 / 0  # here" in ran.stderr and ran.exit == 0
    ran = Ran(directory, "import sys\nsys.excepthook = lambda t, v, b: print('mine', t.__name__, b.tb_lineno)\n1/0")
    assert ran.stdout == "mine ZeroDivisionError 3\n" and ran.error[0] == "ZeroDivisionError"
    ran = Ran(directory, "import warnings; warnings.warn('careful')")
    assert "<code>:1: UserWarning: careful\n  import warnings" in ran.stderr, ran.stderr


def test_exits(directory):
    for code, status in (("raise SystemExit", 0), ("import sys; sys.exit(3)", 3), ("import sys; sys.exit('why')", 1),
                         ("import os; os._exit(4)", 4), ("import sys; sys.exit(0)", 0), ("exit()", 0),
                         ("import sys; sys.exit(-1)", 255), ("import os; os.abort()", -6)):
        ran = Ran(directory, "result = 1\n" + code)
        assert ran.exit == status and b"E" not in ran.frames, (code, ran.exit)
        assert (ran.result == 1) == ("os." not in code)
    assert Ran(directory, "import sys; sys.exit('why')").stderr == "why\n"


def test_crashes_tell_where(directory):
    ran = Ran(directory, "import ctypes, sys\nassert 'faulthandler' not in sys.modules\nsys.stderr = None\nctypes.string_at(0)")
    assert ran.exit == -11 and 'Segmentation fault' in ran.stderr and 'File "<code>", line 4 in <module>' in ran.stderr, ran.stderr


def test_the_end_is_an_end(directory):
    ran = Ran(directory, """
import atexit, threading, time
file = open("left", "w"); file.write("written")
atexit.register(print, "at exit")
threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
print("main")
""")
    assert ran.stdout == "main\nthread\nat exit\n" and ran.left == {"left": b"written"}, (ran.stdout, ran.left)


def test_the_program_may_break_everything(directory):
    for code, expect in (
            ("import os\nos.close(3)\nresult = 1", {}),
            ("import os\nos.closerange(3, 100)\nresult = 1", {}),
            ("import os\nos.close(3)\nf = open('three', 'w')\nassert f.fileno() == 3\nf.write('x')\nf.flush()\nresult = 1", {}),
            ("import os\nos.dup2(os.open('three', os.O_CREAT | os.O_WRONLY), 3)\nresult = 1", {}),
            ("import sys\nsys.stdout = sys.stderr = None\nresult = 1", {b"V", b"R"}),
            ("import sys\nsys.stdout.close()\nresult = 1", {b"V", b"R"}),
            ("import sys, io\nsys.stdout = io.StringIO()\nprint(1)\nresult = 1", {b"V", b"R"}),
            ("class R:\n    def __repr__(self): raise ValueError\nresult = [1, R()]", {b"V", b"R"}),
            ("class R(dict):\n    def items(self): raise ValueError\nresult = R(a=1)", {b"V", b"R"}),
            ("import builtins\ndel builtins.isinstance\nresult = 1", set()),
            ("import sys\nsys.modules.clear()\nresult = 1", None),
            ("globals().clear()", set()),
            ("import sys\nsys.path = sys.meta_path = None\nresult = 1", {b"V"}),
            ("import sys\nsys.modules['__main__'] = None\nresult = 1", {b"V", b"R"}),
            ("import os\nif os.fork() == 0: result = 2\nelse: os.wait(); result = 1", {b"V", b"R"}),
            ("import signal, os\nos.kill(os.getpid(), signal.SIGSTOP) if 0 else None\nresult = 1", {b"V", b"R"}),
            ("__builtins__ = None\nresult = 1", {b"V", b"R"}),
            ("import gc, sys\nfor o in gc.get_objects():\n    if type(o).__name__ == 'Control': o.owner = 0\nresult = 1",
             None)):
        ran = Ran(directory, code)
        assert ran.exit in (0, 1, 120), (code, ran.exit, ran.stderr)
        if expect is not None:
            assert set(ran.frames) - {b"E"} == set(expect), (code, ran.frames, ran.stderr)
        if b"R" in ran.frames:
            assert ran.result in (1, {"a": 1}, [1, "<R without a repr: ValueError>"]), (code, ran.result)
        if "three" in code:
            assert ran.left["three"] in (b"x", b""), (code, ran.left)


def test_files_of_the_workspace_do_not_shadow_ours(directory):
    traps = {name + ".py": "raise SystemExit(99)" for name in
             ("token", "tokenize", "linecache", "traceback", "json", "values", "failure", "re", "codecs", "io",
              "sitecustomize", "usercustomize", "_json", "contextlib", "collections", "textwrap")}
    ran = Ran(directory, "def f():\n    1/0\nresult = {'a': [1]}\nf()", traps)
    assert ran.exit == 1 and ran.result == {"a": [1]} and ran.error[0] == "ZeroDivisionError", (ran.frames, ran.stderr)
    assert "    1/0" in ran.stderr, ran.stderr
    # They are the program's own when it asks for them.
    assert Ran(directory, "import token", traps).exit == 99


def test_the_environment_does_not_lead_it(directory):
    traps = {"evil.py": "print('evil')", "usercustomize.py": "print('evil')"}
    ran = Ran(directory, "print('good')", traps, env={"PYTHONSTARTUP": "evil.py", "PYTHONPATH": ".", "PYTHONINSPECT": "1",
                                                   "PYTHONWARNINGS": "error", "HOME": "."})
    assert ran.stdout == "good\n" and ran.exit == 0, ran.stdout


PIECES = [
    "print(1)", "x = 1", "x", "x;", "x; y", "'''", "'''a", "b'''", "'''a'''", "f(", "1)", "[1,", "2]", "if x:", "    y", "\ty", "else:", "# c", "",
    "  ", "\\", "x = 1 \\", "x + \\", "+2", "*a, b", "yield 1", "return", "await x", "lambda: 0", "(y := 2)", "def f():", "    return 1", "@d",
    "for i in x: i", "try:", "x: int", "\x0c", "\x0cx", "'\\d'", "x is 1", "f'{x!r:>{y}}'", "'a' \\", "match x:\n    case 1: pass", "# '''",
    "''' '''#'''", "\xe9", "x\xa0", "a\0b", "0777", "{", "}", "from __future__ import annotations", "x\ry", "x = y = 3", "d['a'] = 1", "x == (1)"]


def test_the_last_line_is_found_as_the_whole_tree_has_it(directory):
    """Code and its last expression, of many a text that is no program, are the same the quick way and the long one."""
    with open(os.path.join(directory, "python", "driver.py"), encoding="utf-8") as file:
        scope = {"__name__": "driver", "__file__": file.name}
        exec(compile(file.read(), file.name, "exec"), scope)

    def parts(text, quick):
        driver = scope["Driver"].__new__(scope["Driver"])
        driver.flags, driver.whole = scope["_ast"].PyCF_ALLOW_TOP_LEVEL_AWAIT, True
        if not quick:
            driver.split = lambda *_: None
        try:
            body, tail, assigned = driver.parse(text, "<code>")
            nothing = body is None or body.co_code == compile("", "", "exec").co_code
            return None if nothing else body, tail, assigned, driver.flags
        except (SyntaxError, ValueError) as error:
            return type(error), str(error), getattr(error, "lineno", None)

    chance = random.Random(1)
    texts = ["\n".join(two) for two in itertools.product(PIECES, repeat=2)] + PIECES
    texts += ["\n".join(chance.choices(PIECES, k=chance.randint(3, 6))) + chance.choice(("", "\n", " \n\t")) for _ in range(4000)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in texts:
            assert parts(text, True) == parts(text, False), text
    assert scope["Driver"].split(argparse.Namespace(flags=0), "x = 1\nx", "<code>") is not None


def test_sources_of_any_form(directory):
    assert Ran(directory, "\ufeffprint(1)").stdout == "1\n"
    assert Ran(directory, "print(1)\r\nprint(2)\r\n").stdout == "1\n2\n"
    assert Ran(directory, "# -*- coding: latin-1 -*-\nprint('\u00e9')").stdout == "\u00e9\n"
    assert Ran(directory, "from __future__ import annotations\ndef f(x: undefined): pass\nf.__annotations__").result == {
        "x": "undefined"}
    assert Ran(directory, "x = " + "(" * 150 + "1" + ")" * 150).exit == 0
    assert Ran(directory, "(" * 10000).error[0] in ("SyntaxError", "MemoryError", "RecursionError")
    assert Ran(directory, "x = 1\n" * 100000 + "x").result == 1


def test_a_channel_that_brings_no_program_ends_it(directory):
    ran = Ran(directory, "print(1)", kind=b"X")
    assert ran.exit == 1 and "something else" in ran.stderr and ran.stdout == "" and ran.frames == {}


def main():
    cases.run(sys.modules[__name__], os.path.abspath(sys.argv[1]))


main()
