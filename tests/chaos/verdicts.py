#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Code that the validator has passed runs again without it, for the same principal and the same kind of run only; but not if
the validator is gone.

    verdicts.py BIN ASKER

The validator's workers are stopped: the validator is connected but answers no check.  A call that needs a check is
refused; a call with a cached verdict is not.
"""

import contextlib
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
from household import children, wait_for  # noqa: E402
from keeper import Keeper, Refused  # noqa: E402

CODE = {"code": "import math\nprint(math.floor(2.5))", "profile": "basic"}
ME = f"local:{os.getuid()}"  # the gateway's name for this user
OWN = ("uid", "time_ms", "execution_id", "wall_ms")  # differs in each record
FLAGS = {"executor": ["--validator-ms=1000", "--connect-wait-ms=500"]}


class House(Keeper):
    """All daemons, a gateway, and a client that uses the gateway's name and acts for any principal."""

    def restart(self, name, timeout=30):
        return daemons.Cluster.restart(self, name, timeout)

    def prints(self, changes=None, principal=ME, namespace=""):
        """The output of the program, or the code of its error."""
        try:
            reply = self.ask("execute_code", {**CODE, **(changes or {})}, principal=principal, namespace=namespace)
        except Refused as refused:
            return refused.code
        return reply["error"]["code"] if "error" in reply else reply["stdout"]

    @contextlib.contextmanager
    def unchecked(self):
        pids = children(self.pid("validator"))
        assert pids
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    def recorded(self, changes):
        """The records of a run, without the members that differ in each run."""
        result = self.call("execute_code", {**CODE, **changes})["structuredContent"]
        assert result["stdout"] == "2\n", result

        def entries():
            found = self.call("audit_execution", {"execution_id": result["execution_id"]})["structuredContent"]["entries"]
            return found if len(found) > 1 else None
        return [{k: v for k, v in entry["event"].items() if k not in OWN} for entry in wait_for(entries, "two records")]


def test_what_passed_is_not_asked_again(house):
    assert house.prints() == "2\n"
    with house.unchecked():
        for _ in range(5):
            assert house.prints() == "2\n"


def test_the_log_says_the_same(house):
    asked = house.recorded({"code": CODE["code"] + "#"})
    with house.unchecked():
        assert house.recorded({"code": CODE["code"] + "#"}) == asked


def test_all_else_is_asked(house):
    others = [{"principal": "bob"}, {"namespace": "other"}, {"changes": {"profile": "strict"}},
              {"changes": {"allowed_imports": ["math"]}}, {"changes": {"allowed_imports": []}},
              {"changes": {"code": CODE["code"] + "\n"}}]
    assert house.prints() == "2\n"
    for other in others:
        with house.unchecked():
            assert house.prints(**other) == "unavailable", other
        expected = "policy_violation" if other == {"changes": {"allowed_imports": []}} else "2\n"
        assert house.prints(**other) == expected, other
    with house.unchecked():
        for other in others[:4] + others[5:]:
            assert house.prints(**other) == "2\n", other


def test_in_a_session_likewise(house):
    session = house.ask("create_session", {"profile": "basic"}, principal=ME)["session_id"]
    statement = {"code": "x = 6 * 7\nprint(x)", "session_id": session}
    assert house.prints(statement) == "42\n"
    with house.unchecked():
        assert house.prints(statement) == "42\n"
        assert house.prints({**statement, "code": "print(x)"}) == "unavailable"


def test_what_was_refused_is_asked_again(house):
    bad = {"code": "import os"}
    for _ in range(2):
        assert house.prints(bad) == "policy_violation"
    with house.unchecked():
        assert house.prints(bad) == "unavailable"


def test_nothing_outlives_the_validator(house):
    assert house.prints() == "2\n"
    losses = house.log("executor").count("server lost")
    house.kill("validator")
    wait_for(lambda: house.log("executor").count("server lost") > losses, "the news of that")
    assert house.prints() == "unavailable"
    house.restart("validator")
    with house.unchecked():
        assert house.prints() == "unavailable"
    assert house.prints() == "2\n"


if __name__ == "__main__":
    with House(sys.argv[1], sys.argv[2], servers=tuple(daemons.SERVERS), flags=FLAGS) as started:
        cases.run(sys.modules[__name__], started)
