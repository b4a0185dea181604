#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kills auditd repeatedly while events arrive: every acknowledged event is in the log exactly once, in an intact chain.

    auditd_crash.py BIN APPENDER
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import journal  # noqa: E402

KILLS = 15


class OnlyAuditd(daemons.Cluster):
    """auditd without the other daemons, and the program that writes to it."""

    def __init__(self, bin, appender, **options):
        super().__init__(bin, **options)
        self.appender = appender

    def start(self, timeout=30):
        self._spawn("auditd")
        self._wait_ready("auditd", timeout)
        return self

    def append(self, *flags):
        """Starts the writer. The acknowledgements go to a file, because a full pipe would block the writer."""
        with open(self.said, "wb") as said, open(os.path.join(self.logs, "appender"), "ab") as log:
            return subprocess.Popen([self.appender, "--run=" + self.run, "--state=" + self.state, *flags],
                                    stdout=said, stderr=log, env=self.env, **self._identity())

    def acknowledged(self, writer):
        status = writer.wait(60)
        assert status == 0, (status, self.log("appender")[-2000:])
        with open(self.said, encoding="ascii") as said:
            return said.read().split()

    @property
    def said(self):
        return os.path.join(self.directory, "acknowledged")

    @property
    def file(self):
        return os.path.join(self.state, "auditd", "audit.log")

    def verify(self):
        tool = subprocess.run([os.path.join(self.bin, "cloister-auditd"), "--verify", self.file],
                              capture_output=True, text=True, check=False)
        return tool.returncode, dict(line.split(maxsplit=1) for line in tool.stdout.splitlines())


def wait_for(condition, timeout=20):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def check_log(cluster, uids):
    records, head = journal.read(cluster.file)
    there = [record.event["uid"] for record in records]
    assert len(there) == len(set(there)), "an event stands in the log twice"
    lost = set(uids) - set(there)
    assert not lost, f"{len(lost)} of {len(uids)} acknowledged events are not in the log"
    status, said = cluster.verify()
    assert status == 0 and said == {"records": str(len(records)), "head": head}, (status, said, len(records), head)
    return records


def test_kill_9_under_load_loses_nothing(bin, appender):
    with OnlyAuditd(bin, appender) as cluster:
        writer = cluster.append()
        for _ in range(KILLS):
            time.sleep(random.uniform(0.03, 0.25))
            cluster.kill("auditd")
            cluster.restart("auditd")
        time.sleep(0.3)
        writer.terminate()
        uids = cluster.acknowledged(writer)
        assert cluster.kill("auditd", signal.SIGTERM) == 0, cluster.log("auditd")[-2000:]
        records = check_log(cluster, uids)
        assert len(uids) > 1000, f"only {len(uids)} events were acknowledged"
        starts = [r for r in records if r.event["event"] == "daemon.started" and r.daemon == "auditd"]
        assert len(starts) == KILLS + 1, len(starts)
        assert records[-1].event["event"] == "daemon.stopped"
        assert {r.daemon for r in records} == {"auditd", "snapshotd"}
        torn = sum("torn" in r.event.get("detail", "") for r in starts)
        print(f"{len(uids)} acknowledged, {len(records)} in the log, {KILLS} kills, {torn} torn tails")


def segmented(bin, appender, *flags):
    return OnlyAuditd(bin, appender, flags={"auditd": ["--segment-bytes=65536", *flags]})


def test_kill_9_while_segments_change_loses_nothing(bin, appender):
    with segmented(bin, appender) as cluster:
        writer = cluster.append()
        for _ in range(KILLS):
            time.sleep(random.uniform(0.03, 0.25))
            cluster.kill("auditd")
            cluster.restart("auditd")
        time.sleep(0.3)
        writer.terminate()
        uids = cluster.acknowledged(writer)
        assert cluster.kill("auditd", signal.SIGTERM) == 0, cluster.log("auditd")[-2000:]
        check_log(cluster, uids)
        assert len(journal.closed(cluster.file)) > 10, journal.closed(cluster.file)
        print(f"{len(uids)} acknowledged, {len(journal.closed(cluster.file))} closed segments")


STEPS = [("renameat,renameat2", n) for n in (1, 2, 3, 4, 6)] + [("ftruncate", n) for n in (1, 2, 3)] + \
        [("fsync", n) for n in (1, 2, 3, 4, 5, 6, 9)] + [("openat", n) for n in (1, 2, 3)]


def test_kill_9_at_each_call_of_a_change_of_segments(bin, appender):
    """The writer's thread makes no other calls of these, so strace counts the steps of a change."""
    strace = "/usr/bin/strace"
    if not os.access(strace, os.X_OK):
        raise cases.Skip("strace is not installed")
    with segmented(bin, appender) as cluster:
        uids = []
        for call, number in STEPS:
            tracer = subprocess.Popen([strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e",
                                       f"inject={call}:signal=SIGKILL:when={number}", "-p", str(cluster.pid("auditd"))],
                                      stderr=subprocess.PIPE)
            time.sleep(0.3)
            if tracer.poll() is not None:
                raise cases.Skip("strace may not attach: " + tracer.stderr.read().decode().strip())
            writer = cluster.append()
            killed = cluster.processes["auditd"].wait(30)
            tracer.wait(10)
            assert killed == -signal.SIGKILL, (call, number, killed)
            cluster.processes.pop("auditd")
            cluster.restart("auditd")
            time.sleep(0.1)
            writer.terminate()
            uids += cluster.acknowledged(writer)
        assert cluster.kill("auditd", signal.SIGTERM) == 0, cluster.log("auditd")[-2000:]
        check_log(cluster, uids)


def test_a_start_reads_the_newest_segment(bin, appender):
    """A closed segment is looked at from both ends only: damage in its middle is found when it is read."""
    with segmented(bin, appender) as cluster:
        cluster.acknowledged(cluster.append("--events=80000"))
        cluster.kill("auditd", signal.SIGTERM)
        oldest = journal.closed(cluster.file)[0]
        with open(oldest, "r+b") as log:
            log.seek(30000)
            log.write(b"?")
        cluster.restart("auditd")
        cluster.kill("auditd", signal.SIGTERM)
        assert cluster.verify()[0] == 1


def test_a_segment_that_the_operator_removed_is_named(bin, appender):
    with segmented(bin, appender) as cluster:
        cluster.acknowledged(cluster.append("--events=3000"))
        gone = journal.closed(cluster.file)[:2]
        for path in gone:
            os.unlink(path)
        left = int(re.search("[0-9]{20}", journal.closed(cluster.file)[0])[0])
        uids = cluster.acknowledged(cluster.append("--events=500"))
        cluster.restart("auditd")
        cluster.kill("auditd", signal.SIGTERM)
        status, said = cluster.verify()
        records, head = journal.read(cluster.file, removed=left - 1)
        assert status == 0 and said["head"] == head and said["absent"].startswith(f"1 to {left - 1}, which end with "), (status, said)
        assert ", signed 20" in said["absent"] and set(uids) <= {record.event["uid"] for record in records}


def test_acknowledged_comes_after_durable(bin, appender):
    """While fdatasync is delayed, nothing is acknowledged: strace delays it for longer than the test looks."""
    strace = "/usr/bin/strace"
    if not os.access(strace, os.X_OK):
        raise cases.Skip("strace is not installed")
    with OnlyAuditd(bin, appender) as cluster:
        tracer = subprocess.Popen([strace, "-f", "-qq", "-o", "/dev/null", "-e", "inject=fdatasync:delay_enter=700000",
                                   "-p", str(cluster.pid("auditd"))], stderr=subprocess.PIPE)
        time.sleep(0.5)
        if tracer.poll() is not None:
            raise cases.Skip("strace may not attach: " + tracer.stderr.read().decode().strip())
        began = time.monotonic()
        writer = cluster.append("--writers=1", "--batch=1", "--events=1")
        uids = cluster.acknowledged(writer)
        took = time.monotonic() - began
        tracer.terminate()
        tracer.wait()
        assert len(uids) == 1 and took > 0.7, (uids, took)


def test_a_full_disk_is_answered_and_got_over(bin, appender):
    if os.geteuid() != 0:
        raise cases.Skip("only root can mount a small disk")
    cluster = OnlyAuditd(bin, appender)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=0755", "tmpfs", cluster.state], check=True)
    try:
        with cluster:
            writer = cluster.append()
            wait_for(lambda: "could not be written" in cluster.log("auditd"))
            full = os.path.getsize(cluster.file)
            wait_for(lambda: "No space left on device; make room" in cluster.log("appender"))
            assert cluster.processes["auditd"].poll() is None, cluster.log("auditd")[-2000:]
            subprocess.run(["mount", "-o", "remount,size=64m", cluster.state], check=True)
            wait_for(lambda: os.path.getsize(cluster.file) > full + 100000)
            writer.terminate()
            uids = cluster.acknowledged(writer)
            cluster.kill("auditd", signal.SIGTERM)
            check_log(cluster, uids)
    finally:
        subprocess.run(["umount", cluster.state], check=True)
        os.rmdir(cluster.state)
        os.rmdir(cluster.directory)


def test_what_is_moved_away_is_told(bin, appender):
    with OnlyAuditd(bin, appender) as cluster:
        cluster.acknowledged(cluster.append("--events=5"))
        cluster.kill("auditd", signal.SIGTERM)
        assert "moved away" not in cluster.log("auditd")
        os.truncate(cluster.file, os.path.getsize(cluster.file) - 33)
        cluster.restart("auditd")
        line = next(line for line in cluster.log("auditd").splitlines() if "moved away" in line)
        told = json.loads(line)
        assert told["level"] == "warn" and told["bytes"] == os.path.getsize(os.path.join(cluster.state, "auditd", "audit.torn")), told


def test_a_log_without_its_key_is_not_appended_to(bin, appender):
    with OnlyAuditd(bin, appender) as cluster:
        cluster.acknowledged(cluster.append("--events=5"))
        cluster.kill("auditd", signal.SIGTERM)
        os.unlink(os.path.join(cluster.state, "auditd", "audit.key"))
        try:
            cluster.restart("auditd", timeout=5)
            raise AssertionError("it started without the key of its log")
        except RuntimeError as refused:
            assert "--accept-new-key" in str(refused), refused
        cluster.processes.pop("auditd")
        cluster.flags["auditd"] = ["--accept-new-key"]
        cluster.restart("auditd")
        cluster.flags["auditd"] = []
        cluster.restart("auditd")


def test_a_damaged_log_is_not_appended_to(bin, appender):
    with OnlyAuditd(bin, appender) as cluster:
        writer = cluster.append("--events=500")
        uids = cluster.acknowledged(writer)
        cluster.kill("auditd", signal.SIGTERM)
        with open(cluster.file, "r+b") as log:
            log.seek(2000)
            byte = log.read(1)
            log.seek(2000)
            log.write(bytes([byte[0] ^ 1]))
        before = open(cluster.file, "rb").read()
        try:
            cluster.restart("auditd", timeout=5)
            raise AssertionError("it started over a damaged log")
        except RuntimeError:
            pass
        cluster.processes.pop("auditd")
        assert "move it away" in cluster.log("auditd")
        assert open(cluster.file, "rb").read() == before
        assert cluster.verify()[0] == 1
        os.rename(cluster.file, cluster.file + ".evidence")
        cluster.restart("auditd")
        cluster.kill("auditd", signal.SIGTERM)
        assert len(check_log(cluster, [])) == 2 and len(uids) >= 500


def main():
    cases.run(sys.modules[__name__], sys.argv[1], sys.argv[2])


main()
