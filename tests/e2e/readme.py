#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that a README of the tree names: readme.txt says how each is tried.

    readme.py BUILD | --rows

--rows only compares the READMEs with the table.
"""

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import cases  # noqa: E402

BEGINS = re.compile(r"((?:compose|tests|\.ci|build/bin)/[\w./-]+|cloister(?:-[a-z]+)?)(?: |$)")


def texts():
    for path, directories, names in os.walk(ROOT):
        directories[:] = [name for name in directories if name not in (".git", "build", "node_modules")]
        for name in names:
            if name.endswith(".md") and name != "CHANGELOG.md":
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    yield file.read()


def is_command(text):
    begin = BEGINS.match(text)
    if begin is None or " " in text:
        return begin is not None
    path = os.path.join(ROOT, begin[1])
    return os.path.isfile(path) and os.access(path, os.X_OK)


def commands():
    """In blocks of code, a line each; in the text, between backquotes."""
    block = re.compile(r"^```\w*\n(.*?)^```", re.S | re.M)
    found = set()
    for text in texts():
        lines = "\n".join(block.findall(text)).splitlines()
        found |= {re.sub(r"\s+#.*", "", line).strip() for line in lines} | set(re.findall(r"`([^`\n]+)`", block.sub("", text)))
    return {text for text in found if is_command(text)}


def table():
    with open(os.path.join(HERE, "readme.txt"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split(" => ", 1) for line in file if line.strip() and not line.startswith("#")]
    return {command: re.match(r"(run|starts|elsewhere)(?: (.*))?$", how).groups() for command, how in rows}


def is_named(row, command):
    return row == command or "*" in row and fnmatch.fnmatchcase(command, row.replace("[", "[[]"))


class Place:
    """Directories and files for the commands."""

    def __init__(self, build):
        self.build, self.directory = os.path.realpath(build), tempfile.mkdtemp(prefix="cloister-readme-")
        os.chmod(self.directory, 0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CLOISTER_")}
        self.env = {**kept, "CLOISTER_RUN": self.path("run"), "CLOISTER_STATE": self.path("state"), "HOME": self.path("home"),
                    "CLOISTER_SUPERVISOR_IDLE_S": "1"}
        os.mkdir(self.path("home"))
        with open(self.path("program.py"), "w", encoding="ascii") as file:
            file.write("print(6 * 7)\n")
        self.names = {"BUILD": self.build, "FILE": self.path("program.py"), "DIRECTORY": self.path("made"),
                      "LOG": self.path("state/auditd/audit.log")}

    def path(self, name):
        return os.path.join(self.directory, name)

    def words(self, command):
        first, *rest = shlex.split(command)
        program = os.path.join(self.build, "bin", os.path.basename(first)) if re.match(r"(build/bin/)?cloister", first) else os.path.join(ROOT, first)
        if "CHECKPOINT" in command:
            self.names["CHECKPOINT"] = self.checkpoint()
        return [program, *(re.sub(r"\b(BUILD|FILE|DIRECTORY|LOG|CHECKPOINT)\b", lambda name: self.names[name[1]], word) for word in rest)]

    def checkpoint(self):
        run = self.call(self.words("cloister run --json FILE"))
        with open(self.path("checkpoint"), "w", encoding="utf-8") as file:
            file.write(json.loads(run.stdout)["audit_checkpoint"])
        return "@" + self.path("checkpoint")

    def call(self, words):
        return subprocess.run(words, env=self.env, cwd=self.path("home"), input=b"a secret value\n", capture_output=True, timeout=60, check=False)

    def start(self, words):
        self.call(self.words("cloister down"))
        process = subprocess.Popen(words, env=self.env, cwd=self.path("home"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(2)
        alive = process.poll() is None
        process.terminate()
        return alive, process.communicate(timeout=30)[0]

    def close(self):
        self.call(self.words("cloister down"))
        shutil.rmtree(self.directory, ignore_errors=True)


def test_every_command_has_a_row_and_every_row_a_command(_):
    rows, named = table(), commands()
    assert len(named) > 60, named
    assert not (missing := {each for each in named if not any(is_named(row, each) for row in rows)}), f"not in readme.txt: {missing}"
    assert not (stale := {row for row in rows if not any(is_named(row, each) for each in named)}), f"in no README: {stale}"


def test_what_ends_within_a_minute(place):
    wrong = []
    for row, (how, words) in table().items():
        place.call(place.words("cloister up"))
        if how == "run" and (done := place.call(place.words(words or row))).returncode != 0:
            wrong.append((row, done.returncode, (done.stderr or done.stdout)[-400:]))
    assert not wrong, "\n".join(map(str, wrong))


def test_what_serves(place):
    for row, (how, words) in table().items():
        if how == "starts":
            alive, said = place.start(place.words(words or row))
            assert alive, (row, said[-400:])


if __name__ == "__main__" and sys.argv[1] == "--rows":
    test_every_command_has_a_row_and_every_row_a_command(None)
elif __name__ == "__main__":
    place = Place(sys.argv[1])
    try:
        counts = cases.play(sys.modules[__name__], place)
    finally:
        place.close()
    cases.end(counts)
