#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The `cloister` command with sessions by short names: programs in them, files to and from them; and words that people type.

    command_files.py BIN
"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from commands import Command  # noqa: E402


class Here(Command):
    """In a directory of its own, whose daemons stay."""

    def __init__(self, bin):
        super().__init__(bin)
        self.env["CLOISTER_SUPERVISOR_IDLE_S"] = "60"

    def __call__(self, *arguments, input=b"", timeout=60):
        return subprocess.run([self.program, *arguments], env=self.env, input=input, capture_output=True, check=False,
                              timeout=timeout, cwd=self.directory)

    def out(self, *arguments, **more):
        done = self(*arguments, **more)
        assert done.returncode == 0, (arguments, done)
        return done.stdout

    def path(self, name):
        return os.path.join(self.directory, name)


def test_a_program_that_is_a_word(cloister):
    assert cloister.out("run", "-c", "print(6 * 7)") == b"42\n"
    assert cloister.out("run", "-c", "import sys\nprint(sys.argv[1:], sys.stdin.read())", "a", "--b", input=b"in") == b"['a', '--b'] in\n"
    assert cloister.out("run", "-l", "node", "-c", "console.log(process.argv.length)", "x") == b"3\n"
    for arguments, why in (["run", "-c"], b"-c: value required"), (["run"], b"FILE required"):
        done = cloister(*arguments)
        assert done.returncode == 2 and why in done.stderr, done


def test_a_session_by_its_name(cloister):
    cloister.out("run", "--session", "work", "-c", "x = 6")
    assert cloister.out("run", "--session=work", "-c", "print(x * 7)") == b"42\n"
    done = cloister("run", "--session", "work", "-c", "open('made.txt', 'w').write('hello')")
    assert b"made made.txt; `cloister get` fetches it" in done.stderr, done
    assert b"made.txt" in cloister.out("ls", "work") and b"x" in cloister.out("inspect", "work")
    kept = cloister("run", "--session", "work", "--out", "out", "-c", "open('kept.txt', 'w').write('1')")
    assert kept.returncode == 0 and os.listdir(cloister.path("out")) == ["kept.txt"], kept
    assert b"kept.txt" in cloister.out("ls", "work"), "a session that was named stays"
    assert cloister("run", "--session", "a/b", "-c", "1").returncode != 0


def test_files_go_in_with_a_run(cloister):
    os.makedirs(cloister.path("data"))
    for name in "data/in.csv", "plain.bin":
        with open(cloister.path(name), "wb") as file:
            file.write(b"\x00\xff" + name.encode())
    program = "import os\nfor d, _, all in os.walk('.'):\n    for f in all:\n        print(os.path.join(d, f), open(os.path.join(d, f), 'rb').read()[:2])"
    got = cloister.out("run", "--file", "data/in.csv", "--file=" + cloister.path("plain.bin"), "-c", program)
    assert b"./data/in.csv b'\\x00\\xff'" in got and b"./plain.bin b'\\x00\\xff'" in got, got
    assert b"No such file" in cloister("run", "--file", "/no/such", "-c", "1").stderr


def test_files_go_in_and_out(cloister):
    big = os.urandom(9 << 20)
    with open(cloister.path("big"), "wb") as file:
        file.write(big)
    cloister.out("put", "big", "--session", "fresh")
    cloister.out("put", "big", "d/e.bin", "--session=fresh")
    cloister.out("put", "-", "typed.txt", "--session", "fresh", input=b"typed")
    assert cloister.out("get", "typed.txt", "-", "--session", "fresh") == b"typed"
    cloister.out("get", "d/e.bin", "--session", "fresh")
    os.makedirs(cloister.path("there"))
    cloister.out("cp", "fresh:big", "there")
    for name in "e.bin", "there/big":
        with open(cloister.path(name), "rb") as file:
            assert file.read() == big, name
    cloister.out("cp", "there/big", "fresh:")
    with open(cloister.path("empty"), "wb"):
        pass
    cloister.out("put", "empty", "big", "--session", "fresh")
    assert cloister.out("get", "big", "-", "--session", "fresh") == b"", "an empty file replaces it"
    cloister.out("put", "empty")
    assert b"empty" in cloister.out("ls"), "the default session"


def test_a_failed_copy_leaves_what_was_there(cloister):
    with open(cloister.path("precious"), "w", encoding="ascii") as file:
        file.write("mine")
    done = cloister("get", "precious", "--session", "fresh")
    assert done.returncode != 0 and b"no such file" in done.stderr, done
    with open(cloister.path("precious"), encoding="ascii") as file:
        assert file.read() == "mine"
    assert not [name for name in os.listdir(cloister.directory) if name.startswith("precious.")], "no draft stays"


def test_wrong_copies_are_refused(cloister):
    for arguments, why in [(["put"], b"FILE required"), (["put", "."], b"is a directory"), (["put", "/no/such"], b"No such file"),
                           (["put", "-"], b"name the file"), (["cp", "a", "b"], b"SESSION:PATH"), (["cp", "a"], b"TO required"),
                           (["cp", "x:a", "y:b"], b"SESSION:PATH"), (["get", "a", "b", "c"], b"unexpected"),
                           (["put", "empty", "../x", "--session", "fresh"], b"filename"), (["put", "empty", "--session"], b"value required"),
                           (["put", "empty", "--bogus=1"], b"--bogus")]:
        done = cloister(*arguments)
        assert done.returncode != 0 and why in done.stderr and not done.stdout, (arguments, done)


def test_words_that_people_type(cloister):
    cloister.out("up")
    assert b"executor" in cloister.out("ps")
    assert b"fresh" in cloister.out("sessions") or b"sess_" in cloister.out("sessions")
    lines = cloister.out("logs", "--lines", "2").splitlines()
    assert len(lines) == 2 and all(b'"daemon"' in line for line in lines), lines
    follow = subprocess.Popen([cloister.program, "logs", "-f", "--lines=0"], env=cloister.env, stdout=subprocess.PIPE)
    time.sleep(0.5)
    assert b"have stopped" in cloister.out("stop")
    time.sleep(1)
    follow.terminate()
    assert b'"daemon"' in follow.communicate(timeout=30)[0], "what was logged meanwhile"
    assert cloister("logs", "--lines=x").returncode == 2
    empty = subprocess.run([cloister.program, "logs"], env={**cloister.env, "CLOISTER_STATE": cloister.path("new")}, capture_output=True,
                           check=False)
    assert empty.returncode == 1 and b"there is no log" in empty.stderr, empty


def test_help_and_value_of_a_call(cloister):
    told = cloister.out("call", "sandbox_upload_file", "--help").decode()
    assert "content_base64, required  (base64)" in told and "Relative path" in told, told
    assert "none|each|last" not in told and "session_name" not in told
    assert b"python|node|shell|typescript" in cloister.out("call", "validate_code", "--help")
    assert cloister.out("call", "--quiet", "execute_code", "code=6*7") == b"42\n"
    assert cloister.out("call", "--quiet", "execute_code", "code=print('a', end='')") == b"a"
    assert cloister.out("call", "--quiet", "execute_code", "code=[1, 'x']") == b'[1,"x"]\n'
    wrong = cloister("call", "sandbox_upload_file", "zzz=1")
    assert wrong.returncode == 2 and b"its arguments are filename, content_base64" in wrong.stderr, wrong
    unknown = cloister("call", "no_such_thing_here")
    assert unknown.returncode == 1 and b"the tools are execute_code" in unknown.stderr, unknown


def main():
    cloister = Here(sys.argv[1])
    try:
        cases.run(sys.modules[__name__], cloister)
    finally:
        cloister.close()


main()
