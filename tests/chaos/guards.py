#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kills the vault, approvald and egress at any moment: no acknowledged secret, answer or single use is lost, and a run that
loses its network says so.

    guards.py BIN TESTS
"""

import base64
import collections
import os
import queue
import random
import re
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
from keeper import Asker, Refused  # noqa: E402

ROUNDS, WORKERS, NAMES = 12, 3, 4
OPERATOR = "local:0"
# Of the daemon that died, or of what it was asked when it died.
AWAY = ("unavailable", "deadline_exceeded")


class Guarded(daemons.Cluster):
    """One of them with auditd, asked under the names of the gateway and of the executor."""

    def __init__(self, bin, tests, name, **options):
        super().__init__(bin, servers=("auditd", name), **options)
        self.tests, self.name, self.askers = tests, name, {}

    def start(self, timeout=30):
        super().start(timeout)
        for client in "gateway", "executor":
            with open(os.path.join(self.logs, client), "ab") as log:
                self.askers[client] = Asker([os.path.join(self.tests, f"asker_{client}-{self.name}"), "--run=" + self.run, "--state=" + self.state,
                                             "--connect-wait-ms=20000", "--timeout-ms=30000"], self.env, log, **self._identity())
        return self

    def stop(self, timeout=20):
        while self.askers:
            self.askers.popitem()[1].close()
        return super().stop(timeout)

    def gateway(self, message, request, who):
        return self.askers["gateway"].ask(message, request, principal=who)

    def executor(self, message, request, who):
        return self.askers["executor"].ask(message, request, principal=who)

    def until_answered(self, ask, message, request, who):
        """(times that it was not answered, reply)"""
        for lost in range(1000):
            try:
                return lost, ask(message, request, who)
            except Refused as refused:
                if refused.code not in AWAY:
                    raise
        raise AssertionError(f"{message} is never answered")


def under_kills(cluster, work):
    """work(number, ending) in threads, while the daemon is killed again and again."""
    ending, faults = threading.Event(), []

    def run(number):
        try:
            work(number, ending)
        except (AssertionError, Refused, queue.Empty) as fault:
            faults.append(f"{type(fault).__name__}: {fault}")

    workers = [threading.Thread(target=run, args=(number,)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(ROUNDS):
            time.sleep(random.uniform(0.02, 0.4))
            cluster.restart(cluster.name)
    finally:
        ending.set()
        for worker in workers:
            worker.join(60)
    assert not faults, faults[:3]
    cluster.restart(cluster.name)


# ---- the vault ----

class Secrets:
    """What may be stored under each name: what was acknowledged last, and what was not answered since."""

    def __init__(self):
        self.may_be, self.changes = collections.defaultdict(lambda: {None}), 0

    def change(self, cluster, who, name, value):
        try:
            if value is None:
                cluster.gateway("vault_delete", {"name": name}, who)
            else:
                cluster.gateway("vault_add", {"name": name, "value": base64.b64encode(value.encode()).decode()}, who)
        except Refused as refused:
            if refused.code == "secret_not_found":
                assert None in self.may_be[who, name], f"{who}'s {name} is lost"
                value = None
            elif refused.code in AWAY:
                self.may_be[who, name] = self.may_be[who, name] | {value}
                return
            else:
                raise
        self.may_be[who, name] = {value}
        self.changes += 1


def revealed(cluster, who, name):
    try:
        _, reply = cluster.until_answered(cluster.executor, "vault_reveal", {"execution_id": "e", "names": [name]}, who)
    except Refused as refused:
        assert refused.code == "secret_not_found", refused
        return None
    return base64.b64decode(reply["values"][0]["value"]).decode()


def test_no_acknowledged_secret_is_lost(bin, tests):
    with Guarded(bin, tests, "vault") as cluster:
        secrets, rekeyed = Secrets(), []

        def work(number, ending):
            turn = 0
            while not ending.is_set():
                turn += 1
                name = f"KEY{random.randrange(NAMES)}"
                secrets.change(cluster, f"local:{number}", name, None if random.random() < 0.2 else f"value {number} {turn}")
                if number == 0 and turn % 7 == 0:
                    try:
                        rekeyed.append(cluster.gateway("vault_rekey", {}, OPERATOR))
                    except Refused as refused:
                        assert refused.code in AWAY, refused

        under_kills(cluster, work)
        for (who, name), values in secrets.may_be.items():
            found = revealed(cluster, who, name)
            assert found in values, f"{who}'s {name} is {found}, and not one of {values}"
        assert secrets.changes > 50 and len(rekeyed) > 3, (secrets.changes, len(rekeyed))
        print(f"{secrets.changes} changes, {len(rekeyed)} new keys, {ROUNDS} kills")


# ---- approvald ----

class Person:
    """What one principal asked, and what came of it."""

    def __init__(self, cluster, who):
        self.cluster, self.who, self.once, self.lost = cluster, who, 0, 0

    def decide(self, domain, verdict, duration):
        report = self.cluster.until_answered(self.cluster.gateway, "request_egress", {"domain": domain}, self.who)[1]
        answer = {"request_id": report["request_id"], "subject": domain, "verdict": verdict, "duration": duration, "channel": "http"}
        try:
            report = self.cluster.until_answered(self.cluster.gateway, "approval_answer", answer, "boss")[1]
        except Refused as refused:  # an answer that was kept before the daemon died
            assert "already, answered by boss" in refused.text, refused

    def grants(self):
        lost, reply = self.cluster.until_answered(self.cluster.executor, "approval_grants", {"kind": "egress"}, self.who)
        names = {one["subject"] for one in reply["approvals"]}
        self.lost, self.once = self.lost + lost, self.once + ("once.test" in names)
        assert names - {"once.test"} == {"always.test"}, f"{self.who} has {names}"
        assert self.once <= 1, f"{self.who} had a single use twice"

    def settle(self):
        """Now no use is left; it was granted, or its reply was lost."""
        self.grants()
        self.grants()
        assert self.once == 1 or self.lost > 0, f"{self.who} never had the single use"


def test_no_answer_is_lost_and_no_single_use_is_used_twice(bin, tests):
    with Guarded(bin, tests, "approvald", flags={"approvald": ["--max-all-records=65536"]}) as cluster:
        people, untouched = [], []

        def work(number, ending):
            while not ending.is_set():
                person = Person(cluster, f"token:{number}.{len(people)}.{random.random()}")
                person.decide("once.test", "approve", "once")
                person.decide("always.test", "approve", "namespace")
                person.decide("no.test", "deny", "once")
                if random.random() < 0.3:
                    untouched.append(person)
                    continue
                person.grants()
                people.append(person)

        under_kills(cluster, work)
        for person in people + untouched:
            person.settle()
        assert len(people) > 10 and untouched, (len(people), len(untouched))
        print(f"{len(people) + len(untouched)} principals, {sum(person.lost for person in people)} uses without a reply, {ROUNDS} kills")


# ---- egress ----

LOST = "The network was lost during the run: egress ended."
RESOLVE = "import socket\nprint(socket.gethostbyname('a.test'))"
# Prints when it has a network, and when it has lost it.
UNTIL_LOST = RESOLVE + """
import sys, time
sys.stdout.flush()
while True:
    try:
        socket.gethostbyname('a.test')
    except OSError:
        break
    time.sleep(0.01)
print('lost', 6 * 7)
"""


def networked(code):
    return {"code": code, "enable_network": True, "allowed_domains": ["a.test"]}


def test_a_run_without_egress_says_so(bin, tests):
    with daemons.Cluster(bin, flags={"executor": ["--egress-domains=a.test"]}) as cluster:
        client = cluster.client()
        for _ in range(3):
            running = client.begin("tools/call", {"name": "execute_code", "arguments": networked(UNTIL_LOST)}, progress=True)
            running.shows("198.18.0.1")
            cluster.kill("egress")
            result = running.result()
            assert result["structuredContent"]["stdout"] == "198.18.0.1\nlost 42\n", result
            assert LOST in result["structuredContent"]["notes"], result
            refused = client.call("execute_code", networked(RESOLVE))
            assert refused["isError"] and re.search("egress (cannot be reached|is not running)", refused["content"][0]["text"]), refused
            assert not client.call("execute_code", {"code": "print(1)"})["isError"]
            cluster.restart("egress")
            works = client.call("execute_code", networked(RESOLVE))
            assert works["structuredContent"]["stdout"] == "198.18.0.1\n", works


def main():
    cases.run(sys.modules[__name__], sys.argv[1], sys.argv[2])


main()
