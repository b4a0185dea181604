# SPDX-License-Identifier: Apache-2.0
"""A compromised executor (I18, I19, A-24): it can get sandboxes from the builder, and nothing worse."""

import array
import contextlib
import ctypes
import fcntl
import os
import random
import select
import signal
import socket
import struct
import subprocess

import box as boxes
import builder as ends
import cases

WORKSPACE, WIPE, BOX, PROGRAM, FILE_HELPER, CLOCK, COUNT, SIGNAL, KILL, LISTEN, MOUNT, TRUST, CLEAR = range(1, 14)
READY, MADE, STARTED, USED, COUNTED, KILLED, ENDED = range(1, 8)
ORDER = "=9I16s3I9Q"  # struct order of executor/builder/order.h
SIZE = struct.calcsize(ORDER)
MIB = 1 << 20
SPARE = 64  # network namespaces that the builder keeps for later boxes


def order(kind, id_=1, workspace=0, box=0, runtime=0, zygote=0, alone=0, signal=0, container=0, place=0, adopt=0, environment=0, size=MIB, files=64, memory=64 * MIB, tmp=MIB, cpu=0,
          processes=8, open_files=64, wall_ms=5000, cpu_ms=0):
    return struct.pack(ORDER, kind, id_, workspace, box, runtime, zygote, alone, signal, container, bytes(16), place, adopt, environment, size, files, memory, tmp, cpu, processes,
                       open_files, wall_ms, cpu_ms)


class Builder:
    """cloister-builder with this process as its executor."""

    def __init__(self, box, kept=()):
        """kept: what an earlier builder sent when it was ready, for this one to continue with."""
        self.near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        def hand_over():
            copies = [fcntl.fcntl(fd, fcntl.F_DUPFD, 16) for fd in (far.fileno(), *kept)]
            for number, copy in enumerate(copies, 3):
                os.dup2(copy, number)
            os.closerange(3 + len(copies), 256)
        as_user = {} if box.user is None else {"user": box.user, "group": box.user, "extra_groups": []}
        self.process = subprocess.Popen([os.path.join(box.directory, "cloister-builder")], preexec_fn=hand_over, close_fds=False,
                                        stderr=subprocess.PIPE, env={}, **as_user)
        far.close()
        self.kept = []
        kind, _, code, text = self.answer(timeout=30, keep=self.kept)
        assert (kind, code) == (READY, 0), text
        self.pid = boxes.children(self.process.pid)[0]

    def send(self, data, fds=()):
        self.near.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])

    def answer(self, timeout=10, keep=None):
        assert select.select([self.near], [], [], timeout)[0], "the builder does not answer"
        data, fds, _, _ = socket.recv_fds(self.near, 4096, 4)
        for fd in fds:
            if keep is None:
                os.close(fd)
            else:
                keep.append(fd)
        assert data, "the builder ended"
        kind, id_, code = struct.unpack_from("=III", data)
        return kind, id_, code, data[20:260].split(b"\0")[0].decode()

    def ask(self, data, fds=()):
        self.send(data, fds)
        return self.answer()

    def quiet(self, seconds=0.2):
        return not select.select([self.near], [], [], seconds)[0]

    def start(self, id_, control, **more):
        """Orders sandbox id_ with one program, whose id is id_ + 2000."""
        null = os.open("/dev/null", os.O_RDWR)
        self.send(order(BOX, id_, **more))
        self.send(order(PROGRAM, id_ + 2000, box=id_, alone=1), [null, null, control])
        os.close(null)

    def until(self, kind, id_):
        """Replies arrive in any order; returns the code of this id's reply."""
        while True:
            got = self.answer()
            if got[:2] == (kind, id_):
                return got[2:]

    def works(self):
        """A sandbox with a program still starts and ends."""
        assert self.ask(order(WORKSPACE, 2000))[2] == 0
        ours, theirs = socket.socketpair()
        code = b"1+1"
        ours.send(b"C" + len(code).to_bytes(4, "little") + code)
        self.start(2000, theirs.fileno(), workspace=2000)
        theirs.close()
        assert self.until(STARTED, 4000)[0] == 0
        said = b""
        while not said.endswith(b"D\1\0\0\0000"):
            assert select.select([ours], [], [], 10)[0], said
            said += ours.recv(4096)
        self.send(order(KILL, 2000))
        assert self.until(ENDED, 2000)[0] == 0
        ours.close()
        self.send(order(WIPE, 2000))
        return self.quiet()

    def stop(self):
        self.near.close()
        self.process.wait(timeout=10)
        self.process.stderr.close()


@contextlib.contextmanager
def builder(box, kept=()):
    made = Builder(box, kept)
    try:
        yield made
        assert made.works() and boxes.children(made.pid) == [], "the builder keeps something"
    finally:
        made.stop()


def three():
    return [os.open("/dev/null", os.O_RDWR) for _ in range(3)]


def close(fds):
    for fd in fds:
        os.close(fd)


def test_I19_messages_of_any_size(box):
    """I19: a message that is not exactly one order is rejected unread."""
    with builder(box) as b:
        for size in 1, 4, SIZE - 1, SIZE + 1, 2 * SIZE, 4096, 100000:
            b.send(os.urandom(size))
        assert b.quiet()


def test_I19_random_orders(box):
    """I19: thousands of orders of random numbers are all refused, without effect."""
    rng = random.Random(7)
    with builder(box) as b:
        for _ in range(3000):
            numbers = [rng.choice([0, 1, 2, 5, 4096, 4097, 0xffffffff, rng.getrandbits(32)]) for _ in range(10)]
            sizes = [rng.choice([0, 1, 4096, MIB, 1 << 40, (1 << 64) - 1, rng.getrandbits(64)]) for _ in range(9)]
            # Leaves out the order WORKSPACE: with a plausible size it would succeed.
            numbers[0] = rng.choice([0, BOX, PROGRAM, FILE_HELPER, SIGNAL, LISTEN, MOUNT, TRUST, CLEAR + 1, 0xffffffff, rng.getrandbits(32)])
            b.send(struct.pack(ORDER, *numbers[:9], rng.randbytes(16), rng.choice([0, 127, 128, 129, 130, 131, rng.getrandbits(32)]), numbers[9], rng.choice([0, 1, 2, rng.getrandbits(32)]), *sizes))
            while not b.quiet(0):
                assert b.answer()[2] != 0
        while not b.quiet():
            assert b.answer()[2] != 0


def test_I18_numbers_out_of_bounds(box):
    """I18: no size, count or id beyond its bound is accepted, and the reply names it."""
    with builder(box) as b:
        assert b.ask(order(WORKSPACE, 1))[2] == 0
        for field, more in {"memory_bytes": {"memory": 1 << 60}, "tmp_bytes": {"tmp": 1 << 60}, "processes": {"processes": 5000},
                            "open_files": {"open_files": 1 << 40}, "workspace": {"workspace": 0}, "environment": {"environment": 99}, "id": {"id_": 4097}}.items():
            kind, _, code, text = b.ask(order(BOX, **{"id_": 2, "workspace": 1, **more}))
            assert kind == ENDED and code != 0 and field in text, (field, text)
        null = three()
        for field, more in {"box": {"box": 0}, "runtime": {"runtime": 99}, "zygote": {"zygote": 99}, "alone": {"alone": 2}}.items():
            kind, _, code, text = b.ask(order(PROGRAM, 3, **{"box": 1, **more}), null)
            assert kind == ENDED and code != 0 and field in text, (field, text)
        for number in 0, signal.SIGTERM, signal.SIGSTOP, 99:
            assert "signal" in b.ask(order(SIGNAL, 3, signal=number))[3]
        assert "wall_ms" in b.ask(order(CLOCK, 2, wall_ms=1 << 60))[3]
        assert "cpu_ms" in b.ask(order(CLOCK, 2, cpu_ms=1 << 60))[3]
        for size in 0, 1 << 60:
            kind, _, code, text = b.ask(order(WORKSPACE, 3, size=size))
            assert kind == MADE and code != 0 and "bytes" in text, text
        close(null)


def test_I18_things_that_are_not_there(box):
    """I18: an id is valid once, for the object that was made with it; two objects of one kind never share an id."""
    with builder(box) as b:
        null = three()
        assert "does not exist" in b.ask(order(BOX, 1, 77))[3]
        assert b.ask(order(PROGRAM, 1, box=77), null)[2] != 0
        assert b.ask(order(WORKSPACE, 5))[2] == 0
        assert "already" in b.ask(order(WORKSPACE, 5))[3]
        b.send(order(KILL, 9))
        b.send(order(SIGNAL, 9, signal=signal.SIGINT))
        b.send(order(CLOCK, 9))
        b.send(order(CLOCK, 9, wall_ms=0))
        b.send(order(COUNT, 9))
        b.send(order(WIPE, 9))
        assert b.quiet()
        assert "descriptors" in b.ask(order(BOX, 1, 5), null)[3]
        assert "descriptors" in b.ask(order(PROGRAM, 1, box=1), null[:2])[3]
        assert "descriptors" in b.ask(order(FILE_HELPER, 1, 5), null)[3]
        assert "descriptors" in b.ask(order(WORKSPACE, 6), null[:1])[3]
        b.send(order(KILL, 9), null + null)
        assert b.quiet()
        assert b.ask(order(BOX, 1, 5))[:3] == (STARTED, 1, 0)
        assert "there is no such" in b.ask(order(PROGRAM, 2, box=1, runtime=9), null)[3]
        assert "there is no such" in b.ask(order(PROGRAM, 2, box=1, zygote=1), null)[3]
        b.send(order(KILL, 1)), b.until(ENDED, 1)
        assert b.ask(order(BOX, 1, 5, environment=7))[:3] == (STARTED, 1, 0)
        assert "no program for it" in b.ask(order(PROGRAM, 2, box=1), null)[3]  # Python
        b.send(order(KILL, 1)), b.until(ENDED, 1)
        close(null)


def test_I18_workspaces_that_were_left(box):
    """I18, I20: the next builder takes over what one left, once, by its number and original sizes; the rest is removed."""
    first = Builder(box)
    assert len(first.kept) == 2
    for number in range(1, 6):
        assert first.ask(order(WORKSPACE, number, files=64 + number))[2] == 0
    first.send(order(WIPE, 5))
    assert first.quiet()
    os.kill(first.pid, signal.SIGKILL)
    first.stop()
    with builder(box, first.kept) as b:
        assert b.kept == []  # it is the same that is to be kept
        assert "already" in b.ask(order(WORKSPACE, 1, files=65))[3]
        assert b.ask(order(WORKSPACE, 1, adopt=1, files=65))[:3] == (MADE, 1, 0)
        assert "an earlier builder left no workspace" in b.ask(order(WORKSPACE, 1, adopt=1, files=65))[3]
        assert "was made with other parameters" in b.ask(order(WORKSPACE, 2, adopt=1, files=65))[3]
        assert "was made with other parameters" in b.ask(order(WORKSPACE, 2, adopt=1, files=66, size=2 * MIB))[3]
        for number in 5, 77:
            assert "an earlier builder left no workspace" in b.ask(order(WORKSPACE, number, adopt=1, files=69))[3]
        assert "adopt" in b.ask(order(WORKSPACE, 2, adopt=2, files=66))[3]
        assert b.ask(order(BOX, 1, 1))[:3] == (STARTED, 1, 0)
        b.send(order(CLEAR, 0))
        assert "an earlier builder left no workspace" in b.ask(order(WORKSPACE, 2, adopt=1, files=66))[3]
        assert b.ask(order(WORKSPACE, 2))[:3] == (MADE, 2, 0)
        b.send(order(KILL, 1)), b.until(ENDED, 1)
    close(first.kept)


def test_I20_groups_that_another_took(box):
    """I20, I11: a builder does not continue with a slot if another root's builder has taken the slot's groups and uids."""
    first = Builder(box)
    assert first.ask(order(WORKSPACE, 1))[2] == 0 and first.ask(order(BOX, 2, 1))[:3] == (STARTED, 2, 0)
    inside = [pid for pid in boxes.descendants(first.pid) if boxes.inner_pid(pid) == 1]
    groups = {path for path in ends.groups_of(inside)}
    uids = {boxes.status(pid)["Uid"] for pid in inside}
    os.kill(first.pid, signal.SIGKILL)
    first.stop()
    if not groups:
        close(first.kept)
        raise cases.Skip("no cgroup is delegated to this user")
    boxes.until(lambda: not any(map(os.path.exists, groups)))
    locks = []
    try:
        for path in groups:
            os.mkdir(path)
            locks.append(os.open(path, os.O_RDONLY))
            fcntl.flock(locks[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        with builder(box, first.kept) as b:
            assert len(b.kept) == 2  # it begins with nothing
            assert "an earlier builder left no workspace" in b.ask(order(WORKSPACE, 1, adopt=1))[3]
            assert b.ask(order(WORKSPACE, 1))[2] == 0 and b.ask(order(BOX, 2, 1))[:3] == (STARTED, 2, 0)
            again = [pid for pid in boxes.descendants(b.pid) if boxes.inner_pid(pid) == 1]
            assert not uids & {boxes.status(pid)["Uid"] for pid in again}
            b.send(order(KILL, 2)), b.until(ENDED, 2)
            close(b.kept)
    finally:
        close(first.kept), close(locks)
        for path in groups:
            os.rmdir(path)


def test_I20_descriptors_that_are_none_of_a_builders(box):
    """I20: with any descriptors other than those that a builder left, it starts with nothing."""
    last = Builder(box)
    last.stop()
    with open("/proc/self/ns/mnt", "rb") as own, open("/dev/null", "rb") as null:
        host, nothing = own.fileno(), null.fileno()
        for kept in (host, nothing), (nothing, nothing), (nothing, host), (host, last.kept[1]), (nothing, last.kept[1]):
            with builder(box, kept) as b:
                assert len(b.kept) == 2
                assert "an earlier builder left no workspace" in b.ask(order(WORKSPACE, 1, adopt=1))[3]
                assert b.ask(order(WORKSPACE, 1))[:3] == (MADE, 1, 0)
                close(b.kept)
    close(last.kept)


def test_I18_programs_join_only_boxes(box):
    """I18, I12: a program cannot be put into a file helper, into another program, or into a sandbox that has ended."""
    with builder(box) as b:
        assert b.ask(order(WORKSPACE, 1))[2] == 0
        null, (ours, theirs), (near, far) = three(), socket.socketpair(), socket.socketpair()
        assert b.ask(order(BOX, 1, 1))[:3] == (STARTED, 1, 0)
        assert b.ask(order(PROGRAM, 2, box=1), [null[0], null[1], theirs.fileno()])[:3] == (STARTED, 2, 0)
        assert b.ask(order(PROGRAM, 3, box=2), null)[2] != 0
        b.send(order(FILE_HELPER, 4, 1), [far.fileno()])
        b.until(STARTED, 4)
        assert b.ask(order(PROGRAM, 5, box=4), null)[2] != 0
        for name in 1, 2:
            assert b.ask(order(PROGRAM, name, box=1), null)[2] != 0, "one id twice"
        b.send(order(KILL, 4)), b.until(ENDED, 4)
        b.send(order(KILL, 1)), b.until(ENDED, 1)
        assert b.ask(order(PROGRAM, 6, box=1), null)[2] != 0
        b.send(order(WIPE, 1))
        close(null)
        for end in ours, theirs, near, far:
            end.close()


def test_I18_wipe_waits_for_the_last(box):
    """I18, X-06: a workspace in use is wiped after its last use, and not assigned again before."""
    with builder(box) as b:
        assert b.ask(order(WORKSPACE, 1))[2] == 0
        ours, theirs = socket.socketpair()
        b.start(1, theirs.fileno(), workspace=1)
        b.until(STARTED, 2001)
        b.send(order(WIPE, 1))
        assert "given up" in b.ask(order(BOX, 2, 1))[3]
        assert "already" in b.ask(order(WORKSPACE, 1))[3]
        b.send(order(KILL, 1))
        b.until(ENDED, 1)
        assert b.ask(order(WORKSPACE, 1))[2] == 0
        b.send(order(WIPE, 1))
        ours.close(), theirs.close()


def test_I18_many_workspaces_and_boxes(box):
    """I18, R-14: all ids at once; afterwards the builder has as many descriptors and as much memory as before."""
    def descriptors():
        return len(os.listdir(f"/proc/{b.pid}/fd"))
    with builder(box) as b:
        assert b.works()
        before = descriptors()  # with one kept network namespace
        for id_ in range(1, 501):
            assert b.ask(order(WORKSPACE, id_))[2] == 0
        for id_ in range(1, 501):
            b.send(order(WIPE, id_))
        assert b.quiet()
        for id_ in range(1, 31):
            assert b.ask(order(WORKSPACE, id_))[2] == 0
        # From here on replies arrive in any order: some sandboxes end before others are ordered.
        for id_ in range(1, 31):
            ours, theirs = socket.socketpair()
            b.start(id_, theirs.fileno(), workspace=id_)
            theirs.close()
            ours.close()
        ended = 0
        while ended < 60:  # each box and its program
            ended += b.answer()[0] == ENDED
        for id_ in range(1, 31):
            b.send(order(WIPE, id_))
        assert b.quiet()
        boxes.until(lambda: descriptors() <= before + SPARE)


def test_I18_descriptor_of_a_directory(box):
    """N-07: descriptors that an executor passes are its own; a sandbox with one has this one and no other."""
    with builder(box) as b:
        assert b.ask(order(WORKSPACE, 1))[2] == 0
        directory = os.open("/usr", os.O_RDONLY | os.O_DIRECTORY)
        # Its driver finds no channel there, and reports that by its exit code.
        b.start(1, directory, workspace=1)
        assert b.until(ENDED, 1)[0] == 0
        b.send(order(WIPE, 1))
        os.close(directory)


def ran_ms(pid):
    """Processor time of a process by itself, and in the kernel for its children that have ended."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as own, open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
        return int(own.read().split()[0]) / 1e6, int(fields[14]) * 1000 / os.sysconf("SC_CLK_TCK")


def as_owner(directory, go):
    """Runs in a process of the directory's owner: in a user namespace, the host's root has no access."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([]), os.setresgid(*[os.fstat(directory).st_gid] * 3), os.setresuid(*[os.fstat(directory).st_uid] * 3)
            go()
        except BaseException:  # pylint: disable=broad-except
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def freed_by_another(b, go):
    """go fills something. Freeing it takes time, of which the builder, on which all others wait, spends little."""
    own, others = ran_ms(b.pid)
    go()
    assert b.ask(order(WORKSPACE, 9))[2] == 0  # after that
    b.send(order(WIPE, 9))
    boxes.until(lambda: boxes.children(b.pid) == [])
    own, others = ran_ms(b.pid)[0] - own, ran_ms(b.pid)[1] - others
    assert own < others / 10, f"{own:.0f} ms of the builder, {others:.0f} ms of its children"


def test_R14_full_workspaces(box):
    """I18, R-14: a separate process frees a full workspace, a few processes at once; the builder goes on."""
    kept = []
    def fill(number):
        def touch():
            for i in range(60000):
                os.close(os.open(str(i), os.O_CREAT | os.O_WRONLY, dir_fd=root))
        root = os.open(f"/proc/self/fd/{kept[number]}", os.O_RDONLY | os.O_DIRECTORY)
        as_owner(root, touch)
        os.close(root)
    with builder(box) as b:
        for number in range(3):
            b.send(order(WORKSPACE, number + 1, files=65536))
            assert b.answer(keep=kept)[2] == 0
        for number in range(3):
            fill(number)
        close(kept)
        def wipe():
            for number in range(3):
                b.send(order(WIPE, number + 1))
        freed_by_another(b, wipe)
        for number in range(3):
            assert b.ask(order(WORKSPACE, number + 1))[2] == 0
            b.send(order(WIPE, number + 1))


def test_R14_full_tmp(box):
    """I18, R-14: the same of what a program left in /tmp."""
    code = b"import os\nfor i in range(60000): os.close(os.open(f'/tmp/{i}', os.O_CREAT | os.O_WRONLY))"
    with builder(box) as b:
        assert b.ask(order(WORKSPACE, 1))[2] == 0
        ours, theirs = socket.socketpair()
        ours.send(b"C" + len(code).to_bytes(4, "little") + code)
        b.start(1, theirs.fileno(), workspace=1, memory=1024 * MIB, tmp=64 * MIB)
        theirs.close()
        said = b""
        while not said.endswith(b"D\1\0\0\0000"):
            assert select.select([ours], [], [], 30)[0], said
            said += ours.recv(4096)
        def end():
            b.send(order(KILL, 1))
            b.until(ENDED, 1)
        freed_by_another(b, end)
        b.send(order(WIPE, 1))
        ours.close()


assert SIZE == 136 and ctypes.sizeof(ctypes.c_int) == 4
