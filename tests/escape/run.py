#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run.py KIND BIN PROBE root|rootless: the escape tests of one kind (a file beside this one) against sandboxes.
run.py --table: a table of attempts by kind and runtime.

Every case has the id of its attack, and in its first line the invariants that it tests.  A case passes only if
the attempt fails for the intended reason and leaves nothing on the host.
"""

import importlib
import inspect
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]

import cases  # noqa: E402
import box as boxes  # noqa: E402

# Kinds that run twice: Python started from its file, and forked from a zygote.
BOTH = "sane", "kernel", "files", "processes", "resources", "posture", "state"
ORDINARY = 54321  # a user without a name, who owns nothing on the host


KINDS = ("sane", "science", "attempts", "zygote", "session", "kernel", "files", "packages", "processes", "resources", "posture", "state", "builder", "executor",
         "degraded", "mutations")
ONCE = "degraded", "mutations", "oci", "oci_table"  # as root only


def table():
    """Rows are kinds, columns are runtimes; an attempt is a test function, a row of attempts.txt or a call of probe.c."""
    attempts = importlib.import_module("attempts")
    with open(os.path.join(HERE, "probes.def"), encoding="utf-8") as file, open(os.path.join(HERE, "probe.c"), encoding="utf-8") as more:
        calls = sum(line.startswith(("CALL(", "LET(")) for line in file) + sum(line.startswith('\t{ "') for line in more)
    columns = [*attempts.RUNTIMES, "none"]
    rows = {"attempts.txt": {r: sum(attempts.able(r, action) for _, action, _, _ in attempts.table()) for r in attempts.RUNTIMES},
            "probes.def": dict.fromkeys(("python cold", "python warm", "node", "shell"), calls)}
    for kind in KINDS:
        tests = sum(name.startswith("test_") for name, _ in inspect.getmembers(importlib.import_module(kind), inspect.isfunction))
        rows[kind] = dict.fromkeys(("python cold", "python warm") if kind in BOTH else ("none",), tests)
    print(f"{'box':14}" + "".join(f"{c:>15}" for c in [*columns, "modes", "sum"]))
    total = 0
    for name, counts in rows.items():
        modes = 1 if name in ONCE else 2
        total += modes * sum(counts.values())
        print(f"{name:14}" + "".join(f"{counts.get(c, ''):>15}" for c in columns) + f"{modes:>15}{modes * sum(counts.values()):>15}")
    print(f"{total} in all; modes: as root and as an ordinary user; none: tests that choose their runtimes themselves")


def main():
    if sys.argv[1:] == ["--table"]:
        table()
        return
    kind, directory, probe = sys.argv[1:4]
    rootless = sys.argv[4:] == ["rootless"]
    if os.geteuid() != 0:
        print("skipped: the escape tests look at boxes from outside, as root")
        sys.exit(77)
    box = boxes.Box(directory, probe, user=ORDINARY if rootless else None)
    print(f"limits by {box.isolation['limits_by']}; missing: {box.isolation['missing'] or 'nothing'}", flush=True)
    counts = []
    for box.start in ("cold", "warm") if kind in BOTH else ("cold",):
        counts.append(cases.play(importlib.import_module(kind), box, label=f" {box.start}" if kind in BOTH else ""))
    cases.end(*counts)


main()
