# SPDX-License-Identifier: Apache-2.0
"""zygote.py MODULE,MODULE,... - a Python interpreter that has imported these modules, and forks.

It runs no guest's code and holds nothing of any guest: it imports, waits in _zygote.serve() for the builder's orders,
and each fork goes on as if it had been started by itself. What two forks would have in common though it should be
their own is made new in each: random numbers, keys, streams, what was told by the clock. What stays common is where
things lie in memory and the hashes of strings; warm=off is for those whom that troubles.
"""

import atexit
import gc
import os
import sys

# Without these a library's threads would be here, which no fork has.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
# What tells a library that was loaded with these how many threads it may have after all.
SET_THREADS = ("openblas_set_num_threads", "openblas_set_num_threads64_", "scipy_openblas_set_num_threads", "scipy_openblas_set_num_threads64_",
               "omp_set_num_threads", "MKL_Set_Num_Threads", "bli_thread_set_num_threads")
# What a fork runs before it is given a program.  What a module imports itself would go before the program's own files,
# so the longer one is for those who have all that it needs.
SHORT = b"import sys, os\nprint(1)\nname = [str(n) for n in range(2)]\nname\n"
LONG_NEEDS = {"json", "re", "collections"}
LONG = b"""
import sys, os, json, re
from collections import Counter
class Kind:
    def __init__(self, number, name="a"):
        self.number, self.name = number, name
    def __repr__(self):
        return f"{self.name}: {self.number * 2.5:.2f}"
def count(text):
    return Counter(word.strip() for word in re.split("[ ,]+", text.lower()) if word)
all = [Kind(n, str(n)) for n in range(8)]
try:
    table = {each.name: {"n": each.number, "r": repr(each)} for each in sorted(all, key=lambda each: -each.number)}
    print(json.dumps(table)[:5], max(count("a b, b").values()), *("%d" % sum(range(9)), "x".join(["a", "b"])), sep=", ")
    json.loads('{"a": [1, 2.5, null, "b"]}')["c"]
except (KeyError, ValueError) as error:
    print(f"{type(error).__name__} {error!s:>10}")
while len(all) > 4 and not all[0].number % 2:
    del all[0]
result = tuple(zip(all, enumerate("abc")))
result
"""
# What these do after a fork is for locks that other threads held, and a zygote has one thread; and for random's numbers,
# which renewals() has.  A program's own forks need it.
SPARED = {"threading", "logging", "random", "concurrent.futures.thread"}
TWISTER = 624 * 4  # bytes of a Mersenne Twister's state
HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    """A file beside this one, as a module."""
    module = type(sys)(name)
    module.__file__ = os.path.join(HERE, name + ".py")
    with open(module.__file__, encoding="utf-8") as source:
        exec(compile(source.read(), module.__file__, "exec"), module.__dict__)
    return module


def load_extension(name):
    from importlib.machinery import ExtensionFileLoader, ModuleSpec
    path = os.path.join(HERE, name + ".so")
    spec = ModuleSpec(name, ExtensionFileLoader(name, path), origin=path)
    module = spec.loader.create_module(spec)
    spec.loader.exec_module(module)
    sys.modules.pop(name, None)  # no program is to find it there
    return module


def sparing(register, spared):
    """os.register_at_fork() while there are imports: what modules of SPARED do at a fork costs each run some 100 pages."""
    def record(**hooks):
        if sys._getframe(1).f_globals.get("__name__") in SPARED:
            hooks = {when: spared(hook) for when, hook in hooks.items()}
        register(**hooks)
    return record


def import_all(names):
    for name in filter(None, names):
        try:
            __import__(name)
        except Exception as error:  # not installed, or broken: as the guest will see
            print(f"zygote: {name} is not imported ahead: {type(error).__name__}: {error}"[:500], file=sys.stderr)
            drop(name.partition(".")[0])


def drop(top):
    """Half a package would not be made whole by another import."""
    for name in [m for m in sys.modules if m == top or m.startswith(top + ".")]:
        del sys.modules[name]


def rehearse(driver):
    """All that the driver needs for a run, an exception, a result is read and imported here, and not in each fork."""
    import io
    for name in "values.py", "failure.py", "rich.py", "imports.py", "shadows.py":
        driver.beside(name)
    stderr, sys.stderr = sys.stderr, io.StringIO()
    try:
        exec(compile("def f(): f()\n1 / 0", driver.FILE, "exec"), {})
    except ZeroDivisionError as error:
        driver.beside("failure.py")["failure"](error, sys.excepthook, driver.__file__, driver.FILE)
    finally:
        sys.stderr = stderr
    driver.flush_native()
    driver.beside("values.py")["as_json"]({"a": [1, 2.5, "b", None]}, 1000)
    if "matplotlib.pyplot" in sys.modules:  # fonts are found once
        from io import BytesIO
        pyplot = sys.modules["matplotlib.pyplot"]
        pyplot.figure().add_subplot().set_title("a")
        pyplot.savefig(BytesIO(), format="png")
        pyplot.close("all")
        sys.modules["matplotlib.font_manager"]._get_font.cache_clear()


def drop_exits():
    """At exit these free memory, which the kernel does anyway; a fork pays for each page that they look at."""
    for module, path in ("PIL._imaging", "clear_cache"), ("matplotlib._pylab_helpers", "Gcf.destroy_all"), ("logging", "shutdown"):
        thing = sys.modules.get(module)
        for name in path.split("."):
            thing = getattr(thing, name, None)
        if thing is not None:
            atexit.unregister(thing)


def call_directly(functions, direct):
    """Functions of C of one pointer, NULL here: ctypes looks at more pages than they do."""
    for name, function in functions.items():
        import ctypes
        functions[name] = direct(ctypes.cast(function, ctypes.c_void_p).value)


def thread_setters():
    """Those of SET_THREADS that are there.  Such a library has many names, so what is loaded is looked through."""
    if "numpy" not in sys.modules:
        return []
    import ctypes
    import re
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = set(re.findall(r"/.*(?:blas|gomp|mkl_rt|blis).*\.so.*", maps.read()))
    found = {}
    for library in map(ctypes.CDLL, sorted(paths)):
        for name in SET_THREADS:
            if hasattr(library, name):
                found[ctypes.cast(getattr(library, name), ctypes.c_void_p).value] = getattr(library, name)
    return list(found.values())


def check_descriptors(known):
    """A fork closes all but its own: what a library holds open would be another file there, or none."""
    gc.collect()
    left = [f"{number} {os.readlink(f'/proc/self/fd/{number}')}" for number in os.listdir("/proc/self/fd")
            if int(number) not in known and os.path.exists(f"/proc/self/fd/{number}")]
    if left:
        print(f"zygote: held open by a library: {', '.join(left)}"[:500], file=sys.stderr)


def generators(module, kind):
    """Those of a kind of random numbers' generators that imports made."""
    kind, stateless = getattr(sys.modules.get(module), kind, ()), getattr(sys.modules.get("random"), "SystemRandom", ())
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kind) and not issubclass(type(thing), stateless)]


def words_of(twister):
    """The state of a Mersenne Twister of numpy's as writable bytes, or None where it does not lie so."""
    import ctypes
    numpy, words, others = sys.modules["numpy"], os.urandom(TWISTER), os.urandom(TWISTER)
    try:  # 624: all words are used up
        twister.state = {"bit_generator": "MT19937", "state": {"key": numpy.frombuffer(words, numpy.uint32), "pos": 624}}
        memory = memoryview((ctypes.c_ubyte * TWISTER).from_address(twister.ctypes.state_address)).cast("B")
        if memory != words:
            return None
        memory[:] = others
        return memory if twister.state["state"]["key"].tobytes() == others else None
    except (AttributeError, KeyError, TypeError, ValueError):  # it is no twister, or of another numpy
        return None


def numpy_renewal(bits):
    """A twister, of which there is always one, has its words written: to seed it by its method costs a fork 100 pages."""
    if words := words_of(bits):  # which are its memory for as long as somebody holds it
        return lambda held=bits: words.__setitem__(slice(None), os.urandom(TWISTER))
    return lambda: setattr(bits, "state", type(bits)().state)


def sequence_renewal(sequence):
    """What a generator was seeded with, which seeds those that are spawned from it, lies in words that a fork writes."""
    import numpy
    words = numpy.frombuffer(bytearray(16 + sequence.pool.nbytes), numpy.uint32)
    entropy, pool = words[:4], words[4:]
    sequence.__setstate__((entropy, sequence.n_children_spawned, pool, *sequence.__reduce__()[2][3:]))
    if sequence.entropy is not entropy or sequence.pool is not pool:
        raise LookupError("a SeedSequence of this numpy has its words elsewhere")
    memory = memoryview(words).cast("B")
    return lambda: memory.__setitem__(slice(None), os.urandom(len(memory)))


def python_renewal(state):
    """Random's own seed() is that of its base with some Python around it; a library's class may have another."""
    if type(state).seed is not sys.modules["random"].Random.seed:
        return state.seed
    return lambda seed=sys.modules["_random"].Random.seed: seed(state)


def streams():
    """As the interpreter makes them at its start."""
    import io
    for name, fd, mode in ("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w"):
        raw = io.FileIO(fd, mode, closefd=False)
        raw.name = f"<{name}>"
        buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        text = io.TextIOWrapper(buffer, encoding="utf-8", errors=getattr(sys, name).errors,
                                line_buffering=fd == 2)
        text.mode = mode
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)


def forget():
    """What was drawn from the system's random numbers, and is drawn again by whoever needs it."""
    if uuid := sys.modules.get("uuid"):
        uuid._node = uuid._last_timestamp = None
    if tempfile := sys.modules.get("tempfile"):
        tempfile._name_sequence = tempfile.tempdir = None
    for state in generators("random", "Random"):
        state.gauss_next = None
    for state in generators("numpy.random", "RandomState"):
        state.set_state({**state.get_state(legacy=False), "has_gauss": 0})


# Modules, kinds of what they made, and what makes it anew.
RENEWED = (("numpy.random", "BitGenerator", numpy_renewal), ("numpy.random.bit_generator", "SeedSequence", sequence_renewal),
           ("random", "Random", python_renewal))


def renewals():
    """What each fork calls: what came from the system's random numbers or clock before comes from them once more."""
    modules = sys.modules
    calls = []
    for module, kind, renewal in RENEWED:
        made = generators(module, kind)
        if module in modules and not made:  # then another version has them elsewhere, and there had better be no zygote
            raise LookupError(f"no {kind} of {module} is found, of which there is always one")
        calls += map(renewal, made)
    if set_native_id := getattr(getattr(modules.get("threading"), "_main_thread", None), "_set_native_id", None):
        calls.append(set_native_id)
    if "_ssl" in modules:
        calls.append(lambda: modules["_ssl"].RAND_add(os.urandom(32), 32.0))
    if process := modules.get("multiprocessing.process"):
        calls.append(lambda: process.current_process()._config.update(
            authkey=process.AuthenticationString(os.urandom(32))))
    if (logging := modules.get("logging")) and isinstance(logging._startTime, float):
        import time
        calls.append(lambda: setattr(logging, "_startTime", time.time()))
    return calls


def settle(environment):
    """As a start from the file would find it; whatever can be done before the fork need not be done in each."""
    os.environ.clear()
    os.environ.update(environment)
    streams()
    sys.orig_argv = [sys.executable, "-I", "-B", os.path.join(HERE, "driver.py")]


def become(told, calls, setters):
    """In the fork, whose signals, descriptors, directory and jail the builder arranged."""
    if told is not None:
        os.environ.clear()
        os.environ.update(pair.split("=", 1) for pair in told)
        threads = min(int(os.environ.get(ONE_THREAD[0], 1)), len(os.sched_getaffinity(0)))
        for set_threads in setters:
            set_threads(threads)
    for call in calls:
        call()


def main():
    bare, environment = set(sys.modules), dict(os.environ)
    descriptors = set(map(int, os.listdir("/proc/self/fd")))
    gc.disable()
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    driver = load("driver")
    zygote = load_extension("_zygote")
    zygote.line_up()
    sys.meta_path.insert(0, driver.Arrivals({"matplotlib": driver.lend_fonts}))
    register, os.register_at_fork = os.register_at_fork, sparing(os.register_at_fork, zygote.spared)
    import_all(sys.argv[1].split(","))
    os.register_at_fork = register
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, driver.Arrivals)]
    rehearse(driver)
    drop_exits()
    call_directly(driver.flushes, zygote.direct)
    forget()
    calls, setters = renewals(), thread_setters()
    settle(environment)
    rehearsals = [SHORT, LONG] if LONG_NEEDS <= sys.modules.keys() else [SHORT]
    waiting = driver.Driver(frozenset(set(sys.modules) - bare), rehearsals)
    waiting.warm_up()
    check_descriptors(descriptors)
    gc.freeze()
    gc.enable()  # there is nothing here that it would look at
    become(zygote.serve(), calls, setters)
    waiting.serve(zygote)


main()
