# SPDX-License-Identifier: Apache-2.0
"""The state that one program leaves to the next (X, V): the files of its workspace and nothing else."""

import concurrent.futures
import os
import time

import box as boxes


def test_X01_only_the_workspace_stays(box):
    """X-01, X-02 (I5): the next program in the same workspace finds only what was written to the workspace."""
    first = box.tries("""
for path in "/tmp/left", "/dev/shm/left", os.path.expanduser("~/left"), "/workspace/kept", "/mnt/data/kept2", "/sandbox/workspace/kept3":
    attempt(path, lambda: open(path, "w").write("x"))
""", workspace="stays")
    assert set(first.values()) == {"done"}, first
    second = box.tries("tell('ws', sorted(os.listdir('/workspace'))); tell('tmp', os.listdir('/tmp')); tell('shm', os.listdir('/dev/shm'))",
                       workspace="stays")
    assert second == {"ws": "['kept', 'kept2', 'kept3']", "tmp": "[]", "shm": "[]"}, second
    other = box.tries("tell('ws', os.listdir('/workspace'))")
    assert other == {"ws": "[]"}, other
    box.drop("stays")
    assert box.tries("tell('ws', os.listdir('/workspace'))", workspace="stays") == {"ws": "[]"}
    box.drop("stays")


def test_X04_memory_is_clean(box):
    """X-04: fresh memory holds nothing of the program before."""
    box.run("import mmap\nm = mmap.mmap(-1, 100 << 20)\nm.write(b'CANARY' * (100 * (1 << 20) // 6))")
    assert box.tries("""
import mmap
m = mmap.mmap(-1, 100 << 20)
tell("zero", m.find(b"\\x43ANARY") < 0 and not any(m[i] for i in range(0, 100 << 20, 4096)))
""") == {"zero": "True"}


def test_X05_names_are_the_same_everywhere(box):
    """X-05: host name, user and identifiers reveal nothing of the host."""
    tries = box.tries("""
import socket, getpass
tell("host", socket.gethostname()); tell("domain", os.uname().version and ctypes.CDLL(None).getdomainname and "x"); tell("user", getpass.getuser())
tell("uid", os.getuid()); tell("pid", os.getpid())
for path in "/etc/machine-id", "/proc/sys/kernel/random/boot_id", "/sys/class/dmi", "/proc/interrupts", "/proc/version":
    attempt(path, os.stat, path)
""")
    assert tries.pop("host") == "cloister" != os.uname().nodename
    assert (tries.pop("user"), tries.pop("uid"), tries.pop("pid"), tries.pop("domain")) == ("sandbox", "1000", "2", "x")
    assert set(tries.values()) == {"ENOENT"}, tries


def test_X06_uids_are_not_reused_at_once(box):
    """X-06: a workspace's uid is not given to the next one."""
    seen = set()
    for _ in range(5):
        waiting = box.begin("import time; time.sleep(60)")
        seen.add(boxes.status(box.inmates()[0][1])["Uid"].split()[0])
        waiting.kill()
    assert len(seen) == (5 if box.user is None else 1), seen


def test_X09_nothing_random_repeats(box):
    """X-09: layout, hashes and random numbers differ from program to program."""
    code = "import random, uuid\nprint(hash('abc'), random.random(), uuid.uuid4(), [l.split('-')[0] for l in open('/proc/self/maps') if 'libc.so' in l][0])"
    values = list(zip(*(box.run(code).out.split() for _ in range(4))))
    # Two forks of one zygote share the earlier memory layout: string hashes and addresses (not with warm=off).
    differ = values if box.start == "cold" else values[1:3]
    assert all(len(set(column)) == 4 for column in differ), values


def test_V01_python_is_isolated(box):
    """V-01, V-02, X-12: files that a program leaves do not run at the start of the next one, and replace none of our modules."""
    box.run("""
import os
for directory in "/workspace/.local/lib/python3.11/site-packages", "/tmp/.local/lib/python3.11/site-packages":
    os.makedirs(directory)
    open(directory + "/evil.pth", "w").write("import os; os.write(1, b'EVIL')\\n")
    open(directory + "/usercustomize.py", "w").write("import os; os.write(1, b'EVIL')\\n")
for name in "sitecustomize", "encodings", "json", "traceback", "linecache", "io":
    open(f"/workspace/{name}.py", "w").write("import os; os.write(1, b'EVIL')\\n")
""", workspace="planted")
    for code in "pass", "1/0", "{'a': [1, 2]}":
        end = box.run(code, workspace="planted")
        assert "EVIL" not in end.out + end.err, (code, end.out)
    box.drop("planted")


def test_V03_environment_is_fixed(box):
    """V-03: no variable of the daemons' environment reaches a program, and none loads code but the box's own."""
    for milli, processors in (1000, 1), (2000, 2):
        tries = box.tries("for pair in os.environ.items(): tell(*pair)", cpu_milli=milli)
        wanted = {name: value for name, value in boxes.environment(processors).items() if name not in box.ABSENT}
        assert tries == wanted, (milli, tries)


def test_I5_side_by_side(box):
    """I5, X-08: eight programs at once see no process, file, port or lock of each other."""
    def one(number):
        return box.begin(f"""
import time
open("/tmp/mine", "w").write("{number}"); open("/workspace/mine", "w").write("{number}")
time.sleep(0.5)
tell("pids", sum(n.isdigit() for n in os.listdir("/proc")))
tell("files", open("/tmp/mine").read() + open("/workspace/mine").read())
""").end()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(one, range(8)))
    assert [end.out for end in ends] == [f"pids 1\nfiles {n}{n}\n" for n in range(8)], [end.out for end in ends]


def test_F19_workspaces_go_quickly(box):
    """F-19: a workspace full of small files, deep and closed directories disappears at once when it is dropped."""
    box.run("""
for i in range(4000): os.close(os.open(f"/workspace/{i}", os.O_CREAT))
""", files=4096, workspace="full")
    began = time.monotonic()
    box.drop("full")
    assert box.tries("tell('ws', os.listdir('/workspace'))", workspace="full") == {"ws": "[]"}
    assert time.monotonic() - began < 10
    box.drop("full")
