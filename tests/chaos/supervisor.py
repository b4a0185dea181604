#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Two clients share the daemons while each daemon is killed: every call is answered and recorded, and no process is left.

    supervisor.py BIN
"""

import os
import random
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import journal  # noqa: E402
import peers  # noqa: E402
from household import children, code_of, household, wait_for  # noqa: E402

IN_FLIGHT = 3
ROUNDS = 2
# Codes that a call may get if its daemon is killed.
EXCUSES = {"unavailable", "internal"}


class Load:
    """Calls from several threads of a client until it is stopped; keeps every reply."""

    # Most are short; some are running at any moment.
    CALLS = [("execute_code", {"code": "print(6 * 7)"}),
             ("execute_code", {"code": "import time; time.sleep(0.2); print(6 * 7)"}),
             ("validate_code", {"code": "x = 1\n"}),
             ("sandbox_upload_file", {"filename": "a/b.txt", "content_base64": "aGVsbG8=", "overwrite": True})]

    def __init__(self, client):
        self.client, self.ending = client, threading.Event()
        self.answers, self.problems = [], []
        self.threads = [threading.Thread(target=self._work, args=(n,)) for n in range(IN_FLIGHT)]
        for thread in self.threads:
            thread.start()

    def _work(self, turn):
        while not self.ending.is_set():
            tool, arguments = self.CALLS[turn % len(self.CALLS)]
            turn += 1
            began = time.monotonic()
            try:
                result = self.client.call(tool, arguments, timeout=45)
                self.answers.append((began, time.monotonic(), tool, result))
            except Exception as problem:  # pylint: disable=broad-except
                self.problems.append((tool, repr(problem)))
                return

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a call was never answered"
        assert not self.problems, self.problems
        return self.answers


def execution_of(result):
    return None if result.get("isError") else result["structuredContent"].get("execution_id")


def assert_excused(answers):
    """How often each code was the reply; only codes of a killed daemon are allowed."""
    codes = {}
    for *_, result in answers:
        code = code_of(result)
        codes[code] = codes.get(code, 0) + 1
        assert code in EXCUSES | {None}, result
    return codes


def assert_recorded(home, answers):
    """Every answered execution is recorded: its start, then its end. The records are in the log, or in the spool if
    auditd could not take them before the executor ended; the spool sends them at the next start."""
    records, _ = journal.read(os.path.join(home.state, "auditd", "audit.log"))
    uids = [record.event["uid"] for record in records]
    assert len(uids) == len(set(uids)), "an event stands in the log twice"
    waiting = [event for event in journal.spooled(os.path.join(home.state, "executor")) if event["uid"] not in set(uids)]
    order = {}
    for event in [record.event for record in records] + waiting:
        order.setdefault(event.get("execution_id"), []).append(event["event"])
    ran = [execution_of(result) for *_, tool, result in answers if tool == "execute_code" and execution_of(result)]
    for execution in ran:
        assert order.get(execution, [])[:1] == ["execution.started"], (execution, order.get(execution))
        assert "execution.completed" in order[execution], (execution, order[execution])
    return len(ran), len(records)


def kill_in_turn(home, names, answers_so_far):
    """Kills each daemon with SIGKILL. It is restarted, and calls succeed again, before the next one."""
    for name in names:
        before = home.daemon(name)
        os.kill(before["pid"], signal.SIGKILL)
        after = wait_for(lambda: (d := home.daemon(name)).get("pid") not in (None, before["pid"]) and d["ready"] and d,
                         name)
        assert after["restarts"] == before["restarts"] + 1 and "KILL" in after["last_end"], after
        back = time.monotonic()
        wait_for(lambda: any(began > back and code_of(result) is None and tool == "execute_code"
                             for began, _, tool, result in answers_so_far()), f"a success after {name} was killed")


def test_each_daemon_is_killed_under_load(bin):
    with household(bin) as home:
        clients = [home.client(), home.client()]
        status = home.wait_ready()
        assert status["leases"] == len(clients) and not status["stays"], status
        loads = [Load(client) for client in clients]
        names = peers.RESIDENT * ROUNDS
        kill_in_turn(home, names, lambda: [a for load in loads for a in list(load.answers)])
        answers = [answer for load in loads for answer in load.end()]
        for client in clients:
            assert client.close() == 0
        home.assert_nothing_left()
        codes = assert_excused(answers)
        assert codes[None] > len(names), codes
        longest = max(end - began for began, end, *_ in answers)
        ran, recorded = assert_recorded(home, answers)
        print(f"{len(answers)} calls, codes {codes}, longest {longest:.1f} s; {ran} executions answered, "
              f"{recorded} records")


def test_several_are_killed_at_random(bin):
    """Kills faster than the restarts: calls wait or are refused, none is lost, and at the end everything works."""
    with household(bin) as home:
        clients = [home.client(), home.client()]
        home.wait_ready()
        loads = [Load(client) for client in clients]
        kills, end = 0, time.monotonic() + 8
        while time.monotonic() < end:
            time.sleep(random.uniform(0.05, 0.8))
            for daemon in random.sample(home.status()["daemons"], random.choice((1, 1, 2, 4))):
                if "pid" in daemon:
                    os.kill(daemon["pid"], signal.SIGKILL)
                    kills += 1
        home.wait_ready()
        answers = [answer for load in loads for answer in load.end()]
        for client in clients:
            assert code_of(client.call("execute_code", {"code": "print(1)"})) is None
            assert client.close() == 0
        home.assert_nothing_left()
        print(f"{kills} kills, {len(answers)} calls, codes {assert_excused(answers)}, "
              f"{assert_recorded(home, answers)[0]} executions answered")


def test_the_builder_is_killed(bin):
    """The executor cannot go on without it: it exits, is restarted with a new one, and nothing of a sandbox is left."""
    with household(bin) as home:
        client = home.client()
        home.wait_ready()
        running = client.begin("tools/call", {"name": "execute_code",
                                              "arguments": {"code": "import time; time.sleep(30)"}})
        wait_for(lambda: home.daemon("executor").get("load", {}).get("running"), "the run")
        builder = children(home.daemon("executor")["pid"])[0]
        os.kill(builder, signal.SIGKILL)
        assert code_of(running.result(30)) in EXCUSES
        wait_for(lambda: code_of(client.call("execute_code", {"code": "print(1)"})) is None, "a success")
        assert client.close() == 0
        home.assert_nothing_left()


def test_the_supervisor_is_killed(bin):
    """The daemons end with it. The next client starts new ones, and an older client goes on."""
    with household(bin) as home:
        first = home.client()
        status = home.wait_ready()
        assert code_of(first.call("execute_code", {"code": "print(1)"})) is None
        home.status()
        os.kill(status["pid"], signal.SIGKILL)
        wait_for(lambda: not home.alive(), "the daemons' end")
        second = home.client()
        home.wait_ready()
        for client in (second, first):
            wait_for(lambda c=client: code_of(c.call("execute_code", {"code": "print(1)"})) is None, "a success")
        assert first.close() == 0 and second.close() == 0
        home.assert_nothing_left()


def test_clients_killed_mid_call_leave_nothing(bin):
    with household(bin) as home:
        clients = [home.client() for _ in range(2)]
        home.wait_ready()
        for client in clients:
            client.begin("tools/call", {"name": "execute_code", "arguments": {"code": "import time; time.sleep(60)"}})
        executor = home.daemon("executor")["pid"]
        wait_for(lambda: home.daemon("executor").get("load", {}).get("running") == len(clients), "two runs")
        home.status()
        for client in clients:
            client.process.kill()
        wait_for(lambda: home.daemon("executor").get("load", {}).get("running") == 0, "the end of both runs")
        assert home.daemon("executor")["pid"] == executor
        home.assert_nothing_left()


def main():
    cases.run(sys.modules[__name__], sys.argv[1])


main()
