#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`cloister history`, `show` and `top`: runs of the audit log, code that is kept for as long as a setting says, and what runs now.

    history.py BIN
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from commands import Command  # noqa: E402

CODE = "total = 0\nfor x in range(4):\n    total += x\nprint(total)\n"


class Here(Command):
    """Whose daemons stay, and keep code."""

    def __init__(self, bin):
        super().__init__(bin)
        self.env["CLOISTER_SUPERVISOR_IDLE_S"] = "60"
        self.env["CLOISTER_EXECUTOR_KEEP_CODE"] = "1"

    def out(self, *arguments):
        done = self(*arguments)
        assert done.returncode == 0, (arguments, done)
        return done.stdout

    def runs(self, *flags):
        return json.loads(self.out("history", "--json", *flags))["runs"]

    def shown(self, run):
        return json.loads(self.out("show", "--json", run["execution_id"]))


def test_nothing_ran_yet(cloister):
    assert cloister.out("history") == b"no runs\n"


def test_runs_are_listed_newest_first(cloister):
    cloister.out("run", "-c", CODE)
    cloister.out("run", "-l", "node", "--session", "s", "-c", "let a = 1")
    assert cloister("run", "-c", "1/0").returncode == 1
    cloister("run", "--timeout", "0.3", "-c", "while True: pass")
    runs = cloister.runs()
    assert [run["state"] for run in runs] == ["timeout", "failed", "completed", "completed"], runs
    assert [run["language"] for run in runs] == ["python", "python", "node", "python"]
    assert runs[1]["error"] == "program_failed" and runs[0]["wall_ms"] >= 300 and "session_id" in runs[2]
    assert [run["execution_id"] for run in cloister.runs("--limit", "2")] == [run["execution_id"] for run in runs[:2]]
    assert [run["language"] for run in cloister.runs("--session", runs[2]["session_id"])] == ["node"]
    text = cloister.out("history").decode()
    assert text.splitlines()[0].split()[:4] == ["time_ms", "execution_id", "language", "state"] and runs[0]["sha256"][:12] in text


def test_code_is_shown_if_it_is_kept(cloister):
    cloister.out("run", "-c", CODE)
    run = cloister.runs("--limit=1")[0]
    assert cloister.shown(run)["source"] == CODE, run
    assert b"source: \n  total = 0\n" in cloister.out("show", run["execution_id"])
    long = "# " + "x" * 200000 + "\nprint(1)"
    cloister("run", "-", input=long.encode())
    assert cloister.shown(cloister.runs("--limit=1")[0])["source"] == long


def test_code_is_not_kept_by_default(cloister):
    kept = cloister.runs("--limit=1")[0]
    cloister.out("down")
    del cloister.env["CLOISTER_EXECUTOR_KEEP_CODE"]
    cloister.out("run", "-c", CODE)
    run = cloister.runs("--limit=1")[0]
    assert "source" not in cloister.shown(run) and cloister.shown(run)["sha256"] == run["sha256"]
    assert "source" not in cloister.shown(kept), "what was kept is gone, too"
    assert b"source: not kept; the setting keep_code" in cloister.out("show", run["execution_id"])


def test_what_is_not_there_is_said(cloister):
    for name in "exec_00000000000000000000000000000000", "../../etc/passwd":
        done = cloister("show", name)
        assert done.returncode == 1 and b"no such run" in done.stderr, done
    assert b"EXECUTION required" in cloister("show").stderr
    assert cloister("history", "--limit", "x").returncode == 2


def test_top_is_printed_once(cloister):
    assert cloister("top", "--interval=0").returncode == 2
    text = cloister.out("top").decode()
    assert all(word in text for word in ("0 running", "executor", "ready", "your last runs", cloister.runs()[0]["execution_id"])), text
    assert "\033" not in text


def test_top_draws_a_screen(cloister):
    """Of the terminal's size, until q is typed; then the terminal is as it was."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(cloister.program, ["cloister", "top", "--interval=0.3"], cloister.env)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    screens, until = b"", time.monotonic() + 20
    while screens.count(b"\033[H\033[J") < 4 and time.monotonic() < until:
        if select.select([fd], [], [], 0.1)[0]:
            screens += os.read(fd, 65536)
    os.write(fd, b"q")
    while True:
        try:
            screens += os.read(fd, 65536)
        except OSError:
            break
    assert os.waitpid(pid, 0)[1] == 0
    *_, last = screens.split(b"\033[H\033[J")
    assert screens.startswith(b"\033[?1049h") and last.endswith(b"\033[?1049l"), screens[-200:]
    assert b"cpu_percent" in last and last.count(b"\n") <= 24, last


def main():
    cloister = Here(sys.argv[1])
    try:
        cases.run(sys.modules[__name__], cloister)
    finally:
        cloister.close()


main()
