#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The drivers without a box: statements and what they leave, interrupts, the bridge, and what a program may break.

    test_drivers.py DIRECTORY        of the drivers

test_driver.py has more of Python's programs, test_zygote.py what only forks of a zygote do.
"""

import json
import os
import shutil
import socket
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from talk import Talk, check, interrupted, python, python_both  # noqa: E402


def node(directory, **more):
    if shutil.which("node") is None:
        raise cases.Skip("node is not installed")
    return Talk([shutil.which("node"), "--expose-internals", os.path.join(directory, "node", "driver.js")], **more)


class Shell(Talk):
    """A shell reads its program by a link beside the driver."""

    def __init__(self, directory, **more):
        self.beside = tempfile.TemporaryDirectory()
        shutil.copy(os.path.join(directory, "shell", "driver.sh"), self.beside.name)
        super().__init__(["/usr/bin/env", f"BASH_ENV={self.beside.name}/driver.sh", "/bin/bash", "--noprofile", "--norc", "code.sh"], **more)
        os.symlink(os.path.join(self.directory.name, ".code"), os.path.join(self.beside.name, "code.sh"))

    def __exit__(self, *_):
        super().__exit__()
        self.beside.cleanup()


def shell(directory, **more):
    return Shell(directory, **more)


# ---- Python ----

def test_python_keeps_what_statements_define(directory):
    for start in python_both(directory):
        with start() as talk:
            check(talk, [
                ("x = 1", 0, "", None), ("x + 1", 0, "", 2), ("result = 5", 0, "", 5), ("x = 2", 0, "", None),
                ("result = 5", 0, "", 5), ("import os", 0, "", None), ("os.sep", 0, "", "/"),
                ("def f():\n    raise KeyError('k')", 0, "", None), ("print(x, end='')", 0, "2", None),
                ("from __future__ import annotations", 0, "", None), ("def g(a: undefined): pass\ng.__annotations__", 0, "",
                                                                     {"a": "undefined"}),
                ("result = undefined", 1, "", None), ("raise SystemExit(3)", 3, "", None), ("import sys; sys.exit()", 0, "", None), ("x", 0, "", 2),
                ("__name__", 0, "", "__main__"), ("exit(4)", 4, "", None), ("sys.stdin.read()", 0, "", "")])
            assert talk.statement("y = 1").names == ["x", "result", "f", "annotations", "g", "y"]
            reply = talk.statement("\n\nf()")
            shown = talk.err()
            assert reply.status == 1 and reply.error == ("KeyError", "3", "'k'")
            for line in 'File "<code 20>", line 3, in <module>\n    f()', 'File "<code 8>", line 2, in f\n    raise KeyError':
                assert line in shown, shown
            assert "driver.py" not in shown and "zygote" not in shown, shown
            talk.statement("sys.exit('why')")
            assert talk.err() == "why\n"
            talk.channel.shutdown(1)
            assert talk.ended() == 0


def test_python_is_interrupted_and_goes_on(directory):
    for start in python_both(directory):
        with start() as talk:
            talk.statement("kept = 1")
            for body in "while True: pass", "import time; time.sleep(60)", "import subprocess as s; s.run(['sleep', '60'])":
                reply = interrupted(talk, f"print('on')\n{body}")
                assert reply.status == 1 and reply.error[:2] == ("KeyboardInterrupt", "2"), reply.frames
            reply = interrupted(talk, "print('on')\ntry:\n    import time\n    while 1: time.sleep(0.01)\nexcept: pass\n7")
            assert reply.status == 0 and reply.result == 7
            for _ in range(20):
                talk.interrupt()  # between statements it means nothing
            check(talk, [("kept", 0, "", 1)])


def test_python_threads_go_on_between_statements(directory):
    with python(directory) as talk:
        talk.statement("import threading, time\ndef work():\n    global n\n    for n in range(5): time.sleep(0.02)\n"
                       "    print('late')\nthread = threading.Thread(target=work)\nthread.start()")
        time.sleep(0.5)
        assert talk.out() == "late\n"
        assert talk.statement("thread.is_alive(), n").result == [False, 4]


def test_python_shows_the_lines_of_what_nobody_catches(directory):
    for start in python_both(directory):
        with start() as talk:
            talk.statement("import threading, _thread, time, sys\ndef f():\n    1 / 0  # here\nclass C:\n    def __del__(self): f()")
            for code, first in (("t = threading.Thread(target=f, name='mine')\nt.start()\nt.join()", "Exception in thread mine:\n"),
                                ("_thread.start_new_thread(f, ())\ntime.sleep(0.1)", "Exception ignored in thread started by: <function f"),
                                ("C(); None", "Exception ignored in: <function C.__del__")):
                assert talk.statement(code).status == 0
                said = talk.err()
                assert said.startswith(first) and said.endswith("in f\n    1 / 0  # here\n    ~~^~~\nZeroDivisionError: division by zero\n"), said
            check(talk, [("t = threading.Thread(target=sys.exit)\nt.start()\nt.join()", 0, "", None),
                         ("threading.excepthook = lambda a: print(a.exc_type.__name__)\nt = threading.Thread(target=f)\nt.start()\nt.join()",
                          0, "ZeroDivisionError\n", None)])
            assert talk.err() == ""


def test_a_statement_costs_what_the_first_did(directory):
    """In calls of functions, the driver's too, and in memory: what is kept of those before is not gone through."""
    def calls(talk):
        talk.statement("made = 0\ndef count(*_):\n global made\n made += 1\nsys.setprofile(count)")
        statement(talk)
        return talk.statement("sys.setprofile(None)\nmade").result

    def statement(talk):
        talk.statement("x = 1\ndef f(): return x\nf()")

    with python(directory) as talk:
        talk.statement("import linecache, resource, sys")
        for _ in range(600):
            statement(talk)
        first, memory = calls(talk), talk.statement("resource.getrusage(resource.RUSAGE_SELF).ru_maxrss").result
        for _ in range(9400):
            statement(talk)
        last, grown = calls(talk), talk.statement("resource.getrusage(resource.RUSAGE_SELF).ru_maxrss").result - memory
        assert 20 < first < 1000 and last == first and grown < 2048, (first, last, grown)
        assert talk.statement("sum(name.startswith('<code') for name in linecache.cache)").result <= 513


def test_python_forks_of_a_statement_end(directory):
    with python(directory) as talk:
        check(talk, [("import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nelse: print('child')", 0, "child\n", None),
                     ("pid > 0", 0, "", True)])


def test_a_program_loses_no_file(directory):
    code = """
import atexit, gc, gzip, io, csv, helper, threading
class Keeper:
    def __init__(self): self.file, self.me = open("cycle", "w"), self
    def __del__(self): self.file.write("finalised")
keeper = Keeper()
plain = open("plain", "w"); plain.write("1")
writer = csv.writer(open("csv", "w")); writer.writerow([1, 2])
packed = gzip.open("packed", "wb"); packed.write(b"packed")
text = io.TextIOWrapper(gzip.open("nested", "wb")); text.write("nested")
helper.file = open("helper", "w"); helper.file.write("helper")
atexit.register(open("late", "w").write, "late")
threading.stash = open("stash", "w"); threading.stash.write("stash")
class Loud:
    def __del__(self): print("finalised")
loud = Loud()
"""
    expect = {"plain": b"1", "csv": b"1,2\r\n", "helper": b"helper", "late": b"late", "stash": b"stash", "cycle": b"finalised"}
    import gzip
    for start in python_both(directory):
        with start(files={"helper.py": ""}) as talk:
            reply = talk.program(code)
            assert reply.status == 0 and talk.out() == "finalised\n", (reply.frames, talk.err(), talk.out())
            left = {name: open(os.path.join(talk.workspace, name), "rb").read() for name in os.listdir(talk.workspace)}
            for name in "packed", "nested":
                assert gzip.decompress(left.pop(name)) == name.encode()
            assert {name: left[name] for name in expect} == expect, left


def test_python_exits_as_the_interpreter(directory):
    for start in python_both(directory):
        for code, status, err in (
                ("import sys; sys.exit(7)", 7, ""), ("import sys; sys.exit('why')", 1, "why\n"), ("1/0", 1, "ZeroDivisionError"),
                ("import os; os.kill(os.getpid(), 9)", -9, ""),
                ("import threading\nthreading.Thread(target=lambda: 1/0).start()", 0, "ZeroDivisionError"),
                ("import atexit\natexit.register(lambda: 1/0)", 0, "ZeroDivisionError"),
                ("class C:\n    def __del__(self): 1/0\nc = C()", 0, "Exception ignored in"),
                ("import os, sys\nsys.stdout.write('x' * 10)\nos.close(1)", 120, "")):
            with start() as talk:
                reply = talk.program(code)
                assert reply.status == status and err in talk.err(), (code, reply.status, reply.frames, talk.err())


def test_files_of_the_workspace_go_before_what_was_imported_ahead(directory):
    for start in python_both(directory):
        with start(files={"token.py": "mine = 1"}) as talk:
            check(talk, [("import token; token.mine", 0, "", 1), ("open('json.py', 'w').write('mine = 2')", 0, "", 8),
                         ("import json; json.mine", 0, "", 2), ("{'a': [1]}", 0, "", {"a": [1]})])


def test_who_is_waited_for_rehearses_nothing(directory):
    faults = {}
    for start in python_both(directory):
        for wanted in False, True:
            with start(wanted=wanted) as talk:
                reply = talk.statement("import resource; resource.getrusage(resource.RUSAGE_SELF).ru_minflt")
                assert reply.status == 0, talk.err()
                faults[wanted] = reply.result
    assert faults[True] + 20 < faults[False], faults  # of the zygote's forks, which come last


def test_a_rehearsal_leaves_nothing(directory):
    """Its text, which the run that comes would have to let go of, and the guard of a profile."""
    own = ("import linecache, sys; [text[0] for name, text in linecache.cache.items() if name[:5] == '<code'], "
           "__builtins__ is sys.modules['builtins']")
    for start in python_both(directory):
        for wanted in False, True:
            with start(wanted=wanted) as talk:
                assert talk.statement(own).result == [[len(own)], True], talk.err()


def test_frames_come_together_and_in_pieces(directory):
    large = json.dumps("x" * 300000).encode()
    frames = b"".join(kind + len(data).to_bytes(4, "little") + data for kind, data in (
        (b"B", b"a\n1"), (b"B", b"b\n" + large), (b"S", b"bridge['a'] + len(bridge['b'])"), (b"S", b"'second'")))
    for start in python_both(directory):
        with start() as talk:
            talk.channel.sendall(frames)
            assert (talk.answer().result, talk.answer().result) == (300001, "second"), talk.err()
            for at in range(20):
                talk.channel.sendall(frames[at:at + 1])
                time.sleep(0.002)
            talk.channel.sendall(frames[20:])
            assert (talk.answer().result, talk.answer().result) == (300001, "second"), talk.err()


def test_pictures_and_tables(directory):
    try:
        import matplotlib  # noqa: F401
        import pandas  # noqa: F401
    except ImportError as missing:
        raise cases.Skip(str(missing)) from None
    with python(directory) as talk:
        reply = talk.statement("import matplotlib.pyplot as p, pandas\nfor i in range(10): p.figure(i); p.plot([1, 2])\n"
                               "p.show()\npandas.DataFrame({'a': range(1000)})")
        rich = [payload for kind, payload in reply.frames if kind == b"M"]
        assert len(rich) == 8 and all(part.startswith(b"image/png\n\x89PNG") for part in rich), [r[:20] for r in rich]
        assert "3 of 11 pictures and tables are left out" in talk.err() and reply.result["shape"] == [1000, 1]
        assert talk.statement("p.get_fignums()").result == []
        reply = talk.statement("pandas.DataFrame({'a': range(1000)})")
        rich = [payload for kind, payload in reply.frames if kind == b"M"]
        assert len(rich) == 1 and rich[0].startswith(b"text/html\n<div>") and len(rich[0]) < 20000
        reply = talk.statement("class Big:\n    def _repr_html_(self): return 'x' * (5 << 20)\n"
                               "    def _repr_svg_(self): raise ValueError('no')\nBig()")
        assert reply.status == 0 and not [1 for kind, _ in reply.frames if kind == b"M"]
        assert "_repr_html_ is left out: it has 5242880 bytes" in (said := talk.err()) and "ValueError: no" in said, said


def test_a_figure_that_was_saved_is_the_file_again(directory):
    try:
        import matplotlib  # noqa: F401
    except ImportError as missing:
        raise cases.Skip(str(missing)) from None
    with python(directory) as talk:
        talk.statement("import matplotlib.pyplot as p")
        for save, kind, name in (("p.savefig('a.png')", b"png", "a.png"), ("p.savefig('a.png', dpi=30)", b"png", "a.png"),
                                 ("p.savefig('a.png', dpi=120, bbox_inches='tight', facecolor='red')", b"png", "a.png"),
                                 ("p.savefig('a.jpg', dpi=30)", b"jpeg", "a.jpg"), ("p.rcParams['savefig.dpi'] = 40; p.savefig('b')", b"png", "b.png"),
                                 ("p.savefig('c.png'); p.title('more')", b"png", None), ("p.savefig('d.png'); p.savefig('d.svg')", b"png", None),
                                 ("p.savefig('e.png', dpi=30); open('e.png', 'w')", b"png", None),
                                 ("p.savefig('f.png', metadata=(m := {})); m[1] = 2", b"png", None)):  # which cannot be drawn again
            reply = talk.statement(f"p.plot([1, 2])\n{save}")
            shown = [payload.partition(b"\n")[::2] for mark, payload in reply.frames if mark == b"M"]
            assert [mime for mime, _ in shown] == [b"image/" + kind], (save, shown, talk.err())
            if name is not None:
                with open(os.path.join(talk.workspace, name), "rb") as file:
                    assert file.read() == shown[0][1], save


# ---- Node ----

def test_node_programs(directory):
    for code, status, out, result in (
            ("console.log('a'); 1 + 1", 0, "a\n", 2), ("let result = [1n, 2n ** 64n, new Map([['k', new Set([1])]])]", 0, "",
                                                       [1, str(2 ** 64), {"k": [1]}]),
            ("const a = await Promise.resolve(20);\na + 1", 0, "", 21), ("setTimeout(() => { result = 3 }, 20)", 0, "", 3),
            ("import fs, { sep as s } from 'node:path'; import * as os from 'os';\n[s, typeof os.cpus, fs.sep]", 0, "",
             ["/", "function", "/"]),
            ("const { sep } = await import('path'); sep", 0, "", "/"), ("require('path').sep", 0, "", "/"),
            ("require('./mine.js') + (await import('./mine.mjs')).default + require('dep') + (await import('dep')).default", 0, "", 4),
            ("if (require.main === module) console.log(__dirname === process.cwd(), import.meta.url.slice(0, 8))", 0,
             "true file:///\n", None),
            ("process.exit(3)", 3, "", None), ("process.exitCode = 4; 'x'", 4, "", "x"), ("(async () => 5)()", 0, "", 5),
            ("const o = { x: undefined, f() {}, d: new Date(0), n: NaN, b: Buffer.from('a') }; o", 0, "",
             {"x": None, "f": "[Function: f]", "d": "1970-01-01T00:00:00.000Z", "n": "NaN", "b": "<Buffer 61>"}),
            ("x = { y: 1 }; x.z = [x]; x.z.length", 0, "", 1), ("'\\ud800x'", 0, "", "\ufffdx"), ("let v = 1", 0, "", None),
            ("#!/usr/bin/env node\n'use strict'; 5", 0, "", 5), ("console.log('x'.repeat(1 << 20).length); 0", 0, "1048576\n", 0)):
        with node(directory, files={"mine.js": "module.exports = 1", "mine.mjs": "export default 1"}) as talk:
            os.makedirs(os.path.join(talk.workspace, "node_modules", "dep"))
            with open(os.path.join(talk.workspace, "node_modules", "dep", "index.js"), "w", encoding="utf-8") as file:
                file.write("module.exports = 1")
            reply = talk.program(code)
            assert (reply.status, talk.out(), reply.result) == (status, out, result), (code, reply.status, reply.frames, talk.err())
    with node(directory) as talk:
        assert talk.program("'x'.repeat(2 << 20)").result.startswith("string of more than 1048576 bytes")
    with node(directory) as talk:
        assert talk.program("let a = 1; const { b } = { b: 2 }; class C {} function d() {} var e").names == ["a", "b", "C", "d", "e"]


def test_node_says_that_a_program_is_over(directory):
    """Once, when all that listens has heard of it, with the status that the process then has."""
    for code, status, out in (
            ("process.on('exit', code => { console.log('heard', code); process.exitCode = 6 })", 6, "heard 0\n"),
            ("process.on('exit', () => console.log('heard')); process.exit(3)", 3, "heard\n"), ("process.exit(256 + 2)", 2, ""),
            ("process.on('beforeExit', () => console.log('before')); 1", 0, "before\n"), ("process.exitCode = 4", 4, ""),
            ("setTimeout(() => { throw new Error('late') }, 5)", 1, ""), ("process.emit('exit-not-this')", 0, ""),
            ("process.stdout.write('x'.repeat(1 << 20)); process.exit(5)", 5, "x" * (1 << 20))):
        with node(directory) as talk:
            reply, wrote = talk.program(code), talk.out()
            said = [payload for kind, payload in reply.frames if kind == b"D"]
            assert (reply.status, wrote, said) == (status, out, [str(status).encode()]), (code, reply.status, said, wrote[:80], talk.err())
            assert reply.frames[-1][0] == b"D", reply.frames
    for code in ("process.on('exit', () => { throw new Error('there') })", "process.on('exit', () => process.exit(7))",
                 "process.kill(process.pid, 'SIGKILL')", "process.reallyExit(1)"):
        with node(directory) as talk:
            assert not [1 for kind, _ in talk.program(code).frames if kind == b"D"], code


def test_node_errors(directory):
    for code, error in (
            ("\nfunction f() { throw new TypeError('bad') }\nf()", ("TypeError", "2", "bad")),
            ("null.x", ("TypeError", "1", "Cannot read properties of null (reading 'x')")),
            ("let = ;", ("SyntaxError", "1", "Unexpected token ';'")), ("a\nimport {", ("SyntaxError", "2", "Unexpected token")),
            ("await 1;\nnull.x", ("TypeError", "2", "Cannot read properties of null (reading 'x')")),
            ("\nsetTimeout(() => { throw new RangeError('late') }, 10)", ("RangeError", "2", "late")),
            ("Promise.reject(new Error('rejected'))", ("Error", "1", "rejected")), ("throw null", ("null", "0", "null")),
            ("throw { toString() { throw 1 } }", None), ("throw Object.create(null)", None),
            ("const e = new Error('a\\nb'); e.name = 'N\\nM'; throw e", ("N M", "1", "a\nb"))):
        with node(directory) as talk:
            reply, said = talk.program(code), talk.err()
            assert reply.status == 1 and (error is None or reply.error == error), (code, reply.status, reply.error)
            assert (reply.payload(b"U") is not None) == ("let =" in code or "import {" in code), (code, reply.frames)
            assert "driver.js" not in said and "rewrite.js" not in said, said
            assert error is None or error[0] == "null" or error[2].split("\n")[0] in said, said


def test_node_shows_what_was_written(directory):
    """Lines as they came, carets below what they mean, no directory of ours, each brace that is closed."""
    missing = "import x from 'absent'"
    for code, error, shown in (
            (f"\n{missing}", ("Error", "2", "Cannot find package 'absent'"),
             f"<code>:2\n{missing}\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find package 'absent' {{\n  code: 'ERR_MODULE_NOT_FOUND'\n}}\n"),
            ("throw new Error('o', { cause: 1 })", ("Error", "1", "o"), "    at Object.<anonymous> (<code>:1:7) {\n  [cause]: 1\n}\n"),
            ("require('./absent')", None, "<code>:1\nrequire('./absent')\n\nError: Cannot find module")):
        with node(directory) as talk:
            reply, said = talk.program(code), talk.err()
            assert shown in said and (error is None or reply.error == error), (said, reply.error)
    with node(directory) as talk:
        line = "let a = 1; const f = () => { throw new Error('f') };"
        talk.statement(f"{line}\nclass C {{ m() {{ null.x }} }}")
        for code, shown in (("f()", f"<code 1>:1\n{line}\n{'^':>{line.index('throw') + 1}}\n"),
                            ("new C().m()", "<code 1>:2\nclass C { m() { null.x } }\n\nTypeError")):
            talk.statement(code)
            assert shown in (said := talk.err()), said


def test_node_ends_a_program_that_waits_for_nothing(directory):
    for code, status, error in (
            ("await new Promise(() => {})", 13, ("Error", "0", "nothing is left that could settle what the code awaits")),
            ("new Promise(() => {})", 0, ("",)), ("await new Promise(r => setTimeout(r, 5))", 0, ("",)),
            ("process.on('beforeExit', () => process.exit(0)); await new Promise(() => {})", 0, ("",))):
        with node(directory) as talk:
            reply = talk.program(code)
            assert (reply.status, reply.error) == (status, error), (code, reply.status, reply.error)


def test_node_tells_values_that_are_hard_to_look_at(directory):
    """Or nothing of them, where a last line starts something or listens; the program went well all the same."""
    big = "{ s: 'x'.repeat(2 << 20), get constructor() { throw 1 } }"
    for code, result in (
            ("new Proxy({}, { get() { throw 1 } })", "{}"), ("new Proxy({}, { getPrototypeOf() { throw 1 } })", "{}"),
            ("({ get constructor() { throw 1 } })", "{ constructor: [Getter] }"),
            ("Object.defineProperty(globalThis, 'result', { get() { throw 1 } }); 1", 1), ("process.on('exit', () => {})", None),
            ("require('child_process').spawn('true')", None), ("setTimeout(() => {}, 1)", None), ("process.stdin.resume()", None)):
        for way in "program", "statement":
            with node(directory) as talk:
                reply = getattr(talk, way)(code)
                assert (reply.status, reply.result) == (0, result), (way, code, reply.status, reply.frames, talk.err())
    with node(directory) as talk:
        assert talk.statement(f"({big})").result.startswith("Object of more than")


def test_node_keeps_what_statements_define(directory):
    with node(directory) as talk:
        check(talk, [
            ("let a = 1; const b = [2]; class C { m() { return 7 } }; function f() { return a }", 0, "", None),
            ("const a = 5; a + b[0]", 0, "", 7), ("f()", 0, "", 5), ("new C().m()", 0, "", 7),
            ("const { x, y: [z] } = { x: 1, y: [2] }; x + z", 0, "", 3), ("const t = await Promise.resolve(9); t", 0, "", 9),
            ("t + 1", 0, "", 10), ("for (var i = 0; i < 3; i++) await i; i", 0, "", 3), ("result = 4", 0, "", 4),
            ("result = undefinedName", 1, "", None), ("1; let u", 0, "", None), ("process.exit(3)", 3, "", None), ("await 1; process.exit()", 0, "", None),
            ("const crypto = require('crypto'); typeof crypto.createHash", 0, "", "function"),
            ("setTimeout(() => console.log('soon'), 20); 0", 0, "soon\n", 0),
            ("setTimeout(() => console.log('late'), 400); 0", 0, "", 0),
            ("await new Promise(r => setTimeout(r, 600))", 0, "late\n", None),
            ("import { sep } from 'path'; sep", 0, "", "/"), ("sep", 0, "", "/"), ("process.stdout.write('y'.repeat(100000)); 1", 0,
                                                                                 "y" * 100000, 1)])
        assert talk.statement("1").names[:4] == ["a", "b", "C", "f"]
        reply = talk.statement("\nundefinedName")
        assert reply.status == 1 and reply.error == ("ReferenceError", "2", "undefinedName is not defined")
        assert talk.statement("setTimeout(() => { throw new Error('behind') }, 1); 1").status == 0
        assert talk.statement("await new Promise(r => setTimeout(r, 100)); a").result == 5
        assert "behind" in talk.err()
        talk.channel.shutdown(1)
        assert talk.ended() == 0


def test_node_is_interrupted_and_goes_on(directory):
    with node(directory) as talk:
        talk.statement("let kept = 1")
        for body in "while (true);", "await new Promise(() => {})", "require('child_process').execSync('sleep 60')":
            reply = interrupted(talk, f"console.log('on'); {body}")
            assert reply.status == 1 and reply.error[0] in ("Interrupted", "Error"), reply.frames
        talk.err()
        for _ in range(20):
            talk.interrupt()
        check(talk, [("kept", 0, "", 1)])


# ---- shell ----

def test_shell_programs(directory):
    big = "echo " + "x" * 1000000 + " | wc -c"
    for code, status, out in (
            ("echo hi; exit 3", 3, "hi\n"), ("false", 1, ""), ("x='a\"b'; echo \"$x\" $0 $#", 0, "a\"b code.sh 0\n"),
            ("exec >made; echo file; cat made >&2", 0, ""), ("set -e; false; echo no", 1, ""), (big, 0, "1000001\n"),
            ("trap 'echo bye' EXIT; exit 2", 2, "bye\n"), ("kill -9 $$", -9, ""), ("break; echo on", 0, "on\n"),
            ("cat; read x; echo \"[$x]\"", 0, "[]\n"), ("if", 2, ""), ("exec false", 1, ""), ("", 0, ""),
            ("(exec 3>&-; cat <&3) 2>&1 | grep -c 'Bad file'; declare -F; compgen -v | grep cloister; trap -p", 0, "1\n"),
            ("cat <<'E'\n$x\nE", 0, "$x\n"), ("echo \u00e9 ${#LANG}", 0, "\u00e9 7\n"), ("printf '%s' \"$(seq 3)\" | tail -1", 0, "3"),
            ("\ufeffecho 1", 0, "1\n"), ("for i in 1 2\r\ndo echo $i\r\ndone\r\n\r\necho 'x\r\ny'\r", 0, "1\n2\nx\ny\n"),
            ("cat <<E\na\r\nE\n", 0, "a\r\n"), ("echo '\ufeff```'", 0, "\ufeff```\n"), ("\n ```bash\necho hi\n```", 2, "")):
        with shell(directory) as talk:
            reply = talk.program(code)
            assert (reply.status, talk.out()) == (status, out), (code[:80], reply.status, talk.err())
    with shell(directory) as talk:
        talk.program("true\nnothing_of_that_name")
        assert "code.sh: line 2: nothing_of_that_name: command not found" in talk.err()


def test_shell_keeps_what_statements_define(directory):
    with shell(directory) as talk:
        check(talk, [
            ("a=5; declare -A m=([k]='v w'); l=(1 '2 3'); f() { echo f$a; }; cd /tmp; umask 027", 0, "", None),
            ("f; echo ${m[k]} $PWD; false", 1, "f5\nv w /tmp\n", None), ("exit 7", 7, "", None),
            ("f; echo ${m[k]} ${#l[@]} $PWD $(umask)", 0, "f5\nv w 2 /tmp 0027\n", None), ("set -e -o pipefail", 0, "", None),
            ("false", 1, "", None), ("echo $-; false | true", 1, "ehB\n", None), ("set +e; f", 0, "f5\n", None), ("break", 0, "", None),
            ("continue", 0, "", None), ("return 4", 4, "", None), ("set -u; echo $nothing", 1, "", None),
            ("set +u; exec 5>&1; echo a >&5", 0, "a\n", None), ("exit 1", 1, "", None), ("echo b >&5", 0, "b\n", None),
            ("readonly R=r; export E=e; shopt -s nullglob; trap 'echo usr' USR1; alias q=w; IFS=:", 0, "", None),
            ("exit 0", 0, "", None), ("echo $R $E /nothing*; kill -USR1 $$; s=x:y; echo $s; bash -c 'echo $E'", 0,
                                      "r e\nusr\nx y\ne\n", None),
            ("unset IFS; exec 3>kept; echo k >&3; exec 3>&-; cat kept; rm kept", 0, "k\n", None), ("(", 2, "", None),
            ("x='y'\\''z\n\"'; exit 0", 0, "", None), ("echo \"$x\"", 0, "y'z\n\"\n", None),
            ("\ufeffif true; then\r\necho 1\r\nfi", 0, "1\n", None), ("```\nx=7\n```", 2, "", None), ("echo ${#x}", 0, "5\n", None)])
        talk.err()
        talk.statement("sleep 60 &")
        check(talk, [("jobs -r | wc -l; kill %1", 0, "1\n", None)])
        talk.channel.shutdown(1)
        assert talk.ended() in (0, 143), talk.err()


def test_shell_is_interrupted_and_goes_on(directory):
    with shell(directory) as talk:
        talk.statement("kept=1; f() { sleep 60; }")
        for body in "while :; do :; done", "sleep 60", "f", "bash -c 'while :; do :; done'":
            assert interrupted(talk, f"echo on; {body}").status == 130
        for _ in range(20):
            talk.interrupt()
        check(talk, [("echo $kept", 0, "1\n", None)])


def test_a_statement_may_trap_its_exit(directory):
    with shell(directory) as talk:
        check(talk, [
            ("x=1; trap 'echo bye $x $?' EXIT", 0, "", None), ("exit 3", 3, "bye 1 3\n", None), ("echo $x; exit 4", 4, "1\n", None),
            ("set -eu; trap 'echo over; exit 9' EXIT; false", 9, "over\n", None), ("set +eu; echo $x", 0, "1\n", None),
            ("trap 'echo never' EXIT; trap - EXIT INT; exit 2", 2, "", None), ("f() { trap 'echo f' EXIT; }", 0, "", None),
            ("f; exit 5", 5, "f\n", None), ("(trap 'echo sub' EXIT); echo $x", 0, "sub\n1\n", None),
            ("trap 'echo dbg' DEBUG; :; trap - DEBUG", 0, "dbg\ndbg\n", None), ("trap 'echo err' ERR; false; trap - ERR", 0, "err\n", None),
            ("r() { trap 'echo ret' RETURN; echo in; trap - RETURN; }; r; false", 1, "in\n", None)])
        talk.err()
        talk.statement("set -x; trap 'echo kept' EXIT; trap - INT; set +x")
        assert "cloister" not in (shown := talk.err()), shown
        assert interrupted(talk, "echo on; sleep 60").status == 130
        check(talk, [("echo $x", 0, "kept\n1\n", None)])


# ---- all of them ----

def each(directory):
    yield "python", python(directory)
    if shutil.which("node"):
        yield "node", node(directory)
    yield "shell", shell(directory)


def test_the_bridge(directory):
    value = {"a": [1, 2.5, None, True, "\u00e9\n'\""], "n": {}}
    show = {"python": "print(bridge['k'] == {'a': [1, 2.5, None, True, '\u00e9\\n\\'\"'], 'n': {}}, len(bridge))",
            "node": "console.log(JSON.stringify(bridge.k.a) === JSON.stringify([1, 2.5, null, true, '\u00e9\\n\\'\"']),"
                    "Object.keys(bridge).length)",
            "shell": "[ \"${bridge[k]}\" = \"$BRIDGE_k\" ] && [[ $BRIDGE_k == *2.5* ]] && echo true ${#bridge[@]}"}
    for way in "statement", "program":
        for language, talk in each(directory):
            with talk:
                talk.send(b"B", "other\n1")
                talk.send(b"B", "k\n0")
                talk.send(b"B", "k\n" + json.dumps(value))
                getattr(talk, way)(show[language])
                assert talk.out().lower() == "true 2\n", (language, talk.err())


def test_a_program_may_break_its_channel(directory):
    breaks = {"python": ["import os; os.close(3)", "import os; os.write(3, b'R\\xff\\xff\\xff\\xff')",
                         "import os; os.write(3, b'D\\1\\0\\0\\0' + b'0')"],
              "node": ["require('fs').closeSync(3)", "require('fs').writeSync(3, Buffer.from('R\\xff\\xff\\xff\\xff', 'latin1'))"],
              "shell": ["for i in {3..20}; do eval \"exec $i>&-\"; done", "for i in {10..20}; do echo Rxxxx >&$i; done 2>/dev/null"]}
    for language in breaks:
        for code in breaks[language]:
            for name, talk in each(directory):
                if name != language:
                    talk.__exit__()
                    continue
                with talk:
                    talk.send(b"C", code)
                    talk.channel.settimeout(20)
                    while part := talk.channel.recv(1 << 16):
                        if part.endswith(b"D\1\0\0\0" + b"0"):
                            talk.channel.shutdown(socket.SHUT_WR)
                    assert talk.ended() in (0, 1), (code, talk.err())


def test_what_is_no_code_ends_it(directory):
    for language, talk in each(directory):
        with talk:
            talk.send(b"X", "1")
            reply = talk.finish()
            assert reply.status == 1 and "something else" in talk.err(), (language, reply.status)


def main():
    cases.run(sys.modules[__name__], os.path.abspath(sys.argv[1]))


main()
