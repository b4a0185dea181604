#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A connected client after the end of its daemons: its next call starts them again, or says at once what to run.

    lease.py BIN
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from commands import Command  # noqa: E402
import daemons  # noqa: E402

SOON_S = 8  # a start of all daemons on a busy machine; without one the call would wait for 10 s


class Serving(daemons.Client):
    """A client of `cloister serve` that has made a call."""

    def __init__(self, cloister, program=None):
        super().__init__([program or cloister.program, "serve"], env=cloister.env, stderr=subprocess.DEVNULL)
        self.cloister = cloister

    def prints(self, number):
        began = time.monotonic()
        result = self.call("execute_code", {"code": f"print({number})"})
        took = time.monotonic() - began
        assert not result.get("isError") and result["structuredContent"]["stdout"] == f"{number}\n", result
        assert took < SOON_S, took

    # Daemons of an earlier client may just be ending, and refuse calls.
    def starts(self):
        eventually(lambda: not self.call("execute_code", {"code": "pass"}).get("isError"))
        self.prints(1)

    def children(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as children:
            return [int(child) for child in children.read().split()]


def status(cloister):
    return json.loads(cloister("status", "--json").stdout)


def open_in(pid):
    return [os.readlink(f"/proc/{pid}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{pid}/fd")]


def eventually(condition, seconds=15):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, condition
        time.sleep(0.05)


def test_a_call_after_down_starts_the_daemons(cloister):
    with Serving(cloister) as client:
        client.starts()
        first = status(cloister)["pid"]
        assert cloister("down").returncode == 0
        # Nothing but a call starts them.
        assert client.request("tools/list")["tools"]
        time.sleep(1)
        assert cloister("status").returncode == 3
        client.prints(2)
        second = status(cloister)
        assert second["pid"] != first and second["leases"] == 1 and not second["stays"], second
        time.sleep(2.5)  # longer than daemons without a client run
        assert status(cloister)["pid"] == second["pid"]
        for number in range(3, 7):  # the call may come before the gateway hears of the end
            assert cloister("down").returncode == 0
            client.prints(number)
    eventually(lambda: cloister("status").returncode == 3)


def test_a_call_after_the_supervisor_was_killed_starts_the_daemons(cloister):
    with Serving(cloister) as client:
        client.starts()
        for number in 2, 3:
            before = status(cloister)["pid"]
            os.kill(before, signal.SIGKILL)
            time.sleep(0.5)
            # A daemon of the killed supervisor that still ends fails the call that it has taken.
            eventually(lambda: not client.call("execute_code", {"code": "pass"}).get("isError"))
            client.prints(number)
            now = status(cloister)
            assert now["pid"] != before and now["leases"] == 1, now


def test_a_client_works_with_daemons_that_were_started_by_hand(cloister):
    with Serving(cloister) as client:
        client.starts()
        assert cloister("down").returncode == 0 and cloister("up").returncode == 0
        pid = status(cloister)["pid"]
        client.prints(2)
        now = status(cloister)
        assert (now["pid"], now["leases"], now["stays"]) == (pid, 1, True), now
    assert cloister("down").returncode == 0


def test_daemons_that_cannot_start_are_named_at_once(cloister):
    """The build is broken after the client's start: its next call fails at once and says what to run."""
    held = os.path.join(cloister.directory, "bin")
    shutil.copytree(os.path.dirname(cloister.program), held)
    with Serving(cloister, os.path.join(held, "cloister")) as client:
        client.starts()
        assert cloister("down").returncode == 0
        os.unlink(os.path.join(held, "cloister-executor"))
        began = time.monotonic()
        result = client.call("execute_code", {"code": "print(1)"})
        took = time.monotonic() - began
        text = json.dumps(result)
        assert result["isError"] and "unavailable" in text and "cloister up" in text and took < 2, (took, text)
        shutil.copy2(cloister.program + "-executor", held)
        client.prints(2)


def test_a_daemon_that_was_given_up_is_named_at_once(cloister):
    held = os.path.join(cloister.directory, "ends")
    shutil.copytree(os.path.dirname(cloister.program), held)
    executor = os.path.join(held, "cloister-executor")
    os.unlink(executor)
    with open(executor, "w", encoding="ascii") as program:
        program.write("#!/bin/sh\nexit 7\n")
    os.chmod(executor, 0o755)
    eventually(lambda: cloister("status").returncode == 3)
    up = [os.path.join(held, "cloister"), "up"]
    assert subprocess.run(up, env=cloister.env, capture_output=True, check=False, timeout=60).returncode == 1
    with Serving(cloister, up[0]) as client:
        began = time.monotonic()
        result = client.call("execute_code", {"code": "print(1)"})
        took, text = time.monotonic() - began, json.dumps(result)
        assert result["isError"] and "status 7" in text and "cloister up" in text and took < 1, (took, text)
        os.unlink(executor)
        shutil.copy2(cloister.program + "-executor", executor)
        assert subprocess.run(up, env=cloister.env, capture_output=True, check=False, timeout=60).returncode == 0
        client.starts()
    assert cloister("down").returncode == 0


def test_nothing_is_left_of_a_client(cloister):
    with Serving(cloister) as client:
        client.starts()
        keepers = client.children()
        assert len(keepers) == 1, keepers
        # Two sockets, and no stream of the client.
        eventually(lambda: sorted(open_in(keepers[0])) == ["/dev/null"] * 3 + ["socket"] * 2)
        client.process.kill()
        eventually(lambda: not os.path.exists(f"/proc/{keepers[0]}"), 3)
    eventually(lambda: cloister("status").returncode == 3)


def main():
    cloister = Command(sys.argv[1])
    try:
        cases.run(sys.modules[__name__], cloister)
    finally:
        cloister.close()


main()
