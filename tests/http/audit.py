#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`cloister audit --all`: the operator reads the records of all principals; another user and a token read their own.  audit.py BIN"""

import json
import os
import pwd
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import Cluster, RpcError  # noqa: E402
from gateway import Gateway, call, soon  # noqa: E402

EVENTS = ("execution.started", "execution.completed")


class World:
    """A token and the local user, with a run of each."""

    gateway = None

    def __init__(self, cluster):
        self.cluster = cluster
        self.program = [os.path.join(cluster.bin, "cloister")]
        self.place = ["--run=" + cluster.run, "--state=" + cluster.state]
        token = subprocess.run([*self.program, "token", "add", "ann", "--state=" + cluster.state], check=True, capture_output=True, text=True)
        self.bearer = {"Authorization": "Bearer " + token.stdout.strip()}

    def begin(self, gateway):
        self.gateway = gateway
        self.ann = self.ask("execute_code", {"code": "print(1)"})["structuredContent"]["execution_id"]
        self.local = self.cluster.call("execute_code", {"code": "print(2)"})["structuredContent"]["execution_id"]
        soon(lambda: len(self.lines("--event=execution.completed")) == 2, "both ends are in the log")

    def ask(self, tool, arguments):
        reply = self.gateway.post(call(tool, arguments), self.bearer).json
        assert "result" in reply, reply
        return reply["result"]

    def run(self, *flags, **popen):
        return subprocess.run([*self.program, "audit", *flags, *self.place], capture_output=True, text=True, timeout=30, check=False, **popen)

    def lines(self, *flags):
        done = self.run("--all", "--json-lines", *flags)
        assert done.returncode == 0, done
        return [json.loads(line) for line in done.stdout.splitlines()]

    def ids(self, *flags):
        return {record["event"].get("execution_id") for record in self.lines(*flags)} - {None}


def test_the_operator_reads_all(world):
    assert world.ids() == {world.ann, world.local}
    records = world.lines()
    assert [record["sequence"] for record in records] == list(range(1, len(records) + 1)), "each once, oldest first"
    assert all(after["previous"] == before["hash"] for before, after in zip(records, records[1:]))
    shown = world.run("--all")
    assert shown.returncode == 0 and world.ann in shown.stdout and world.local in shown.stdout and "ann" in shown.stdout, shown


def test_filters(world):
    ann = next(r["event"]["principal"] for r in world.lines() if r["event"].get("execution_id") == world.ann)
    assert world.ids("--principal=" + ann) == {world.ann}
    assert world.ids("--execution=" + world.local) == {world.local}
    assert {r["event"]["event"] for r in world.lines("--event=execution.started")} == {"execution.started"}
    session = world.cluster.call("create_session", {})["structuredContent"]["session_id"]
    named = world.cluster.call("execute_code", {"code": "print(3)", "namespace": "team"})["structuredContent"]["execution_id"]
    inside = world.cluster.call("execute_code", {"code": "print(4)", "session_id": session})["structuredContent"]["execution_id"]
    soon(lambda: world.ids("--namespace=team") == {named}, "the run of that namespace")
    soon(lambda: world.ids("--session=" + session) == {inside}, "the run of that session")
    last = world.lines()[-1]["sequence"]
    assert [r["sequence"] for r in world.lines(f"--after={last - 1}")] == [last]


def test_times(world):
    assert world.ids("--since=1h") >= {world.ann} and world.ids("--until=1h") == set()
    today = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 60))
    assert world.ids("--since=" + today) >= {world.ann} and world.ids("--until=2020-01-01") == set()
    # A daemon that starts before auditd records its own, earlier time.
    first = min(line["event"]["time_ms"] for line in world.lines()) / 1000
    assert world.lines(time.strftime("--since=%Y-%m-%dT%H:%M:%SZ", time.gmtime(first)))
    assert world.lines(time.strftime("--until=%Y-%m-%dT%H:%M:%SZ", time.gmtime(first))) == []
    for wrong in "--since=yesterday", "--until=2026-13-01", "--since=5":
        done = world.run("--all", wrong)
        assert done.returncode == 2 and "is no time" in done.stderr, done


def test_a_wrong_filter_is_refused(world):
    done = world.run("--all", "--event=execution.exploded")
    assert done.returncode == 1 and "execution.exploded" in done.stderr, done


def test_it_follows(world):
    last = world.lines()[-1]["sequence"]
    with subprocess.Popen([*world.program, "audit", "--all", "--json-lines", "--follow", f"--after={last}", "--event=execution.completed",
                           *world.place], stdout=subprocess.PIPE, text=True) as following:
        try:
            for restart in False, True:
                if restart:
                    world.cluster.restart("auditd")
                one = world.ask("execute_code", {"code": "print(5)"})["structuredContent"]["execution_id"]
                assert json.loads(following.stdout.readline())["event"]["execution_id"] == one
        finally:
            following.terminate()


def test_a_user_reads_his_own_only(world):
    own = world.run("--json", "--limit=1000")
    ids = {entry["event"].get("execution_id") for entry in json.loads(own.stdout)["entries"]}
    assert world.local in ids and world.ann not in ids, own


def test_another_user_cannot_read_all(world):
    if os.geteuid() != 0:
        raise cases.Skip("only root can be another user")
    nobody = pwd.getpwnam("nobody")
    done = world.run("--all", "--json-lines", user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[])
    assert done.returncode != 0 and done.stdout == "" and "ermission denied" in done.stderr, done


def test_a_token_cannot_read_all(world):
    entries = world.ask("audit_execution", {"limit": 1000})["structuredContent"]["entries"]
    assert {entry["event"].get("execution_id") for entry in entries} >= {world.ann}
    assert world.local not in {entry["event"].get("execution_id") for entry in entries}
    reply = world.gateway.post(call("audit_all"), world.bearer, wrong=True).json
    assert "error" in reply or reply["result"]["isError"], reply
    try:
        answer = world.cluster.call("audit_all", {})
        assert answer.get("isError"), answer
    except RpcError as refused:
        assert "audit_all" in str(refused), refused


def test_removed_records_are_named(world):
    """The operator removes the first segment: his list says so, and a user's, too."""
    place = os.path.join(world.cluster.state, "auditd")
    world.cluster.flags["auditd"] = ["--segment-bytes=1"]
    world.cluster.restart("auditd")
    world.cluster.call("execute_code", {"code": "print(6)"})
    soon(lambda: any(name.startswith("audit-") for name in os.listdir(place)), "a segment is closed")
    os.unlink(os.path.join(place, "audit-00000000000000000001.log"))
    done = world.run("--all", "--json-lines")
    first = json.loads(done.stdout.splitlines()[0])["sequence"]
    assert first > 1 and f"records 1 to {first - 1} were removed from the log" in done.stderr, done
    page = world.ask("audit_execution", {"limit": 1000})["structuredContent"]
    assert page["removed"] == f"records 1 to {first - 1}", page
    told = world.ask("follow_events", {"after": "0"})["structuredContent"]
    assert told["removed"] == f"records 1 to {first - 1}", told
    assert f"records 1 to {first - 1} were removed" in world.run("--limit=1000").stderr


def main():
    with Cluster(sys.argv[1]) as cluster:
        world = World(cluster)
        with Gateway(cluster.bin, ["--toolsets=all"], cluster, anonymous=False) as gateway:
            world.begin(gateway)
            counts = cases.play(sys.modules[__name__], world)
    cases.end(counts)


main()
