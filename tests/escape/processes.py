# SPDX-License-Identifier: Apache-2.0
"""Processes of a program (P): none leaves the sandbox, none outlives it, and its end is reported correctly."""

import os
import signal
import subprocess
import time


def test_P01_fork_bomb(box):
    """P-01 (I6, I8): a fork bomb meets the limit inside, gets EAGAIN, and ends with its sandbox."""
    before = len(os.listdir("/proc"))
    end = box.run("""
pids = 0
try:
    while True:
        if os.fork() == 0:
            import time; time.sleep(60); os._exit(0)
        pids += 1
except OSError as error: print(pids, errno.errorcode[error.errno])
""", processes=32)
    pids, name = end.out.split()
    assert name == "EAGAIN" and int(pids) <= 32, end.out
    assert end.too_many_processes or box.isolation["limits_by"] == "rlimit"
    assert len(os.listdir("/proc")) < before + 20


def test_P01_fork_bomb_by_shell(box):
    """P-01: the time limit ends the shell's fork bomb and all its processes."""
    end = box.run("os.system(':(){ :|:& };:'); import time; time.sleep(30)", processes=64, wall_ms=2000)
    assert end.how == "timed_out", end.how
    assert box.tries("attempt('fork', lambda: os.waitpid(os.fork() or os._exit(0), 0))") == {"fork": "done"}


def test_P01_thread_bomb(box):
    """P-01: threads count as processes do."""
    end = box.run("""
import threading, time
threading.stack_size(65536)
n = 0
try:
    while n < 1000: threading.Thread(target=time.sleep, args=(20,), daemon=True).start(); n += 1
except RuntimeError: pass
print(n, flush=True); os._exit(0)
""", processes=40)
    assert int(end.out) <= 40, end.out


def test_P02_double_fork(box):
    """P-02, F-20 (I8): a daemon with its own session, ignored signals and an open directory is dead at the end."""
    end = box.run("""
import signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for s in range(1, 65):
            try: signal.signal(s, signal.SIG_IGN)
            except (OSError, ValueError): pass
        os.open("/workspace", os.O_PATH | os.O_DIRECTORY)
        for fd in 0, 1, 2, 3: os.close(fd)
        while True: time.sleep(1)
    os._exit(0)
os.wait()
print("left")
""")
    assert (end.how, end.out) == ("exited", "left\n"), (end.how, end.out, end.err)


def test_P03_forking_without_end(box):
    """P-03 (I8): processes that fork faster than anyone could kill them are gone when the end is reported."""
    end = box.run("""
import time
def run():
    while True:
        try:
            if os.fork(): os._exit(0)
        except OSError: pass
for _ in range(8):
    if os.fork() == 0: run()
time.sleep(0.3)
""", processes=64)
    assert end.how == "exited", end.how


def test_P04_stopped(box):
    """P-04: a program that stops itself, or waits in vfork, ends at its time limit."""
    for code in "import signal; os.kill(os.getpid(), signal.SIGSTOP)", \
                "import ctypes; libc = ctypes.CDLL(None); libc.vfork() or libc.pause()":
        began = time.monotonic()
        end = box.run(code, wall_ms=700)
        assert end.how == "timed_out" and time.monotonic() - began < 5, (code, end.how)


def test_P05_deaf(box):
    """P-05: no signal, priority or policy makes a program live longer or run before others."""
    end = box.run("""
import signal, time
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
attempt("nice", os.nice, -5)
attempt("fifo", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
if os.sched_getscheduler(0) == os.SCHED_IDLE: attempt("fifo", os.sched_setscheduler, 0, os.SCHED_OTHER, os.sched_param(0))
attempt("idle_to_rr", os.sched_setscheduler, 0, os.SCHED_RR, os.sched_param(1))
while True: time.sleep(1)
""", wall_ms=1000)
    assert end.how == "timed_out", end.how
    assert end.out.splitlines() == ["nice EPERM", "fifo EPERM", "idle_to_rr EPERM"] or \
        end.out.splitlines() == ["nice EACCES", "fifo EPERM", "idle_to_rr EPERM"], end.out


def test_P06_signals_stay_inside(box):
    """P-06 (I2): signals to every pid reach no process of the host, and not the sandbox's own pid 1."""
    with subprocess.Popen(["sleep", "60"], **({} if box.user is None else {"user": box.user})) as sleeper:
        tries = box.tries("""
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
reached = []
for pid in list(range(1, 40000)):
    if pid == os.getpid(): continue
    try: os.kill(pid, signal.SIGKILL); reached.append(pid)
    except ProcessLookupError: pass
    except OSError as error: tell(pid, errno.errorcode[error.errno])
tell("reached", reached)
attempt("all", os.kill, -1, signal.SIGKILL)
""")
        alive = sleeper.poll() is None
        sleeper.kill()
    assert alive, "a process of the host was killed"
    # The kernel accepts a SIGKILL for pid 1 from inside and ignores it.
    assert tries["reached"] in ("[1]", "[]"), tries
    assert tries["all"] in ("ESRCH", "done"), tries


def test_P07_no_tracing(box):
    """P-07, P-09 (I16): the box's pid 1 cannot be traced, read or written, nor can any other process."""
    tries = box.tries("""
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    import time; time.sleep(20); os._exit(0)
for name, pid in {"init": 1, "child": child}.items():
    for request, label in {16: "attach", 0x4206: "seize"}.items():
        libc.ptrace(request, pid, 0, 0)
        tell(f"{label}_{name}", errno.errorcode[ctypes.get_errno()])
for path in "/proc/1/mem", "/proc/1/environ", f"/proc/{child}/mem":
    attempt(path.replace(str(child), "child"), open, path, "r+b")
os.kill(child, 9)
""")
    assert tries.pop("/proc/1/mem") == tries.pop("/proc/1/environ") == "ENOENT", tries
    assert tries.pop("/proc/child/mem") in ("EACCES", "EROFS"), tries
    assert set(tries.values()) == {"EPERM"}, tries


def test_P08_init_cannot_be_killed(box):
    """P-08: no signal from inside ends, stops or changes the box's pid 1; the program's end is reported nevertheless."""
    end = box.run("""
for s in range(1, 65):
    try: os.kill(1, s)
    except OSError: pass
sys.exit(23)
""")
    assert (end.how, end.exit_code) == ("exited", 23), (end.how, end.exit_code)


def test_P10_namespaces_of_others(box):
    """P-10 (I12): there is no namespace to enter; links to one's own cannot be used."""
    tries = box.tries("""
libc = ctypes.CDLL(None, use_errno=True)
for name in "mnt", "pid", "net", "ipc", "uts", "user", "cgroup":
    try: fd = os.open("/proc/self/ns/" + name, os.O_RDONLY)
    except OSError as error: tell(name, errno.errorcode[error.errno]); continue
    libc.setns(fd, 0)
    tell(name, errno.errorcode[ctypes.get_errno()])
""")
    assert set(tries.values()) == {"EPERM"} and len(tries) == 7, tries


def test_P13_other_ways_to_run(box):
    """P-13: code started by the loader, from memory or under another name has the same restrictions."""
    tries = box.tries("""
import shutil, subprocess
show = "import os; s = open('/proc/self/status').read(); print([l.split()[1] for l in s.splitlines() if l.startswith(('NoNewPrivs', 'Seccomp:', 'CapEff', 'CapBnd', 'Uid'))])"
shutil.copy(sys.executable, "/workspace/other")
try: memory = os.memfd_create("python", 0)
except PermissionError: memory = os.open("/workspace/python", os.O_CREAT | os.O_RDWR, 0o755)  # where no cgroup would count it
with open(sys.executable, "rb") as file: os.write(memory, file.read())
os.close(memory) if os.path.exists("/workspace/python") else None
if os.path.exists("/workspace/python"): memory = os.open("/workspace/python", os.O_RDONLY)
loader = [p for p in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(p)][0]
ways = {"itself": [sys.executable], "loader": [loader, sys.executable], "renamed": ["/workspace/other"], "memory": [f"/proc/self/fd/{memory}"]}
for name, command in ways.items():
    out = subprocess.run([*command, "-I", "-c", show], capture_output=True, text=True, pass_fds=[memory]).stdout
    tell(name, out.strip())
""")
    assert set(tries.values()) == {"['1000', '0000000000000000', '0000000000000000', '1', '2']"}, tries


def test_P14_ends_are_told_exactly(box):
    """P-14 (I10): exit codes and signals come out as they went in; no core is left anywhere."""
    for code in 0, 1, 2, 77, 126, 127, 128, 137, 255:
        end = box.run(f"os._exit({code})")
        assert (end.how, end.exit_code) == ("exited", code), (code, end.how, end.exit_code)
    for number in signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGSYS, 64:
        end = box.run(f"import signal\nif {int(number)} != 9: signal.signal({int(number)}, signal.SIG_DFL)\nos.kill(os.getpid(), {int(number)})",
                      workspace="cores")
        assert (end.how, end.signal) == ("signalled", int(number)), (number, end.how, end.signal)
    assert box.tries("tell('files', os.listdir('/workspace') + os.listdir('/tmp'))", workspace="cores") == {"files": "[]"}
    box.drop("cores")


def test_P15_zombies(box):
    """P-15: a thousand children that nobody waits for count against the limit and are gone at the end."""
    end = box.run("""
n = 0
try:
    for n in range(1000):
        if os.fork() == 0: os._exit(0)
except OSError as error: print(n, errno.errorcode[error.errno])
""", processes=50)
    assert end.out.split()[1] == "EAGAIN" and int(end.out.split()[0]) <= 50, end.out


def test_P16_forged_frames(box):
    """P-16, V-10 (I10): what a program writes to the control channel concerns only itself and harms nobody else."""
    end = box.run("""
def frame(kind, payload, size=None): os.write(3, kind + (len(payload) if size is None else size).to_bytes(4, "little") + payload)
frame(b"R", b'"forged"')
frame(b"E", b"Liar\\n7\\nnot true")
frame(b"V", b"a\\n" * 1000)
os._exit(5)
""")
    # How it ended is not its own to say; the rest is.
    assert (end.how, end.exit_code, end.result, end.error_type) == ("exited", 5, '"forged"', "Liar"), vars(end)
    assert len(end.variables) == 256
    for payload in "b'X' + bytes(4)", "b'R' + b'\\xff' * 4", "b'R' + (1 << 20 | 1).to_bytes(4, 'little') + bytes(100)", "os.urandom(65536)", \
                   "b'C' + bytes(4)", "b'R\\x04\\0\\0\\0\\xff\\xfe\\xfd\\xfc'", "b'E\\x01\\0\\0\\0x'":
        end = box.run(f"import threading\ndata = {payload}\nos.write(3, data)\nos._exit(9)")
        assert (end.how, end.exit_code, getattr(end, "result", None)) == ("exited", 9, None), (payload, vars(end))
    end = box.run("""
import time
piece = b"R" + (1 << 20).to_bytes(4, "little") + b"a" * (1 << 20)
until = time.monotonic() + 1
while time.monotonic() < until: os.write(3, piece)
os._exit(0)
""")
    assert end.how == "exited" and len(end.result) <= 1 << 20, end.how
