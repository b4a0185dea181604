# SPDX-License-Identifier: Apache-2.0
"""What a program can use up (R): the sandbox's share, with the correct reason, and nothing of the host or its neighbours."""

import os
import time

import box as boxes


def has_cgroup(box):
    """Without cgroups, rlimits limit each process and the builder watches the sandbox's memory; every result reports that."""
    return box.isolation["limits_by"] != "rlimit"


def has_share(box):
    """Without cgroups only whole processors can be assigned."""
    return not any(layer.startswith("cpu limit") for layer in box.isolation["missing"])


def resident(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def served_in(box):
    began = time.monotonic()
    assert box.tries("tell('served', True)") == {"served": "True"}
    return time.monotonic() - began


def available():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))


HOGS = {
    "heap": "l = []\nwhile True: l.append(b'x' * (1 << 20))",
    "mapping": "import mmap\nl = []\nwhile True:\n  m = mmap.mmap(-1, 1 << 24)\n  m.write(b'x' * (1 << 24)); l.append(m)",
    "memfd": "fd = os.memfd_create('x')\nwhile True: os.write(fd, b'x' * (1 << 20))",
    "children": "for _ in range(20):\n  if os.fork() == 0:\n    x = b'x' * (20 << 20)\n    import time; time.sleep(20); os._exit(0)\nfor _ in range(20): os.wait()",
    "thread": "import threading, time\ndef work():\n  if os.fork() == 0:\n    x = b'x' * (200 << 20)\n    time.sleep(20); os._exit(0)\n"
              "  os.wait()\nt = threading.Thread(target=work)\nt.start(); t.join()",
    "page_tables": "import mmap\nl = []\nwhile True:\n  m = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)\n"
                   "  for at in range(0, 1 << 30, 1 << 21): m[at] = 1\n  l.append(m)",
}


def test_R01_memory(box):
    """R-01, R-02 (I6): memory of every kind ends at the limit, with the reason, and is the host's again."""
    before = available()
    for name, code in HOGS.items():
        end = box.run(code, memory_mb=64, disk_mb=64, wall_ms=30000)
        if not has_cgroup(box) and name in ("memfd", "page_tables"):
            # What the builder cannot count is refused, or bounded by addresses.
            assert end.how == "exited" and end.error_type in ("PermissionError", "OSError"), (name, vars(end))
            continue
        # The kernel may kill the process that was about to exceed the limit.
        only_child = name == "children" or (name == "thread" and has_cgroup(box))
        died_of_it = end.how == "out_of_memory" or (only_child and end.how == "exited")
        assert died_of_it, (name, end.how, end.exit_code, end.err)
        # The limit on what is not files, and the kernel's on all of it; without that one, what is held between two looks.
        assert end.max_memory_bytes <= (64 + 64 + 16 if has_cgroup(box) else 2000) << 20, (name, end.max_memory_bytes)
    boxes.until(lambda: before - available() < 512 << 20)  # others are at work on this machine, too


def test_R03_disk(box):
    """R-03, R-04 (I6): bytes and names end with ENOSPC, in the workspace and in /tmp; a sparse giant takes nothing."""
    tries = box.tries("""
def fill(directory):
    fd = os.open(directory + "/full", os.O_CREAT | os.O_WRONLY)
    n = 0
    try:
        while True: n += os.write(fd, b"x" * (1 << 20))
    except OSError as error: tell("bytes" + directory, f"{errno.errorcode[error.errno]} {n >> 20}")
    os.unlink(directory + "/full"); os.close(fd)
def count(directory):
    n = 0
    try:
        while True: os.close(os.open(f"{directory}/{n}", os.O_CREAT)); n += 1
    except OSError as error: tell("names" + directory, f"{errno.errorcode[error.errno]} {n}")
for directory in "/workspace", "/tmp": fill(directory); count(directory)
""", disk_mb=24, tmp_mb=8, files=500, wall_ms=60000)
    assert tries["bytes/workspace"] == "ENOSPC 24" and tries["bytes/tmp"] == "ENOSPC 8", tries
    assert tries["names/workspace"] == "ENOSPC 500" and tries["names/tmp"].startswith("ENOSPC "), tries
    free = os.statvfs("/tmp").f_bavail
    tries = box.tries("""
for name, size in {"TiB": 1 << 40, "EiB": (1 << 63) - 1}.items():
    fd = os.open("/workspace/" + name, os.O_CREAT | os.O_RDWR)
    attempt(name, os.ftruncate, fd, size)
    attempt("allocate" + name, os.posix_fallocate, fd, 0, 1 << 40)
""")
    # Longer than RLIMIT_FSIZE, which stands beside the workspace's own size.
    assert set(tries.values()) <= {"EFBIG", "ENOSPC", "EINVAL"}, tries
    assert abs(os.statvfs("/tmp").f_bavail - free) < 25600, "the host's disk was filled"


def spin_in(box, cpu_milli):
    """The end of two hundred spinning threads, and the run time of a neighbour meanwhile."""
    hog = box.begin("""
import threading
def spin():
    while True: pass
for i in range(8):
    if os.fork() == 0:
        if i % 2: os.setsid()
        attempt("spread", os.sched_setaffinity, 0, range(os.cpu_count()))
        for _ in range(20): threading.Thread(target=spin, daemon=True).start()
        spin()
spin()
""", cpu_milli=cpu_milli, processes=250, wall_ms=3000)
    box.inmates()
    served = served_in(box)
    return hog.end(timeout=60), served


def test_R05_processor(box):
    """R-05 (I7): two hundred spinning threads get their share, in whatever sessions, and end in time;
    a neighbour is served."""
    alone = served_in(box)
    for cpu_milli in 500, 1000 * os.cpu_count():
        end, served = spin_in(box, cpu_milli)
        assert end.how == "timed_out" and end.wall_ms < 6000, (cpu_milli, end.how, end.wall_ms)
        # Of all of them a part is kept in any case.
        share = min(cpu_milli / 1000, 0.95 * os.cpu_count()) if has_share(box) else max(1, min(cpu_milli // 1000, os.cpu_count() - 1))
        assert end.cpu_ms < share * end.wall_ms + 300, (cpu_milli, end.cpu_ms, end.wall_ms)
        assert served < 10 * alone + 1, (cpu_milli, served, alone)


def test_R06_waits(box):
    """R-06 (I10): a program that waits forever ends at its time limit, not before and not long after."""
    for code in "import time; time.sleep(1000)", "os.read(os.pipe()[0], 1)", "import threading; l = threading.Lock(); l.acquire(); l.acquire()":
        end = box.run(code, wall_ms=800)
        assert end.how == "timed_out" and 800 <= end.wall_ms < 3000, (code, end.how, end.wall_ms)
    # There is no input: reading it ends at once.
    assert box.tries("tell('input', repr(sys.stdin.read()))") == {"input": "''"}


def test_R07_output(box):
    """R-07, R-08, H-17 (I6): the first and the last bytes of a flood are kept, whichever process writes it and however it opened the stream."""
    floods = {
        "blocks": "for i in range(3000): os.write(1, b'%08d' % i * 8192)",
        "bytes": "for i in range(200000): os.write(1, b'x')",
        "zeros": "for i in range(100): os.write(1, bytes(1 << 20))",
        "reopened": "fd = os.open('/dev/stdout', os.O_WRONLY | os.O_APPEND)\nos.close(1)\nfor i in range(300): os.write(fd, b'y' * 65536)",
        "children": "for _ in range(4):\n  if os.fork() == 0:\n    for i in range(300): os.write(1, b'z' * 65536)\n    os._exit(0)\nfor _ in range(4): os.wait()",
    }
    before = resident(box.process.pid)
    for name, code in floods.items():
        end = box.run("os.write(1, b'first')\n" + code + "\nos.write(2, b'last')", output_bytes=20000)
        assert end.how == "exited" and end.exit_code == 0, (name, end.how, end.err)
        assert end.out.startswith("first") and end.out_truncated and not end.err_truncated, (name, end.out[:20])
        assert len(end.out.encode()) in (20000, 5 + 9997 * 3 + 9998 * 3), (name, len(end.out.encode()))
        assert end.err == "last", end.err
    assert resident(box.process.pid) - before < 32 << 20, "output piles up outside"


def test_R10_descriptors(box):
    """R-10: descriptors end at their limit, also those of kinds that cost the kernel more, also in flight."""
    tries = box.tries("""
import select, socket, array
def until_full(name, make):
    kept = []
    try:
        while True: kept.append(make())
    except OSError as error: tell(name, f"{errno.errorcode[error.errno]} {len(kept) <= 64}")
    for k in kept: os.close(k) if isinstance(k, int) else k.close()
until_full("dup", lambda: os.dup(0))
until_full("epoll", select.epoll)
until_full("memfd", lambda: os.memfd_create("x"))
until_full("open", lambda: os.open("/dev/zero", os.O_RDONLY))
a, b = socket.socketpair()
n = 0
try:
    while n < 100000: a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 50))]); n += 50
except OSError as error: tell("flight", errno.errorcode[error.errno])
""", open_files=64)
    assert tries.pop("memfd") == ("EMFILE True" if has_cgroup(box) else "EPERM True"), tries
    assert {n: tries[n] for n in ("dup", "epoll", "open")} == dict.fromkeys(("dup", "epoll", "open"), "EMFILE True"), tries
    assert tries["flight"] in ("ETOOMANYREFS", "EAGAIN"), tries


# In flight for as long as it sleeps: descriptors in sockets that nobody reads.
IN_FLIGHT = """
import array, socket, time
kept = []
try:
    while True:
        kept.append(socket.socketpair())
        kept[-1][0].setblocking(False)
        try:
            while True: kept[-1][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 250))])
        except BlockingIOError: pass
except OSError as error: tell("flight", errno.errorcode[error.errno])
time.sleep(60)
"""


def scarce(box, hard):
    """Sandboxes of a user with a limit of 1024 descriptors."""
    return boxes.Box(box.source, box.probe, user=box.user, prefix=("prlimit", f"--nofile=1024:{hard}"))


def test_R10_in_flight_of_one_user(box):
    """R-10 (I6): descriptors in flight of one program take none from others or from the builder, even if all have one uid."""
    made = scarce(box, 8192)
    try:
        hog = made.begin(IN_FLIGHT, open_files=4096, wall_ms=60000)
        made.inmates()
        time.sleep(1)
        for start in "cold", "warm":
            assert made.begin("print(1)", start=start).end().out == "1\n", "another is refused"
        end = hog.kill()
        assert end.out == "flight ETOOMANYREFS\n", vars(end)
    finally:
        made.stop()


def test_R10_descriptors_of_the_builder(box):
    """R-10 (I6, I9): the builder's descriptors limit the number of sandboxes; many sandboxes cost the next one no layer."""
    made = scarce(box, 8192)
    try:
        waiting = [made.begin("import time; time.sleep(600)", disk_mb=1, tmp_mb=1, processes=2, wall_ms=600000) for _ in range(100)]
        made.inmates(100, timeout=240)
        for language, code in ("python", "print(1)"), ("node", "console.log(1)"), ("shell", "echo 1"):
            end = made.begin(code, language=language).end()
            assert end.out == "1\n" and end.isolation["layers"] == made.isolation["layers"], (language, end.isolation["missing"])
        for each in waiting:
            each.kill()
    finally:
        made.stop()


def test_R10_builder_without_descriptors(box):
    """R-10 (I10): when the builder has no descriptor left, it refuses each order with that reason; sandboxes that end make room again."""
    made = scarce(box, 1024)
    try:
        code = "import os, time; os.mkdir('on'); time.sleep(600)"
        waiting = [made.begin(code, disk_mb=1, tmp_mb=1, processes=2, wall_ms=600000) for _ in range(120)]
        boxes.until(lambda: sum(not each.reply.empty() for each in waiting) > 20)
        boxes.until(lambda: any(os.path.exists(f"/proc/{pid}/root/workspace/on") for _, pid in made.inmates()))
        for each in waiting:
            made.say({"kill": each.number})
        ends = [each.end() for each in waiting]  # each order is answered, long before its program would end by itself
        refused = [end for end in ends if getattr(end, "error", "cancelled") != "cancelled"]
        assert all("descriptor" in end.text or "Too many open files" in end.text for end in refused), [vars(end) for end in refused]
        layers = [end.isolation["layers"] for end in ends if not hasattr(end, "error")]
        assert refused and layers and all(each == made.isolation["layers"] for each in layers), "one ran with fewer layers than others"
        assert made.run("print(1)").out == "1\n"
    finally:
        made.stop()


def test_R10_zygote_of_one_without(box):
    """R-10 (I6): no zygote is killed for lack of descriptors; otherwise later programs would start from their files."""
    made = scarce(box, 1024)
    try:
        assert made.run("pass", start="warm").warm
        zygotes = made.zygotes()
        code = "import time; time.sleep(600)"
        waiting = [made.begin(code, start="warm", disk_mb=1, tmp_mb=1, processes=2, wall_ms=600000) for _ in range(120)]
        boxes.until(lambda: sum(not each.reply.empty() for each in waiting) > 20)
        for each in waiting:
            made.say({"kill": each.number})
        for each in waiting:
            each.end()
        assert made.run("pass", start="warm").warm and made.zygotes() == zygotes
    finally:
        made.stop()


def test_R11_objects(box):
    """R-11: there are no System V objects, message queues or keys to fill up."""
    tries = box.tries("""
libc = ctypes.CDLL(None, use_errno=True)
for name, call in {"shm": (29, 0, 4096, 0o1600), "sem": (64, 0, 1, 0o1600), "msg": (68, 0, 0o1600), "mq": (240, b"q", 0o102, 0o600, 0),
                   "key": (248, b"user", b"a", b"b", 1, -3)}.items():
    libc.syscall(*call)
    tell(name, errno.errorcode[ctypes.get_errno()])
""")
    assert set(tries.values()) == {"EPERM"}, tries


def test_R15_clocks(box):
    """R-15: clocks cannot be set; the time of a program is measured outside."""
    tries = box.tries("""
import time
attempt("settime", time.clock_settime, time.CLOCK_REALTIME, 0)
attempt("alarm", lambda: __import__("signal").alarm(100))
""")
    assert tries == {"settime": "EPERM", "alarm": "done"}, tries


def test_R16_memory_that_swings(box):
    """R-16 (I7): memory that exceeds its limit again and again costs the neighbour little."""
    alone = served_in(box)
    hog = box.begin("""
import mmap
while True:
    m = mmap.mmap(-1, 58 << 20)
    for at in range(0, 58 << 20, 4096): m[at] = 1
    m.close()
""", memory_mb=64, wall_ms=3000)
    box.inmates()
    times = sorted(served_in(box) for _ in range(10))
    end = hog.end()
    assert end.how in ("timed_out", "out_of_memory"), end.how
    assert times[5] < 10 * alone + 1, (times, alone)


def test_R16_no_flush_of_the_hosts_disk(box):
    """R-16 (I7): fsync does nothing: on a host's file, opened for reading, it would flush the host's disk."""
    tries = box.tries("""
libc = ctypes.CDLL(None, use_errno=True)
own = os.open("f", os.O_RDWR | os.O_CREAT)
os.write(own, b"x")
for name in "fsync", "fdatasync":
    tell(name + ".nothing", libc.__getattr__(name)(-1))  # who asks the kernel is told that there is no such file
    attempt(name + ".host", getattr(os, name), os.open("/usr/bin/env", os.O_RDONLY))
    attempt(name + ".own", getattr(os, name), own)
""")
    assert tries == {f"{name}.{of}": "0" if of == "nothing" else "done"
                     for name in ("fsync", "fdatasync") for of in ("nothing", "host", "own")}, tries


def test_R16_no_reads_of_the_hosts_disk(box):
    """R-16 (I7): no file can be opened for reads that bypass the page cache and load the host's disk."""
    tries = box.tries("""
import fcntl
path, libc = "/usr/bin/env", ctypes.CDLL(None, use_errno=True)
attempt("opened", os.open, path, os.O_RDONLY | os.O_DIRECT)
attempt("changed", fcntl.fcntl, os.open(path, os.O_RDONLY), fcntl.F_SETFL, os.O_DIRECT)
for name, call in ("open", (2, path.encode(), os.O_DIRECT)), ("openat2", (437, -100, path.encode(), (ctypes.c_uint64 * 3)(os.O_DIRECT), 24)):
    tell(name, errno.errorcode[ctypes.get_errno()] if libc.syscall(*call) < 0 else "done")
for name, flags in ("uncached", 0x80), ("cached", 0):
    attempt(name, os.preadv, os.open(path, os.O_RDONLY), [bytearray(64)], 0, flags)
attempt("other", fcntl.fcntl, os.open(path, os.O_RDONLY), fcntl.F_SETFL, os.O_NONBLOCK)
""")
    assert tries == {"opened": "EPERM", "changed": "EPERM", "open": "EPERM", "openat2": "ENOSYS", "uncached": "EPERM",
                     "cached": "done", "other": "done"}, tries


def test_R16_locks_of_files(box):
    """R-16 (I6, I7): file locks are kernel memory that no cgroup counts, so their number is limited; a database's few locks are not affected."""
    patient = box.begin("""
import sqlite3, time
db = sqlite3.connect("data.db")
db.execute("create table t (n)")
until = time.monotonic() + 4
while time.monotonic() < until:
    db.execute("insert into t values (1)"); db.commit(); time.sleep(0.02)
tell("rows", db.execute("select count(*) > 10 from t").fetchone()[0])
""", wall_ms=60000)
    end = box.run("""
import fcntl
for _ in range(3):
    if os.fork() == 0: break
files = [os.open(f"{os.getpid()}.{n}", os.O_RDWR | os.O_CREAT) for n in range(50)]
for at in range(0, 1_000_000, 2):
    for file in files: fcntl.lockf(file, fcntl.LOCK_EX, 1, at)
""", wall_ms=15000)
    assert end.how == "out_of_memory", vars(end)
    served = patient.end()
    assert "rows 1" in served.out, ("a neighbour's database was stopped", vars(served))


def test_R16_no_locks_without_an_owner(box):
    """R-16 (I7): no lock outlives its process or belongs to no process, because such locks could not be counted."""
    tries = box.tries("""
import fcntl, struct
libc = ctypes.CDLL(None, use_errno=True)
file, whole = os.open("f", os.O_RDWR | os.O_CREAT), struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0)
for name, what in ("owned", fcntl.F_SETLK), ("ownerless", 37), ("waiting", 38):
    attempt(name, fcntl.fcntl, file, what, whole)
for name, flags in ("plain", 0), ("files", 0x400), ("files_memory", 0x500):
    if (pid := libc.syscall(56, flags | 17, 0, 0, 0, 0)) == 0: os._exit(0)
    tell(name, errno.errorcode[ctypes.get_errno()] if pid < 0 else "done")
""")
    assert tries == {"owned": "done", "ownerless": "EPERM", "waiting": "EPERM", "plain": "done", "files": "EPERM", "files_memory": "EPERM"}, tries
