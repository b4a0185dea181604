#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""original.py BIN WORK: all of sandboxmcp's own unit tests, downloaded now, against cloister through the import shim.

The names of the tests come from the original, which is installed beside it for that.  Each test passes, or cannot.tsv has a row
with the reason why it cannot.
"""

import fnmatch
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree

import wheels

sys.path.insert(0, os.path.join(wheels.ROOT, "tests", "support"))
import tools  # noqa: E402
from daemons import Cluster  # noqa: E402

PACKAGE = "mcpaisuite-sandboxmcp==1.1.0"
RUNNER = ("pytest==8.4.2", "pytest-asyncio==1.2.0")
ORIGINAL = (PACKAGE, "mcp<2", *RUNNER)
REASONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cannot.tsv")
OPTIONS = ("-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto")


def fetch(work):
    """Their tests without their sources, which they would import."""
    wheels.run(*tools.python(*ORIGINAL), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", work, PACKAGE)
    archive, = (name for name in os.listdir(work) if name.endswith(".tar.gz"))
    tests = os.path.join(work, "tests")
    shutil.rmtree(tests, ignore_errors=True)
    os.makedirs(tests)
    with tarfile.open(os.path.join(work, archive)) as tar:
        for member in tar.getmembers():
            directory, name = os.path.split(member.name)
            if directory.endswith("/tests/unit") and name.startswith("test_"):
                with open(os.path.join(tests, name), "wb") as file:
                    shutil.copyfileobj(tar.extractfile(member), file)
    return tests


def names(tests):
    """Of all tests, as the original collects them."""
    python = tools.python(*ORIGINAL)
    done = subprocess.run([*python, "-m", "pytest", "--collect-only", *OPTIONS], cwd=tests, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300, check=False)
    found = [line for line in done.stdout.splitlines() if "::" in line]
    assert found, done.stdout + done.stderr
    return found


def passing(tests, python, command):
    """The names of those that passed."""
    report = os.path.join(tests, "report.xml")
    subprocess.run([python, "-m", "pytest", *OPTIONS, "--continue-on-collection-errors", "--tb=short", f"--junitxml={report}"], cwd=tests,
                   env={**os.environ, "CLOISTER_COMMAND": shlex.join(command)}, stdin=subprocess.DEVNULL, timeout=900, check=False)
    found = set()
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        module, _, group = case.get("classname").partition(".")
        if len(case) == 0:
            found.add("::".join(filter(None, (module + ".py", group, case.get("name")))))
    return found


def reasons():
    """Pattern and reason of each row; the first that fits counts."""
    with open(REASONS, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]


def judge(every, passed, rows):
    """Prints what differs from the rows, and the number of tests for each row; returns how many are wrong."""
    wrong, counts = 0, dict.fromkeys((pattern for pattern, _ in rows), 0)
    for name in every:
        row = next((pattern for pattern, _ in rows if fnmatch.fnmatchcase(name.replace("[", "("), pattern)), None)
        if row is not None:
            counts[row] += 1
        if (row is None) != (name in passed):
            wrong += 1
            print(f"failed {name}" if row is None else f"passed, against its row: {name}")
    for pattern, reason in rows:
        wrong += counts[pattern] == 0
        print(f"{counts[pattern]:4} cannot  {pattern}: {reason}{'' if counts[pattern] else ' (no such test)'}")
    return wrong


def main(binaries, work):
    made = wheels.build(os.path.join(work, "wheels"), wheels.SOURCE, wheels.SHIM)
    python = wheels.environment(os.path.join(work, "venv"), sys.executable, made)
    wheels.run(python, "-m", "pip", "install", "--quiet", *RUNNER)
    tests = fetch(work)
    every = names(tests)
    with Cluster(binaries) as cluster:
        passed = passing(tests, python, [*cluster.command("gateway"), "--toolsets=core,monitor", "--result-bytes=0"])
    wrong = judge(every, passed, reasons())
    print(f"{len(passed)} of {len(every)} of their tests pass")
    print(f"{len(passed)} passed, {wrong} failed, 0 skipped")
    sys.exit(wrong > 0)


main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
