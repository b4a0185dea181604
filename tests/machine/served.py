# SPDX-License-Identifier: Apache-2.0
"""The daemons in a place, called by the command `cloister`: each limit holds, is the cgroup's, and is reported."""

import json
import os
import shutil
import subprocess
import time

import places

MIB = 1 << 20
CALL_S = 60
MEMORY_MB = 64
TMP_MB = 64  # of a box, unless a setting says otherwise


class Daemons:
    """`cloister up` in a place; ended by `cloister down`."""

    def __init__(self, bin, place, **settings):
        self.program, self.place, self.down = os.path.join(bin, "cloister"), place, False
        self.root = f"{places.ROOT}{place.above}/cloister-0"
        self.directory = f"/tmp/{place.name.replace(' ', '-')}"
        os.mkdir(self.directory)
        os.chown(self.directory, place.user, place.user)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.directory, "CLOISTER_RUN": self.directory + "/run",
                    "CLOISTER_STATE": self.directory + "/state", **settings}

    def __enter__(self):
        self.place.make()
        self("up", enter=self.place.enter)
        return self

    def __exit__(self, *_):
        self("down")
        self.down = not os.path.exists(self.root)
        shutil.rmtree(self.directory)

    def begin(self, *words, enter=None):
        return subprocess.Popen([self.program, *words], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, preexec_fn=enter or self.place.become)

    def __call__(self, *words, enter=None):
        child = self.begin(*words, enter=enter)
        out, err = child.communicate(timeout=CALL_S)
        assert out or child.returncode == 0, f"{words[:3]}: {child.returncode} {err}"
        return out

    def call(self, tool, **arguments):
        return json.loads(self("call", "--json", tool, json.dumps(arguments)))

    def groups(self):
        """The cgroups of boxes in which processes are."""
        return [group for entry in os.scandir(self.root) if entry.is_dir() and pids(group := entry.path)]

    def group_of(self, child, limit):
        """The cgroup of the box with that memory.max, once it is there; child: the call for which it is made."""
        end = time.monotonic() + CALL_S
        while time.monotonic() < end and child.poll() is None:
            for group in self.groups():
                if places.read(group, "memory.max") == str(limit):
                    return group
            time.sleep(0.05)
        raise AssertionError(f"no box: {[places.read(group, 'memory.max') for group in self.groups()]}: {child.communicate()}")


def pids(group):
    try:
        return [int(word) for word in places.read(group, "cgroup.procs").split()]
    except OSError:
        return []


def wait_for(condition):
    end = time.monotonic() + CALL_S
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def test_information(daemons):
    """The limits are in force, by cgroup 2, and so the information says."""
    isolation = daemons.call("get_sandbox_info", detail=False)["isolation"]
    assert isolation["limits_by"] == "cgroup2", isolation
    assert not set(places.NEEDED) - set(isolation["layers"]), isolation


def test_all_boxes(daemons):
    """The cgroup above all boxes leaves the machine room."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert int(places.read(daemons.root, "memory.max")) <= memory / 4 * 3
    assert places.read(daemons.root, "pids.max") == "16384"
    quota, period = places.read(daemons.root, "cpu.max").split()
    assert int(quota) == os.cpu_count() * int(period) // 20 * 19
    assert places.read(daemons.root, "cpu.weight") == str(100 * os.cpu_count())
    for name in os.listdir(daemons.root):
        if name.startswith("hugetlb.") and name.endswith(".max"):
            assert places.read(daemons.root, name) == "0", name


def test_memory(daemons):
    """A program over its limit is killed, and the result says why and how much it had."""
    ran = daemons.call("execute_code", code=f"x = b'x' * ({4 * MEMORY_MB} << 20)", memory_limit=f"{MEMORY_MB}m")
    assert ran["error"]["code"] == "out_of_memory", ran
    assert ran["isolation"]["limits_by"] == "cgroup2", ran
    assert MEMORY_MB / 2 * MIB < ran["usage"]["max_memory_bytes"] < 8 * MEMORY_MB * MIB, ran["usage"]


def test_files(daemons):
    """A full workspace is an error of the program, and does not kill it, though files are memory, too."""
    ran = daemons.call("execute_code", resource_limits={"max_ram_mb": MEMORY_MB, "max_disk_mb": 2 * MEMORY_MB}, code="""
n = 0
with open("full", "wb", buffering=0) as file:
    try:
        while True: n += file.write(b"x" * (1 << 20))
    except OSError as error: print(error.errno, n >> 20)
""")
    assert ran["success"] and ran["stdout"] == f"28 {2 * MEMORY_MB}\n", ran


def test_processes(daemons):
    """A fork bomb ends at the limit with EAGAIN."""
    ran = daemons.call("execute_code", resource_limits={"max_processes": 20}, code="""
import os, time
n = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        n += 1
except OSError as error: print(error.errno, n)
raise SystemExit(1)
""")
    number, count = ran["stdout"].split()
    assert number == "11" and 10 <= int(count) <= 20, ran
    assert ran["error"]["code"] == "too_many_processes", ran


def test_cpu(daemons):
    """A busy program gets its share of a processor: the kernel throttles it."""
    limits = {"max_ram_mb": 70, "max_disk_mb": 10, "max_cpu_cores": 0.25}  # a sum that no other box has
    code = "import time\nbegan = time.monotonic()\nwhile time.monotonic() - began < 4: pass\nprint(time.process_time())"
    child = daemons.begin("call", "--json", "execute_code", json.dumps({"code": code, "resource_limits": limits}))
    group = daemons.group_of(child, (70 + 10 + TMP_MB) * MIB)
    for name, text in ("cpu.max", "25000 100000"), ("memory.oom.group", "1"), ("memory.swap.max", "0"):
        assert places.read(group, name) == text, (name, places.read(group, name))
    throttled = 0
    while child.poll() is None and os.path.exists(group):
        try:
            throttled = int(places.read(group, "cpu.stat").split("nr_throttled ")[1].split()[0])
        except (OSError, IndexError):
            break
        time.sleep(0.1)
    ran = json.loads(child.communicate(timeout=CALL_S)[0])
    assert throttled > 5, throttled
    assert float(ran["stdout"]) < 2 and 0 < ran["usage"]["cpu_ms"] < 2500, ran


def test_tree(daemons):
    """The end of a session kills all that its programs left, whatever group of processes it is in, and its cgroup goes."""
    session = daemons.call("create_session")["session_id"]
    ran = daemons.call("execute_code", session_id=session, code="""
import os, signal, time
for _ in range(6):
    if os.fork() == 0:
        os.setsid()
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        os.fork()
        time.sleep(600)
        os._exit(0)
time.sleep(1)
""")
    assert ran["success"], ran
    group = max(daemons.groups(), key=lambda group: len(pids(group)))
    left = pids(group)
    assert len(left) >= 12, left
    assert daemons.call("terminate_session", session_id=session)["status"] == "terminated"
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in left))
    wait_for(lambda: not os.path.exists(group))
