#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kills snapshotd repeatedly under load, and at each system call that changes its store: acknowledged snapshots are
restored byte for byte, deleted ones stay deleted, and the audit log has a record of each.

    snapshotd_crash.py BIN ASKER
"""

import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import journal  # noqa: E402
from keeper import Keeper, Refused  # noqa: E402

KILLS = 12
WORKERS = 6
PRINCIPALS = ("alice", "bob")
# Codes that are allowed while the daemon is down; anything else is a fault.
AWAY = ("unavailable", "deadline_exceeded", "queue_full")


class Ledger:
    """What was acknowledged, and requests that may or may not have been done."""

    def __init__(self):
        self.lock, self.saved, self.dropping, self.dropped = threading.Lock(), {}, set(), set()
        self.restored, self.faults = 0, []

    def choose(self, generator):
        with self.lock:
            free = [key for key in self.saved if key not in self.dropping]
            return generator.choice(free) if free else None


def random_tree(generator):
    """Contents from a small set, so that snapshots share them, and some unique ones."""
    tree = {}
    for i in range(generator.randrange(1, 8)):
        if generator.random() < 0.6:
            tree[f"f{i}"] = b"shared %d" % generator.randrange(20)
        else:
            tree[f"f{i}"] = generator.randbytes(generator.choice((1, 100, 5000, 300000)))
    return tree


def step(keeper, ledger, generator):
    what, key = generator.random(), ledger.choose(generator)
    if key is None or what < 0.5:
        principal, tree = generator.choice(PRINCIPALS), random_tree(generator)
        snapshot = keeper.save(tree, principal=principal)
        with ledger.lock:
            ledger.saved[(principal, snapshot["snapshot_id"])] = tree
    elif what < 0.75:
        with ledger.lock:
            if key in ledger.dropping:
                return
            ledger.dropping.add(key)
        keeper.drop(key[1], principal=key[0])
        with ledger.lock:
            ledger.dropped.add(key)
    else:
        tree = ledger.saved[key]
        try:
            assert keeper.restore(key[1], principal=key[0]) == tree, f"{key} is not what it was"
            ledger.restored += 1
        except Refused as refused:
            if not (refused.code == "not_found" and key in ledger.dropping):
                raise


def work(keeper, ledger, ending, seed):
    generator = random.Random(seed)
    while not ending.is_set():
        try:
            step(keeper, ledger, generator)
        except Refused as refused:
            # A content that was put before the daemon died may be lost; then the save starts again.
            if refused.code not in AWAY:
                ledger.faults.append(str(refused))
        except queue.Empty:
            ledger.faults.append("not answered")
        except AssertionError as fault:
            ledger.faults.append(str(fault))


def check_one(keeper, ledger, principal, id_, tree):
    key = principal, id_
    try:
        found = keeper.restore(id_, principal=principal)
        assert key not in ledger.dropped, f"{key} was deleted and is there"
        assert found == tree, f"{key} is not what it was"
    except Refused as refused:
        assert refused.code == "not_found" and key in ledger.dropping, f"{key}: {refused}"


def check(keeper, ledger):
    for (principal, id_), tree in ledger.saved.items():
        check_one(keeper, ledger, principal, id_, tree)
    for principal in PRINCIPALS:
        times = [s["created_at"] for s in keeper.list(principal=principal)]
        assert times == sorted(times) and len(times) == len(set(times))
        drafts = [n for _, _, names in os.walk(keeper.owner(principal)) for n in names if n.startswith(".draft-")]
        assert drafts == [], drafts
        assert os.listdir(os.path.join(keeper.owner(principal), "broken")) == []


def check_audit(keeper, ledger):
    keeper.kill("snapshotd", signal.SIGTERM)
    keeper.kill("auditd", signal.SIGTERM)
    records, _ = journal.read(os.path.join(keeper.state, "auditd", "audit.log"))
    said = [(r.event["event"], r.event.get("principal"), r.event.get("detail")) for r in records]
    for principal, id_ in ledger.saved:
        assert said.count(("snapshot.created", principal, id_)) == 1, (principal, id_)
    for principal, id_ in ledger.dropped:
        assert ("snapshot.deleted", principal, id_) in said, (principal, id_)


def test_kill_9_under_load_loses_nothing(bin, asker):
    seed = int(os.environ.get("SEED", time.time_ns() % 1000000))
    generator = random.Random(seed)
    print("SEED", seed)
    with Keeper(bin, asker, servers=("auditd", "snapshotd")) as keeper:
        ledger, ending = Ledger(), threading.Event()
        workers = [threading.Thread(target=work, args=(keeper, ledger, ending, seed + i)) for i in range(WORKERS)]
        for worker in workers:
            worker.start()
        try:
            for _ in range(KILLS):
                time.sleep(generator.uniform(0.05, 0.4))
                keeper.restart("snapshotd")
            time.sleep(0.3)
        finally:
            ending.set()
            for worker in workers:
                worker.join(90)
        assert ledger.faults == [], ledger.faults[:5]
        keeper.restart("snapshotd")
        check(keeper, ledger)
        check_audit(keeper, ledger)
        assert len(ledger.saved) > 30 and ledger.dropped and ledger.restored, (len(ledger.saved), ledger.restored)
        print(f"{KILLS} kills, {len(ledger.saved)} saved, {len(ledger.dropped)} deleted, {ledger.restored} restored")


# The calls that change the store; the first, the second and so on of each.
CALLS = ("openat", "openat2", "mkdirat", "write", "fchmod", "fsync", "renameat", "unlinkat")


def script(keeper, ledger, principal):
    """One request of each kind, by a new principal; acknowledged ones go into the ledger."""
    def save(tree):
        snapshot = keeper.save(tree, principal=principal)
        ledger.saved[(principal, snapshot["snapshot_id"])] = tree
        return snapshot["snapshot_id"]

    first = save({"a": b"one", "b": b"two"})
    save({"a": b"one", "c": b"three"})
    ledger.dropping.add((principal, first))
    keeper.drop(first, principal=principal)
    ledger.dropped.add((principal, first))
    save({"d": os.urandom(200000)})


def trace(pid, call, number):
    tracer = subprocess.Popen(["/usr/bin/strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                               f"inject={call}:signal=SIGKILL:when={number}", "-p", str(pid)], stderr=subprocess.PIPE)
    for _ in range(2000):
        if tracer.poll() is not None:
            raise cases.Skip("strace may not attach: " + tracer.stderr.read().decode().strip())
        if not any("TracerPid:\t0\n" in status for status in statuses(pid)):
            return tracer
        time.sleep(0.01)
    raise AssertionError("strace did not attach")


def statuses(pid):
    """strace attached to all threads: those of ZeroMQ and of the store come after the first."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as file:
            yield file.read()


def killed_at(keeper, ledger, call, number):
    """Did it die at that call?"""
    tracer = trace(keeper.pid("snapshotd"), call, number)
    try:
        script(keeper, ledger, f"{call} {number}")
        return False
    except Refused as refused:
        assert refused.code in AWAY, refused
        return True
    finally:
        tracer.kill()  # it may wait forever for a process that it killed
        tracer.wait()
        tracer.stderr.close()


def test_kill_9_at_each_call_loses_nothing(bin, asker):
    if not os.access("/usr/bin/strace", os.X_OK):
        raise cases.Skip("strace is not installed")
    # strace counts by thread; with one thread there is one count.
    with Keeper(bin, asker, flags={"snapshotd": ["--threads=1"]}) as keeper:
        ledger, deaths = Ledger(), {}
        for call in CALLS:
            deaths[call] = 0
            while killed_at(keeper, ledger, call, deaths[call] + 1):
                deaths[call] += 1
                keeper.restart("snapshotd")
            assert deaths[call] > 0, call
            keeper.restart("snapshotd")
        for (principal, id_), tree in ledger.saved.items():
            check_one(keeper, ledger, principal, id_, tree)
        print(f"died at {deaths}; {len(ledger.saved)} saved, {len(ledger.dropped)} deleted")


def main():
    cases.run(sys.modules[__name__], sys.argv[1], sys.argv[2])


main()
