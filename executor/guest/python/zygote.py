# SPDX-License-Identifier: Apache-2.0
"""zygote.py MODULE,MODULE,... - a Python interpreter that has imported these modules, and forks.

It runs no code of a guest and holds no data of a guest. It imports the modules and waits in _zygote.serve() for the
builder's orders. Each fork continues as if it had been started separately. State that two forks must not share is
renewed in each: random numbers, keys, streams, values derived from the clock. Memory addresses and the hashes of
strings remain shared. If that matters, set warm=off.
"""

import atexit
import gc
import os
import sys

# Without these a library would start threads here, which a fork does not inherit.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
# Memory allocators of pyarrow and polars that would start a thread to clean up.
QUIET = dict.fromkeys(("JE_ARROW_MALLOC_CONF", "_RJEM_MALLOC_CONF"), "background_thread:false")
# Functions that tell a library that was loaded with these how many threads it may use after the fork.
SET_THREADS = ("openblas_set_num_threads", "openblas_set_num_threads64_", "scipy_openblas_set_num_threads", "scipy_openblas_set_num_threads64_",
               "omp_set_num_threads", "MKL_Set_Num_Threads", "bli_thread_set_num_threads")
# Code that a fork runs before it is given a program.  Modules that it imports would take precedence over the program's
# own files, so the longer one runs only in zygotes that have already imported all that it needs.
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
# After a fork these modules reset locks that other threads held, but a zygote has only one thread; and reseed random,
# which renewals() does.  A program's own forks need these hooks.
SPARED = {"threading", "logging", "random", "concurrent.futures.thread"}
TWISTER = 624 * 4  # bytes of a Mersenne Twister's state
HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    """Loads a file in this directory as a module."""
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
    sys.modules.pop(name, None)  # programs must not find it there
    return module


def sparing(register, spared):
    """Replaces os.register_at_fork() during imports: the fork hooks of modules in SPARED cost each run some 100 pages."""
    def record(**hooks):
        if sys._getframe(1).f_globals.get("__name__") in SPARED:
            hooks = {when: spared(hook) for when, hook in hooks.items()}
        register(**hooks)
    return record


def import_all(names, environment):
    for name in filter(None, names):
        try:
            __import__(name)
        except Exception as error:  # not installed, or broken: the guest will get the same error
            print(f"zygote: {name} is not imported ahead: {type(error).__name__}: {error}"[:500], file=sys.stderr)
            drop(name.partition(".")[0])
        if len(os.listdir("/proc/self/task")) > 1:
            begin_without(name, names, environment)


def begin_without(name, names, environment):
    """Begins anew: a fork has one thread only, and may wait forever for what another one held or did."""
    print(f"zygote: {name} is not imported ahead: it starts a thread"[:500], file=sys.stderr)
    left = [other for other in names if other.partition(".")[0] != name.partition(".")[0]]
    os.execve(sys.executable, [sys.executable, "-I", "-B", os.path.join(HERE, "zygote.py"), ",".join(left)], environment)


def drop(top):
    """Removes a partly imported package, because another import would not complete it."""
    for name in [m for m in sys.modules if m == top or m.startswith(top + ".")]:
        del sys.modules[name]


def rehearse(driver):
    """Reads and imports here, and not in each fork, all that the driver needs for a run, an exception, a result."""
    import io
    for name in "values", "failure", "rich", "imports", "shadows", "manners", "lent", "ending", "as_file", "notebook", "interfaces":
        driver.beside(f"{name}.py")
    stderr, sys.stderr = sys.stderr, io.StringIO()
    try:
        exec(compile("def f(): f()\n1 / 0", driver.FILE, "exec"), {})
    except ZeroDivisionError as error:
        driver.beside("failure.py")["failure"](error, sys.excepthook, driver.__file__, driver.FILE)
    finally:
        sys.stderr = stderr
    driver.beside("ending.py")["flush_native"]()
    driver.beside("values.py")["as_json"]({"a": [1, 2.5, "b", None]}, 1000)
    if "matplotlib.pyplot" in sys.modules:  # so that fonts are searched once
        from io import BytesIO
        pyplot = sys.modules["matplotlib.pyplot"]
        pyplot.figure().add_subplot().set_title("a")
        pyplot.savefig(BytesIO(), format="png")
        pyplot.close("all")
        sys.modules["matplotlib.font_manager"]._get_font.cache_clear()


def drop_exits():
    """Unregisters exit functions that only free memory, which the kernel does anyway: a fork pays for each page they read."""
    for module, path in ("PIL._imaging", "clear_cache"), ("matplotlib._pylab_helpers", "Gcf.destroy_all"), ("logging", "shutdown"):
        thing = sys.modules.get(module)
        for name in path.split("."):
            thing = getattr(thing, name, None)
        if thing is not None:
            atexit.unregister(thing)


def call_directly(functions, direct):
    """Replaces ctypes for C functions of one pointer argument, NULL here: ctypes reads more pages than they do."""
    for name, function in functions.items():
        import ctypes
        if function is not None:
            functions[name] = direct(ctypes.cast(function, ctypes.c_void_p).value)


def thread_setters():
    """Returns the existing functions of SET_THREADS.  Such a library has many names, so the loaded ones are searched."""
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
    """Reports descriptors that libraries hold open: a fork closes all but its own, so they would be invalid or another file."""
    gc.collect()
    left = [f"{number} {os.readlink(f'/proc/self/fd/{number}')}" for number in os.listdir("/proc/self/fd")
            if int(number) not in known and os.path.exists(f"/proc/self/fd/{number}")]
    if left:
        print(f"zygote: held open by a library: {', '.join(left)}"[:500], file=sys.stderr)


def generators(module, kind):
    """Returns the random number generators of a kind that imports made."""
    kind, stateless = getattr(sys.modules.get(module), kind, ()), getattr(sys.modules.get("random"), "SystemRandom", ())
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kind) and not issubclass(type(thing), stateless)]


def words_of(twister):
    """Returns the state of a Mersenne Twister of numpy as writable bytes, or None if its layout differs."""
    import ctypes
    numpy, words, others = sys.modules["numpy"], os.urandom(TWISTER), os.urandom(TWISTER)
    try:  # 624: all words are used up
        twister.state = {"bit_generator": "MT19937", "state": {"key": numpy.frombuffer(words, numpy.uint32), "pos": 624}}
        memory = memoryview((ctypes.c_ubyte * TWISTER).from_address(twister.ctypes.state_address)).cast("B")
        if memory != words:
            return None
        memory[:] = others
        return memory if twister.state["state"]["key"].tobytes() == others else None
    except (AttributeError, KeyError, TypeError, ValueError):  # it is no Mersenne Twister, or numpy's version differs
        return None


def numpy_renewal(bits):
    """Writes the words of a Mersenne Twister (there is always one): its seed method would cost a fork 100 pages."""
    if words := words_of(bits):  # its memory, valid as long as bits is referenced
        return lambda held=bits: words.__setitem__(slice(None), os.urandom(TWISTER))
    return lambda: setattr(bits, "state", type(bits)().state)


def sequence_renewal(sequence):
    """Moves a generator's seed, which also seeds generators spawned from it, to words that a fork overwrites."""
    import numpy
    words = numpy.frombuffer(bytearray(16 + sequence.pool.nbytes), numpy.uint32)
    entropy, pool = words[:4], words[4:]
    sequence.__setstate__((entropy, sequence.n_children_spawned, pool, *sequence.__reduce__()[2][3:]))
    if sequence.entropy is not entropy or sequence.pool is not pool:
        raise LookupError("a SeedSequence of this numpy has its words elsewhere")
    memory = memoryview(words).cast("B")
    return lambda: memory.__setitem__(slice(None), os.urandom(len(memory)))


def python_renewal(state):
    """Calls the base class's seed(), around which Random's is a thin wrapper; a library's class may have another."""
    if type(state).seed is not sys.modules["random"].Random.seed:
        return state.seed
    return lambda seed=sys.modules["_random"].Random.seed: seed(state)


def output(fd):
    """The lowest layer of an output stream, made on a pipe: it keeps its first answer to whether it can seek, and a
    program's pipe cannot. If it could, io would call tell() when the program changes the stream's encoding."""
    import io
    near, far = os.pipe()
    kept = os.dup(fd)
    os.dup2(far, fd)
    try:
        raw = io.FileIO(fd, "w", closefd=False)
        raw.seekable()
    finally:
        os.dup2(kept, fd)
        for number in near, far, kept:
            os.close(number)
    return raw


def streams():
    """Makes the standard streams as the interpreter does at its start."""
    import io
    for name, fd, mode in ("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w"):
        raw = io.FileIO(fd, mode, closefd=False) if mode == "r" else output(fd)
        raw.name = f"<{name}>"
        buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        text = io.TextIOWrapper(buffer, encoding="utf-8", errors=getattr(sys, name).errors,
                                line_buffering=fd == 2)
        text.mode = mode
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)


def forget():
    """Drops values drawn from the system's random numbers. They are drawn again when needed."""
    if uuid := sys.modules.get("uuid"):
        uuid._node = uuid._last_timestamp = None
    if tempfile := sys.modules.get("tempfile"):
        tempfile._name_sequence = tempfile.tempdir = None
    for state in generators("random", "Random"):
        state.gauss_next = None
    for state in generators("numpy.random", "RandomState"):
        state.set_state({**state.get_state(legacy=False), "has_gauss": 0})


# Modules, kinds of the objects that they made, and functions that renew these.
RENEWED = (("numpy.random", "BitGenerator", numpy_renewal), ("numpy.random.bit_generator", "SeedSequence", sequence_renewal),
           ("random", "Random", python_renewal))


def renewals():
    """Returns functions that each fork calls, to renew values that came from the system's random numbers or clock."""
    modules = sys.modules
    calls = []
    for module, kind, renewal in RENEWED:
        made = generators(module, kind)
        if module in modules and not made:  # another version keeps them elsewhere; a zygote would be unsafe
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
    """Sets up what a start from the file would find, as far as it can be done before the fork."""
    os.environ.clear()
    os.environ.update(environment)
    streams()
    sys.orig_argv = [sys.executable, "-I", "-B", os.path.join(HERE, "driver.py")]


def become(told, calls, setters):
    """Runs in the fork. The builder has set up its signals, descriptors, directory and sandbox."""
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
    os.environ.update(dict.fromkeys(ONE_THREAD, "1") | QUIET)
    driver = load("driver")
    zygote = load_extension("_zygote")
    zygote.line_up()
    sys.meta_path.insert(0, driver.Arrivals({"matplotlib": driver.later("rich.py", "lend_fonts")}))
    register, os.register_at_fork = os.register_at_fork, sparing(os.register_at_fork, zygote.spared)
    import_all(sys.argv[1].split(","), environment)
    os.register_at_fork = register
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, driver.Arrivals)]
    rehearse(driver)
    drop_exits()
    call_directly(driver.beside("ending.py")["flushes"], zygote.direct)
    forget()
    calls, setters = renewals(), thread_setters()
    settle(environment)
    rehearsals = [SHORT, LONG] if LONG_NEEDS <= sys.modules.keys() else [SHORT]
    waiting = driver.Driver(frozenset(set(sys.modules) - bare), rehearsals)
    waiting.warm_up()
    check_descriptors(descriptors)
    gc.freeze()
    waiting.begin()  # a collection at the end of the program finds what its own names hold
    gc.enable()  # all other objects are frozen, so it scans none of them
    become(zygote.serve(), calls, setters)
    waiting.serve(zygote)


main()
