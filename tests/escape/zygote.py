# SPDX-License-Identifier: Apache-2.0
"""Forks of a zygote (X-04, X-09): as isolated as a program started from its file; none knows of another."""

import contextlib
import os
import re
import shutil
import signal
import tempfile
import time

import box as boxes
import posture

# The part of a process's posture that the host cannot see.
INSIDE = r"""
import ctypes, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.getauxval.restype = ctypes.c_ulong
def prctl(option):
    room = ctypes.c_int(-1)
    return libc.prctl(option, ctypes.byref(room), 0, 0, 0), room.value
for name, option in {"dumpable": 3, "securebits": 27, "no_new_privs": 39, "keepcaps": 7, "child_subreaper": 37, "seccomp": 21, "timing": 13,
                     "timerslack": 30, "thp": 42, "mce": 34, "parent_death": 2, "tsc": 25, "io_flusher": 58}.items():
    tell(name, prctl(option))
tell("secure", libc.getauxval(23)); tell("personality", libc.personality(0xffffffff))
for which in 0, 1, 2: tell(f"itimer{which}", signal.getitimer(which))
tell("alarm", signal.alarm(0)); tell("umask", oct(os.umask(0o22))); tell("cwd", os.getcwd())
tell("mask", sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
for number in sorted(signal.valid_signals()):
    tell(f"disposition{number}", getattr(signal.getsignal(number), "__qualname__", signal.getsignal(number)))
tell("stack", (libc.sigaltstack(None, ctypes.byref(ctypes.create_string_buffer(64)))))
for name in sorted(n for n in dir(resource) if n.startswith("RLIMIT_")):
    try: tell(name, resource.getrlimit(getattr(resource, name)))
    except (ValueError, OSError) as error: tell(name, type(error).__name__)
tell("nice", os.getpriority(os.PRIO_PROCESS, 0)); tell("policy", os.sched_getscheduler(0)); tell("processors", len(os.sched_getaffinity(0)))
tell("groups", os.getgroups()); tell("ids", (os.getresuid(), os.getresgid())); tell("pid", (os.getpid(), os.getppid(), os.getsid(0), os.getpgrp()))
for name, value in sorted(os.environ.items()): tell("env_" + name, value)
tell("environ", sorted(os.environ) == sorted(k.decode() for k in os.environb))
for fd in range(256):
    try: tell(f"fd{fd}", (oct(os.fstat(fd).st_mode), os.get_inheritable(fd)))
    except OSError: pass
import threading, sys, gc
tell("threads", threading.active_count()); tell("flags", sys.flags); tell("path", sys.path); tell("argv", sys.argv); tell("orig", sys.orig_argv)
tell("streams", [(s.encoding, s.errors, s.line_buffering, s.fileno(), s.isatty()) for s in (sys.stdin, sys.stdout, sys.stderr)])
tell("hooks", (sys.excepthook is sys.__excepthook__, sys.gettrace(), sys.getprofile(), sys.getrecursionlimit(), gc.isenabled(), gc.get_threshold()))
tell("main", sorted(n for n in globals() if n.startswith("__")))
for name in "environ", "auxv", "maps", "status", "io", "limits", "cmdline":
    attempt("proc_" + name, open, "/proc/self/" + name, "rb")
attempt("stdout", open, "/dev/stdout", "w")
"""
# Lines of /proc/PID/status that differ per process: counters of use, and its own ids.
OWN_LINES = {"Name", "Tgid", "Pid", "PPid", "NStgid", "NSpid", "NSpgid", "NSsid", "Uid", "Gid", "VmPeak", "VmSize", "VmHWM", "VmRSS", "RssAnon", "RssFile",
             "RssShmem", "VmData", "VmStk", "VmExe", "VmLib", "VmPTE", "FDSize", "SigQ", "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches", "State"}
FILES = "limits", "oom_score_adj", "coredump_filter", "loginuid", "sessionid", "timerslack_ns", "personality", "uid_map", "gid_map", "setgroups", "timers"


# What a program imports that is to have what a fork has: numpy's threads are there from its import on.
IMPORTS = {"warm": "", "warm libraries": "try: import numpy\nexcept ImportError: pass\n"}


def outside(box, start, imports):
    """The posture of a sleeping program, from the host's /proc."""
    code = imports + "import time; time.sleep(60)"
    waiting = box.begin(code, start=start, cpu_milli=2000)
    try:
        _, pid = box.inmates()[0]
        boxes.until(lambda: posture.in_call(pid, posture.NANOSLEEP))
        seen = {f"status {k}": v for k, v in boxes.status(pid).items() if k not in OWN_LINES}
        for name in FILES:
            with contextlib.suppress(OSError):
                seen[name] = boxes.read(f"/proc/{pid}/{name}")
        fields = boxes.read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()
        seen["stat"] = [fields[i] for i in (4, 5, 6, 14, 15, 16, 17, 38, 39)]  # terminal, flags but counters, priority, policy
        seen["stat"][2] = int(seen["stat"][2]) & ~0x4400140  # exec's, fork's and superuser's traces in the kernel's own flags
        seen["root"], seen["cwd"] = os.readlink(f"/proc/{pid}/root"), os.readlink(f"/proc/{pid}/cwd")
        seen["mounts"] = [line.split()[4:] for line in boxes.read(f"/proc/{pid}/mountinfo").splitlines()]
        seen["mounts"] = [[word for word in line if not word.startswith(("shared:", "master:", "uid=", "gid="))] for line in seen["mounts"]]
        seen["fds"] = {fd: re.sub(r"\[.*", "", os.readlink(f"/proc/{pid}/fd/{fd}")) for fd in os.listdir(f"/proc/{pid}/fd")}
        seen["shared"] = [line for line in boxes.read(f"/proc/{pid}/maps").splitlines() if line.split()[1][1] == "w" and line.split()[1][3] == "s"]
        seen["writable and executable"] = [line for line in boxes.read(f"/proc/{pid}/maps").splitlines() if line.split()[1].startswith("rwx")]
        seen["locks"] = sum(f" {pid} " in line for line in boxes.read("/proc/locks").splitlines())
        # Each sandbox has its own uid.
        return {name: re.sub(r"\b[78]\d{8}\b|\b20\d{8}\b", "UID", str(value)) for name, value in seen.items()}
    finally:
        waiting.kill()


def differ(one, other):
    return {name: (one.get(name), other.get(name)) for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def test_I15_same_from_outside(box):
    """I11 to I15: every line of the posture, as the host sees it, is the same for both ways to start; no mapping is shared and writable."""
    for start, imports in IMPORTS.items():
        cold, warm = (outside(box, how, imports) for how in ("cold", start))
        assert not differ(cold, warm), (start, differ(cold, warm))
        assert warm["shared"] == "[]", warm["shared"]


def test_I15_same_from_inside(box):
    """I11 to I15: the same as the program sees it: signals, timers, limits, streams, environment, descriptors, prctl."""
    for milli in 1000, 2000:
        cold, warm = (box.tries(INSIDE, start=start, cpu_milli=milli) for start in ("cold", "warm"))
        assert not differ(cold, warm), differ(cold, warm)
        assert len(cold) > 100 and cold["parent_death"] == "(0, 0)", cold
        assert {name[4:]: value for name, value in cold.items() if name.startswith("env_")} == boxes.environment(milli // 1000)


def test_X09_nothing_random_repeats(box):
    """X-09: random numbers of every library differ from fork to fork; only the values that zygote.py names are common."""
    code = """
import random, secrets, uuid, tempfile, ssl, os, multiprocessing, hashlib, email.utils
import numpy
bits = numpy.random.mtrand._rand._bit_generator
seeds = getattr(bits, "seed_seq", None) or bits._seed_seq
for name, value in {"random": random.random(), "choice": random.getrandbits(64), "instance": random.Random().random(), "secrets": secrets.token_hex(),
                    "uuid4": uuid.uuid4(), "uuid1": uuid.uuid1(), "node": uuid.getnode(), "ssl": ssl.RAND_bytes(8), "temporary": tempfile.mktemp(),
                    "file": tempfile.mkstemp()[1], "urandom": os.urandom(8), "legacy": numpy.random.rand(), "generator": numpy.random.default_rng().random(),
                    "sequence": seeds.generate_state(1), "spawned": seeds.spawn(1)[0].generate_state(1),
                    "key": bytes(multiprocessing.current_process().authkey), "system": random.SystemRandom().random(),
                    "libc": bytes(os.getrandom(8)), "boundary": email.utils.make_msgid()}.items(): tell(name, value)
"""
    seen = [box.tries(code, start="warm libraries") for _ in range(6)]
    same = {name: seen[0][name] for name in seen[0] if len({s[name] for s in seen}) < 6}
    assert not same and len(seen[0]) == 19, same


def test_X09_its_own_forks_are_made_anew(box):
    """X-09: the zygote's forks skip the libraries' fork handlers; the program's own forks run them, with new random numbers and one thread."""
    code = """
import logging, os, random, threading
def fork(call):
    near, far = os.pipe(); pid = os.fork()
    if pid == 0:
        try: os.write(far, repr(call()).encode())
        finally: os._exit(0)
    os.waitpid(pid, 0); os.close(far); return os.read(near, 100).decode()
def hold():
    with logging._lock: held.set(); let_go.wait(0.5)
held, let_go = threading.Event(), threading.Event()
threading.Thread(target=let_go.wait, daemon=True).start()
tell("native", threading.main_thread().native_id == threading.get_native_id())
tell("threads", fork(threading.active_count)); tell("random", fork(random.random) != fork(random.random))
threading.Thread(target=hold, daemon=True).start(); held.wait(); tell("lock", fork(lambda: logging._lock.acquire(False)))
"""
    for start in "cold", "warm libraries":
        assert box.tries(code, start=start) == {"native": "True", "threads": "1", "random": "True", "lock": "True"}, start


# Searches its own readable memory for words. Each byte is stored plus one, so that the search does not find itself.
SCAN = """
words, more = WORDS, bytes((b + 1) % 256 for b in range(256))
found, size = [], 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps.read().splitlines():
        span, flags = line.split()[:2]
        begin, end = (int(n, 16) for n in span.split("-"))
        if flags[0] != "r" or "[v" in line: continue
        while begin < end:
            try:
                memory.seek(begin); data = memory.read(min(end - begin, 1 << 22))
            except (OSError, ValueError, OverflowError): break
            found += [(w, line) for w in words if w in data.translate(more)]
            size += len(data); begin += len(data)
            if not data: break
tell("found", found); tell("enough", size > 4 << 20)
"""


def hidden(word):
    return bytes(b + 1 for b in word.encode())


def scan(box, words, **more):
    return box.tries(SCAN.replace("WORDS", repr([hidden(w) for w in words])), wall_ms=60000, **more)


def test_X04_memory_of_others(box):
    """X-04, S-09 (I1, I5): data of one program, and the start environment of the executor, is in no later fork's memory."""
    for start in "warm", "warm libraries":
        secret = "secret-" + os.urandom(12).hex()
        for _ in range(3):
            end = box.run(f"kept = [{secret!r} * 1000 for _ in range(100)]; os.environ['S'] = {secret!r}; print(1)", start=start, workspace="secret")
            assert end.exit_code == 0, end.err
        end = box.begin(f"kept = {secret!r}\nkept", start=start, workspace="secret session", session=True).end()
        assert end.result == f'"{secret}"', vars(end)
        seen = scan(box, [secret, box.canary], start=start)
        assert seen == {"found": "[]", "enough": "True"}, seen
        box.drop("secret"), box.drop("secret session")
    # The control: a program that has the data finds it.
    tries = box.tries(f"kept = {secret!r}\n" + SCAN.replace("WORDS", repr([hidden(secret)])), start="warm", wall_ms=60000)
    assert hidden(secret).decode() in tries["found"], tries


def test_X04_memory_of_the_zygote(box):
    """X-04: the zygote has none of that data either, and no descriptor of a sandbox."""
    secret = "secret-" + os.urandom(12).hex()
    for start in boxes.ZYGOTES:
        box.run(f"kept = {secret!r}\nprint(kept)\nraise ValueError(kept)", start=start)
    zygotes = box.zygotes()
    assert len(zygotes) == 2, zygotes
    for pid in zygotes:
        found = 0
        with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for line in maps:
                if line.split()[1][0] == "r" and "[v" not in line:
                    begin, end = (int(n, 16) for n in line.split()[0].split("-"))
                    with contextlib.suppress(OSError, ValueError, OverflowError):
                        memory.seek(begin)
                        found += secret.encode() in memory.read(end - begin)
        assert found == 0, "a zygote remembers"
        kinds = sorted(re.sub(r"\[.*|:.*", "", os.readlink(f"/proc/{pid}/fd/{fd}")) for fd in os.listdir(f"/proc/{pid}/fd"))
        # Null twice, the log, the builder, /proc, its children's ends, its own pid namespace.
        assert len(kinds) <= 8 and kinds.count("socket") <= 2, kinds


def test_P07_nobody_above_is_there(box):
    """P-06, P-07 (I16, I18): a fork cannot see, signal or trace its zygote, the builder, or pid 1; killing pid 1 has no effect."""
    box.run("pass", start="warm")
    above = {"zygote": box.zygotes()[0], "builder": box.builder, "keeper": boxes.children(box.process.pid)[0], "executor": box.process.pid}
    for start in "cold", "warm":
        tries = box.tries(f"""
import signal
libc = ctypes.CDLL(None, use_errno=True)
for name, pid in {above!r}.items():
    attempt("kill_" + name, os.kill, pid, 9)
    attempt("see_" + name, os.stat, f"/proc/{{pid}}")
    libc.ptrace(16, pid, 0, 0); tell("trace_" + name, errno.errorcode[ctypes.get_errno()])
tell("parent", os.getppid())
attempt("kill_parent", os.kill, os.getppid() or 1, 9)
attempt("group", os.killpg, 1, 9)
for number in range(1, 65):
    try: os.kill(1, number)
    except OSError: pass
tell("alive", True)
""", start=start)
        for name in above:
            got = tries["kill_" + name], tries["see_" + name], tries["trace_" + name]
            assert got == ("ESRCH", "ENOENT", "EPERM"), (start, name, got)
        assert tries["parent"] == "0" and tries["alive"] == "True", tries
        assert all(os.path.exists(f"/proc/{pid}") for pid in above.values())


def test_R01_exhaustion_leaves_the_zygote(box):
    """R-01, P-01 (I6, I7): forks that run out of memory or processes do not affect the zygote; the next fork is as fast."""
    box.run("pass", start="warm")
    zygotes = box.zygotes()
    for code in "l = []\nwhile True: l.append(b'x' * (1 << 20))", "while True:\n  try: os.fork()\n  except OSError: break", \
                "import gc\nwhile True: os.kill(os.getpid(), 11)", "os._exit(1)":
        box.run(code, start="warm", memory_mb=64, processes=16, wall_ms=3000)
    began = time.monotonic()
    assert box.tries("tell('warm', True)", start="warm") == {"warm": "True"}
    assert time.monotonic() - began < 5 and box.zygotes() == zygotes


def test_I7_stops_wake_no_zygote(box):
    """I7: a program that stops and continues repeatedly costs no time of the zygote, which is outside of its limits."""
    def wakes():
        return sum(int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", boxes.read(f"/proc/{pid}/status"), re.M)[1]) for pid in box.zygotes())
    box.run("pass", start="warm")
    before = wakes()
    tries = box.tries("""
import signal, time
me, child = os.getpid(), os.fork()
if child == 0:
    for _ in range(300):
        os.kill(me, signal.SIGSTOP); time.sleep(0.0005); os.kill(me, signal.SIGCONT)
    os._exit(0)
tell("child", os.waitpid(child, 0)[1])
""", start="warm")
    assert tries == {"child": "0"} and wakes() - before < 50, (tries, wakes() - before)


def test_X14_zygote_killed(box):
    """X-14, I20: kill -9 of a zygote ends none of its forks and delays no waiting one; a new zygote is started."""
    box.run("pass", start="warm")
    for _ in range(3):
        alive = box.begin("import time; time.sleep(0.5); print(7)", start="warm")
        box.inmates()
        for pid in box.zygotes():
            os.kill(pid, signal.SIGKILL)
        others = [box.begin("print(8)", start="warm") for _ in range(5)]
        assert [w.end().out for w in others] == ["8\n"] * 5
        end = alive.end()
        assert (end.how, end.exit_code, end.out) == ("exited", 0, "7\n"), vars(end)
        time.sleep(1.1)
        assert box.tries("tell('again', True)", start="warm") == {"again": "True"} and len(box.zygotes()) >= 1


STARTS_ONE = """
import subprocess
with subprocess.Popen(["sleep", "1000"]) as child:
    child.terminate()
"""


def test_X14_imports_have_signals(box):
    """X-14: a module that starts a process at import and ends it does not block its zygote."""
    directory = tempfile.mkdtemp(prefix="cloister-escape-")
    os.chmod(directory, 0o755)
    with open(os.path.join(directory, "starts_one.py"), "w", encoding="ascii") as file:
        file.write(STARTS_ONE)
    put = f'mount --bind {directory} /usr/lib/python3/dist-packages && exec "$@"'
    # Only root can install a module where zygotes see it.
    become = () if box.user is None else ("setpriv", f"--reuid={box.user}", f"--regid={box.user}", "--clear-groups")
    other = boxes.Box(box.directory, box.probe, prefix=("unshare", "--mount", "sh", "-c", put, "sh", *become), zygotes=["starts_one"])
    try:
        assert other.tries("tell('there', 'starts_one' in sys.modules)", start="warm", wall_ms=60000) == {"there": "True"}
    finally:
        other.stop()
        shutil.rmtree(directory)


@contextlib.contextmanager
def with_module(box, name):
    """Sandboxes whose zygotes use this module of tests/ (dying.c) instead of theirs."""
    directory = tempfile.mkdtemp(prefix="cloister-escape-")
    other = None
    try:
        os.chmod(directory, 0o755)
        for program in "box_run", "cloister-builder", "cloister-init", "cloister-csv":
            shutil.copy(os.path.join(box.source, program), directory)
        shutil.copy(os.path.join(os.path.dirname(box.probe), name), os.path.join(directory, "_zygote.so"))
        other = boxes.Box(directory, box.probe, user=box.user)
        yield other
    finally:
        if other is not None:
            other.stop()
        shutil.rmtree(directory)


def test_X14_zygote_ends_before_it_tells(box):
    """X-14, I20: no second program is started beside an unreported fork, because the sandbox would confuse their messages;
    and the rest of such a fork delays no sandbox's end.  LATE: it waits for a program; FIRST: it died; BLIND: its zygote lives, without a descriptor of it."""
    for how in "LATE", "FIRST", "BLIND":
        with with_module(box, f"zygote_{how}.so") as other:
            began = other.begin("a = 1\na", start="warm", session=True, workspace="told").end()
            assert (began.result, began.warm) == ("1", False), (how, vars(began))
            assert len(other.alive()) == 2, (how, other.alive())
            for number in range(2, 6):
                end = other.begin("a += 1\na", start="warm", session=True, workspace="told").end()
                assert getattr(end, "result", None) == str(number), (how, vars(end))
            other.drop("told")
            end = other.run("print(1)", start="warm libraries")
            assert (end.out, end.warm) == ("1\n", False), (how, vars(end))


def test_X14_a_terminals_signals_are_not_for_zygotes(box):
    """X-14: signals of a terminal to its processes end no zygote, and none is pending in a fork."""
    box.run("pass", start="warm")
    zygotes = box.zygotes()
    for number in signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP:
        for pid in zygotes:
            os.kill(pid, number)
    tries = box.tries("import signal; tell('pending', signal.sigpending()); tell('slept', __import__('time').sleep(0.1))", start="warm")
    assert tries == {"pending": "set()", "slept": "None"} and box.zygotes() == zygotes, tries


def test_I6_forks_are_bounded(box):
    """I6, X-14: after hundreds of forks the number of zygotes, their descriptors and their memory are the same."""
    def state():
        return {pid: (len(os.listdir(f"/proc/{pid}/fd")), int(boxes.read(f"/proc/{pid}/statm").split()[1])) for pid in box.zygotes()}
    def many(count):
        waiting = [box.begin("pass", start="warm") for _ in range(count)]
        assert all(w.end().how == "exited" for w in waiting)
    many(40)
    before = state()
    for _ in range(5):
        many(40)
    after = state()
    assert before.keys() == after.keys(), (before, after)
    assert all(before[p][0] == after[p][0] and after[p][1] - before[p][1] < 64 for p in before), (before, after)
