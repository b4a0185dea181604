# SPDX-License-Identifier: Apache-2.0
"""An executor that was taken over (I18, I19, A-24): what it can get out of the builder is boxes, and nothing worse."""

import array
import contextlib
import ctypes
import os
import random
import select
import socket
import struct
import subprocess

import box as boxes

WORKSPACE, WIPE, BOX, STEWARD, KILL = range(1, 6)
READY, MADE, STARTED, ENDED = range(1, 5)
ORDER = "=IIIIQQQQQQQQ"  # struct order of executor/builder/order.h
MIB = 1 << 20


def order(kind, id_=1, workspace=0, language=0, size=MIB, files=64, memory=64 * MIB, tmp=MIB, cpu=0, processes=8, open_files=64, wall_ms=5000):
    return struct.pack(ORDER, kind, id_, workspace, language, size, files, memory, tmp, cpu, processes, open_files, wall_ms)


class Builder:
    """cloister-builder with this process as its executor."""

    def __init__(self, box):
        self.near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        def hand_over():
            os.dup2(far.fileno(), 3)
            os.closerange(4, 256)
        as_user = {} if box.user is None else {"user": box.user, "group": box.user, "extra_groups": []}
        self.process = subprocess.Popen([os.path.join(box.folder, "cloister-builder")], preexec_fn=hand_over, close_fds=False,
                                        stderr=subprocess.PIPE, env={}, **as_user)
        far.close()
        kind, _, code, text = self.answer(timeout=30)
        assert (kind, code) == (READY, 0), text
        self.pid = boxes.children(self.process.pid)[0]

    def send(self, data, fds=()):
        self.near.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])

    def answer(self, timeout=10):
        assert select.select([self.near], [], [], timeout)[0], "the builder does not answer"
        data, fds, _, _ = socket.recv_fds(self.near, 4096, 4)
        for fd in fds:
            os.close(fd)
        assert data, "the builder ended"
        kind, id_, code = struct.unpack_from("=III", data)
        return kind, id_, code, data[20:260].split(b"\0")[0].decode()

    def ask(self, data, fds=()):
        self.send(data, fds)
        return self.answer()

    def quiet(self, seconds=0.2):
        return not select.select([self.near], [], [], seconds)[0]

    def works(self):
        """A box still comes and goes."""
        assert self.ask(order(WORKSPACE, 4000))[2] == 0
        code = b"C" + (3).to_bytes(4, "little") + b"1+1"
        ours, theirs = socket.socketpair()
        null = os.open("/dev/null", os.O_RDWR)
        ours.send(code)
        assert self.ask(order(BOX, 4000, 4000), [null, null, theirs.fileno()])[:3] == (STARTED, 4000, 0)
        assert self.answer()[:3] == (ENDED, 4000, 0)
        os.close(null)
        self.send(order(WIPE, 4000))
        return self.quiet()

    def stop(self):
        self.near.close()
        self.process.wait(timeout=10)
        self.process.stderr.close()


@contextlib.contextmanager
def builder(box):
    made = Builder(box)
    try:
        yield made
        assert made.works() and boxes.children(made.pid) == [], "the builder keeps something"
    finally:
        made.stop()


def three():
    return [os.open("/dev/null", os.O_RDWR) for _ in range(3)]


def test_I19_messages_of_any_size(box):
    """I19: what is not one whole order is not looked at."""
    with builder(box) as b:
        for size in 1, 4, 79, 81, 160, 4096, 100000:
            b.send(os.urandom(size))
        assert b.quiet()


def test_I19_random_orders(box):
    """I19: thousands of orders made of random numbers do nothing but be refused."""
    rng = random.Random(7)
    with builder(box) as b:
        for _ in range(3000):
            numbers = [rng.choice([0, 1, 2, 5, 4096, 4097, 0xffffffff, rng.getrandbits(32)]) for _ in range(4)]
            sizes = [rng.choice([0, 1, 4096, MIB, 1 << 40, (1 << 64) - 1, rng.getrandbits(64)]) for _ in range(8)]
            # No order that is meant: a workspace of a plausible size would be made.
            numbers[0] = rng.choice([0, BOX, STEWARD, 6, 0xffffffff, rng.getrandbits(32)])
            b.send(struct.pack(ORDER, *numbers, *sizes))
            while not b.quiet(0):
                assert b.answer()[2] != 0
        while not b.quiet():
            assert b.answer()[2] != 0


def test_I18_numbers_out_of_bounds(box):
    """I18: no size, count or id beyond its bound is taken, and the answer names it."""
    with builder(box) as b:
        assert b.ask(order(WORKSPACE, 1))[2] == 0
        null = three()
        for field, more in {"memory_bytes": {"memory": 1 << 60}, "tmp_bytes": {"tmp": 1 << 60}, "processes": {"processes": 5000},
                            "open_files": {"open_files": 1 << 40}, "wall_ms": {"wall_ms": 1 << 60}, "language": {"language": 99},
                            "workspace": {"workspace": 0}}.items():
            kind, _, code, text = b.ask(order(BOX, 2, **{"workspace": 1, **more}), null)
            assert kind == ENDED and code != 0 and field in text, (field, text)
        for size in 0, 1 << 60:
            kind, _, code, text = b.ask(order(WORKSPACE, 3, size=size))
            assert kind == MADE and code != 0 and "bytes" in text, text
        for fd in null:
            os.close(fd)


def test_I18_things_that_are_not_there(box):
    """I18: an id is good for what was made under it, once; two of one kind never share it."""
    with builder(box) as b:
        null = three()
        assert "not there" in b.ask(order(BOX, 1, 77), null)[3]
        assert b.ask(order(WORKSPACE, 5))[2] == 0
        assert "already" in b.ask(order(WORKSPACE, 5))[3]
        b.send(order(KILL, 9))
        b.send(order(WIPE, 9))
        assert b.quiet()
        assert "descriptors" in b.ask(order(BOX, 1, 5), null[:2])[3]
        assert "descriptors" in b.ask(order(STEWARD, 1, 5), null)[3]
        assert "descriptors" in b.ask(order(WORKSPACE, 6), null[:1])[3]
        b.send(order(KILL, 9), null + null)
        assert b.quiet()
        assert "no program" in b.ask(order(BOX, 1, 5, language=1), null)[3]
        for fd in null:
            os.close(fd)


def test_I18_wipe_waits_for_the_last(box):
    """I18, X-06: a workspace that somebody works in is wiped when nobody does, and not lent again before."""
    with builder(box) as b:
        assert b.ask(order(WORKSPACE, 1))[2] == 0
        null, (ours, theirs) = three(), socket.socketpair()
        assert b.ask(order(BOX, 1, 1), [null[0], null[1], theirs.fileno()])[0] == STARTED
        b.send(order(WIPE, 1))
        assert "given up" in b.ask(order(BOX, 2, 1), null)[3]
        assert "already" in b.ask(order(WORKSPACE, 1))[3]
        assert "lives already" in b.ask(order(BOX, 1, 2), null)[3]
        b.send(order(KILL, 1))
        assert b.answer()[:2] == (ENDED, 1)
        assert b.ask(order(WORKSPACE, 1))[2] == 0
        for fd in null:
            os.close(fd)
        ours.close(), theirs.close()


def test_I18_many_workspaces_and_boxes(box):
    """I18, R-14: all ids at once; descriptors and memory of the builder are what they were before."""
    with builder(box) as b:
        assert b.works()
        before = len(os.listdir(f"/proc/{b.pid}/fd"))
        for id_ in range(1, 501):
            assert b.ask(order(WORKSPACE, id_))[2] == 0
        for id_ in range(1, 501):
            b.send(order(WIPE, id_))
        assert b.quiet()
        null = three()
        for id_ in range(1, 31):
            assert b.ask(order(WORKSPACE, id_))[2] == 0
        # From here on answers come as they like: some boxes end before others are ordered.
        for id_ in range(1, 31):
            ours, theirs = socket.socketpair()
            b.send(order(BOX, id_, id_), [null[0], null[1], theirs.fileno()])
            theirs.close()
            ours.close()
        ended = 0
        while ended < 30:
            ended += b.answer()[0] == ENDED
        for id_ in range(1, 31):
            b.send(order(WIPE, id_))
        assert b.quiet()
        for fd in null:
            os.close(fd)
        assert len(os.listdir(f"/proc/{b.pid}/fd")) == before, os.listdir(f"/proc/{b.pid}/fd")


def test_I18_descriptor_of_a_folder(box):
    """N-07: descriptors that an executor hands over are its own; a box with one has that and no more than it."""
    with builder(box) as b:
        assert b.ask(order(WORKSPACE, 1))[2] == 0
        folder, null = os.open("/usr", os.O_RDONLY | os.O_DIRECTORY), three()
        # Its driver finds no channel there, and says so by its exit code.
        assert b.ask(order(BOX, 1, 1), [null[0], null[1], folder])[0] == STARTED
        assert b.answer()[:3] == (ENDED, 1, 0)
        for fd in null + [folder]:
            os.close(fd)


assert struct.calcsize(ORDER) == 80 and ctypes.sizeof(ctypes.c_int) == 4
