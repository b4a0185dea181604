# SPDX-License-Identifier: Apache-2.0
"""The same isolation for a program in an OCI container (crun, runc, gVisor's runsc), and nothing left of a container."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

import box as boxes
import cases
from posture import HOST_UIDS, NAMESPACES

RUNTIMES = {"crun": 1, "runc": 2, "runsc": 3}  # as containers.def numbers them
REFUSED = {"EPERM", "EACCES", "EROFS"}
GVISORS = ("/sys/fs/cgroup", "/sys/kernel")  # names that gVisor invents
MINE = ("/run/crun", "/run/runc", "/run/runsc", "/var/run/runsc", "/run/bundle", "/run/state")


class Contained(boxes.Box):
    """Boxes whose programs are in containers by one runtime."""

    ABSENT = {"PYTHONUSERBASE"}  # there is no /user/base

    def __init__(self, like, runtime):
        path = shutil.which(runtime, path="/usr/bin:/usr/sbin:/usr/local/bin:/usr/local/sbin")
        if path is None:
            raise cases.Skip(f"there is no {runtime} on this host")
        super().__init__(like.source, like.probe, arguments=("container", runtime, path, "--"))
        self.runtime = runtime
        self.resident = boxes.children(self.builder)  # the process that starts containers
        assert len(self.resident) == 1, self.resident

    def begin(self, code, **more):
        return super().begin(code, container=RUNTIMES[self.runtime], **more)

    def alive(self):
        return [p for p in super().alive() if p not in self.resident]

    def sandbox(self):
        """The process on the host that runs foreign code: the driver, or gVisor's sandbox."""
        def name(pid):
            return (open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0") or [b""])
        def found():
            with contextlib.suppress(OSError):
                return [p for p in self.alive() if (name(p)[0] == b"runsc-sandbox" if self.runtime == "runsc"
                                                    else b"/cloister/python/driver.py" in name(p)[1:5] and b"init" not in name(p)[0])]
            return []
        boxes.until(found)
        return found()[0]


kept = {}


def each(like):
    """A Contained for each installed runtime; made once."""
    for runtime in RUNTIMES:
        if runtime not in kept:
            try:
                kept[runtime] = Contained(like, runtime)
            except cases.Skip as skip:
                kept[runtime] = None
                print(skip, flush=True)
        if kept[runtime] is not None:
            yield kept[runtime]
    if not any(kept.values()):
        raise cases.Skip("no container runtime is on this host")


def on_host(code):
    """The same lines outside any sandbox: what fails inside must succeed here, or the case proves nothing."""
    out = subprocess.run([sys.executable, "-c", boxes.PRELUDE + code], capture_output=True, text=True, check=True).stdout
    return dict(line.split(" ", 1) for line in out.splitlines())


def test_refused_rootless(box):
    """Users other than root get no container, and no sandbox instead."""
    like = boxes.Box(box.source, box.probe, user=54321, arguments=("container", "crun", "/usr/bin/crun", "--"))
    end = like.begin("tell('ran', True)", container=1).end()
    assert getattr(end, "error", None) == "isolation_unavailable" and "as root" in end.text, vars(end)


def test_unknown_runtime_is_refused(box):
    """A runtime that was not configured at the builder's start cannot be ordered later."""
    for number in 1, 2, 3, 4, 1 << 31:
        end = box.begin("tell('ran', True)", container=number).end()
        assert getattr(end, "error", None) in ("isolation_unavailable", "invalid_argument"), vars(end)


def test_what_holds_is_told(box):
    """Results name the runtime and the layers that were read back."""
    for contained in each(box):
        end = contained.run("tell('ran', True)")
        told = end.isolation
        assert told["backend"] == "oci" and contained.runtime in told["layers"][0], told
        none = [m.split(":")[0] for m in told["missing"] if m.endswith(f": a container of {contained.runtime} has none")]
        assert len(none) == len(told["missing"]) and {"landlock", "landlock scopes"} <= set(none), told
        assert ("no capabilities" in none) == (contained.runtime == "runsc"), told
        assert "seccomp" in told["layers"] and "network namespace" in told["layers"], told
        assert ("read-only root" in told["layers"]) == (contained.runtime != "runsc"), told


def test_a_required_layer_is_asked_for(box):
    """A container without a layer that the settings require starts no program: the builder compares what it read back."""
    for bits, starts in ("1", True), ("80000", False):  # mount namespace; landlock
        made = boxes.Box(box.source, box.probe, arguments=("container", "crun", "/usr/bin/crun", "--", "require", bits, "--"))
        try:
            end = made.begin("tell('ran', True)", container=1).end()
            if starts:
                assert not getattr(end, "error", None), vars(end)
            else:
                assert end.error == "isolation_unavailable" and "landlock" in end.text, vars(end)
        finally:
            made.stop()


def test_network(box):
    """No way to the host's loopback or beyond; the listener gets no connection except the control's."""
    heard = []
    server = socket.create_server(("127.0.0.1", 0))
    def listen():
        with contextlib.suppress(OSError):
            while True:
                heard.append(server.accept())
    threading.Thread(target=listen, daemon=True).start()
    code = (f"import socket\nattempt('host', lambda: socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2))\n"
            "attempt('far', lambda: socket.create_connection(('1.1.1.1', 53), 2))\n"
            "attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))\n")
    assert on_host(code)["host"] == "done"
    boxes.until(lambda: len(heard) == 1)
    for contained in each(box):
        tries = contained.tries(code)
        assert tries["host"] in REFUSED | {"ECONNREFUSED", "ENETUNREACH", "EAFNOSUPPORT"}, (contained.runtime, tries)
        assert tries["far"] in REFUSED | {"ENETUNREACH", "EHOSTUNREACH", "EAFNOSUPPORT"}, (contained.runtime, tries)
        assert tries["packet"] in REFUSED | {"EAFNOSUPPORT"}, (contained.runtime, tries)
    assert len(heard) == 1, heard
    server.close()


def test_root_is_read_only(box):
    """Only /workspace and /tmp are writable."""
    code = """
for path in '/x', '/usr/x', '/etc/passwd', '/cloister/init', '/cloister/python/driver.py', '/run/x', '/sys/x', '/proc/sys/kernel/hostname', '/proc/sysrq-trigger', '/proc/1/exe':
    attempt(path, lambda: open(path, 'r+b' if os.path.exists(path) else 'wb').write(b'x'))
for path in '/workspace/x', '/tmp/x', '/dev/shm/x', '/dev/null':
    attempt(path, lambda: open(path, 'wb').write(b'x'))
attempt('mknod', lambda: os.mknod('/tmp/null', 0o20666, os.makedev(1, 3)))
"""
    for contained in each(box):
        tries = contained.tries(code)
        for path in "/workspace/x", "/tmp/x", "/dev/shm/x", "/dev/null":
            assert tries[path] == "done", (contained.runtime, path, tries)
            del tries[path]
        assert all(what in REFUSED | {"ENOENT", "ETXTBSY", "EISDIR"} for what in tries.values()), (contained.runtime, tries)


def test_host_is_not_seen(box):
    """No files of the host, none of its processes, and no files of the runtime."""
    secret = f"/tmp/cloister-canary-{box.canary}"
    paths = [secret, "/etc/shadow", "/root", "/home", "/var", "/boot", "/sys/fs/cgroup", "/sys/kernel", "/proc/1/root/etc/shadow",
             "/dev/vda", "/dev/mem", "/dev/kvm", *MINE]
    code = f"""
for path in {paths!r}:
    tell(path, os.path.lexists(path))
pids = [p for p in os.listdir('/proc') if p.isdigit()]
tell('processes', len(pids))
def text(path):
    try: return open(path, 'rb').read()
    except OSError: return b''
tell('canary', any({box.canary!r}.encode() in text('/proc/%s/environ' % p) for p in pids))
links = ' '.join(os.readlink('/proc/self/fd/' + f) if os.path.lexists('/proc/self/fd/' + f) else '-' for f in os.listdir('/proc/self/fd'))
tell('descriptors', links)
tell('hostname', os.uname().nodename)
"""
    with open(secret, "w", encoding="ascii"):
        pass
    try:
        assert on_host(code)[secret] == "True" and int(on_host(code)["processes"]) > 8
        for contained in each(box):
            tries = contained.tries(code)
            seen = [path for path in paths if tries[path] != "False" and not (contained.runtime == "runsc" and path in GVISORS)]
            assert seen == [], (contained.runtime, seen)
            assert int(tries["processes"]) <= 3 and tries["canary"] == "False", (contained.runtime, tries)
            assert tries["hostname"] == "cloister", tries
            # Nothing that was opened on the host's side: an inherited directory is the escape of CVE-2024-21626.
            for link in tries["descriptors"].split():
                assert link in ("-", "/dev/null") or link.startswith(("socket:", "pipe:", "/proc/", "host:")), tries
    finally:
        os.unlink(secret)


def test_no_power(box):
    """No capability, no other uid, no namespace, no mount, no trace."""
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    if getattr(libc, name)(*args) < 0:
        raise OSError(ctypes.get_errno(), name)
attempt('setuid', lambda: os.setuid(0))
attempt('mount', lambda: call('mount', b'tmpfs', b'/tmp', b'tmpfs', 0, None))
attempt('umount', lambda: call('umount2', b'/proc', 2))
attempt('pivot', lambda: call('chroot', b'/tmp'))
attempt('setns', lambda: call('setns', os.open('/proc/1/ns/net', 0), 0))
attempt('ptrace', lambda: call('ptrace', 16, 1, 0, 0))
attempt('sethostname', lambda: call('sethostname', b'x', 1))
for line in open('/proc/self/status'):
    if line.startswith('Cap'):
        tell(line.split(':')[0], int(line.split()[1], 16))
tell('uid', os.getuid())
"""
    for contained in each(box):
        tries = contained.tries(code)
        assert tries.pop("uid") == "1000"
        assert {tries.pop(name) for name in list(tries) if name.startswith("Cap")} == {"0"}, tries
        assert all(what in REFUSED | {"ENOENT", "ENOSYS", "EINVAL", "ENOTSUP"} for what in tries.values()), (contained.runtime, tries)


def test_posture(box):
    """The process that runs foreign code, as the host sees it: a uid of no user, no capability, filters, namespaces."""
    host = {name: os.readlink(f"/proc/self/ns/{name}") for name in NAMESPACES}
    for contained in each(box):
        waiting = contained.begin("import time; tell('on', 1); time.sleep(60)")
        pid = contained.sandbox()
        boxes.until(lambda: int(boxes.status(pid)["Seccomp_filters"]) >= 2)
        status = boxes.status(pid)
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status
        for name in NAMESPACES:
            assert os.readlink(f"/proc/{pid}/ns/{name}") != host[name], (contained.runtime, name)
        if contained.runtime != "runsc":
            assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}, status
            assert int(status["Uid"].split()[0]) in HOST_UIDS and status["Groups"].strip() == "", status
        end = waiting.kill()
        assert getattr(end, "how", None) == "killed" or end.error == "cancelled", vars(end)
        boxes.until(lambda: not contained.alive())


def test_memory_ends_at_its_limit(box):
    """A memory bomb ends with its reason, and uses at most its limit and the runtime's own memory."""
    for contained in each(box):
        end = contained.run("l = []\nwhile True: l.append(b'x' * (1 << 20))", memory_mb=64, wall_ms=30000)
        assert end.how == "out_of_memory", (contained.runtime, vars(end))
        assert end.max_memory_bytes <= (64 + 16 + 256 + 160) << 20, (contained.runtime, end.max_memory_bytes)


def test_processes_end_at_their_limit(box):
    """A fork bomb stops early, and the next program runs at once."""
    bomb = "import time\nfor n in range(5000):\n    if os.fork() == 0:\n        time.sleep(30)\n        os._exit(0)\ntell('made', n)"
    for contained in each(box):
        end = contained.run(bomb, processes=32, wall_ms=30000)
        assert "made" not in end.out and end.how in ("exited", "signalled"), (contained.runtime, vars(end))
        assert contained.tries("tell('served', True)") == {"served": "True"}


def test_disk_ends_at_its_limit(box):
    """A full workspace and a full /tmp return ENOSPC."""
    code = """
def fill(path):
    with open(path, 'wb') as file:
        for _ in range(4096):
            file.write(bytes(1 << 20))
attempt('workspace', lambda: fill('/workspace/f'))
os.unlink('/workspace/f')
attempt('tmp', lambda: fill('/tmp/f'))
attempt('dev', lambda: fill('/dev/f'))
"""
    for contained in each(box):
        tries = contained.tries(code, wall_ms=60000)
        assert (tries["workspace"], tries["tmp"]) == ("ENOSPC", "ENOSPC"), (contained.runtime, tries)
        assert tries["dev"] in REFUSED, (contained.runtime, tries)


def test_nobody_survives(box):
    """Processes that hide from the time limit by fork, session or stop end with the program; box.run checks."""
    code = """
import signal, time
for how in 'daemon', 'stopped', 'deaf':
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if how == 'deaf':
                for s in range(1, 32):
                    if s not in (9, 19): signal.signal(s, signal.SIG_IGN)
            if how == 'stopped': os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(60)
        os._exit(0)
time.sleep(60)
"""
    for contained in each(box):
        began = time.monotonic()
        end = contained.run(code, wall_ms=1500)
        assert end.how == "timed_out" and time.monotonic() - began < 15, (contained.runtime, vars(end))
        # The same if the program does not wait for them.
        end = contained.run(code.rsplit("\n", 2)[0] + "\ntell('left', True)", wall_ms=20000)
        assert end.how == "exited" and end.wall_ms < 15000, (contained.runtime, vars(end))


def test_forged_answers_stay_inside(box):
    """Garbage on the control channel, or silence, ends the program and nothing else."""
    for contained in each(box):
        for code in "os.write(3, b'\\xff' * 4096)", "os.close(3)", "for fd in range(64):\n    try: os.close(fd)\n    except OSError: pass":
            end = contained.run(code, wall_ms=20000)
            assert end.how in ("exited", "signalled", "killed"), (contained.runtime, code, vars(end))
        assert contained.tries("tell('served', True)") == {"served": "True"}


def remains(contained):
    with open(f"/proc/{contained.builder}/mountinfo", encoding="utf-8") as file:
        mounts = len(file.readlines())
    fds = [len(os.listdir(f"/proc/{pid}/fd")) for pid in [contained.builder, *contained.resident]]
    directories = sorted(name for path in MINE if os.path.isdir(path) for name in os.listdir(path))
    return mounts, fds, directories


def groups_of(pid):
    """The cgroups of the sandbox that a process is in."""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    paths = [f"/sys/fs/cgroup/{(names or 'unified').removeprefix('name=')}{path}" for _, names, path in lines if "/cloister-" in path]
    return [path for path in paths if os.path.isdir(path)]


def test_nothing_is_left(box):
    """Mounts, descriptors, state of runtimes, cgroups: the same as before, after runs, failures and kills."""
    for contained in each(box):
        contained.run("pass")
        time.sleep(0.5)  # workspaces are wiped after the reply
        before = remains(contained)
        contained.run("pass")
        contained.run("while True: pass", wall_ms=200)
        contained.run("os.abort()")
        for pause in 0.005, 0.01, 0.05, 0.1:  # while the runtime is at work
            waiting = contained.begin("import time; time.sleep(60)")
            time.sleep(pause)
            waiting.kill()
        waiting = contained.begin("import time; time.sleep(60)")
        groups = groups_of(contained.sandbox())
        assert groups, "no cgroup was seen, so its end would show nothing"
        waiting.kill()
        boxes.until(lambda: not contained.alive() and not [path for path in groups if os.path.exists(path)])
        until = time.monotonic() + 5
        while (now := remains(contained)) != before and time.monotonic() < until:
            time.sleep(0.05)
        assert now == before, (contained.runtime, before, now)


def test_builder_dies_with_all(box):
    """If the builder is killed during a run, the runtime, the sandbox and the program die too."""
    like = next(iter(each(box)))
    for runtime in [r for r in RUNTIMES if kept.get(r)]:
        contained = Contained(like, runtime)
        contained.begin("import time; time.sleep(60)")
        pid = contained.sandbox()
        everybody = boxes.descendants(contained.builder)
        assert pid in everybody
        os.kill(contained.builder, 9)
        boxes.until(lambda: not [p for p in everybody if os.path.exists(f"/proc/{p}/ns/pid") and boxes.link(f"/proc/{p}/exe")])
