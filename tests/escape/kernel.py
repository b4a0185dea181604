# SPDX-License-Identifier: Apache-2.0
"""The kernel's interface: each call that a guest does not need, and each trick to disguise a call (K, some of N, P).

The results of the whole table are compared at once, so that any call with a changed result is noticed.
"""

import socket
import subprocess

import box as boxes

# Everything in probes.def and probe.c that is not named here is refused with EPERM.
ANSWERS = {
    # Only attacks call these.
    "SIGSYS": """acct delete_module finit_module init_module ioperm iopl kexec_file_load kexec_load modify_ldt
        open_by_handle_at pivot_root quotactl reboot swapoff swapon
        int80_getpid int80_socketcall x32_getpid x32_execve""",
    # Programs try these and have a fallback.
    "ENOSYS": """clone3_empty execveat io_uring_setup io_uring_enter io_uring_register openat2 statmount listmount
        flock inotify_init1""",
    # libzmq and others do without a list of interfaces then.
    "EOPNOTSUPP": "socket_netlink",
    # Not done, though it is said so: there is nothing to do for a file in memory.
    "done": "fsync sync_file_range prlimit_core high_prlimit_core",
    # The kernel's own word: an id that a box's user namespace does not have; without one, nobody may.
    "EINVAL": "setuid setgid setreuid setregid setresuid setresgid",
}
OTHER = {"EINVAL": "EPERM"}
# The kernel has no such call, or not on this machine, so the result outside proves nothing.
VOID = "ENOSYS"


def verdicts(text):
    return dict(line.split(" ", 1) for line in text.splitlines())


def expected(name):
    return next((answer for answer, names in ANSWERS.items() if name in names.split()), "EPERM")


def wrong(answers):
    """(got, expected) of those that were not answered as meant; what is listed (LET) is answered by the kernel, as it likes."""
    return {name: (got, "by the kernel" if name.startswith("let_") else expected(name)) for name, got in answers.items()
            if (got in ("EPERM", "ENOSYS") if name.startswith("let_") else got not in {expected(name), OTHER.get(expected(name))})}



def test_K00_table_of_calls(box):
    """K-01..K-18, N-08..N-12, P-07, P-09, P-10 (I2, I9): each call, and each trick with its arguments, is refused as intended."""
    box.put(box.probe, "probe")
    inside = verdicts(box.run("os.execv('./probe', ['probe'])", workspace="probe").out)
    assert not wrong(inside), f"(got, expected): {wrong(inside)}"
    assert len(inside) > 330, f"only {len(inside)} calls were tried"


def test_K00_control(box):
    """I26: outside, as root, the same calls have another result; or the kernel has no such call."""
    outside = verdicts(subprocess.run([box.probe], capture_output=True, text=True, check=True).stdout)
    same = [name for name, got in outside.items() if got == expected(name) and got != VOID]
    assert not {name: got for name, got in wrong(outside).items() if name.startswith("let_")}
    # Root has no ambient or securebits to get by these arguments, and may not move its memory's ends.
    assert set(same) <= {"prctl_mm", "prctl_securebits", "prlimit_core"}, same  # root may do the last


def test_K06_clone3_any_arguments(box):
    """K-06: clone3 is ENOSYS whatever its arguments, so that libc uses clone, whose flags the filter can see."""
    tries = box.tries("""
libc = ctypes.CDLL(None, use_errno=True)
for size in 0, 64, 88, 4096:
    libc.syscall(435, ctypes.create_string_buffer(4096), size)
    tell(f"clone3_{size}", errno.errorcode[ctypes.get_errno()])
import threading
thread = threading.Thread(target=lambda: tell("thread", "done")); thread.start(); thread.join()
attempt("fork", lambda: os.waitpid(os.fork() or os._exit(0), 0))
""")
    assert tries == {"clone3_0": "ENOSYS", "clone3_64": "ENOSYS", "clone3_88": "ENOSYS", "clone3_4096": "ENOSYS",
                     "thread": "done", "fork": "done"}, tries


def test_N11_every_family(box):
    """N-11 (I3): no socket but streams and datagrams of three families, because of the filter and not because a module is missing."""
    tries = box.tries("""
import socket
for family in range(64):
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET:
        attempt(f"{family}/{int(kind)}", socket.socket, family, kind)
a, b = socket.socketpair()
a.send(b"x")
tell("pair", b.recv(1) == b"x")
attempt("pair_inet", lambda: socket.socketpair(socket.AF_INET))
""")
    assert tries.pop("pair") == "True"
    made = {f"{family}/{kind}" for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6) for kind in (1, 2)}
    assert {name for name, answer in tries.items() if answer == "done"} == made, tries
    netlink = {tries.pop(f"{int(socket.AF_NETLINK)}/{kind}") for kind in (1, 2, 3, 5)}
    assert netlink == {"ENOTSUP"} and {answer for name, answer in tries.items() if name not in made} == {"EPERM"}, tries
    assert len(tries) == 253


def test_N11_every_protocol(box):
    """N-11 (I3): TCP and UDP only: no ping, SCTP, MPTCP, UDP-Lite, L2TP; no raw or packet socket by a type with flags."""
    tries = box.tries("""
import socket
for family in socket.AF_UNIX, socket.AF_INET, socket.AF_INET6:
    for kind in 1, 2, 1 | 1 << 32, 2 | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, 3 | socket.SOCK_NONBLOCK, 10:
        for protocol in 0, 1, 2, 6, 17, 33, 58, 115, 132, 136, 255, 262:
            try: tell(f"{int(family)}/{kind}/{protocol}", os.close(socket.socket(family, kind & 0xffffffff, protocol).detach()) or "done")
            except OSError as error: tell(f"{int(family)}/{kind}/{protocol}", errno.errorcode[error.errno])
""")
    for name, answer in tries.items():
        family, kind, protocol = (int(word) for word in name.split("/"))
        right = {1: (0,)}.get(family, {1: (0, 6), 2: (0, 17)}.get(kind & 15, ()))
        assert answer == ("done" if kind & 15 in (1, 2) and protocol in right else "EPERM"), (name, answer)


def test_N11_without_loopback(box):
    """N-11 (I3): an operator who closes the loopback closes all families, and what binds and connects."""
    closed = boxes.Box(box.source, box.probe, user=box.user, loopback=False)
    try:
        tries = closed.tries("""
import socket
for family in range(64):
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET:
        attempt(f"{family}/{int(kind)}", socket.socket, family, kind)
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for name, go in {"bind": lambda: a.bind("\\0name"), "connect": lambda: a.connect("\\0name"), "listen": a.listen, "accept": a.accept}.items():
    attempt(name, go)
""")
        netlink = {tries.pop(f"{int(socket.AF_NETLINK)}/{kind}") for kind in (1, 2, 3, 5)}
        assert netlink == {"ENOTSUP"} and set(tries.values()) == {"EPERM"} and len(tries) == 256, tries
    finally:
        closed.stop()


def test_N03_other_boxes(box):
    """N-03 (I3, I5): a port, an abstract name and a path of another box cannot be reached, nor its filter changed."""
    waiting = box.begin("""
import socket, time
for family, address in ((socket.AF_INET, ("0.0.0.0", 18080)), (socket.AF_UNIX, "\\0escape-other")):
    kept = socket.socket(family); kept.bind(address); kept.listen(); globals()[f"kept{int(family)}"] = kept
print("up", flush=True); time.sleep(60)
""")
    try:
        boxes.until(lambda: len(box.alive()) >= 2)
        tries = box.tries("""
import socket, struct
attempt("tcp", socket.create_connection, ("127.0.0.1", 18080), 5)
attempt("own", socket.create_server, ("127.0.0.1", 18080))
attempt("abstract", socket.socket(socket.AF_UNIX).connect, "\\0escape-other")
attempt("far", socket.create_connection, ("198.18.0.1", 443), 5)
attempt("low", socket.create_server, ("127.0.0.1", 53))
attempt("filter", socket.socket().setsockopt, socket.SOL_SOCKET, 26, struct.pack("HxxxxxxP", 0, 0))
attempt("device", socket.socket().setsockopt, socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
""")
    finally:
        waiting.kill()
    assert tries == {"tcp": "ECONNREFUSED", "own": "done", "abstract": "ECONNREFUSED", "far": "ENETUNREACH", "low": "done",
                     "filter": "EPERM", "device": "EPERM"}, tries


def test_N05_pairs_have_no_address(box):
    """N-05 (I3, I5): a name that a program binds is its own box's, and one of the host is not reached."""
    tries = box.tries("""
import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
attempt("bind_abstract", a.bind, "\\0name")
attempt("bind_path", a.bind, "/workspace/s")
attempt("connect", a.connect, "\\0name")
attempt("listen", a.listen)
attempt("sendto_abstract", a.sendto, b"x", "\\0name")
attempt("sendto_path", a.sendto, b"x", "/run/s")
""")
    assert tries["bind_abstract"] == "done" and tries["bind_path"] == "EINVAL" and tries["listen"] in ("EOPNOTSUPP", "ENOTSUP"), tries
    assert tries["connect"] in ("EPERM", "ECONNREFUSED"), tries
    assert tries["sendto_abstract"] in ("ECONNREFUSED", "EPERM", "EISCONN"), tries
    assert tries["sendto_path"] in ("ENOENT", "EISCONN"), tries


def test_K15_own_filter(box):
    """K-15: a guest can add no filter, not even one that allows everything; only our filter decides."""
    tries = box.tries("""
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(317, 0, 0, 0)
tell("strict", errno.errorcode[ctypes.get_errno()])
tell("mode", [l.split()[1] for l in open("/proc/self/status") if l.startswith("Seccomp:")][0])
""")
    assert tries == {"strict": "EPERM", "mode": "2"}, tries


def test_K16_no_way_to_privilege(box):
    """K-16, F-12 (I11): no program can gain a uid, gid, group or capability."""
    tries = box.tries("""
import subprocess
attempt("setuid", os.setuid, 0)
attempt("setresuid", os.setresuid, 0, 0, 0)
attempt("setgroups", os.setgroups, [0])
libc = ctypes.CDLL(None)
for kind in "uid", "gid":
    ids = lambda: getattr(os, "getres" + kind)() + (getattr(libc, "setfs" + kind)(-1),)
    before = ids()
    for name in "set", "setre", "setres", "setfs":
        for id in 0, 1, 65534, 999:
            getattr(libc, name + kind)(*[id] * {"setre": 2, "setres": 3}.get(name, 1))
    tell(kind, ids() == before)
status = dict(l.split(":\\t") for l in open("/proc/self/status").read().splitlines() if ":\\t" in l)
for name in "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Groups":
    tell(name, status[name].strip() or "-")
setuid = subprocess.run(["find", "/usr/bin", "-perm", "-4000", "-type", "f"], capture_output=True, text=True).stdout.split()
tell("setuid_programs", bool(setuid))
import shutil
shutil.copy("/usr/bin/id", "/workspace/id"); os.chmod("/workspace/id", 0o6755)
tell("own_setuid", subprocess.run(["/workspace/id", "-u"], capture_output=True, text=True).stdout.strip())
for name in "su", "mount", "passwd":
    run = subprocess.run([name, "-h"] if name != "su" else ["su", "-c", "id -u"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    tell("run_" + name, "0" in run.stdout.split())
""")
    # The kernel answers: no such id in a user namespace, or no capability.
    for name in "setuid", "setresuid", "setgroups":
        assert tries[name] in ("EPERM", "EINVAL"), tries
    assert tries["uid"] == tries["gid"] == "True", tries
    for name in "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb":
        assert int(tries[name], 16) == 0, tries
    assert tries["NoNewPrivs"] == "1" and tries["Groups"] == "-", tries
    assert tries["own_setuid"] == "1000", tries
    assert tries["run_su"] == tries["run_mount"] == tries["run_passwd"] == "False", tries


def test_K19_pipes_do_not_write_files(box):
    """K-19, F-16: pages of a read-only file cannot be changed by splice, a shared mapping or /proc/self/mem."""
    tries = box.tries("""
import mmap
path = "/usr/bin/env"
before = open(path, "rb").read()
fd = os.open(path, os.O_RDONLY)
r, w = os.pipe()
attempt("splice_in", os.splice, fd, w, 1, 0)
os.write(w, b"evil")
attempt("splice_out", os.splice, r, fd, 4)
attempt("sendfile", os.sendfile, fd, r, None, 4)
attempt("write", os.write, fd, b"evil")
attempt("shared", mmap.mmap, fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
own = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
own[0:4] = b"evil"
attempt("mem", open, "/proc/self/mem", "r+b")
attempt("truncate", os.truncate, path, 0)
tell("same", open(path, "rb").read() == before)
""")
    # Landlock or the mount, whichever the kernel asks first.
    assert {tries.pop("mem"), tries.pop("truncate")} <= {"EACCES", "EROFS"}, tries
    assert tries == {"splice_in": "done", "splice_out": "EBADF", "sendfile": "EBADF", "write": "EBADF", "shared": "EACCES",
                     "same": "True"}, tries


def test_K21_random_calls(box):
    """K-21: some seconds of random calls at most end the program; the sandbox's isolation is the same afterwards."""
    end = box.run("""
import random
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(65536)
seed = 20261121
quiet = {0, 34, 35, 61, 62, 130, 200, 219, 230, 232, 234, 247, 270, 271, 281, 7, 23, 60, 231, 202, 128, 449}
def values(r):
    return [r.choice([0, 1, 2, 3, -1, 8, 4096, 0x7fffffff, 1 << 31, 1 << 32, ctypes.addressof(room), r.getrandbits(64)]) for _ in range(6)]
for round in range(300):
    pid = os.fork()
    if pid == 0:
        r = random.Random(seed + round)
        import signal; signal.alarm(1)
        os.dup2(os.open("/dev/null", os.O_RDWR), 1); os.dup2(1, 2)
        for _ in range(200):
            number = r.randrange(0, 460)
            if number not in quiet:
                libc.syscall(ctypes.c_long(number), *[ctypes.c_long(v if v < 1 << 63 else v - (1 << 64)) for v in values(r)])
        os._exit(0)
    os.waitpid(pid, 0)
print("all")
""", wall_ms=60000)
    assert end.how in ("exited", "signalled"), end.how
    assert end.how == "signalled" or "all" in end.out or end.exit_code != 0, end.err
    assert box.tries("attempt('setgroups', os.setgroups, [0])") == {"setgroups": "EPERM"}


def test_K22_handler_of_sigsys(box):
    """K-22: a killing verdict cannot be caught, blocked or ignored."""
    for ignore in "signal.signal(signal.SIGSYS, signal.SIG_IGN)", "signal.signal(signal.SIGSYS, lambda *a: None)", \
                  "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGSYS])":
        end = box.run(f"import signal\n{ignore}\nctypes.CDLL(None).syscall(169, 0, 0, 0, 0)\nprint('alive')")
        assert (end.how, end.signal, end.out) == ("signalled", 31, ""), (end.how, end.signal, end.out)
