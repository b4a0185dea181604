#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A builder that hangs at its start, in the kernel or stopped: its executor is started five times and not again, the reason
names the builder and where it hangs, and a builder that works is used after `cloister up`.

    builder_hangs.py BIN HANGS
"""

import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from household import builders, code_of, household, wait_for  # noqa: E402

BUILDER_MS = 500
STARTS = 5
# Longer than the pause before the next start would be.
LATER_S = 3


def replaceable(bin, directory):
    """A directory with the programs, whose builder can be replaced. A program searches for others beside its own file, not
    beside a link to it: the two that start others are copies."""
    os.mkdir(directory)
    for name in os.listdir(bin):
        copy = shutil.copy if name in ("cloister", "cloister-executor") else os.symlink
        copy(os.path.join(os.path.abspath(bin), name), os.path.join(directory, name))
    return directory


def put_builder(home, program, copy=os.symlink):
    os.unlink(os.path.join(home.bin, "cloister-builder"))
    copy(os.path.abspath(program), os.path.join(home.bin, "cloister-builder"))


def can_see_where():
    """Does this kernel say in which of its functions a process waits?"""
    with subprocess.Popen(["/bin/sleep", "60"]) as sleeper:
        try:
            return any(time.sleep(0.02) or read(f"/proc/{sleeper.pid}/wchan") not in ("", "0") for _ in range(50))
        finally:
            sleeper.kill()


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def own_builders(home):
    """Those of this test: other tests may run builders of theirs."""
    own = os.path.join(home.bin, "cloister-builder")
    return [pid for pid in builders() if command_of(pid) == own]


def command_of(pid):
    try:
        return read(f"/proc/{pid}/cmdline").split("\0")[0]
    except OSError:
        return ""


def assert_given_up(home, why):
    """`cloister up` failed, and nothing is started after that."""
    executor = home.daemon("executor")
    assert executor.get("given_up") and "pid" not in executor and executor["restarts"] == STARTS - 1, executor
    assert re.fullmatch(why, executor["why"]), executor["why"]
    assert all(d["ready"] for d in home.status()["daemons"] if d["name"] != "executor"), home.status()
    wait_for(lambda: not own_builders(home), "the end of the builders")
    time.sleep(LATER_S)
    assert home.daemon("executor")["restarts"] == STARTS - 1 and "pid" not in home.daemon("executor")
    assert home.log().count("daemon given up") == 1


def assert_client_reads(home, text):
    client = home.client()
    result = client.call("execute_code", {"code": "print(1)"})
    assert code_of(result) == "unavailable" and text in result["content"][0]["text"], result
    assert client.close() == 0


def assert_mended(home, bin):
    put_builder(home, os.path.join(bin, "cloister-builder"))
    up = home.cloister("up")
    assert up.returncode == 0, up
    client = home.client()
    assert code_of(client.call("execute_code", {"code": "print(1)"})) is None
    assert client.close() == 0
    assert home.cloister("down").returncode == 0
    # Not control groups: those of a slot wait for its next builder if the keeper was killed.
    wait_for(lambda: not home.alive() and not own_builders(home), "the end of all processes")


def assert_hangs(bin, hangs, how, seen):
    with household(bin) as home:
        home.bin = replaceable(bin, os.path.join(home.directory, "bin"))
        home.env.update(CLOISTER_EXECUTOR_BUILDER_MS=str(BUILDER_MS), HANGS=how)
        put_builder(home, hangs, shutil.copy)
        began = time.monotonic()
        assert home.cloister("up").returncode == 1
        took = time.monotonic() - began
        assert took >= STARTS * BUILDER_MS / 1000, took
        assert_given_up(home, rf"the builder \(pid \d+\) did not answer within {BUILDER_MS} ms: {seen} \(status 1\)")
        assert_client_reads(home, f"did not answer within {BUILDER_MS} ms: ")
        assert_mended(home, bin)
        print(f"given up after {took:.1f} s")


def where():
    return r" in \w+" if can_see_where() else ""


def test_a_builder_in_the_kernel(bin, hangs):
    assert_hangs(bin, hangs, "kernel", rf"state D \(in the kernel, cannot be killed\){where()}")


def test_a_builder_that_is_stopped(bin, hangs):
    """The process that the executor started only waits for it. Both end."""
    assert_hangs(bin, hangs, "stopped", rf"process \d+ below it: state T \(stopped by a signal\){where()}")


def main():
    cases.run(sys.modules[__name__], *sys.argv[1:3])


main()
