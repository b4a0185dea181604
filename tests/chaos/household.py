# SPDX-License-Identifier: Apache-2.0
"""A supervisor and its daemons in private directories, and their state as seen from outside; shared by tests that kill
them."""

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import daemons  # noqa: E402

IDLE_S = 2
CGROUPS = "/sys/fs/cgroup"


def wait_for(condition, what, timeout=30):
    end = time.monotonic() + timeout
    while True:
        got = condition()
        if got:
            return got
        assert time.monotonic() < end, f"waited in vain for {what() if callable(what) else what}"
        time.sleep(0.02)


def birth(pid):
    """The start time of a process, which tells it from a later one with the same pid; None if it has ended or is a
    zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as list_:
            return [int(child) for child in list_.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def cgroups():
    return {directory for directory, _, _ in os.walk(CGROUPS) if "cloister" in os.path.basename(directory)}


def builders():
    """All daemons on this machine; another machine has its own control groups."""
    return {int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if "cloister-build" in name_of(pid) and birth(pid)}


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as comm:
            return comm.read()
    except OSError:
        return ""


class Household:
    """A user's run and state directories, and every process seen below their supervisor."""

    def __init__(self, bin, user=None):
        self.bin = os.path.abspath(bin)
        self.identity = {} if user is None else {"user": user, "group": pwd.getpwuid(user).pw_gid, "extra_groups": []}
        self.directory = tempfile.mkdtemp(prefix="cloister-chaos-")
        os.chmod(self.directory, 0o755)
        if user is not None:
            os.chown(self.directory, user, -1)
        self.run, self.state = os.path.join(self.directory, "run"), os.path.join(self.directory, "state")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("CLOISTER_")}
        self.env = {**kept, "CLOISTER_RUN": self.run, "CLOISTER_STATE": self.state,
                    "CLOISTER_SUPERVISOR_IDLE_S": str(IDLE_S)}
        self.seen, self.groups = set(), cgroups()

    def cloister(self, *arguments):
        return subprocess.run([os.path.join(self.bin, "cloister"), *arguments], env=self.env, capture_output=True,
                              text=True, check=False, timeout=60, **self.identity)

    def client(self):
        with open(os.path.join(self.directory, "gateway.log"), "ab") as log:
            return daemons.Client([os.path.join(self.bin, "cloister"), "serve", "--toolsets=all"], env=self.env,
                                  stderr=log, **self.identity)

    def status(self):
        """The status that the supervisor prints, None if there is no supervisor; notes every process below it."""
        asked = self.cloister("status", "--json")
        if asked.returncode not in (0, 1):  # 1: a daemon needs help
            return None
        status = json.loads(asked.stdout)
        below = [status["pid"]]
        for pid in below:
            below += children(pid)
        self.seen |= {(pid, born) for pid in below if (born := birth(pid)) is not None}
        return status

    def daemon(self, name):
        return next(d for d in (self.status() or {"daemons": []})["daemons"] if d["name"] == name)

    def wait_ready(self):
        return wait_for(lambda: (s := self.status()) and s["ready"] and s, "the daemons")

    def log(self):
        try:
            with open(os.path.join(self.state, "supervisor.log"), encoding="utf-8", errors="replace") as log:
                return log.read()
        except FileNotFoundError:
            return ""

    def alive(self):
        return [pid for pid, born in self.seen if birth(pid) == born]

    def assert_nothing_left(self):
        self._assert_gone()
        for word in ("Sanitizer", "runtime error", "did not stop and is killed", "signal 31", "signal 6", "signal 11"):
            assert word not in self.log(), word

    def _assert_gone(self):
        wait_for(lambda: self.status() is None, "the supervisor's end")
        wait_for(lambda: not self.alive(), lambda: f"the end of {[describe(pid) for pid in self.alive()]}", 10)
        with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
            left = [line for line in mounts if self.directory in line]
        assert not left, left
        wait_for(lambda: builders() or not cgroups() - self.groups, "the end of control groups", 10)
        endpoints = [path for directory, _, names in os.walk(self.run) for path in (os.path.join(directory, n) for n in names)
                     if "supervisor" in path and not path.endswith(".lock")]
        assert not endpoints, endpoints

    def remove(self):
        self.cloister("down")
        shutil.rmtree(self.directory, ignore_errors=True)


def describe(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            return pid, line.read().replace(b"\0", b" ").decode(errors="replace")
    return pid, "gone"


@contextlib.contextmanager
def household(bin, user=None):
    home = Household(bin, user)
    try:
        yield home
    except BaseException:
        print("\n".join(line for line in home.log().splitlines() if '"level":"info"' not in line)[-6000:])
        raise
    finally:
        home.remove()


def code_of(result):
    """Returns None on success."""
    if not result.get("isError"):
        return None
    return json.loads(result["content"][0]["text"])["error"]["code"]
