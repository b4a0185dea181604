# SPDX-License-Identifier: Apache-2.0
"""Programs in boxes, by box_run, and what of them can be seen from the host.

    box = Box("build/bin", probe)     # as root; with user=12345 as that user, rootless
    end = box.run("print(1)")         # .how .exit_code .signal .out .err and so on; nothing of it is left by then
"""

import atexit
import base64
import itertools
import json
import os
import queue
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
import types
import zlib

# What programs of the cases are written with: tells one try a line, by the name of its errno.
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


class Waiting:
    """A program under way."""

    def __init__(self, box, number):
        self.box, self.number, self.reply = box, number, queue.Queue()

    def end(self, timeout=90):
        return self.reply.get(timeout=timeout)

    def kill(self):
        self.box.say({"kill": self.number})
        return self.end()


class Box:
    """One box_run with its builder; prefix: a command that starts it otherwise than it is started as a rule; arguments:
    the builder's."""

    def __init__(self, folder, probe, user=None, prefix=(), arguments=()):
        self.user, self.source, self.folder, self.probe = user, folder, folder, probe
        # What an ordinary user starts must be where that user can read it.
        if user is not None:
            self.folder = tempfile.mkdtemp(prefix="cloister-escape-")
            for name in "box_run", "cloister-builder", "cloister-init", "_zygote.so":
                shutil.copy(os.path.join(folder, name), self.folder)
            os.chmod(self.folder, 0o755)
        as_user = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        self.canary = secrets.token_hex(16)
        clean = {"PATH": "/usr/bin:/bin", "CANARY": self.canary}
        self.process = subprocess.Popen([*prefix, os.path.join(self.folder, "box_run"), *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=clean, cwd="/", **as_user)
        self.isolation = json.loads(self.process.stdout.readline())["isolation"]
        self.numbers, self.waiting = itertools.count(1), {}
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

    def begin(self, code, **more):
        number = next(self.numbers)
        waiting = self.waiting[number] = Waiting(self, number)
        self.say({"id": number, "code": PRELUDE + code, **more})
        return waiting

    def say(self, line):
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def run(self, code, **more):
        """Runs it to its end; then nothing of it may be left."""
        end = self.begin(code, **more).end()
        if hasattr(end, "error"):
            raise AssertionError(f"no box: {end.error}: {end.text}")
        if not self.waiting:
            assert not self.alive(), f"after the end there are processes: {self.alive()}"
        return end

    def tries(self, code, **more):
        """The lines that attempt() and tell() printed, by name."""
        end = self.run(code, **more)
        assert end.how == "exited" and end.exit_code == 0, (end.how, end.exit_code, end.signal, end.out, end.err)
        return dict(line.split(" ", 1) for line in end.out.splitlines())

    def drop(self, workspace):
        self.say({"drop": workspace})

    def put(self, path, workspace):
        """Puts an executable file into a workspace."""
        with open(path, "rb") as file:
            packed = base64.b64encode(zlib.compress(file.read(), 9)).decode()
        name = os.path.basename(path)
        end = self.run(f"import base64, zlib\nopen({name!r}, 'wb').write(zlib.decompress(base64.b64decode({packed!r})))\n"
                       f"os.chmod({name!r}, 0o755)", workspace=workspace)
        assert end.exit_code == 0, end.err

    def alive(self):
        """Processes in boxes, as the host sees them: whatever descends from the builder."""
        return descendants(self.builder) if self.builder else []

    def inmates(self, count=1, timeout=10):
        """Waits until so many interpreters are at work: (pid 1 of the box, interpreter) of each."""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            pairs = [(init, children(init)[0]) for init in children(self.builder) if children(init)]
            pairs = [p for p in pairs if "python" in os.path.basename(link(f"/proc/{p[1]}/exe") or "")]
            if len(pairs) >= count:
                return pairs
            time.sleep(0.01)
        raise AssertionError("no program started")

    def stop(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(timeout=30)
        self.reader.join(timeout=10)
        if self.user is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def until(condition, timeout=10):
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
    """Of all its threads: a program in Go starts others from any of them."""
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
