#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`cloister shell`, piped and on a terminal: statements, several lines, Ctrl-C, completion, history, pictures.

    shell.py BIN
"""

import os
import pty
import select
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from commands import Command  # noqa: E402

# A picture without a library.
PICTURE = "import base64\nclass P:\n    def _repr_png_(self):\n        return base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4" \
          "2mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')\n\nP()\n"


class Terminal:
    """The shell on a terminal."""

    def __init__(self, cloister, *arguments):
        self.main, side = pty.openpty()
        self.process = subprocess.Popen([cloister.program, "shell", *arguments], env={**cloister.env, "TERM": "dumb"}, cwd=cloister.directory,
                                        stdin=side, stdout=side, stderr=side, start_new_session=True,
                                        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.close(side)
        self.shown = b""

    def type(self, text):
        os.write(self.main, text.encode())

    def expect(self, text, seconds=20):
        """Waits for it, and forgets what came before."""
        text, end = text.encode(), time.monotonic() + seconds
        while text not in self.shown:
            assert select.select([self.main], [], [], max(0, end - time.monotonic()))[0], f"no {text!r} in {self.shown!r}"
            self.shown += os.read(self.main, 4096)
        self.shown = self.shown.split(text, 1)[1]

    def close(self):
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.expect("the end", 1)  # shows what there is
            raise
        finally:
            self.process.kill()
            os.close(self.main)


def piped(cloister, text, *arguments):
    return subprocess.run([cloister.program, "shell", *arguments], env=cloister.env, cwd=cloister.directory, input=text, text=True,
                          capture_output=True, check=False, timeout=60)


def test_statements_share_a_session(cloister):
    done = piped(cloister, "x = 6\nx * 7\ndef f(a):\n    return a + x\n\nf(1)\n'text'\n%language shell\nfor i in 1 2; do\necho $i\ndone\n"
                           "%language js\n[1, {a: 2}]\n%language cobol\nexit\nprint('never')\n")
    assert (done.returncode, done.stdout) == (0, '42\n7\n"text"\n1\n2\n[1,{"a":2}]\n'), done
    assert "python, node or shell" in done.stderr
    assert cloister("session", "list").stdout == b"none\n", "its own session ended with it"


def test_a_failure_ends_nothing(cloister):
    done = piped(cloister, "1/0\nprint(2)\nimport sys; sys.exit(3)\nprint(4)")
    assert done.returncode == 0 and done.stdout == "2\n4\n" and "ZeroDivisionError" in done.stderr, done


def test_a_session_of_a_name_stays(cloister):
    piped(cloister, "kept = 1\nopen('made.txt', 'w').write('x')\n", "mine")
    done = piped(cloister, "kept + 1\n", "mine")
    assert done.stdout == "2\n", done
    assert piped(cloister, "1\n", "no/such").returncode == 0 and "letters" in piped(cloister, "1\n", "no/such").stderr


def test_pictures_are_saved_beside_others(cloister):
    for number in 1, 2:
        done = piped(cloister, PICTURE)
        assert f"./figure-{number}.png" in done.stderr, done
        with open(os.path.join(cloister.directory, f"figure-{number}.png"), "rb") as file:
            assert file.read(4) == b"\x89PNG"


def test_a_terminal(cloister):
    shell = Terminal(cloister)
    shell.expect(">>> ")
    shell.type("alphabet = 20\r")
    shell.expect(">>> ")
    shell.type("alp\t + 1\r")
    shell.expect("\n21")
    shell.expect(">>> ")
    shell.type("for i in range(3):\r")
    shell.expect("... ")
    shell.type("print(i * 10)\r")
    shell.expect("... ")
    shell.type("\x03")
    shell.expect(">>> ")
    shell.type("import time\r")
    shell.expect(">>> ")
    shell.type("print('begun'); time.sleep(60)\r")
    shell.expect("\nbegun")
    began = time.monotonic()
    time.sleep(0.3)
    shell.type("\x03")
    shell.expect(">>> ")
    assert time.monotonic() - began < 10, "Ctrl-C stops the statement"
    shell.type("alphabet * 2\r")
    shell.expect("\n40")
    shell.expect(">>> ")
    shell.type("\x04")
    assert shell.close() == 0


def test_history_stays(cloister):
    shell = Terminal(cloister)
    shell.expect(">>> ")
    shell.type("5 * 5\r")
    shell.expect("\n25")
    shell.expect(">>> ")
    shell.type("\x04")
    assert shell.close() == 0
    shell = Terminal(cloister)
    shell.expect(">>> ")
    shell.type("\x10\r")  # Ctrl-P: the line before
    shell.expect("\n25")
    shell.expect(">>> ")
    shell.type("exit\r")
    assert shell.close() == 0
    path = os.path.join(cloister.env["CLOISTER_STATE"], "shell_history")
    assert os.stat(path).st_mode & 0o777 == 0o600


def main():
    cloister = Command(sys.argv[1])
    cloister.env["CLOISTER_SUPERVISOR_IDLE_S"] = "60"
    try:
        cases.run(sys.modules[__name__], cloister)
    finally:
        cloister.close()


main()
