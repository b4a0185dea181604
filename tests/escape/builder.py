# SPDX-License-Identifier: Apache-2.0
"""The end of the processes that keep sandboxes (I8, I20): no sandbox outlives its builder, nothing is left on the host."""

import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import box as boxes
import cases

KEPT = int(re.search(r"KEPT = (\d+)", boxes.read(os.path.join(os.path.dirname(__file__), "../../executor/builder/nets.c"))).group(1))
# Starts the following command with this machine's cgroups and a /run of its own.
ROOT = "unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /run && exec "$@"', "sh"
DAEMON = """
import signal, time
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True: time.sleep(1)
time.sleep(60)
"""


def groups_of(pids):
    """The cgroup directories of this builder's sandboxes, in one hierarchy or, with cgroup 1, in several."""
    names = {word for pid in pids for word in re.findall(r"(/\S*cloister-\d+)/", boxes.read(f"/proc/{pid}/cgroup"))}
    return [path for name in names for at in ("/sys/fs/cgroup", "/sys/fs/cgroup/*") for path in glob.glob(at + name)]


def at_work(box, count=3, prefix=()):
    """A second set of sandboxes beside the tested one: its processes, outermost first."""
    other = boxes.Box(box.source, box.probe, user=box.user, prefix=prefix)
    for _ in range(count):
        other.begin(DAEMON)
    other.inmates(count)
    boxes.until(lambda: len(other.alive()) == 3 * count)
    keeper = boxes.children(other.process.pid)[0]
    assert groups_of(other.alive()) or box.isolation["limits_by"] == "rlimit"
    return other, keeper, other.alive(), groups_of(other.alive())


def gone(pids):
    return not any(os.path.exists(f"/proc/{pid}") for pid in pids)


def check_nothing_left(box, other, keeper, inside, groups):
    """All of its processes and files are gone soon; the other set is not touched."""
    boxes.until(lambda: gone([keeper, other.builder, *inside]))
    boxes.until(lambda: not any(map(os.path.exists, groups)))
    assert box.tries("tell('works', True)") == {"works": "True"}


def test_I20_builder_killed(box):
    """I20, X-14: kill -9 of the builder ends every box at once, and its keeper cleans up."""
    other, keeper, inside, groups = at_work(box)
    os.kill(other.builder, signal.SIGKILL)
    check_nothing_left(box, other, keeper, inside, groups)
    # Every waiting request got its reply.
    boxes.until(lambda: not other.waiting)
    other.stop()


def test_I20_executor_killed(box):
    """I20: kill -9 of the process that orders boxes ends the builder and every box."""
    other, keeper, inside, groups = at_work(box)
    other.process.kill()
    other.process.wait()
    check_nothing_left(box, other, keeper, inside, groups)


def test_I20_keeper_killed(box):
    """I20: kill -9 of the keeper ends the builder too; the next builder removes what the keeper would have removed."""
    other, keeper, inside, groups = at_work(box)
    os.kill(keeper, signal.SIGKILL)
    boxes.until(lambda: gone([other.builder, *inside]))
    other.process.wait(timeout=10)
    for path in groups:
        for procs in glob.glob(f"{path}/**/cgroup.procs", recursive=True):  # the kernel lists ended processes for a moment
            boxes.until(lambda at=procs: not boxes.read(at).strip())
    again = boxes.Box(box.source, box.probe, user=box.user)
    assert again.tries("tell('works', True)") == {"works": "True"}
    again.stop()
    boxes.until(lambda: not any(map(os.path.exists, groups)))


def test_I20_builder_stopped(box):
    """I20: a builder that hangs loses no sandbox: killing it ends all of them."""
    other, keeper, inside, groups = at_work(box)
    os.kill(other.builder, signal.SIGSTOP)
    other.process.kill()
    other.process.wait()
    os.kill(other.builder, signal.SIGKILL)
    check_nothing_left(box, other, keeper, inside, groups)


def test_I20_builders_of_two_roots(box):
    """I20: builders that share the cgroups and not /run use different groups: while both work, when one is killed,
    and when the next builder takes over what it left."""
    root = ROOT if box.user is None else ()  # an ordinary user may mount nothing, and has no groups to share
    own, keeper, inside, groups = at_work(box)
    far, far_keeper, far_inside, far_groups = at_work(box, prefix=root)
    assert not set(groups) & set(far_groups), (groups, far_groups)
    os.kill(far_keeper, signal.SIGKILL)
    boxes.until(lambda: gone([far_keeper, far.builder, *far_inside]))
    far.process.wait(timeout=10)
    left = [path for path in far_groups if os.path.exists(path)]
    agains = []  # there may be a slot before it that another server on this machine had
    while not agains or (set(left) - set(agains[-1][1]) and len(agains) < 5):
        again, _, _, again_groups = at_work(box, prefix=root)
        agains.append((again, again_groups))
        assert not set(groups) & set(again_groups), (groups, again_groups)
    assert not set(left) - set(again_groups), (left, agains)
    for again, again_groups in agains:
        again.process.kill()
        boxes.until(lambda paths=again_groups: not any(map(os.path.exists, paths)))
    assert own.tries("tell('works', True)") == {"works": "True"} and all(map(os.path.exists, groups))
    own.process.kill()
    check_nothing_left(box, own, keeper, inside, groups)


def test_I20_groups_that_live(box):
    """I20: foreign processes in the groups of a slot are not killed."""
    before, keeper, inside, groups = at_work(box)
    before.process.kill()
    check_nothing_left(box, before, keeper, inside, groups)
    with subprocess.Popen(["sleep", "60"]) as living:
        try:
            for path in groups:
                os.makedirs(f"{path}/1")
                with open(f"{path}/1/cgroup.procs", "w", encoding="ascii") as procs:
                    procs.write(str(living.pid))
            after, keeper, inside, others = at_work(box)
            assert bool(others) == bool(groups) and not set(others) & set(groups), (groups, others)  # none: of an ordinary user
            after.process.kill()
            check_nothing_left(box, after, keeper, inside, others)
        finally:
            living.kill()
    for path in groups:
        os.rmdir(f"{path}/1")
        os.rmdir(path)


def uid_of(pid):
    return int(boxes.status(pid)["Uid"].split()[0])


def test_I11_uids_of_other_users(box):
    """I11: a sandbox never has the uid of a host user; if all uids are taken, there are no sandboxes."""
    if box.user is not None:
        raise cases.Skip("boxes of an ordinary user have that user's uid")
    with tempfile.NamedTemporaryFile("w") as given:
        prefix = "unshare", "--mount", "sh", "-c", f'mount --bind {given.name} "$0" && exec "$@"'
        for path in "/etc/subuid", "/etc/subgid":
            given.truncate(0), given.seek(0)
            given.write("u:100000:65536\nv:699999999:2\n"), given.flush()
            other, _, inside, _ = at_work(box, count=1, prefix=(*prefix, path))
            assert 800000000 <= uid_of(inside[0]) < 801000000, uid_of(inside[0])
            other.kill()
            given.write("w:800000001:1\nw:2010200000:100\n"), given.flush()
            refused = subprocess.run([*prefix, path, os.path.join(box.directory, "box_run")], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
            assert f"to {path}: w:2010200000:100".encode() in refused.stderr, refused


# Marks the first slot as that of a dead process, with its lock still held, until the following program ends.
DEAD = """
import fcntl, os, struct, subprocess, sys
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
os.mkdir("/run/cloister-builder", 0o700)
slot = os.open("/run/cloister-builder/0", os.O_RDWR | os.O_CREAT, 0o600)
fcntl.fcntl(slot, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))  # F_OFD_SETLK
ended, held = os.pipe()
middle = os.fork()
if middle == 0:
    if os.fork() == 0:
        os.close(held), os.read(ended, 1)
    os._exit(0)
os.waitpid(middle, 0)
os.write(slot, b"%d 1\\n" % middle), os.close(slot), os.set_inheritable(held, True)
os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND), 2)
os.execv(sys.argv[2], sys.argv[2:])
"""


def test_I20_a_slot_of_the_dead(box):
    """I20: a slot that a dead builder cannot release is skipped and logged; for a held slot the log names the holder."""
    if box.user is not None:
        raise cases.Skip("an ordinary user may mount nothing")
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as log:
        prefix = "unshare", "--mount", "/usr/bin/python3", "-c", DEAD, log.name
        other, keeper, _, _ = at_work(box, count=1, prefix=prefix)
        run = f"/proc/{other.process.pid}/root/run/cloister-builder"
        held = [name for name in os.listdir(run) if name != "0" and boxes.read(f"{run}/{name}").startswith(f"{keeper} ")]
        other.kill()
        assert len(held) == 1, held
        assert "a slot is held by processes of a dead builder" in log.read()


def test_I20_a_directory_that_somebody_else_made(box):
    """I20: another user who creates the directory of a user's slots in /tmp first does not prevent sandboxes."""
    if box.user is None:
        raise cases.Skip("root's slots are in /run")
    path = f"/tmp/cloister-builder-{box.user}"
    os.rename(path, path + ".aside")
    os.mkdir(path, 0o700)
    state = tempfile.mkdtemp()
    os.chown(state, box.user, box.user)
    try:
        other = boxes.Box(box.source, box.probe, user=box.user, arguments=("state", state, "--"))
        assert other.tries("tell('works', True)") == {"works": "True"}
        other.stop()
        assert os.listdir(f"{state}/cloister-builder")
    finally:
        os.rmdir(path)
        os.rename(path + ".aside", path)
        shutil.rmtree(state)


def test_I8_orderly_end(box):
    """I8: an executor that exits in order leaves no process, cgroup, mount or System V object."""
    objects = boxes.read("/proc/sysvipc/shm")
    other, keeper, inside, groups = at_work(box)
    other.process.stdin.close()
    for number in list(other.waiting):
        other.waiting.get(number)
    other.process.terminate()
    other.process.wait()
    check_nothing_left(box, other, keeper, inside, groups)
    assert "/workspace" not in boxes.read("/proc/self/mounts") and boxes.read("/proc/sysvipc/shm") == objects


def test_I6_hundreds_of_boxes(box):
    """I6, X-14: after hundreds of boxes the builder's memory, descriptors and mounts are as before, except for
    the network namespaces that it keeps, whose number is limited."""
    def state():
        time.sleep(0.3)  # the last workspace is released after the end of its program is reported
        with open(f"/proc/{box.builder}/statm", encoding="ascii") as file:
            resident = int(file.read().split()[1])
        return resident, len(os.listdir(f"/proc/{box.builder}/fd")), boxes.read(f"/proc/{box.builder}/mounts").count("\n")
    def many(count):
        waiting = [box.begin("pass") for _ in range(count)]
        assert all(w.end().how == "exited" for w in waiting)
    many(40)
    before = state()
    for _ in range(10):
        many(40)
    after = state()
    assert after[0] - before[0] < 64 and after[2] == before[2], (before, after)
    assert after[1] <= before[1] + 1 + KEPT - 40, (before, after)


def test_I17_signals_to_the_builder(box):
    """The builder ends with its executor, and not by a signal that a terminal or a service manager sends to all processes."""
    keeper = boxes.children(box.process.pid)[0]
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT:
        os.kill(keeper, number)
        os.kill(box.builder, number)
    assert box.tries("tell('works', True)") == {"works": "True"}


def test_A00_builder_started_by_hand(box):
    """A builder that was not started by an executor reports that and exits."""
    program = os.path.join(box.source, "cloister-builder")
    run = subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=False)
    assert run.returncode == 2 and "cloister-executor" in run.stderr, run
