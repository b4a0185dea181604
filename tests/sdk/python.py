#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""python.py BIN WORK: builds the wheels, installs them for each interpreter of this machine, and runs the tests there."""

import os
import re
import subprocess
import sys

import wheels

HERE = os.path.dirname(os.path.abspath(__file__))
# What differs between versions shows in the oldest and the newest; those between run what imports and calls every module.
EACH, LONG = ("shim.py",), ("native.py", "faults.py")
TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)


def play(python, binaries, test):
    """Passed, failed and skipped cases.  -X dev reports resources that are not closed."""
    done = subprocess.run([python, "-B", "-X", "dev", "-W", "error::ResourceWarning", os.path.join(HERE, test), binaries],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    print(done.stdout, end="", flush=True)
    totals = TOTALS.search(done.stdout)
    counts = [int(count) for count in totals.groups()] if totals else [0, 1, 0]
    if "ResourceWarning" in done.stdout or "was never retrieved" in done.stdout or (done.returncode != 0 and counts[1] == 0):
        print(f"failed {test}: status {done.returncode}, or it left something open")
        counts[1] += 1
    return counts


def _number(version):
    return tuple(map(int, version.split(".")))


def main(binaries, work):
    made, sums = wheels.build(os.path.join(work, "wheels")), [0, 0, 0]
    found = {version: path for version, path in wheels.interpreters() if path is not None}
    versions = sorted(found, key=_number)
    print("Python", *versions)
    for version in versions:
        python = wheels.environment(os.path.join(work, version), found[version], made)
        for test in (*EACH, *(LONG if version in (versions[0], versions[-1]) else ())):
            print(f"--- Python {version}, {test}", flush=True)
            sums = [old + new for old, new in zip(sums, play(python, binaries, test))]
    print("{} passed, {} failed, {} skipped".format(*sums))
    sys.exit(sums[1] > 0 or sums[0] == 0)


main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
