# SPDX-License-Identifier: Apache-2.0
"""Runs one of CPython's regression tests inside a sandbox: suite.py NAME SECONDS.

Writes to the file results a line of JSON for each test that failed or was skipped, and one of totals at the end; the name of
each test goes to stderr before it runs.  After SECONDS it prints the stack of each thread, which names a test that hangs.
The tests whose names are in the file left_out are not run.
"""

import faulthandler
import json
import os
import sys
import unittest

from test import support

RESULTS, LEFT_OUT = os.path.abspath("results"), os.path.abspath("left_out")

class Result(unittest.TestResult):
    """Reports the first reason of every test that did not pass."""

    def __init__(self):
        super().__init__()
        self.seen, self.passed, self.pid = set(), 0, os.getpid()

    def startTest(self, test):
        super().startTest(test)
        # A forked child that continues like its parent is a fault of the test; it stops here.
        if os.getpid() != self.pid:
            os._exit(99)
        os.write(2, f"{test.id()}\n".encode())

    def write(self, **row):
        with open(RESULTS, "a", encoding="ascii") as file:
            file.write(json.dumps(row) + "\n")

    def _report(self, test, outcome, why):
        if test.id() not in self.seen and os.getpid() == self.pid:
            self.seen.add(test.id())
            self.write(test=test.id(), outcome=outcome, why=why)

    def addError(self, test, err):
        lines = str(err[1]).strip().splitlines() or [""]
        self._report(test, "failed", f"{err[0].__name__}: {lines[-1]}"[:300])

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addError(test, err)

    def addUnexpectedSuccess(self, test):
        self._report(test, "failed", "unexpected success")

    def addSkip(self, test, reason):
        self._report(test, "skipped", reason)

    def addSuccess(self, test):
        self.passed += test.id() not in self.seen


def prune(tests, names):
    """The suite without the tests in left_out."""
    return type(tests)(prune(test, names) if isinstance(test, unittest.TestSuite) else test
                       for test in tests if isinstance(test, unittest.TestSuite) or test.id() not in names)


def main():
    name, seconds = sys.argv[1:]
    sys.argv = sys.argv[:1]
    faulthandler.dump_traceback_later(float(seconds), exit=True)
    support.use_resources = ()
    with open(LEFT_OUT, encoding="utf-8") as file:
        left_out = set(file.read().splitlines())
    result = Result()
    prune(unittest.defaultTestLoader.loadTestsFromName("test." + name), left_out).run(result)
    result.write(passed=result.passed)
    # Threads and processes that a test left behind are not waited for.
    os._exit(0)


if __name__ == "__main__":
    main()
