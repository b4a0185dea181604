#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run.py KIND BIN PROBE root|rootless: the escape tests of one kind (a file beside this one) against boxes.
run.py --table: what is attempted, from where, and how often.

Every case has the id of the attack it makes, and in its first line the invariants it is about.  A case passes only if
the attempt fails for the reason that was meant, and leaves nothing behind on the host.
"""

import importlib
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]

import cases  # noqa: E402
import box as boxes  # noqa: E402

# What a Python program attempts, it attempts from a bare start and as a fork of a zygote.
BOTH = "sane", "kernel", "files", "processes", "resources", "posture", "state"
ORDINARY = 54321  # a user without a name: nothing of the host is that user's


def main():
    kind, folder, probe = sys.argv[1:4]
    rootless = sys.argv[4:] == ["rootless"]
    if os.geteuid() != 0:
        print("skipped: the escape tests look at boxes from outside, as root")
        sys.exit(77)
    box = boxes.Box(folder, probe, user=ORDINARY if rootless else None)
    print(f"limits by {box.isolation['limits_by']}; missing: {box.isolation['missing'] or 'nothing'}", flush=True)
    counts = []
    for box.start in ("cold", "warm") if kind in BOTH else ("cold",):
        counts.append(cases.play(importlib.import_module(kind), box, label=f" {box.start}" if kind in BOTH else ""))
    cases.end(*counts)


main()
