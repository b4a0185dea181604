# SPDX-License-Identifier: Apache-2.0
"""Runs programs in sandboxes with box_run, and shows what the host can see of them.

    box = Box("build/bin", probe)     # as root; with user=12345 as that user, rootless
    end = box.run("print(1)")         # .how .exit_code .signal .out .err and so on; its processes have ended
    box.start = "warm"                # from now on Python is forked from a zygote instead of started from its file
"""

import atexit
import base64
import itertools
import json
import os
import queue
import re
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
import types
import zlib

# The helpers of the cases' programs: print one attempt per line, with the name of its errno.
PRELUDE = """
import ctypes, errno, os, sys
def tell(name, what):
    print(name, what, flush=True)
def attempt(name, go, *args, **more):
    try:
        go(*args, **more)
        tell(name, "done")
    except OSError as error:
        tell(name, errno.errorcode.get(error.errno, error.errno))
    except Exception as error:
        tell(name, type(error).__name__)
"""


PYTHON = "/usr/bin/python3"
LANGUAGES = {"python": 0, "node": 1, "shell": 2}  # enum language
# What zygotes have imported, by number; a fork of the first has what a bare start has.
ZYGOTES = {"warm": 1, "warm libraries": 2}
LIBRARIES = "random,secrets,uuid,ssl,tempfile,socket,threading,multiprocessing,numpy,numpy.random"


class Waiting:
    """A running program."""

    def __init__(self, box, number):
        self.box, self.number, self.reply = box, number, queue.Queue()

    def end(self, timeout=90):
        return self.reply.get(timeout=timeout)

    def kill(self):
        self.box.say({"kill": self.number})
        return self.end()


class Box:
    """One box_run with its builder; prefix: a command that starts it otherwise than it is started as a rule; arguments:
    the builder's; zygotes: what each has imported."""

    ABSENT = set()  # variables of environment.def that programs do not get

    def __init__(self, directory, probe, user=None, prefix=(), arguments=(), zygotes=("", LIBRARIES), loopback=True):
        self.user, self.source, self.directory, self.probe, self.start = user, directory, directory, probe, "cold"
        # The programs of an ordinary user must be where that user can read them.
        if user is not None:
            self.directory = tempfile.mkdtemp(prefix="cloister-escape-")
            for name in "box_run", "cloister-builder", "cloister-init", "cloister-csv", "_zygote.so":
                shutil.copy(os.path.join(directory, name), self.directory)
            os.chmod(self.directory, 0o755)
        as_user = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        self.canary = secrets.token_hex(16)
        clean = {"PATH": "/usr/bin:/bin", "CANARY": self.canary}
        words = [word for modules in zygotes for word in ("zygote", PYTHON, modules, "--")]
        words += ["loopback", "--"] if loopback else []
        self.process = subprocess.Popen([*prefix, os.path.join(self.directory, "box_run"), *words, *arguments],
                                        stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=clean, cwd="/", **as_user)
        self.isolation = json.loads(self.process.stdout.readline())["isolation"]
        self.numbers, self.waiting, self.sessions = itertools.count(1), {}, set()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.builder = self._find_builder()
        atexit.register(self.stop)

    def _read(self):
        for line in self.process.stdout:
            reply = json.loads(line)
            waiting = self.waiting.pop(reply["id"], None)
            if waiting is not None:
                waiting.reply.put(types.SimpleNamespace(**reply))

    # box_run -> keeper -> builder
    def _find_builder(self):
        keepers = children(self.process.pid)
        return (children(keepers[0]) or [None])[0] if keepers else None

    def begin(self, code, language="python", start=None, **more):
        """start: "cold", or a zygote of ZYGOTES; None: as box.start says."""
        number = next(self.numbers)
        waiting = self.waiting[number] = Waiting(self, number)
        if language == "python":
            code = PRELUDE + code
            more["zygote"] = ZYGOTES.get(start or self.start, 0)
        if more.get("session"):
            self.sessions.add(more["workspace"])
        self.say({"id": number, "code": code, "language": LANGUAGES[language], **more})
        return waiting

    def say(self, line):
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def run(self, code, **more):
        """Runs it to its end; afterwards nothing of it may be left."""
        end = self.begin(code, **more).end()
        if hasattr(end, "error"):
            raise AssertionError(f"no box: {end.error}: {end.text}")
        if not self.waiting and not self.sessions:
            assert not self.alive(), f"after the end there are processes: {self.alive()}"
        return end

    def tries(self, code, **more):
        """The lines that attempt() and tell() printed, by name."""
        end = self.run(code, **more)
        assert end.how == "exited" and end.exit_code == 0, (end.how, end.exit_code, end.signal, end.out, end.err)
        return dict(line.split(" ", 1) for line in end.out.splitlines())

    def drop(self, workspace):
        self.say({"drop": workspace})
        if workspace in self.sessions:
            self.sessions.remove(workspace)
            until(lambda: self.sessions or not self.alive())

    def put(self, path, workspace):
        """Puts an executable file into a workspace."""
        with open(path, "rb") as file:
            packed = base64.b64encode(zlib.compress(file.read(), 9)).decode()
        name = os.path.basename(path)
        end = self.run(f"import base64, zlib\nopen({name!r}, 'wb').write(zlib.decompress(base64.b64decode({packed!r})))\n"
                       f"os.chmod({name!r}, 0o755)", workspace=workspace)
        assert end.exit_code == 0, end.err

    def alive(self):
        """Processes in sandboxes, as the host sees them: descendants of the builder, without its zygotes."""
        if self.builder is None:
            return []
        own = link(f"/proc/{self.builder}/ns/pid")
        return [pid for pid in descendants(self.builder) if link(f"/proc/{pid}/ns/pid") not in (own, None)]

    def zygotes(self):
        """A process that the builder forked for itself runs the builder's program for a moment (release.c, locks.c)."""
        own, program = link(f"/proc/{self.builder}/ns/pid"), link(f"/proc/{self.builder}/exe")
        return [pid for pid in children(self.builder)
                if link(f"/proc/{pid}/ns/pid") == own and link(f"/proc/{pid}/exe") not in (program, None)]

    def inmates(self, count=1, timeout=30):
        """Waits until that many sandboxes run: (pid 1 of the sandbox, its first program) of each."""
        until = time.monotonic() + timeout
        while (began := time.monotonic()) < until:
            found = {}
            for pid in self.alive():
                inside = inner_pid(pid)
                if inside is not None:
                    found.setdefault(link(f"/proc/{pid}/ns/pid"), {})[inside] = pid
            pairs = [(pids[1], pids[min(pids.keys() - {1})]) for pids in found.values() if 1 in pids and len(pids) > 1]
            if len(pairs) >= count and all(seccomp_filters(program) == 2 for _, program in pairs):
                return pairs
            time.sleep(0.01 + time.monotonic() - began)  # looking slows the start that it waits for
        raise AssertionError("no program started")

    def stop(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(timeout=30)
        self.reader.join(timeout=10)
        if self.user is not None:
            shutil.rmtree(self.directory, ignore_errors=True)

    def kill(self):
        """Ends it without waiting for what runs."""
        self.process.kill()
        self.process.wait()
        self.stop()


# Certificates of the site, as executor/builder/trust.c finds them.
ANCHORS = "/usr/local/share/ca-certificates", "/etc/pki/ca-trust/source/anchors"


def environment(processors):
    """The files that a program finds, from the same table that makes them."""
    table = read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../executor/builder/launch/environment.def"))
    header = read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../executor/builder/trust.h"))
    for name, path in re.findall(r'^#define (TRUST_\w+) +"(.*)"', header, re.M):
        table = table.replace(f'" {name})', path + '")')
    fixed = re.findall(r'^VARIABLE\("(\w+)=(.*?)"\)', table, re.M)
    local = any(name.endswith((".crt", ".pem")) for path in ANCHORS if os.path.isdir(path) for name in os.listdir(path))
    fixed += re.findall(r'^IF_ADDED\("(\w+)=(.*)"\)', table, re.M) if local else []
    return {**dict(fixed), **dict.fromkeys(re.findall(r'^THREADS\("(\w+)"\)', table, re.M), str(processors))}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def until(condition, timeout=30):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return None


def children(pid):
    """Of all its threads: a Go program starts children from any thread."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return found


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def status(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def inner_pid(pid):
    """Its pid in its own pid namespace."""
    try:
        return int(status(pid)["NSpid"].split()[-1])
    except (OSError, KeyError):
        return None


def seccomp_filters(pid):
    """0 until it is completely in its jail."""
    try:
        return int(status(pid)["Seccomp_filters"])
    except (OSError, KeyError):
        return 0
