# SPDX-License-Identifier: Apache-2.0
"""Runs test functions in order, says which failed and why, and ends in one line of totals that tally.py reads."""

import inspect
import sys
import time
import traceback


class Skip(Exception):
    """This case cannot run here, and why."""


def play(module, *arguments, label="", named=None, after=None):
    """Every function of the module named `test_...`, in the order of the file, each with the same arguments, or with
    those of `named` that it names: how many passed, failed, were skipped.  A test fails where after() then raises, too."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    tests = [f for name, f in inspect.getmembers(module, inspect.isfunction) if name.startswith("test_")]
    for test in sorted(tests, key=lambda f: f.__code__.co_firstlineno):
        began = time.monotonic()
        try:
            try:
                test(*arguments) if named is None else test(**{n: named[n] for n in inspect.signature(test).parameters})
            finally:
                if after is not None:
                    after()
            outcome, why = "passed", ""
        except Skip as skip:
            outcome, why = "skipped", f": {skip}"
        except Exception:  # pylint: disable=broad-except
            outcome, why = "failed", "\n" + traceback.format_exc()
        counts[outcome] += 1
        print(f"{outcome} {test.__name__}{label} ({time.monotonic() - began:.2f} s){why}", flush=True)
    return counts


def end(*counts):
    """The line of totals; exits."""
    totals = {outcome: sum(each[outcome] for each in counts) for outcome in counts[0]}
    print(", ".join(f"{n} {outcome}" for outcome, n in totals.items()))
    sys.exit(totals["failed"] > 0)


def run(module, *arguments):
    end(play(module, *arguments))
