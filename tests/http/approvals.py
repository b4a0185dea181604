#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Answers of an approver over HTTP, and all that must not be an answer.  approvals.py BIN"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import Cluster, RpcError  # noqa: E402
from gateway import Gateway, call, modern, soon  # noqa: E402


class Person:
    """A token, and requests with it."""

    gateway = None

    def __init__(self, cluster, name, *flags):
        done = subprocess.run([os.path.join(cluster.bin, "cloister"), "token", "add", name, f"--state={cluster.state}", *flags],
                              check=True, capture_output=True, text=True)
        self.bearer = {"Authorization": "Bearer " + done.stdout.strip()}

    # The id of the new request.
    def want(self, domain):
        text = self.gateway.post(call("request_egress", {"domain": domain}), self.bearer).json["result"]["content"][0]["text"]
        return re.search("approve ([0-9a-f]{16})`", text).group(1)

    def state(self, domain):
        result = self.gateway.post(call("request_egress", {"domain": domain}), self.bearer).json["result"]
        return result["structuredContent"]["state"] if not result["isError"] else result["content"][0]["text"]

    def send(self, verb, **params):
        return self.gateway.post(modern("cloister/approval/" + verb, params), self.bearer)

    def answer(self, request, subject, verdict="approve", **more):
        return self.send("answer", request_id=request, subject=subject, verdict=verdict, **more).json

    def seen(self):
        reply = self.send("query", kind="egress").json
        return {one["subject"]: one for one in reply["result"]["approvals"]}


def refused(reply, why):
    assert "error" in reply and re.search(why, str(reply["error"])), reply


def test_an_approver_answers(world):
    asked = world.ann.want("a.example.com")
    shown = world.boss.seen()["a.example.com"]
    assert (shown["request_id"], shown["state"], shown["principal"]) == (asked, "pending", "ann"), shown
    assert world.boss.answer(asked, "a.example.com", duration="namespace")["result"]["approved"]
    assert world.ann.state("a.example.com") == "approved"
    assert world.boss.seen()["a.example.com"]["answered_by"] == "boss"
    assert world.boss.answer(asked, "a.example.com", "revoke")["result"]["state"] == "revoked"
    assert "approval_required" in world.ann.state("a.example.com")
    denied = world.ann.want("b.example.com")
    assert world.boss.answer(denied, "b.example.com", "deny")["result"]["state"] == "denied"
    assert "approval_denied" in world.ann.state("b.example.com")


def test_the_scope_is_needed(world):
    asked = world.ann.want("c.example.com")
    for verb, params in (("query", {"kind": "egress"}), ("answer", {"request_id": asked, "subject": "c.example.com", "verdict": "approve"})):
        reply = world.ann.send(verb, **params)
        assert reply.status == 403 and "cloister:approve" in reply.headers["WWW-Authenticate"], reply
    # No tool of any name is an answer, whatever the scope.
    for tool in ("approval_answer", "cloister/approval/answer", "approval_query"):
        reply = world.boss.gateway.post(call(tool, {"request_id": asked, "subject": "c.example.com", "verdict": "approve"}),
                                        world.boss.bearer)
        assert reply.json["error"]["code"] == -32602, reply
    assert "approval_required" in world.ann.state("c.example.com")


def test_nobody_approves_an_own_request(world):
    asked = world.boss.want("d.example.com")
    refused(world.boss.answer(asked, "d.example.com"), "this principal made the request")
    # Another credential of the same principal is the same principal.
    refused(world.twin.answer(asked, "d.example.com"), "this principal made the request")
    # A client of this machine has all scopes but no credential.
    for method, params in (("answer", {"request_id": asked, "subject": "d.example.com", "verdict": "approve"}),
                           ("query", {"kind": "egress"})):
        try:
            world.cluster.client().request("cloister/approval/" + method, params)
        except RpcError as why:
            assert "needs a credential" in why.message, why
        else:
            raise AssertionError(method)
    assert world.boss.answer(asked, "d.example.com", "deny")["result"]["state"] == "denied"


def test_the_answer_is_for_what_was_shown(world):
    one, other = world.ann.want("e.example.com"), world.ann.want("f.example.com")
    refused(world.boss.answer(one, "f.example.com"), "subject")
    refused(world.boss.send("answer", request_id=one, verdict="approve").json, "subject")
    refused(world.boss.answer("0" * 16, "e.example.com"), "not_found")
    # A channel in the params has no effect: "elicitation" would have other rules, "terminal" none.
    for channel in ("elicitation", "terminal", "none"):
        refused(world.stranger.answer(other, "f.example.com", channel=channel), "not_found")
    # Another namespace sees and answers nothing.
    assert world.stranger.seen() == {}
    refused(world.stranger.answer(one, "e.example.com"), "not_found")
    assert world.boss.answer(one, "e.example.com")["result"]["duration"] == "once"
    # The first answer counts.
    refused(world.boss.answer(one, "e.example.com"), "is approved already")
    refused(world.boss.answer(one, "e.example.com", "deny"), "is approved already")
    assert "approval_required" in world.ann.state("f.example.com")


def test_the_operator_may_switch_it_off(world):
    with Cluster(world.cluster.bin, servers=("auditd", "approvald"), flags={"approvald": ["--no-answer-by-http"]}) as cluster:
        other = World(cluster)
        with Gateway(cluster.bin, [], cluster, anonymous=False) as gateway:
            other.ann.gateway = other.boss.gateway = gateway
            refused(other.boss.answer(other.ann.want("n.example.com"), "n.example.com"), "answer_by_http is off")


# Without approvald no program has a network, so one bad file, as in a restored backup, must not keep it from starting.
def test_records_that_cannot_be_read_are_set_aside(world):
    with Cluster(world.cluster.bin, servers=("auditd", "approvald")) as cluster:
        place = os.path.join(cluster.state, "approvald")
        cluster.kill("approvald")
        fifo, directory, file = ("0" * 15 + digit for digit in "123")
        os.mkfifo(os.path.join(place, fifo))  # which the jail does not let it rename
        os.mkdir(os.path.join(place, directory))
        with open(os.path.join(place, file), "wb") as bad:
            bad.write(b"no record")
        os.mkdir(os.path.join(place, file + ".damaged"))  # so it cannot be renamed
        cluster.restart("approvald")
        # It listens before it reads them, and answers after that.
        soon(lambda: directory + ".damaged" in os.listdir(place), "it is set aside")
        soon(lambda: all(name in cluster.log("approvald") for name in (fifo, directory, file, "cannot be set aside")), "its log")
        here = set(os.listdir(place))
        assert file in here and directory not in here, here


class World:
    def __init__(self, cluster):
        self.cluster = cluster
        self.ann = Person(cluster, "ann", "--principal=ann")
        self.boss = Person(cluster, "boss", "--principal=boss", "--scopes=read,run,approve")
        self.twin = Person(cluster, "twin", "--principal=boss", "--scopes=approve")
        self.stranger = Person(cluster, "far", "--principal=boss2", "--namespace=far", "--scopes=approve")


def main():
    with Cluster(os.path.abspath(sys.argv[1]), servers=("auditd", "approvald")) as cluster:
        world = World(cluster)
        with Gateway(cluster.bin, [], cluster, anonymous=False) as Person.gateway:
            counts = cases.play(sys.modules[__name__], world)
    cases.end(counts)


if __name__ == "__main__":
    main()
