# SPDX-License-Identifier: Apache-2.0
"""The measured systems: cloister through its gateway, and the alternatives for running a program.

A peer runs its program once per call, checks the output, and returns the milliseconds from the write of the request, or
the start of the command, to the end of the reply. The client's own work before and after, such as encoding JSON, is in no
peer's figure. cpu_ms() is the processor time used so far, or None if it cannot be determined from outside.
"""

import contextlib
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from daemons import MODERN
import processes

PYTHON = "/usr/bin/python3"
PRINTED = b'"stdout":"1\\n"'
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
BWRAP = ["bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
         "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unshare-all",
         "--die-with-parent"]
RUNSC = ["runsc", "--network=none", "--ignore-cgroups", "do"]
FORK = """
import os, sys
for line in sys.stdin:
    pid = os.fork()
    if not pid:
        exec("print(1)", {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(pid, 0)
"""

# As many forks as possible in that time, without a client, and with only the requested isolation.
FORK_ON = """
import ctypes, gc, os, sys, time
flags, seconds, wanted, modules, code, *groups = sys.argv[1:]
again, locked = "again" in wanted, "locked" in wanted
for module in filter(None, modules.split(",")):
    __import__(module)
gc.freeze()
libc, arguments = ctypes.CDLL(None), (ctypes.c_uint64 * 11)(int(flags), 0, 0, 0, 17)
code = ctypes.create_string_buffer(bytes.fromhex(code))
program = (ctypes.c_uint64 * 2)(len(code) // 8, ctypes.addressof(code))
version, none, execute = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(), (ctypes.c_uint64 * 1)(1)
def put(file, data):
    fd = os.open(file, os.O_WRONLY)
    os.write(fd, data)
    os.close(fd)
def done(result):
    if result < 0:
        sys.exit("a step failed")
    return result
def confine():
    for group in groups:
        put(group + door, b"0")
    if locked:
        for name, data in ("setgroups", b"deny"), ("uid_map", b"1000 0 1"), ("gid_map", b"1000 0 1"):
            put("/proc/self/" + name, data)
    for what, where, kind, how in (None, b"/", None, 0x44000), (b"p", b"/proc", b"proc", 14), (b"t", b"/tmp", b"tmpfs", 6):
        done(libc.mount(what, where, kind, how, None))
    if locked:
        lock()
def lock():
    done(libc.syscall(126, version, none))  # capset
    done(libc.prctl(38, 1, 0, 0, 0))  # no new privileges
    done(libc.prctl(4, 0, 0, 0, 0))  # not dumpable
    rules = done(libc.syscall(444, execute, 8, 0))
    done(libc.syscall(446, rules, 0))
    done(libc.prctl(22, 2, program, 0, 0))  # seccomp
def make():
    for group in groups:
        os.mkdir(group)
def remove():
    for group in groups:
        os.rmdir(group)
groups = [f"{group}/bench.{os.getpid()}" for group in groups]
door = "/tasks" if groups and os.path.exists(os.path.dirname(groups[0]) + "/tasks") else "/cgroup.procs"
if again:
    make()
count, until = 0, time.perf_counter() + float(seconds)
while time.perf_counter() < until:
    near, far = os.pipe()
    if not again:
        make()
    pid = libc.syscall(435, arguments, 88) if flags != "0" else os.fork()
    if not pid:
        os.dup2(far, 1)
        if groups:
            confine()
        exec("print(1)", {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.close(far)
    if os.read(near, 10) != b"1\\n":
        sys.exit("a fork did not run")
    os.close(near)
    os.waitpid(pid, 0)
    if not again:
        remove()
    count += 1
if again:
    remove()
print(count / float(seconds))
"""
NAMESPACES = 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x20000000  # mount, cgroup, uts, ipc, pid; cloister reuses empty network namespaces
USER = 0x10000000
LEAST = "the same, with the modules imported and the seccomp program loaded that ours has"
# The isolation and the method of each; the last one has the minimum of a box.
FORKS = {"a warm interpreter's forks": (0, ""),
         "a warm interpreter's forks, each in new namespaces and nothing else": (NAMESPACES, ""),
         "the same, each with cgroups of its own, a /proc and a /tmp": (NAMESPACES, "anew"),
         "the same, with cgroups that are used again": (NAMESPACES, "again"),
         "the same, with a user namespace, no capabilities, Landlock and a seccomp program that allows all": (NAMESPACES | USER, "again locked"),
         LEAST: (NAMESPACES | USER, "again locked ours")}
ALLOW_ALL = "060000000000ff7f"


def since(start):
    return (time.perf_counter() - start) * 1000


class Gateway:
    """A gateway of a cluster, driven by blocking writes and reads, so that no client thread is in the figure."""

    def __init__(self, cluster):
        self.cluster, self.numbers = cluster, itertools.count(1)
        self.process = subprocess.Popen(cluster.command("gateway") + ["--toolsets=all"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=cluster.env)

    def line(self, method, **params):
        return json.dumps({"jsonrpc": "2.0", "id": next(self.numbers), "method": method, "params": {**params, "_meta": META}}).encode() + b"\n"

    def send(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def tell(self, line):
        """Milliseconds of a prepared request, and its reply."""
        start = time.perf_counter()
        self.send(line)
        answer = self.process.stdout.readline()
        return since(start), answer

    def result(self, tool, **arguments):
        """Milliseconds, and the tool's result."""
        ms, answer = self.tell(self.line("tools/call", name=tool, arguments=arguments))
        answer = json.loads(answer)
        if "result" not in answer or answer["result"].get("isError"):
            sys.exit(f"cloister answered {answer}")
        return ms, answer["result"]["structuredContent"]

    def imported(self, language):
        """Modules that are already imported in a program without a profile."""
        runtime = next(one for one in self.result("list_runtimes")[1]["runtimes"] if one["language"] == language)
        return runtime["modules"][0]["modules"]

    def run(self, code, prints, **arguments):
        """One run: its milliseconds and its resource usage."""
        ms, done = self.result("execute_code", code=code, **arguments)
        if done["stdout"] != prints:
            sys.exit(f"cloister answered {done}")
        return ms, done["usage"]

    def peer(self, code, prints="1\n", **arguments):
        return Program(self, code, prints, arguments)

    def unseen_peer(self, code, prints="1\n", **arguments):
        return Unseen(self, code, prints, arguments)

    def tree(self):
        """All daemons and their descendants."""
        servers = [process.pid for process in self.cluster.processes.values()]
        return [self.process.pid, *servers, *(child for server in servers for child in processes.children(server))]

    def flood(self, good, in_flight, enough, tool="execute_code", **arguments):
        """Makes concurrent calls until enough(number done) is true; returns the number, and the replies without `good`."""
        def begin():
            self.send(self.line("tools/call", name=tool, arguments=arguments))

        for _ in range(in_flight):
            begin()
        done, open_, bad = 0, in_flight, []
        while open_:
            answer = self.process.stdout.readline()
            done, open_ = done + 1, open_ - 1
            if good not in answer:
                bad.append(answer)
            if not enough(done + open_):
                begin()
                open_ += 1
        return done, bad

    def rush(self, seconds, in_flight, good=PRINTED, **call):
        """As many calls as possible of programs that print 1: calls per second, processor time and the machine's page faults per call."""
        before, faults, began = processes.cpu_ms(self.tree()), processes.page_faults(), time.perf_counter()
        done, bad = self.flood(good, in_flight, lambda _: time.perf_counter() > began + seconds, **call)
        took = time.perf_counter() - began
        if bad:
            print("error:", bad[0][:500])
        return {"rate": done / took, "cpu_ms": (processes.cpu_ms(self.tree()) - before) / done,
                "faults": (processes.page_faults() - faults) / done, "errors": len(bad)}

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


class Program:
    """A program in a fresh box, or a session's.

    Its processor time is that of all daemons and their descendants, dead or alive, because boxes are made in advance.
    """

    def __init__(self, gateway, code, prints, arguments):
        self.gateway, self.code, self.prints, self.arguments = gateway, code, prints, arguments
        self.starts = {}

    def text(self):
        return self.code

    def __call__(self):
        ms, usage = self.gateway.run(self.text(), self.prints, **self.arguments)
        self.starts[usage["start"]] = self.starts.get(usage["start"], 0) + 1
        return ms

    def cpu_ms(self):
        return processes.cpu_ms(self.gateway.tree())


class Unseen(Program):
    """The same with a new text each time, so that the validator must check it."""

    def text(self):
        return f"{self.code}\n# {next(self.gateway.numbers)}"


class Forked:
    """fork+exit of a running interpreter: the cost of a warm start without any isolation."""

    def __init__(self):
        self.process = subprocess.Popen([PYTHON, "-I", "-c", FORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self):
        start = time.perf_counter()
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        ms = since(start)
        if answer != b"1\n":
            sys.exit("the warm interpreter ended")
        return ms

    def cpu_ms(self):
        return processes.cpu_ms([self.process.pid])

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


class Command:
    """A peer that is one command.  Its processor time is that of its waited-for children; unknown if other processes do its work."""

    def __init__(self, argv, prints=b"1\n", counted=True):
        self.path, self.argv, self.prints, self.counted, self.used_ms = shutil.which(argv[0]), argv, prints, counted, 0
        self.errors = tempfile.TemporaryFile()

    def __call__(self):
        near, far = os.pipe()
        actions = [(os.POSIX_SPAWN_DUP2, far, 1), (os.POSIX_SPAWN_DUP2, self.errors.fileno(), 2)]
        start = time.perf_counter()
        pid = os.posix_spawn(self.path, self.argv, os.environ, file_actions=actions)
        os.close(far)
        with os.fdopen(near, "rb", buffering=0) as file:
            printed = file.readall()
        _, _, used = os.wait4(pid, 0)
        ms = since(start)
        if printed != self.prints:
            self.errors.seek(0)
            sys.exit(f"{self.argv[0]} printed {printed!r} {self.errors.read()[-300:]!r}")
        self.used_ms += (used.ru_utime + used.ru_stime) * 1000
        return ms

    def cpu_ms(self):
        return self.used_ms if self.counted else None


def rate(peer, at_once, seconds):
    """Calls per second of a peer with that many concurrent callers."""
    done, until = [0] * at_once, time.perf_counter() + seconds

    def work(place):
        while time.perf_counter() < until:
            peer()
            done[place] += 1
    began = time.perf_counter()
    threads = [threading.Thread(target=work, args=(place,)) for place in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - began)


def own_groups():
    """Directories of this process's cgroups: for version 1 one for each controller of a box, otherwise the single one."""
    for line in processes.read("self", "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        wanted = {"cpu", "cpuacct", "memory", "pids"} & set(controllers.split(","))
        if wanted or not controllers and os.path.exists("/sys/fs/cgroup/cgroup.procs"):
            yield os.path.join("/sys/fs/cgroup", controllers, path.strip("/"))


def forks(kind, at_once, seconds, modules, code):
    """Runs per second of that many forking interpreters: the upper bound for a sandbox that forks for each run.

    modules, code: the modules of our zygotes and our seccomp program, for the peers that use them.
    """
    flags, how = FORKS[kind]
    theirs = [",".join(modules), code] if "ours" in how else ["", ALLOW_ALL]
    groups = list(own_groups()) if how else []
    programs = [subprocess.Popen([PYTHON, "-I", "-c", FORK_ON, str(flags), str(seconds), how, *theirs, *groups], stdout=subprocess.PIPE)
                for _ in range(at_once)]
    return sum(float(program.communicate()[0]) for program in programs)


@contextlib.contextmanager
def docker(directory):
    """A separate Docker engine with the image imported; yields the command of its client."""
    root = tempfile.mkdtemp(prefix="docker-", dir=directory)
    client = ["docker", "-H", f"unix://{root}/socket"]
    with open(os.path.join(root, "log"), "wb") as log:
        engine = subprocess.Popen(
            ["dockerd", "-H", f"unix://{root}/socket", "--data-root", f"{root}/data", "--exec-root", f"{root}/exec",
             "--pidfile", f"{root}/pid", "--bridge=none", "--iptables=false"],
            stdout=log, stderr=log)
    try:
        for _ in range(100):
            if subprocess.run(client + ["version"], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.2)
        subprocess.run(client + ["import", os.path.join(directory, "image.tar"), "bench"], check=True, capture_output=True)
        subprocess.run(client + ["run", "-d", "--network=none", "--name=kept", "bench", "sleep", "86400"], check=True,
                       capture_output=True)
        yield client
    finally:
        subprocess.run(client + ["rm", "-f", "kept"], capture_output=True, check=False)
        engine.terminate()
        engine.wait(30)
        shutil.rmtree(root, ignore_errors=True)
