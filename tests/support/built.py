#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the tests of a selection with what a target of the build makes, so that no selection lacks a program.

    built.py BUILD TARGET CTEST-ARGUMENT...

In a clean clone only TARGET is built.  On another machine the programs of earlier builds would hide what it lacks, so the
build's own graph is asked and not the disk.  Prints what is missing; the exit status is 1 then.
"""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers  # noqa: E402

KINDS = {entry.name for entry in os.scandir(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) if entry.is_dir()}


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def made(build, target):
    commands = lines_of("ninja", "-C", build, "-t", "commands", target)
    return {os.path.join(build, path) for path in re.findall(r" -o (\S+)", commands)}


def needed(build, command):
    """Programs of the build that a test's command names: by path, or as the directory of all daemons."""
    for argument in command:
        path = os.path.normpath(argument)
        directory, name = os.path.split(path)
        if path == os.path.join(build, "bin"):
            yield from (os.path.join(path, "cloister" + part) for part in ["", "-builder", *("-" + peer for peer in peers.PEERS)])
        elif directory in (os.path.join(build, part) for part in ("bin", "tests", "tests/fuzz")) and name not in KINDS:
            yield path


def main(build, target, *selection):
    build = os.path.realpath(build)
    tests = json.loads(lines_of("ctest", "--test-dir", build, "--show-only=json-v1", *selection))["tests"]
    there = made(build, target)
    missing = {(test["name"], path) for test in tests for path in needed(build, test.get("command", ["(not built)"])) if path not in there}
    missing |= {(test["name"], "its program") for test in tests if "command" not in test}
    for name, path in sorted(missing):
        print(f"{name} needs {path}, which the target {target} does not make")
    return 1 if missing else 0


sys.exit(main(*sys.argv[1:]))
