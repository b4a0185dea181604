# SPDX-License-Identifier: Apache-2.0
"""The posture of a program's process (I11 to I16), read from the host's /proc while it sleeps, and the separation of two."""

import contextlib
import json
import os
import re
import time

import box as boxes

NAMESPACES = "mnt", "pid", "net", "ipc", "uts", "user", "cgroup"
SLEEP = "import time; time.sleep(60)"
NANOSLEEP = 230  # clock_nanosleep
HOST_UIDS = range(700000000, 700000000 + 64 * 4096)


def in_call(pid, number):
    with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
        return file.read().split()[0] == str(number)


@contextlib.contextmanager
def asleep(box, count=1, **more):
    """Sandboxes with a sleeping program: (pid 1, program) of each, as pids of the host."""
    waiting = [box.begin(SLEEP, **more) for _ in range(count)]
    try:
        pairs = sorted(box.inmates(count))
        for _, program in pairs:
            boxes.until(lambda pid=program: in_call(pid, NANOSLEEP))
        yield pairs
    finally:
        for w in waiting:
            assert w.kill().how == "killed"


def namespaces(pid):
    return {name: os.readlink(f"/proc/{pid}/ns/{name}") for name in NAMESPACES}


def test_I11_identity(box):
    """I11: no capability, no group, no way to gain any; the filter is on every thread; a uid that nobody else has."""
    with asleep(box) as pairs:
        for pid, filters in zip(pairs[0], (1, 2)):
            for task in os.listdir(f"/proc/{pid}/task"):
                status = boxes.status(int(task))
                for name in "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb":
                    assert int(status[name], 16) == 0, (pid, name, status[name])
                assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status
                # The builder's filter; a program also has the guest's.  Each further filter would cost time to free.
                assert int(status["Seccomp_filters"]) == filters, (pid, status["Seccomp_filters"])
                assert status["Groups"].strip() == "", status["Groups"]
                assert len(set(status["Uid"].split() + status["Gid"].split())) == 1, status["Uid"]
                uid = int(status["Uid"].split()[0])
                assert uid in HOST_UIDS if box.user is None else uid == box.user, uid


def test_I11_uids_differ(box):
    """I5, I11: two boxes have two uids on the host; rootless they share one, and the result says so."""
    with asleep(box, 2) as pairs:
        uids = {boxes.status(program)["Uid"] for _, program in pairs}
    missing = [m for m in box.isolation["missing"] if m.startswith("own uid")]
    assert len(uids) == (2 if box.user is None else 1) and bool(missing) == (box.user is not None), (uids, missing)


def test_I12_namespaces(box):
    """I12: every namespace differs from the host's, from the builder's, and from any other box's."""
    with asleep(box, 2) as pairs:
        seen = [namespaces(program) for _, program in pairs]
        others = [namespaces("self"), namespaces(box.builder)]
    for name in NAMESPACES:
        ids = [n[name] for n in seen + others]
        assert seen[0][name] != seen[1][name], name
        assert seen[0][name] not in (n[name] for n in others) and seen[1][name] not in (n[name] for n in others), (name, ids)


def test_I13_descriptors(box):
    """I13, I16: the program has descriptors 0 to 3; its pid 1 has one, the pipe for its report."""
    with asleep(box) as pairs:
        init, program = pairs[0]
        kinds = {int(fd): re.sub(r"\[.*", "", os.readlink(f"/proc/{program}/fd/{fd}")) for fd in os.listdir(f"/proc/{program}/fd")}
        own = [re.sub(r"\[.*", "", os.readlink(f"/proc/{init}/fd/{fd}")) for fd in os.listdir(f"/proc/{init}/fd")]
    assert kinds == {0: "/dev/null", 1: "pipe:", 2: "pipe:", 3: "socket:"}, kinds
    assert set(own) == {"/dev/null"}, own


def test_I14_mounts(box):
    """I14: exactly these mounts: all nosuid, all nodev except the devices, all read-only except the workspace and /tmp, none shared."""
    with asleep(box) as pairs:
        with open(f"/proc/{pairs[0][1]}/mountinfo", encoding="utf-8") as file:
            rows = [line.split() for line in file]
    points = {}
    for row in rows:
        points[row[4]] = set(row[5].split(","))
        assert not [word for word in row[6:row.index("-")]], f"{row[4]} is shared with others"
    devices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/pts"}
    must = {"/", "/usr", "/proc", "/run", "/tmp", "/workspace"} | devices
    must |= {f"/proc/{name}" for name in ("meminfo", "stat", "cpuinfo", "uptime", "loadavg")}
    may = {"/etc/alternatives", "/etc/matplotlibrc", "/etc/fonts", "/etc/mime.types", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}
    assert must <= set(points) <= must | may | {p for p in points if p.startswith("/usr/")}, set(points) ^ must
    for point, flags in points.items():
        assert "nosuid" in flags, (point, flags)
        assert ("rw" in flags) == (point in ("/tmp", "/workspace", "/dev/pts")), (point, flags)
        assert "noexec" in flags if point in devices else "nodev" in flags, (point, flags)


def test_I15_surroundings(box):
    """I15: limits, oom score, core filter, mask, signals, environment and session are as specified."""
    with asleep(box, open_files=128) as pairs:
        init, program = pairs[0]
        with open(f"/proc/{program}/limits", encoding="ascii") as file:
            limits = {line[:26].strip(): line[26:].split()[:2] for line in file}
        read = {name: open(f"/proc/{program}/{name}", "rb").read() for name in ("oom_score_adj", "coredump_filter", "environ", "stat")}
        status = boxes.status(program)
    assert limits["Max core file size"] == ["1", "1"] and limits["Max open files"] == ["128", "128"], limits
    assert limits["Max nice priority"] == limits["Max realtime priority"] == limits["Max msgqueue size"] == ["0", "0"], limits
    assert read["oom_score_adj"].strip() == b"1000" and int(read["coredump_filter"], 16) == 0, read
    environment = dict(pair.split("=", 1) for pair in read["environ"].decode().split("\0") if pair)
    assert environment == boxes.environment(processors=1), environment
    assert environment["HOME"] == "/tmp", "what a program keeps at home would be in the next run"
    fields = read["stat"].decode().rsplit(")", 1)[1].split()
    assert fields[4] == "0", "it has a terminal"
    assert int(fields[3]) == program, "it has no session of its own"
    assert status["Umask"] == "0022" and int(status["SigBlk"], 16) == 0, status
    # What Python itself ignores: SIGPIPE and SIGXFSZ.
    assert int(status["SigIgn"], 16) & ~(1 << 12 | 1 << 24) == 0, status["SigIgn"]
    assert init != program


def test_I15_cgroup(box):
    """I2, I6: every process of a sandbox is in the sandbox's groups, in each hierarchy that limits it."""
    with asleep(box) as pairs:
        paths = [open(f"/proc/{pid}/cgroup", encoding="ascii").read() for pid in pairs[0]]
        host = open("/proc/self/cgroup", encoding="ascii").read()
    if box.isolation["limits_by"] == "rlimit":
        assert paths[0] == paths[1]
        return
    for path in paths:
        groups = {line.split(":", 2)[1]: line.split(":", 2)[2] for line in path.splitlines()}
        for name in ("memory", "pids", "cpu") if box.isolation["limits_by"] == "cgroup1" else ("",):
            assert re.search(r"/cloister-\d+/\d+$", groups[name]), (name, groups)
        assert path != host


def test_I15_builder(box):
    """The builder itself: eight capabilities and no way to gain more, a filter, no file system of the host, no network."""
    status = boxes.status(box.builder)
    kept = sum(1 << bit for bit in (5, 6, 7, 8, 10, 12, 18, 21))  # KILL SETGID SETUID SETPCAP NET_BIND_SERVICE NET_ADMIN SYS_CHROOT SYS_ADMIN
    assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd")} == {kept}, status
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2" and status["Threads"] == "1", status
    end = time.monotonic() + 5  # while it wipes a workspace it is in another mount namespace
    while "usr" not in (tops := sorted(os.listdir(f"/proc/{box.builder}/root/"))) and time.monotonic() < end:
        time.sleep(0.001)
    assert tops == sorted(
        {"cloister", "dev", "etc", "mnt", "node_modules", "packages", "proc", "run", "sandbox", "sys", "tmp", "user", "usr", "workspace"} |
        {n for n in ("bin", "sbin", "lib", "lib32", "lib64", "libx32") if os.path.lexists("/" + n)}), tops
    assert os.readlink(f"/proc/{box.builder}/ns/net") != os.readlink("/proc/self/ns/net")
    with open(f"/proc/{box.builder}/net/dev", encoding="ascii") as file:
        assert [line.split(":")[0].strip() for line in file if ":" in line] == ["lo"]


def test_I9_isolation_is_told(box):
    """I9, I10: a result reports exactly the layers that were observed, and the missing ones with the reason."""
    end = box.run("pass")
    layers, missing = end.isolation["layers"], end.isolation["missing"]
    for layer in ("mount namespace", "pid namespace", "network namespace", "own loopback", "ipc namespace", "uts namespace", "user namespace",
                  "read-only root", "private /tmp", "private /proc", "rlimits", "no supplementary groups", "no capabilities",
                  "no_new_privs", "landlock", "seccomp"):
        assert layer in layers, (layer, layers)
    assert not set(layers) & {m.split(":")[0] for m in missing}
    if box.user is None:
        assert "own uid" in layers, layers
    else:
        assert any(m.startswith("own uid: ") for m in missing), missing


def test_I15_niceness(box):
    """I20: nothing in a sandbox has a higher priority than the kernel's workers, however its server was started."""
    favoured = boxes.Box(box.source, box.probe, prefix=("nice", "-n", "-12")) if box.user is None else box
    try:
        with asleep(favoured) as pairs:
            nice = {pid: os.getpriority(os.PRIO_PROCESS, pid) for pid in (*pairs[0], favoured.builder)}
        assert min(nice.values()) >= 0, nice
    finally:
        if favoured is not box:
            favoured.stop()


# What a program can see of its layers, by itself; prints the names of those that it finds.  {host}: the host's namespaces;
# {uids}: which it may have outside.
FIND_LAYERS = r"""
import ctypes, errno, fcntl, json, os, resource, socket, termios
libc, host, subject = ctypes.CDLL(None, use_errno=True), {host}, {subject}
status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
mounts = {{line.split()[4]: line for line in open("/proc/self/mountinfo")}}
def fails(wanted, call, *words):
    try: call(*words)
    except OSError as error: return error.errno == wanted
    return False
def talks_to_itself():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), 5): return True
def is_read_only(path): return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
zero = os.open("/dev/zero", os.O_RDWR)
found = {{name: os.readlink("/proc/self/ns/" + short) != host[short] for name, short in [("mount namespace", "mnt"), ("pid namespace", "pid"),
    ("network namespace", "net"), ("ipc namespace", "ipc"), ("uts namespace", "uts"), ("user namespace", "user"), ("cgroup namespace", "cgroup")]}}
found.update({{
    "read-only root": is_read_only("/") and is_read_only("/usr"),
    "private /tmp": "/tmp" in mounts and " tmpfs " in mounts["/tmp"] and os.stat("/tmp").st_dev != os.stat("/").st_dev,
    "private /proc": "subset=pid" in mounts["/proc"] and "hidepid=invisible" in mounts["/proc"],
    "rlimits": resource.getrlimit(resource.RLIMIT_CORE) == (1, 1) and resource.getrlimit(resource.RLIMIT_NICE) == (0, 0),
    "own uid": int(open("/proc/self/uid_map").read().split()[1]) in {uids} and set(os.getresuid()) == {{1000}},
    "no supplementary groups": os.getgroups() == [],
    "no capabilities": all(int(status["Cap" + which], 16) == 0 for which in ("Inh", "Prm", "Eff", "Bnd", "Amb")),
    "no_new_privs": status["NoNewPrivs"] == "1",
    "not dumpable": os.stat(f"/proc/{{subject}}/environ").st_uid != os.getuid() or subject == os.getpid() and libc.prctl(3, 0, 0, 0, 0) == 0,
    "own loopback": talks_to_itself() and fails(errno.ENETUNREACH, socket.create_connection, ("192.0.2.1", 80), 5),
    "landlock": fails(errno.EACCES, fcntl.ioctl, zero, termios.TCGETS, bytes(64)),  # a call that its device rule refuses
    "landlock scopes": fails(errno.EPERM, os.kill, 1, 0),
    "seccomp": status["Seccomp"] == "2",
}})
print(json.dumps([name for name, there in found.items() if there]))
"""
# These act from outside: their numbers are in cgroups, which no program sees.  Tests that reach them: resources.py R-01, processes.py P-01,
# resources.py R-05.
UNSEEN = {"memory limit", "process limit", "cpu limit"}
# How another runtime has Python look at it.
HAVE_LOOK = {"node": "require('child_process').spawnSync('python3', ['look.py', String(process.pid)], { stdio: 'inherit' })",
             "shell": "python3 look.py $$"}


def test_I9_each_layer_is_found(box):
    """I9: every layer that a result names is found by a program that looks: from a file, a fork of a zygote, Node and bash."""
    here, there = (FIND_LAYERS.format(host=namespaces("self"), uids=HOST_UIDS, subject=words) for words in ("os.getpid()", "int(__import__('sys').argv[1])"))
    ends = {"python": box.run(here)}
    box.run(f"open('look.py', 'w').write({there!r})", workspace="look")
    ends.update({language: box.run(code, language=language, workspace="look") for language, code in HAVE_LOOK.items()})
    box.drop("look")
    for language, end in ends.items():
        assert end.exit_code == 0, (language, end.err)
        claimed, found = set(end.isolation["layers"]), set(json.loads(end.out))
        assert claimed <= found | UNSEEN, (language, "claimed and not found", claimed - found - UNSEEN)
        assert found <= claimed, (language, "found and not claimed", found - claimed)
