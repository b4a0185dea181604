# SPDX-License-Identifier: Apache-2.0
"""driver.py - runs one Python program inside a box and tells the executor what became of it (guest/protocol.h).

It shares a process with the program, so nothing here is a wall: the program may close, forge or break all of it, and
harms its own result by that and nothing else. What it promises: a program sees what it would see as a script, and
whatever that does to its streams, modules or descriptors, no file of its own is written to from here.

Every start pays for what stands here, the compiler included. So it imports only what a bare interpreter has loaded
already, and what few programs need stands beside it: values.py tells a result, failure.py an exception.
"""

import _ast
import os
import sys

CONTROL = 3
FILE = "<code>"
FUTURE = 0x1FE0000  # the bits of co_flags that stand for "from __future__ import ..."
MAX_RESULT, MAX_NAMES, MAX_NAME = 1 << 20, 256, 256


class Control:
    """Descriptor 3, for as long as it is the one that this process was started with."""

    def __init__(self):
        os.set_inheritable(CONTROL, False)
        self.owner, self.file = os.getpid(), os.fstat(CONTROL)

    def receive(self, size):
        data = bytearray()
        while len(data) < size:
            part = os.read(CONTROL, size - len(data))
            if not part:
                sys.exit("the control channel ended before the program came")
            data += part
        return data

    def program(self):
        head = self.receive(5)
        if head[:1] != b"C":
            sys.exit("the control channel brought something else than a program")
        return self.receive(int.from_bytes(head[1:], "little")).decode().removeprefix("\ufeff")

    # A fork of the program comes by here too, and a file that it opened may have become descriptor 3.
    def send(self, kind, payload):
        if os.getpid() == self.owner and os.path.samestat(os.fstat(CONTROL), self.file):
            data = memoryview(kind + len(payload).to_bytes(4, "little") + payload)
            while data:
                data = data[os.write(CONTROL, data):]


class Lines:
    """Hands the program's lines to linecache when that is imported; to import it here would cost each start 3 ms."""

    def __init__(self, source):
        self.source = source

    def find_spec(self, name, path=None, target=None):
        if name != "linecache":
            return None
        sys.meta_path.remove(self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in sys.meta_path)), None)
        load = spec and spec.loader.exec_module

        def exec_module(module):
            load(module)
            module.cache[FILE] = len(self.source), None, self.source.splitlines(True), FILE

        if load:
            spec.loader.exec_module = exec_module
        return spec


class Fonts:
    """Gives matplotlib the list of fonts that compose/install-deps made: to make it takes 0.1 s and, where there are
    thousands, several of each run. It has to lie in a folder that matplotlib can write to."""

    made, folder = "/usr/local/share/cloister/matplotlib", "/tmp/.cache/matplotlib"

    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib":
            return
        sys.meta_path.remove(self)
        try:
            lists = os.listdir(self.made)
            os.makedirs(self.folder, exist_ok=True)
            for each in lists:
                with open(f"{self.made}/{each}", "rb") as source, open(f"{self.folder}/{each}", "xb") as copy:
                    copy.write(source.read())
        except OSError:
            pass  # there is none, or the program made one


class OwnPath:
    """Imports of ours do not see the workspace: a token.py there is the program's, not the library's."""

    path = sys.path

    def __enter__(self):
        self.theirs, sys.path = sys.path, self.path

    def __exit__(self, *_):
        sys.path = self.theirs


def beside(name):
    """The names of the file of that name beside this one."""
    file = os.path.join(os.path.dirname(__file__), name)
    scope = {"__name__": name, "__file__": file, "FILE": FILE}
    with open(file, encoding="utf-8") as source:
        exec(compile(source.read(), file, "exec"), scope)
    return scope


def parse(source):
    """The program as code, and its last statement as code of its own where that is an expression."""
    tree = compile(source, FILE, "exec", _ast.PyCF_ONLY_AST, True)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
    body = compile(tree, FILE, "exec", 0, True)
    if last is None:
        return body, None
    return body, compile(_ast.Expression(last.value), FILE, "eval", body.co_flags & FUTURE, True)


def prepare(source):
    """The process as a script finds it; the names of its __main__."""
    main = sys.modules["__main__"] = type(sys)("__main__")
    main.__builtins__ = __builtins__
    sys.argv, sys.path = [FILE], [os.getcwd(), *sys.path]
    sys.meta_path[:0] = [Lines(source), Fonts()]
    # What is written is seen at once, and text that has no UTF-8 form does not end a program.
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    return main.__dict__


def names(scope):
    """What the program defined, without its modules, as a VARIABLES frame has it."""
    mine = [f"{name}\n" for name, value in list(scope.items())
            if isinstance(name, str) and name[:1] != "_" and name.isidentifier() and len(name) <= MAX_NAME
            and not isinstance(value, type(sys))]
    return "".join(mine[:MAX_NAMES]).encode()


def tell(control, kind, payload):
    """Sends one frame; what a program broke about it (a __repr__ that raises, a closed descriptor) costs just that."""
    try:
        with OwnPath():
            control.send(kind, payload())
    except BaseException:
        pass


def main():
    control = Control()
    source = control.program()
    hook, scope = sys.excepthook, prepare(source)
    status, value = 0, None
    try:
        body, tail = parse(source)
        exec(body, scope)
        if tail is not None:
            value = eval(tail, scope)
    except SystemExit as stop:
        status = stop.code
    except BaseException as error:
        status = 1
        tell(control, b"E", lambda: beside("failure.py")["failure"](error, hook, __file__))
    tell(control, b"V", lambda: names(scope))
    value = scope.get("result", value)
    if value is not None or "result" in scope:
        tell(control, b"R", lambda: beside("values.py")["as_json"](value, MAX_RESULT))
    # The interpreter's own end: threads are waited for, exit functions run, open files are written out.
    sys.exit(status)


main()
