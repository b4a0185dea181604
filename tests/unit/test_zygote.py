#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Python's zygote: what its forks have in common, which is no random number, and what they do ahead.

    test_zygote.py DIRECTORY        of the drivers

test_drivers.py has what a fork and a cold start do alike.
"""

import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from talk import Talk, Zygote  # noqa: E402


def test_forks_of_a_zygote_have_nothing_in_common(directory):
    try:
        import numpy  # noqa: F401
        modules = "random,uuid,tempfile,secrets,ssl,multiprocessing,logging,nothing_of_that_name,numpy,numpy.random"
    except ImportError:
        modules = "random,uuid,tempfile,secrets,ssl,multiprocessing,logging,nothing_of_that_name"
    code = """
import random, uuid, tempfile, ssl, multiprocessing, os, sys, json
told = [random.random(), str(uuid.uuid4()), next(tempfile._get_candidate_names()), ssl.RAND_bytes(8).hex(),
        bytes(multiprocessing.current_process().authkey).hex()]
if "numpy" in sys.modules:
    import numpy
    told += [numpy.random.rand(), numpy.random.default_rng().random()]
assert os.environ["MARK"] == "kept" and "OMP_NUM_THREADS" not in os.environ and "MPLCONFIGDIR" not in os.environ
assert sys.argv == [os.getcwd() + "/code.py"] and sys.orig_argv[-1].endswith("driver.py") and sys.path[0] == os.getcwd()
assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
told
"""
    zygote = Zygote(os.path.join(directory, "python"), modules)
    results = []
    for _ in range(3):
        with Talk(zygote=zygote) as talk:
            reply = talk.program(code)
            assert reply.status == 0, talk.err()
            results.append(reply.result)
    for column in zip(*results):
        assert len(set(map(str, column))) == 3, results
    with Talk(zygote=zygote) as talk:
        reply = talk.program("import multiprocessing as m, subprocess, sys, threading\n"
                             "print(m.get_context('fork').Pool(2).map(abs, [-1]), m.get_context('spawn').Pool(1).map(abs, [-2]))\n"
                             "print(subprocess.run([sys.executable, '-c', 'print(3)'], capture_output=True).stdout)\n"
                             "t = threading.Thread(target=print, args=('thread',)); t.start(); t.join(); threading.active_count()")
        assert reply.status == 0 and talk.out() == "[1] [2]\nb'3\\n'\nthread\n", (talk.err(), reply.frames)
    errors = zygote.close()
    assert errors.startswith("zygote: nothing_of_that_name is not imported ahead") and errors.count("\n") == 1, errors


def zygote_module(directory):
    """zygote.py as a module, without its main()."""
    path = os.path.join(directory, "python", "zygote.py")
    scope = {"__name__": "zygote", "__file__": path}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read().removesuffix("main()\n"), path, "exec"), scope)
    return scope


def draw_all(draws):
    return [draw(0, 1) if draw.__name__ == "gauss" else draw() for draw in draws]


def seeds_of(sequence, spawned=False):
    return lambda: int((sequence.spawn(1)[0] if spawned else sequence).generate_state(1, "u8")[0])


def in_a_fork(call):
    near, far = os.pipe()
    if os.fork() == 0:
        try:
            os.write(far, json.dumps(call()).encode())
        finally:
            os._exit(0)
    os.close(far)
    with open(near, encoding="utf-8") as answer:
        os.wait()
        return json.load(answer)


def test_every_generator_is_made_anew(directory):
    """Of each kind that a module may have made when it was imported; also half of a pair of normal numbers, kept for later."""
    draws = [random.Random(1).gauss, random.Random(1).random]
    try:
        import numpy.random as numpy
    except ImportError:
        pass
    else:
        kinds = "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"
        draws += [numpy.Generator(getattr(numpy, kind)(1)).random for kind in kinds]
        draws += [numpy.RandomState(getattr(numpy, kind)(1)).normal for kind in kinds] + [numpy.RandomState(1).normal]
        for sequence in numpy.SeedSequence(0), numpy.SeedSequence([1, 2], pool_size=8), numpy.SeedSequence().spawn(1)[0]:
            draws += [seeds_of(sequence), seeds_of(sequence, spawned=True)]
    zygote = zygote_module(directory)
    drawn = [draw_all(draws)]  # of a pair one is left
    zygote["forget"]()
    renewals = zygote["renewals"]()
    for _ in range(2):
        drawn.append(in_a_fork(lambda: [renew() for renew in renewals] and draw_all(draws)))
    for column in zip(*drawn):
        assert len(set(column)) == 3, drawn


def test_a_generator_that_is_written_to_is_held(directory):
    """It may be garbage of an import, and what is written in each fork would be somebody else's memory."""
    import numpy.random as numpy
    zygote = zygote_module(directory)
    for kind in "MT19937", "PCG64":
        bits = getattr(numpy, kind)(1)
        before = sys.getrefcount(bits)
        renewal = zygote["numpy_renewal"](bits)
        assert callable(renewal) and sys.getrefcount(bits) > before, kind


def test_no_zygote_without_its_generators(directory):
    """Where they are not found, all forks would draw the same numbers: then none is made."""
    zygote, ours = zygote_module(directory), sys.modules["random"]
    sys.modules["random"] = type(sys)("random")
    try:
        zygote["renewals"]()
    except LookupError as error:
        assert "no Random of random" in str(error), error
    else:
        raise AssertionError("made without")
    finally:
        sys.modules["random"] = ours


def faults_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rpartition(")")[2].split()[7])


def copied_pages(zygote, wanted):
    """Pages that a run copies, in a fork that has rehearsed, or in one that was wanted before it could."""
    with Talk(zygote=zygote, wanted=wanted) as talk:
        assert wanted or talk.frame() == (b"I", b"")
        before = faults_of(talk.pid)
        talk.send(b"C", "print(1)")
        assert talk.answer().status == 0 and talk.out() == "1\n", talk.err()
        return faults_of(talk.pid) - before


def test_a_rehearsed_run_copies_fewer_pages(directory):
    """What only a real run did, its way to the end too, would be copied while somebody waits."""
    zygote = Zygote(os.path.join(directory, "python"), "json,re,collections")
    rehearsed, others = ([copied_pages(zygote, wanted) for _ in range(5)] for wanted in (False, True))
    assert zygote.close() == ""
    assert 10 * min(rehearsed) < min(others), (rehearsed, others)


def test_a_rehearsal_ends_nothing(directory):
    """What a module imported ahead does at the end is done at the program's end, once."""
    zygote = Zygote(os.path.join(directory, "python"), "json,re,collections,logging,concurrent.futures.thread")
    with Talk(zygote=zygote) as talk:
        assert talk.frame() == (b"I", b"")
        reply = talk.program("from concurrent.futures import ThreadPoolExecutor\nimport atexit, logging\n"
                             "atexit.register(logging.warning, 'last')\n"
                             "with ThreadPoolExecutor(2) as pool: print(list(pool.map(str, range(3))))\n"
                             "pool = ThreadPoolExecutor(1)\npool.submit(print, 'late')\nprint('on')")
        assert (reply.status, sorted(talk.out().split("\n"))) == (0, ["", "['0', '1', '2']", "late", "on"]), (reply.frames, talk.err())
        assert talk.err() == "WARNING:root:last\n"
    assert zygote.close() == ""


def test_what_is_kept_back_is_written_at_the_end(directory):
    """By logging, which a zygote takes from the exit functions, and by libc, which it calls without ctypes."""
    zygote = Zygote(os.path.join(directory, "python"), "json,re,collections,logging,logging.handlers,ctypes")
    with Talk(zygote=zygote) as talk:
        reply = talk.program("import atexit, ctypes, logging.handlers as handlers, sys\n"
                             "keeping = handlers.MemoryHandler(9, target=handlers.logging.StreamHandler(sys.stdout))\n"
                             "handlers.logging.getLogger().addHandler(keeping)\n"
                             "atexit.register(handlers.logging.warning, 'last')\n"
                             "ctypes.CDLL(None).printf(b'first ')")
        assert (reply.status, sorted(talk.out().split())) == (0, ["first", "last"]), (reply.frames, talk.err())
    assert zygote.close() == ""


def test_nothing_of_the_workspace_is_run_ahead(directory):
    """A file that comes while an interpreter waits, and rehearses what longer programs use."""
    zygote = Zygote(os.path.join(directory, "python"), "json,re,collections")
    with Talk(zygote=zygote) as talk:
        with open(os.path.join(talk.workspace, "json.py"), "w", encoding="utf-8") as file:
            file.write("open('ran', 'w').close()\nmine = 1")
        time.sleep(0.5)
        assert os.listdir(talk.workspace) == ["json.py"]
        assert talk.statement("import json; json.mine").result == 1, talk.err()
    errors = zygote.close()
    assert errors == "", errors


def main():
    cases.run(sys.modules[__name__], os.path.abspath(sys.argv[1]))


main()
