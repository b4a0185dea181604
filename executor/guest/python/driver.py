# SPDX-License-Identifier: Apache-2.0
"""driver.py - runs Python inside a box and reports the outcome to the executor (guest/protocol.h).

It shares a process with the program, so nothing here is a security boundary: the program may close, forge or break all
of it, and harms only its own result. The driver promises that a program sees what it would see as a script, and that
the driver writes to no file of the program, whatever the program does to its streams, modules or descriptors.

It is started from its file, or is part of a zygote and continues in a fork of it. A start from the file pays for all
code here, including its compilation. So the driver imports only what a bare interpreter has loaded already. Code that
few programs need is in separate files, which README.md lists.
"""

import _ast
import _io
import _signal
import atexit
import builtins
import gc
import itertools
import os
import sys

CONTROL, OUTPUTS = 3, (1, 3)  # and the range of stdout and stderr
NO_FILES = 1 << 30, (1 << 30) + 1  # for rehearsals, so that what closes descriptors is in memory, too
FILE = "<code>"  # a statement's name contains its number, so that each traceback finds its own lines
FUTURE = 0x1FE0000  # the bits of co_flags for "from __future__ import ..."
COROUTINE = 0x80  # the bit of co_flags for code that awaits
MAX_RESULT, MAX_NAMES, MAX_NAME = 1 << 20, 256, 256
TASKS = "create_task", "get_running_loop"  # what asks for a running loop without awaiting
LOOKED_AT = "result", "__future__", *TASKS  # names for which the tree is searched
FORMS = "_repr_png_", "_repr_svg_", "_repr_html_"
SPAWN = "multiprocessing.spawn", "joblib.externals.loky.backend.spawn", "loky.backend.spawn"  # they read the main module again
PART = 4096  # bytes per read
CALM_MS = 50  # time without a program before the next rehearsal
WARM_UPS = 16  # the interpreter optimizes a function from its 8th call on, and some parts later
MAX_SOURCES, MAX_SOURCE_BYTES = 512, 8 << 20  # of earlier statements, for their tracebacks

beside_files = {}  # by name; a zygote has read them all before it forks


def frame(kind, payload):
    return kind + len(payload).to_bytes(4, "little") + payload


class Control:
    """Descriptor 3, as long as it is the one that this process was started with."""

    def __init__(self, number=CONTROL):
        os.set_inheritable(number, False)
        self.number, self.owner, self.file, self.come = number, os.getpid(), self.identity(number), bytearray()

    @staticmethod
    def identity(number):
        status = os.fstat(number)
        return status.st_ino, status.st_dev

    def receive(self):
        """Returns kind and payload of a frame; None at the end of the channel."""
        end = 5
        while len(self.come) < end or len(self.come) < (end := 5 + int.from_bytes(self.come[1:5], "little")):
            part = os.read(self.number, max(end - len(self.come), PART))
            if not part:
                return None
            self.come += part
        kind, payload = bytes(self.come[:1]), self.come[5:end]
        del self.come[:end]
        return kind, payload

    # A fork of the program also runs this, and a file that it opened may have become descriptor 3.
    def intact(self):
        return os.getpid() == self.owner and self.identity(self.number) == self.file

    def wait(self):
        """Waits until the other end is closed. No more frames are expected."""
        try:
            while os.read(self.number, 4096):
                pass
        except OSError:
            pass

    def send(self, kind, payload):
        """Returns whether the frame was sent."""
        if not self.intact():
            return False
        data = memoryview(frame(kind, payload))
        while data:
            data = data[os.write(self.number, data):]
        return True


class Interrupts:
    """SIGINT: handled as the program wants it while it runs; ignored between its statements and while a frame is sent."""

    def __init__(self):
        self.theirs, self.off = _signal.default_int_handler, True

    def arm(self):
        _signal.signal(_signal.SIGINT, self.nothing)

    @staticmethod
    def nothing(number, frame):
        pass

    def allow(self):
        self.off = False
        _signal.signal(_signal.SIGINT, self.theirs)

    def forbid(self):
        while not self.off:
            try:
                was = _signal.signal(_signal.SIGINT, self.nothing)
                self.theirs, self.off = _signal.SIG_DFL if was is None else was, True
            except BaseException:  # an interrupt that arrived just before
                pass


class Arrivals:
    """Runs a hook on a module once it is imported: importing it here would cost each start milliseconds."""

    def __init__(self, calls):
        self.calls = calls
        for name in [name for name in calls if name in sys.modules]:
            calls.pop(name)(sys.modules[name])

    def find_spec(self, name, path=None, target=None):
        if name not in self.calls:
            return None
        call = self.calls.pop(name)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in sys.meta_path)), None)
        load = spec and spec.loader.exec_module

        def exec_module(module):
            load(module)
            call(module)

        if load:
            spec.loader.exec_module = exec_module
        return spec


class Whole(tuple):
    """linecache's entry for all code, the newest first, when somebody looks for a class in the file of its module."""

    def __getitem__(self, index):
        return "\n".join(reversed(self.sources.texts.values())).splitlines(True) if index == 2 else super().__getitem__(index)


class Sources:
    """The program's source lines, for linecache."""

    def __init__(self):
        self.texts, self.bytes, self.whole = {}, 0, Whole((0, None, [], None))
        self.whole.sources = self

    def add(self, file, text):
        self.texts[file], self.bytes = text, self.bytes + len(text)
        cache = getattr(sys.modules.get("linecache"), "cache", {})
        cache[file] = self.entry(file)
        cache[sys.argv[0]] = self.whole
        while len(self.texts) > 1 and (len(self.texts) > MAX_SOURCES or self.bytes > MAX_SOURCE_BYTES):
            oldest = next(iter(self.texts))
            self.bytes -= len(self.texts.pop(oldest))
            cache.pop(oldest, None)

    def clear(self):
        """Drops all lines, because a fork would otherwise free them one by one, each on its own page."""
        cache = getattr(sys.modules.get("linecache"), "cache", {})
        cache.pop(sys.argv[0], None)
        for file in self.texts:
            cache.pop(file, None)
        self.texts, self.bytes = {}, 0

    def entry(self, file):
        """Lines as the compiler counts them, with their ends. Without the ends traceback marks wrong columns."""
        text = self.texts[file] + "\n"
        lines = text.splitlines(True)
        if len(lines) > text.count("\n"):  # U+2028 and similar characters do not begin a line for the compiler
            lines = [f"{line}\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        return len(self.texts[file]), None, lines, file

    def fill(self, linecache):
        linecache.cache.update((file, self.entry(file)) for file in self.texts)
        linecache.cache[sys.argv[0]] = self.whole


class OwnPath:
    """Hides the workspace from the driver's own imports: a token.py there is the program's, not the library's."""

    path = sys.path

    def __enter__(self):
        self.theirs, sys.path = sys.path, self.path

    def __exit__(self, *_):
        sys.path = self.theirs


def beside(name):
    """The namespace of the file with that name in this directory."""
    if name not in beside_files:
        file = os.path.join(os.path.dirname(__file__), name)
        scope = {"__name__": name, "__file__": file}
        with open(file, encoding="utf-8") as source:
            exec(compile(source.read(), file, "exec"), scope)
        beside_files[name] = scope
    return beside_files[name]


def later(file, name):
    """The function of that file, which is read when the function is called."""
    return lambda *given: beside(file)[name](*given)


def assigns_result(tree):
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += node
        elif isinstance(node, _ast.Name) and node.id == "result" and isinstance(node.ctx, _ast.Store):
            return True
        elif isinstance(node, _ast.AST):
            nodes += [getattr(node, field, None) for field in node._fields]
    return False


def names(scope):
    """The payload of a VARIABLES frame: what the program defined, without modules; None: nothing."""
    mine = [f"{name}\n" for name, value in list(scope.items())
            if isinstance(name, str) and name[:1] != "_" and name.isidentifier() and len(name) <= MAX_NAME
            and not isinstance(value, type(sys))]
    return "".join(mine[:MAX_NAMES]).encode() if mine else None


def complain(text):
    try:
        sys.stderr.write(f"{text}\n")
    except BaseException:
        pass


class Driver:
    def __init__(self, ahead=(), rehearsals=()):
        self.rehearsals, self.control, self.interrupts, self.sources, self.loop = rehearsals, None, Interrupts(), Sources(), None
        self.ahead = frozenset(ahead)
        self.shadows = beside("shadows.py")["Shadows"](ahead) if ahead else None
        self.profile, self.guard, self.held, self.installs, self.manners, self.lent = None, None, False, False, 0, {}
        # A zygote that has imported more than the standard library serves programs that use it.
        self.libraries = sorted(name for name in ahead if "." not in name and name not in sys.stdlib_module_names
                                and hasattr(sys.modules[name], "__path__"))
        names = "".join(f"{name}\n" for name in sys.modules if "." not in name)
        self.allowed = f"a rehearsal\n{names}".encode()
        self.hook, self.flags, self.statements, self.whole = sys.excepthook, _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, 0, False
        self.zygote, self.file, self.in_loop = None, None, False  # of as_file.py; does the code want a loop although it does not await?
        self.prepare()
        self.begin()

    def prepare(self):
        """Sets up the process as a script finds it, except for what the collector would not see if made before a fork."""
        builtins.bridge = self.bridge = {}
        builtins.display = lambda *values, **how: self.display(values)
        sys.argv, sys.path = [FILE], [os.getcwd(), *sys.path]
        arrivals = {"linecache": self.sources.fill, "threading": show_threads, "matplotlib": later("rich.py", "lend_fonts"),
                    "logging": later("records.py", "name_files"), "matplotlib.figure": later("rich.py", "note_saves"), "socket": later("interfaces.py", "lend")}
        arrivals.update((name, lambda module: self.as_file().watch(module)) for name in SPAWN)
        sys.meta_path.insert(0, Arrivals(arrivals))
        sys.unraisablehook = later("failure.py", "show_unraisable")
        # Output is visible at once, and text that has no UTF-8 form does not end a program.
        for stream in sys.stdout, sys.stderr:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
        self.interrupts.arm()
        _signal.signal(_signal.SIGURG, lambda *_: self.flush())  # the executor is about to kill this process
        tell_crashes()

    def rehearse(self, source):
        """Runs source in advance: a fork copies each page that a run writes to, and no caller waits for that here."""
        nowhere, stdout = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), os.dup(1)
        near, far = os.pipe()
        os.write(far, frame(b"C", "".join(f"import {name}\n" for name in self.libraries).encode() + source))
        os.dup2(nowhere, 1)
        self.control, control, bridge = Control(nowhere), self.control, self.bridge
        self.profile = self.allowed
        kind, payload = Control(near).receive()
        self.program(payload, rehearsed=True)
        self.interrupts.forbid()
        self.sources.clear()
        self.control, self.whole = control, False
        builtins.bridge = self.bridge = bridge
        os.dup2(stdout, 1)
        for number in nowhere, stdout, near, far:
            os.close(number)
        gc.freeze()  # the run's collections skip all of this; only its own module must be scanned
        self.begin()
        self.guard_imports()  # without a profile, like most runs

    def warm_up(self):
        """Runs in a zygote, so that the interpreter optimizes frequent code once and not in each fork."""
        for _ in range(WARM_UPS):
            for source in self.rehearsals:
                self.rehearse(source)

    def begin(self):
        main = sys.modules["__main__"] = type(sys)("__main__")
        main.__builtins__ = builtins
        self.scope = main.__dict__
        self.last = next(reversed(sys.modules))

    def serve(self, zygote=None):
        self.control, self.zygote = Control(), zygote
        sys.path[0] = os.getcwd()
        sys.argv[0] = f"{sys.path[0]}/code.py"
        rehearsals = iter(() if zygote is None or zygote.wanted() else self.rehearsals)
        for source in itertools.islice(rehearsals, 1):
            self.rehearse(source)
        self.control.send(b"I", b"")
        for source in rehearsals:  # a fork that waits this long can also rehearse what longer programs use
            if zygote.calm(CALM_MS):
                self.rehearse(source)
                self.control.send(b"I", b"")
        zygote or beside("rest.py")["rehearse"](self, CALM_MS)
        self.scope["__file__"] = sys.argv[0]
        while frame := self.control.receive():
            kind, payload = frame
            if kind == b"B":
                key, _, text = payload.decode("utf-8", "replace").partition("\n")
                self.bridge[key] = beside("values.py")["parse_json"](text)
            elif kind == b"N":
                beside("lent.py")["lend"](self.lent, bytes(payload))
            elif kind == b"P":
                self.profile = payload
            elif kind == b"A":
                self.manners = int(payload)
            elif kind in b"GT":
                beside("invocation.py")["take"](kind, payload)
            elif kind == b"K":
                self.installs = beside("packages.py")["look"](self.shadows, self.scope)
            elif kind == b"F":
                self.shadows.look()
            elif kind == b"S":
                self.statement(payload.decode().removeprefix("\ufeff"))
            elif kind == b"C":
                self.program(payload)
            elif kind != b"W":  # WANTED came too late to skip a rehearsal
                sys.exit("the control channel brought something else than a program")
        self.end(0) if self.statements else sys.exit("the control channel ended before the program came")

    def as_file(self):
        if self.file is None:
            self.file = beside("as_file.py")["File"](f"{sys.path[0]}/code.py", self.sources.texts)
        return self.file

    def guard_imports(self):
        if self.profile is not None:
            self.guard = self.guard or beside("imports.py")["Guard"]()
            self.guard.hold(self.scope, self.profile)
        elif self.held:
            self.guard.release(self.scope)
        self.profile, self.held = None, self.profile is not None

    def program(self, payload, rehearsed=False):
        self.interrupts.allow()
        self.whole = True
        self.end(self.run(payload.decode().removeprefix("\ufeff"), FILE), rehearsed)

    def statement(self, source):
        self.statements += 1
        status = 1
        if self.file is not None:
            self.file.grow_old()
        if self.shadows is not None:
            self.shadows.look()
        try:
            self.interrupts.allow()
            status = self.run(source, f"<code {self.statements}>")
            if getattr(sys.stdin, "closed", False):  # exit() closed it
                sys.stdin = _io.open(0, encoding="utf-8", closefd=False)
            self.flush()
            if "ctypes" in sys.modules:
                beside("ending.py")["flush_native"](beside("ending.py")["loaded_native"](self.last), self.sources.texts)
        except KeyboardInterrupt:
            pass  # it arrived after the end of the statement
        self.interrupts.forbid()
        if os.getpid() != self.control.owner:  # a fork of the program that returned from it
            self.end(status)
        self.tell(b"D", lambda: beside("lent.py")["done"](self.lent, status) if self.lent else str(status).encode())

    def run(self, source, file):
        """Runs the source, sends the results, and returns the exit status."""
        status, value, assigned, before, read = 0, None, False, self.scope.get("result"), False
        self.guard_imports()
        self.sources.add(file, source)
        self.in_loop, self.shown = False, 0
        try:
            if "__file__" in source or "argv[0]" in source:
                self.as_file().write(True)
            if self.shadows and ".py" in source:
                self.shadows.expect(source)
            if self.installs:
                beside("packages.py")["expect"](source, self.shadows, self.scope)
            if self.manners:
                source = beside("manners.py")["apply"](self.manners, source, self.flags)
            body, tail, assigned = self.parse(source, file)
            read = True
            value = self.execute(body, tail)
            if self.manners:
                beside("manners.py")["show"](self.manners, value)
        except SystemExit as stop:
            status = self.status(stop.code)
        except BaseException as error:
            status, assigned = 1, False  # `result` may belong to another statement
            unreadable = isinstance(error, SyntaxError) and not read
            self.tell(b"U" if unreadable else b"E", lambda: beside("failure.py")["failure"](error, self.hook, __file__, file))
        self.tell(b"V", lambda: names(self.scope))
        if "result" in self.scope and (file == FILE or assigned or self.scope["result"] is not before):
            value, assigned = self.scope["result"], True
        if value is not None or assigned:
            self.tell(b"R", lambda: beside("values.py")["as_json"](value, MAX_RESULT, not assigned))
        self.tell_rich(value)
        return status

    def execute(self, body, tail):
        """Returns the value of the last expression, or None."""
        if self.in_loop or (body and body.co_flags & COROUTINE) or (tail and tail.co_flags & COROUTINE):
            if self.loop is None:
                with OwnPath():
                    self.loop = beside("loop.py")["Loop"]()
            return self.loop.run([code for code in (body, tail) if code], self.scope)
        if body:
            exec(body, self.scope)
        return eval(tail, self.scope) if tail else None

    def parse(self, source, file):
        """Returns the code or None; the last statement's code if it is an expression; whether `result` is assigned."""
        if not any(word in source for word in LOOKED_AT) and (parts := self.split(source, file)):
            return *parts, False
        tree = self.tree(source, file)
        assigned = "result" in source and assigns_result(tree)
        self.in_loop = not self.whole and any(name in source for name in TASKS) and beside("notebook.py")["asks_for_loop"](tree)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
        body = tail = None
        if tree.body:
            body = compile(tree, file, "exec", self.flags, True)
            self.flags |= body.co_flags & FUTURE
        if last is not None:
            tail = compile(_ast.Expression(last.value), file, "eval", self.flags, True)
        return body, tail, assigned

    def tree(self, source, file):
        """The source's tree.  A notebook's magic is no Python; those without an effect here are left out."""
        try:
            return compile(source, file, "exec", _ast.PyCF_ONLY_AST | self.flags, True)
        except SyntaxError:
            plain = beside("notebook.py")["without_magics"](source)
            if plain is None:
                raise
        return compile(plain, file, "exec", _ast.PyCF_ONLY_AST | self.flags, True)

    def split(self, source, file):
        """
        Returns the same two without a tree of Python objects, because each kind of object costs a fork a page. If the
        last line is an expression and the lines above it are a program, that line is its last statement. None: the
        code is not that simple.
        """
        above, end, last = source.rstrip(" \t\n").rpartition("\n")
        if not last or last[0] in " \t\f#" or "=" in last.partition("(")[0] or "\r" in source or above.endswith("\\"):
            return None
        try:
            tail = compile("\n" * (above + end).count("\n") + last, file, "eval", self.flags, True)
            return compile(above, file, "exec", self.flags, True) if above else None, tail
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None

    @staticmethod
    def status(code):
        """Returns the exit status of sys.exit(code), as the interpreter computes it."""
        if code is None or isinstance(code, int):
            return (code or 0) & 0xff
        complain(code)
        return 1

    def tell(self, kind, payload):
        """
        Sends a frame unless its payload is None. Returns whether it was sent. If the program broke something that it
        needs (a __repr__ that raises, a closed descriptor), only this frame is lost.
        """
        off, sent = self.interrupts.off, False
        try:
            with OwnPath():
                data = payload()
            if data is not None:
                self.interrupts.forbid()
                sent = self.control.send(kind, data)
        except BaseException:
            pass
        if self.interrupts.off and not off:
            self.interrupts.allow()
        return sent

    def tell_rich(self, value):
        try:
            if not has_figures() and (value is None or not any(hasattr(type(value), form) for form in FORMS)):
                return
            with OwnPath():
                self.tell_parts(beside("rich.py")["rich"](value, self.shown))
        except BaseException as error:
            complain(f"pictures are left out: {type(error).__name__}")

    def display(self, values):
        """The builtin display(): shows values at once, as notebooks do."""
        for value in values:
            with OwnPath():
                parts = beside("rich.py")["displayed"](value, self.shown)
            self.tell_parts(parts)

    def tell_parts(self, parts):
        self.shown += len(parts)
        for part in parts:
            self.tell(b"M", lambda: part)

    @staticmethod
    def flush():
        """Returns True if all output has left this process."""
        done = True
        for stream in sys.stdout, sys.stderr:
            try:
                if stream is not None and not getattr(stream, "closed", False):
                    stream.flush()
            except Exception:
                done = False
        return done

    def end(self, status, rehearsed=False):
        """Performs the visible part of the interpreter's own shutdown: waits for threads, runs exit functions, finalises
        objects, writes out open files. The rest, which takes each module apart, takes milliseconds and is skipped."""
        ending = beside("ending.py")
        try:
            if self.loop is not None and os.getpid() == self.control.owner:
                self.loop.close()
            if ending["awaits_threads"]() and not rehearsed:
                sys.modules["threading"]._shutdown()
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
        if not rehearsed or atexit._ncallbacks() == 0:  # the call costs a page
            atexit._run_exitfuncs()
        ending["close_logs"]()
        if self.file is not None:
            self.file.remove()
        status, told = self.end_program(ending, status, rehearsed)
        if told:  # so that no processor is used for the exit: the executor kills this process
            self.control.wait()
        if not rehearsed:
            os._exit(status)

    def end_program(self, ending, status, rehearsed):
        """Does all but the exit. Returns the exit status, and whether the executor was informed of the end."""
        self.flush()
        native = ending["loaded_native"](self.last)
        held = ending["open_files"]()  # otherwise the collector would close them in any order, lower layers of a stack first
        self.forget(ending)
        ending["save_files"](held + ending["open_files"](_io._IOBase))
        done = self.flush()
        ending["flush_native"](native, self.sources.texts)
        if native and done:
            import ctypes
            ctypes.PyDLL(None).exit(status)
        status = status if done else 120
        # Without a zygote this is a container, which must see the end of this process to wait for its children's output.
        if not self.whole or (self.zygote is None and ending["has_children"]()):
            return status, False
        self.interrupts.forbid()  # so that the caller need not wait until the kernel has freed this process
        # The executor waits for whoever can still write to these, and this process will not.
        os.closerange(*(NO_FILES if rehearsed else OUTPUTS))
        return status, self.tell(b"D", lambda: str(status).encode())

    def forget(self, ending):
        """Drops the program's names and those of its own modules."""
        ending["forget"](ending["loaded"](self.last))
        self.scope = self.bridge = builtins.bridge = None
        gc.collect()


def show_threads(threading):
    """Replaces the interpreter's own output, which lacks the lines of code that is in no file."""
    threading.excepthook = later("failure.py", "show_thread")


def tell_crashes():
    """Prints a traceback on a processor signal or abort(). For the program, faulthandler is not imported."""
    import faulthandler
    faulthandler.enable(2)
    del sys.modules["faulthandler"]


def has_figures():
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    return helpers is not None and bool(helpers.Gcf.figs)


if __name__ == "__main__":
    Driver().serve()
