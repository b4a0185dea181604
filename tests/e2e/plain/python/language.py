# SPDX-License-Identifier: Apache-2.0
# The language itself: errors, exit codes, warnings, modules and what depends on the interpreter's state.
#: program a traceback
def outer(n):
    return inner(n) + 1
def inner(n):
    return 10 / n
outer(0)
#: program chained exceptions
try:
    {}["key"]
except KeyError as error:
    raise ValueError("bad") from error
#: program an exception while another is handled
try:
    int("x")
except ValueError:
    [][1]
#: program an exception group and notes
error = ExceptionGroup("several", [ValueError(1), TypeError("two")])
error.add_note("a note")
raise error
#: program traceback.print_exc
import sys, traceback
try:
    1 / 0
except ZeroDivisionError:
    traceback.print_exc()
    print(traceback.format_exc().splitlines()[-1], sys.exc_info()[0])
#: program a deep recursion
def f(n):
    return f(n + 1)
try:
    f(0)
except RecursionError as error:
    print(error)
f(0)
#: program a syntax error
print("never")
x = = 1
#: program an indentation error
#: boxed     \^\^\^\^\n
#: because traceback.py marks the whole line, the interpreter one character
def f():
pass
#: program a tab error
#: boxed     \ty = 2
#: because traceback.py keeps a tab, the interpreter does not
if True:
    x = 1
	y = 2
#: program an unclosed bracket
print((1, 2
x = 3
#: program a name that does not exist
import math
print(math.squareroot(2))
#: program a suggestion
value = 1
print(valeu)
#: program a module that does not exist
import no_such_module
#: program a name that a module lacks
from os import no_such_name
#: program exit codes
import sys
print("x")
sys.exit(3)
#: program exit with a message
raise SystemExit("why it ends")
#: program exit with nothing
import sys
try:
    sys.exit()
finally:
    print("finally")
#: program exit of large and odd numbers
import sys
sys.exit(256 + 7)
#: program exit with a list
import sys
sys.exit([1, "two"])
#: program exit and quit
print(exit, quit)
quit(2)
#: program os._exit skips the end
import atexit, os, sys
atexit.register(print, "never")
print("x")
sys.stdout.flush()
os._exit(5)
#: program atexit after an exception
import atexit
atexit.register(lambda: print("at exit"))
raise RuntimeError("fails")
#: program an exception in atexit
import atexit
def fail():
    raise ValueError("at exit")
atexit.register(fail)
print("main")
#: program exceptions in __del__
class Bad:
    def __del__(self):
        raise ValueError("in del")
Bad()
print("goes on")
#: program objects at the end
class Last:
    def __del__(self):
        print("deleted")
last = Last()
print("end")
#: program a custom hook for exceptions
import sys
sys.excepthook = lambda kind, value, tb: print("hook:", kind.__name__, value)
raise KeyError("x")
#: program warnings
import warnings
warnings.warn("plain")
warnings.warn("old", DeprecationWarning)
warnings.warn("soon", PendingDeprecationWarning)
def f():
    warnings.warn("of the caller", FutureWarning, stacklevel=2)
f()
f()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("kept")
    print([str(one.message) for one in caught])
warnings.simplefilter("error")
warnings.warn("an error")
#: program warnings of the compiler
print("\d", 1 is 1)
assert (1, "always")
#: program a file that is not closed
import gc, warnings
warnings.simplefilter("always")
def f():
    open("/dev/null")
f()
gc.collect()
#: program the main module
import __main__, sys
x = 5
print(__name__, __main__.x, sys.modules["__main__"] is __main__, __doc__, __spec__, __package__)
print(sorted(name for name in globals() if not name.startswith("__")))
#: program names of the main module
#: boxed \['__builtins__', '__doc__'
#: because the main module of a box is not loaded from a file
print(sorted(globals()))
#: program dir and vars
a = 1
print(dir()[-2:], vars()["a"], locals() is globals())
#: program a module of its own
import importlib, os
open("helper.py", "w").write("value = 1\ndef f():\n    return value, __name__, __file__\n")
import helper
print(helper.f())
open("helper.py", "w").write("value = 22\n")
importlib.invalidate_caches()
print(importlib.reload(helper).value, os.path.exists("__pycache__"))
#: program a package of its own
import os, sys
os.makedirs("package/inner")
open("package/__init__.py", "w").write("from .a import x\n")
open("package/a.py", "w").write("x = 1\nfrom . import inner\n")
open("package/inner/__init__.py", "w").write("name = __name__\n")
import package
print(package.x, package.a.inner.name, package.__path__)
open("main.py", "w").write("import sys; print(sys.argv, __name__)\n")
import runpy, subprocess
runpy.run_path("main.py", run_name="__main__")
print(subprocess.run([sys.executable, "-m", "package.a"], capture_output=True, text=True))
#: program an error in a module of its own
open("broken.py", "w").write("def f():\n    return 1 / 0\n")
import broken
broken.f()
#: program inspect.getsource
import inspect
class A:
    def method(self):
        return 1
def f(x: int = 2, *y, z: str) -> float:
    "Documented."
print(inspect.getsource(A.method), inspect.getsource(f), inspect.getsource(A), inspect.signature(f), inspect.getfile(f))
print(inspect.currentframe().f_lineno, f.__code__.co_filename, inspect.getdoc(f))
#: program pickle and copy of classes of the program
import copy, pickle
class Point:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
print(pickle.loads(pickle.dumps(Point([1]))) == Point([1]), copy.deepcopy(Point([2])).x, Point.__module__, Point)
try:
    pickle.dumps(lambda: 1)
except Exception as error:
    print(type(error).__name__, error)
#: program dataclasses, enums and named tuples
import collections, dataclasses, enum, typing
@dataclasses.dataclass(order=True, frozen=True)
class Row:
    name: str
    size: int = 0
    tags: list = dataclasses.field(default_factory=list, compare=False)
class Color(enum.Enum):
    RED = enum.auto()
    BLUE = "b"
print(Row("a") < Row("b"), Row("a"), dataclasses.asdict(Row("x", 1)), list(Color), Color("b"), Color.RED.name)
print(collections.namedtuple("P", "x y")(1, 2), collections.Counter("banana").most_common(1), typing.get_type_hints(Row))
try:
    Row("a").name = "b"
except dataclasses.FrozenInstanceError as error:
    print(error)
#: program exec, eval and compile
names = {}
exec("x = 1\ndef f(): return x", names)
print(names["f"](), eval("1 + 1"), eval(compile("2 ** 8", "<mine>", "eval")))
exec("1 / 0")
#: program an error in eval
eval("1 +")
#: program flags of the interpreter
#: boxed \A1 1 1 True
#: because the interpreter of a box ignores variables and packages of a user
import sys
print(sys.flags.isolated, sys.flags.no_user_site, sys.flags.ignore_environment, sys.flags.safe_path)
#: program the search path
import sys
print(sys.path[0], sys.dont_write_bytecode, sys.flags.optimize, sys.flags.utf8_mode)
#: program the interpreter
#: boxed driver
#: because a program of a box runs inside a driver
import platform, sys
print(sys.executable, sys.version_info, sys.implementation.name, sys.prefix, sys.base_prefix, sys.byteorder, sys.maxsize, platform.system(), platform.machine())
print(sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(), sys.getrecursionlimit(), sys.getswitchinterval(), sys.gettrace())
print(sys.orig_argv)
#: program command-line options
import argparse
parser = argparse.ArgumentParser(description="Adds.")
parser.add_argument("numbers", nargs="*", type=int)
parser.add_argument("--scale", type=float, default=2.5, help="a factor")
print(parser.parse_args([]), parser.parse_args(["1", "2", "--scale", "3"]))
parser.print_help()
parser.parse_args(["x"])
#: program names of the file in a log
import logging, sys
logging.basicConfig(format="%(filename)s %(module)s %(pathname)s %(lineno)d %(message)s", stream=sys.stdout)
def work():
    logging.warning("in a function")
work()
exec("logging.error('in other code')")
logging.getLogger("a").log(50, "%s", "with a level", stacklevel=1)
#: program logging
import logging
logging.warning("unconfigured %d", 1)
logging.info("not shown")
logger = logging.getLogger("app")
handler = logging.StreamHandler()
handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(module)s %(funcName)s %(lineno)d %(filename)s %(message)s"))
logger.addHandler(handler)
logger.propagate = False
logger.error("formatted")
try:
    1 / 0
except ZeroDivisionError:
    logger.exception("caught")
logger.addHandler(logging.FileHandler("app.log"))
logger.critical("to a file")
print(open("app.log").read())
#: program logging.basicConfig
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(levelname)s:%(message)s")
logging.debug("seen")
logging.getLogger("a.b").info("child")
#: program unittest.main
import unittest
class Tests(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(1 + 1, 2)
    def test_fails(self):
        self.assertEqual([1, 2], [1, 3])
    @unittest.skip("not now")
    def test_skipped(self):
        pass
    def test_parts(self):
        for n in 1, 2:
            with self.subTest(n=n):
                self.assertLess(n, 2)
if __name__ == "__main__":
    unittest.main()
#: program unittest with a runner
import io, unittest
class Tests(unittest.TestCase):
    def test_raises(self):
        with self.assertRaises(ValueError):
            int("x")
suite = unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
print(unittest.TextTestRunner(stream=io.StringIO()).run(suite))
unittest.main(argv=["x"], exit=False, verbosity=2)
#: program doctest
import doctest
def double(n):
    """
    >>> double(2)
    4
    >>> double(3)
    7
    """
    return 2 * n
print(doctest.testmod())
#: program unittest.mock
from unittest import mock
with mock.patch("os.getcwd", return_value="/mocked") as patched:
    import os
    print(os.getcwd(), patched.call_count)
print(mock.Mock(return_value=3)(1, a=2))
#: program timeit, cProfile and trace
import cProfile, io, pstats, timeit
print(timeit.timeit("x + 1", "x = 1", number=10) > 0)
profile = cProfile.Profile()
profile.runcall(sorted, [3, 1])
stream = io.StringIO()
pstats.Stats(profile, stream=stream).print_stats()
print("sorted" in stream.getvalue())
#: program sys.settrace and setprofile
import sys
seen = []
def f():
    x = 1
    return x
sys.settrace(lambda frame, event, arg: seen.append((event, frame.f_code.co_name)))
f()
sys.settrace(None)
print(seen)
#: program tracemalloc and gc
import gc, tracemalloc, weakref
tracemalloc.start()
x = [bytes(1000) for _ in range(10)]
print(tracemalloc.get_traced_memory()[0] > 10000, gc.isenabled(), gc.get_threshold())
class A:
    pass
a = A()
a.me = a
r = weakref.ref(a)
del a
gc.collect()
print(r())
#: program contexts and generators
import contextlib, io, itertools
@contextlib.contextmanager
def managed():
    print("in")
    yield 1
    print("out")
with managed() as one, contextlib.suppress(KeyError), contextlib.redirect_stdout(io.StringIO()) as text:
    print("captured")
    {}[1]
print(repr(text.getvalue()), list(itertools.islice(itertools.count(), 3)))
#: program redirection of standard streams
#: boxed to stderr\nbytes
#: because output of a program in a box is visible line by line
import io, os, sys
kept, sys.stdout = sys.stdout, io.StringIO()
print("hidden")
sys.stdout, text = kept, sys.stdout.getvalue()
print("shown", repr(text), sys.stdout is sys.__stdout__)
sys.stderr = sys.stdout
print("to stderr", file=sys.stderr)
sys.stdout.buffer.write(b"bytes\n")
sys.stdout.flush()
os.write(1, b"raw\n")
#: program stdout that is closed
import sys
print("x", flush=True)
sys.stdout.close()
#: program print to a closed file
import sys
sys.stdout.close()
print("x")
#: program stdout with another encoding
import io, sys
sys.stdout.reconfigure(encoding="latin-1", errors="replace")
print("x\u20ac")
sys.stdout = io.TextIOWrapper(sys.stdout.detach(), "utf-8", write_through=True)
print("\u20ac")
#: program lone surrogates
#: boxed \\ud800
#: because no character ends a program
print("\ud800")
#: program bytes of names
#: boxed \\udcff
#: because no character ends a program, and all output is UTF-8
import os
open(b"\xff", "w").close()
print([name for name in os.listdir() if not name.endswith(".py")])
print(*[name for name in os.listdir() if not name.endswith(".py")])
#: program breakpoint without a terminal
#: ignore stdout
breakpoint()
#: program input in a loop
import sys
for line in sys.stdin:
    print("never")
print("end of input")
#: program a long line and many lines
print("x" * 100000)
for n in range(2000):
    print(n)
#: program control characters
print("a\rb\x00c\x1b[31mred\x1b[0m\x07\ttab\x0bv")
#: program big integers
import sys
print(2 ** 200, sys.get_int_max_str_digits())
print(len(str(10 ** 4000)))
str(10 ** 5000)
#: program assertions
assert 1 == 1
assert 1 == 2, "one is not two"
#: program pattern matching
match {"kind": "point", "at": [1, 2]}:
    case {"kind": "point", "at": [x, y]}:
        print(x, y)
#: program annotations from the future
from __future__ import annotations
def f(x: Undefined) -> int:
    return 1
print(f.__annotations__, f(1))
#: program top-level await is an error
#: boxed \A0\n
#: because code may await, as in a notebook
import asyncio
await asyncio.sleep(0)
#: program return outside of a function
return 1
#: program magic of notebooks
#: boxed \A0\n
#: because magics of a notebook that have no effect are left out
%matplotlib inline
#: program the hash of texts
import os, sys
print(sys.flags.hash_randomization, os.environ.get("PYTHONHASHSEED"), hash(1), hash((1, 2)))
#: program random numbers from a seed
import random
random.seed(1)
print(random.random(), random.randint(1, 100), random.sample(range(10), 3), random.choice("abc"), round(random.gauss(0, 1), 6))
#: program random numbers are not the same twice
import os, random, secrets, subprocess, sys, uuid
again = [subprocess.check_output([sys.executable, "-c", "import random; print(random.random())"]) for _ in range(2)]
print(again[0] != again[1], len(secrets.token_hex(4)), len(os.urandom(4)), uuid.uuid4().version)
