#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up the cases of ctest's JUnit files: prints the ten slowest tests, failed and skipped tests, what the failed ones
wrote about it, and one line of totals.

A program that counts its own cases prints the counts in its last line ("3 passed, 0 failed, 0 skipped"), or in
cmocka's form.  Any other program is one case.  Exits 1 if anything failed, or if there were no tests.
"""

import os
import re
import sys
import xml.etree.ElementTree as tree

OWN = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)
FAILURE = re.compile(r"failed\b|\[  ERROR   \]|.*(ERROR: \w+Sanitizer|runtime error:)")
ABOUT, WIDTH = 30, 800
CMOCKA = {"passed": r"^\[  PASSED  \] (\d+) test", "failed": r"^\[  FAILED  \] (\d+) test", "skipped": r"^\[  SKIPPED \] (\d+) test"}


def cases(output):
    """The counts that a program prints; None if it prints none."""
    own = OWN.findall(output)
    if own:
        return [int(n) for n in own[-1]]
    counts = [sum(int(n) for n in re.findall(pattern, output, re.M)) for pattern in CMOCKA.values()]
    return counts if sum(counts) else None


def tally(case):
    """Passed, failed and skipped of one ctest test."""
    status, skipped = case.get("status"), case.find("skipped")
    counts = cases(case.findtext("system-out") or "")
    if skipped is not None or status in ("notrun", "disabled"):
        # ctest reports a test that cannot run here and a test whose program is missing in the same way.
        chosen = skipped is not None and skipped.get("message", "").startswith(("SKIP_", "Disabled"))
        return [0, 0, 1] if chosen or status == "disabled" else [0, 1, 0]
    if case.find("failure") is not None or status == "fail":
        return [counts[0], max(counts[1], 1), counts[2]] if counts else [0, 1, 0]
    return counts if counts else [1, 0, 0]


def about(output):
    """What a test wrote about its failures: a few lines from each of them on, else its last ones."""
    lines = output.splitlines()
    starts = [at for at, line in enumerate(lines) if FAILURE.match(line)]
    parts = [lines[at:at + ABOUT] for at in starts[:3]] or [lines[-ABOUT:]]
    return "\n".join(line[:WIDTH] for part in parts for line in part)


def main():
    totals, times, failures = [0, 0, 0], [], []
    for name in sys.argv[1:]:
        for case in tree.parse(name).getroot().iter("testcase"):
            counts = tally(case)
            times.append((float(case.get("time") or 0), f"{case.get('name')} ({os.path.basename(os.path.dirname(name))})"))
            totals = [a + b for a, b in zip(totals, counts)]
            if counts[1] or counts[2]:
                failures.append(f"{times[-1][1]}: {counts[1]} failed, {counts[2]} skipped")
            if counts[1]:
                failures.append(about(case.findtext("system-out") or ""))
    print("the ten slowest:", *(f"{seconds:7.1f} s  {test}" for seconds, test in sorted(times, reverse=True)[:10]), *failures, sep="\n")
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    sys.exit(totals[1] > 0 or totals[0] == 0)


main()
