#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kills the executor and auditd at each step of recording an event: every answered execution has its records.

    spool_steps.py BIN
"""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import journal  # noqa: E402

STRACE = "/usr/bin/strace"
EVENTS = ["execution.started", "execution.completed"]
# The daemon to kill, the system call that it is about to make, and which one of these calls per execution.
STEPS = [
    ("executor", "pwrite64", 1),  # the start, to the spool
    ("executor", "pwrite64", 2),  # the end, before the answer
    ("executor", "ftruncate", 1),  # the spool, when auditd has acknowledged what is in it
    ("auditd", "pwrite64", 1),  # the records, to the log
    ("auditd", "fdatasync", 1),  # written, not known to be durable
]
HELD_BACK_S = 8  # a quarter of it is longer than an acknowledged record stays in the spool


def run_code(cluster):
    """The id of an execution that was answered, or None."""
    result = cluster.call("execute_code", {"code": "print(1)"})
    return None if result.get("isError") else result["structuredContent"]["execution_id"]


def recorded(cluster):
    records, _ = journal.read(os.path.join(cluster.state, "auditd", "audit.log"))
    order = {}
    for record in records:
        order.setdefault(record.event.get("execution_id"), []).append(record.event["event"])
    uids = [record.event["uid"] for record in records]
    assert len(uids) == len(set(uids)), "an event stands in the log twice"
    return order


def wait_recorded(cluster, executions, timeout=20):
    """Each of these has its start and then its end, exactly once."""
    end = time.monotonic() + timeout
    while True:
        try:
            order = recorded(cluster)
            missing = {e: order.get(e) for e in executions if order.get(e) != EVENTS}
        except journal.Damaged:  # it is being written
            missing = True
        if not missing:
            return
        assert time.monotonic() < end, (missing, journal.spooled(os.path.join(cluster.state, "executor")))
        time.sleep(0.05)


def trace(cluster, name, syscall, what):
    """The tracer of a daemon, which applies that to its system call."""
    if not os.access(STRACE, os.X_OK):
        raise cases.Skip("strace is not installed")
    tracer = subprocess.Popen([STRACE, "-f", "-qq", "-o", "/dev/null", "-e", f"trace={syscall}", "-e",
                               f"inject={syscall}:{what}", "-p", str(cluster.pid(name))], stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    if tracer.poll() is not None:
        raise cases.Skip("strace may not attach: " + tracer.stderr.read().strip())
    return tracer


def start_again(cluster, name, tracer):
    status = cluster.processes[name].wait(20)
    tracer.wait(20)
    tracer.stderr.close()
    assert status == -9, (name, status)
    cluster.restart(name)


def test_a_kill_at_each_step_loses_no_record(bin):
    answered = []
    with daemons.Cluster(bin) as cluster:
        for name, syscall, when in STEPS:
            answered.append(run_code(cluster))
            wait_recorded(cluster, answered)
            tracer = trace(cluster, name, syscall, f"signal=KILL:when={when}")
            execution = run_code(cluster)
            if execution is not None:
                answered.append(execution)
            start_again(cluster, name, tracer)
            wait_recorded(cluster, answered)
            print(f"{name} killed at {syscall} {when}: the call was {'answered' if execution else 'refused'}")


def test_what_is_durable_and_not_acknowledged_is_recorded_once(bin):
    with daemons.Cluster(bin) as cluster:
        answered = [run_code(cluster)]
        wait_recorded(cluster, answered)
        tracer = trace(cluster, "auditd", "fdatasync", f"delay_exit={HELD_BACK_S * 1000000}")
        answered.append(run_code(cluster))
        wait_recorded(cluster, answered[:1])
        time.sleep(HELD_BACK_S / 4)  # auditd has them on the disk but has not noticed yet
        assert journal.spooled(os.path.join(cluster.state, "executor")), "it was acknowledged"
        cluster.processes["auditd"].kill()
        start_again(cluster, "auditd", tracer)
        wait_recorded(cluster, answered)


def test_what_no_auditd_took_is_there_after_a_start_of_all(bin):
    """Answered while auditd is down; then the executor is killed too, so that only the spool has the records."""
    with daemons.Cluster(bin) as cluster:
        cluster.kill("auditd")
        answered = [run_code(cluster) for _ in range(3)]
        assert None not in answered, "a run waits for auditd, or is refused without it"
        cluster.kill("executor")
        waiting = [event.get("execution_id") for event in journal.spooled(os.path.join(cluster.state, "executor"))]
        assert all(waiting.count(execution) == len(EVENTS) for execution in answered), json.dumps(waiting)
        cluster.restart("executor")
        cluster.restart("auditd")
        wait_recorded(cluster, answered)


def main():
    cases.run(sys.modules[__name__], sys.argv[1])


main()
