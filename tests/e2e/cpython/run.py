#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs CPython's own regression tests in sandboxes, through all daemons; the last line is "N passed, N failed, N skipped".

    run.py BIN [SUITE...]            without names: those of listed.txt

Debian's libpython3.11-testsuite has the tests.  listed.txt has the suites, the least number of tests that pass in each, and
the tests that do not pass in a box, each with its reason.  A test that fails and is not listed is a failure; so is a listed
test that passes, unless it is marked as flaky (?) or is not run because it would hang (!).
"""

import concurrent.futures
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))

from daemons import Cluster, skip  # noqa: E402

SECONDS = 400  # of one suite
AT_ONCE = 4  # most of them wait more than they compute
LIMITS = {"max_ram_mb": 2048, "max_disk_mb": 1024, "max_cpu_cores": 2, "max_output_bytes": 10485760}
CODE = """
import subprocess, sys
subprocess.call([sys.executable, "/workspace/suite.py", "%s", "%d"], stdout=subprocess.DEVNULL)
print(open("/workspace/results").read(), end="")
"""


class Listed:
    """The rows of listed.txt."""

    def __init__(self, path):
        self.suites, self.reasons, self.tests, self.flaky, self.left_out = {}, {}, {}, set(), set()
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    self._add(line.strip())

    def _add(self, line):
        kind, rest = line.split(maxsplit=1)
        if kind == "suite":
            name, least = rest.split()
            self.suites[name] = int(least)
        elif kind == "reason":
            word, text = rest.split(maxsplit=1)
            self.reasons[word] = text
        else:
            word = kind.rstrip("?!")
            if word not in self.reasons or rest in self.tests:
                raise ValueError(f"listed.txt: no such reason, or twice: {line}")
            self.tests[rest] = word
            if kind.endswith("?"):
                self.flaky.add(rest)
            if kind.endswith("!"):
                self.left_out.add(rest)


class Suite:
    """The result of one suite: outcome by test, number of passed tests (None: it did not end), duration."""

    def __init__(self, name, reply, seconds):
        self.name, self.seconds, self.passed, self.failed, self.skipped = name, seconds, None, {}, set()
        self.error, self.stderr = reply.get("error"), reply.get("stderr", "")
        for row in map(json.loads, reply.get("stdout", "").splitlines()):
            if "passed" in row:
                self.passed = row["passed"]
            elif row.get("outcome") == "failed":
                self.failed[row["test"]] = row["why"]
            elif row.get("outcome") == "skipped":
                self.skipped.add(row["test"])
        self.ran = set(self.stderr.splitlines())

    # Sentences on differences from listed.txt.
    def breaches(self, listed):
        if self.passed is None:
            yield f"did not end within {SECONDS} s: {self.error}\n{self.stderr[-2000:]}"
            return
        if self.passed < listed.suites[self.name]:
            yield f"only {self.passed} tests passed; listed.txt has at least {listed.suites[self.name]}"
        for test, why in self.failed.items():
            if test not in listed.tests:
                yield f"{test}: {why}"
        for test in listed.tests.keys() & (self.ran - self.skipped) - self.failed.keys() - listed.flaky - listed.left_out:
            yield f"{test}: passes, though listed.txt has it"


def play(client, listed, name):
    with open(os.path.join(HERE, "suite.py"), encoding="utf-8") as file:
        suite = file.read()
    begun = time.monotonic()
    reply = client.call("execute_code", {
        "code": CODE % (name, SECONDS), "timeout": SECONDS + 10,
        "files": [{"filename": "suite.py", "content": suite}, {"filename": "left_out", "content": "\n".join(listed.left_out)}],
        "resource_limits": LIMITS}, timeout=2 * SECONDS + 60)
    return Suite(name, reply.get("structuredContent") or json.loads(reply["content"][0]["text"]), time.monotonic() - begun)


# Listed tests that no longer exist.
def strangers(listed, suites):
    known = set().union(*(suite.ran | suite.failed.keys() | suite.skipped for suite in suites))
    names = {suite.name for suite in suites}
    return [test for test in listed.tests if test not in known | listed.left_out and any(f"test.{name}." in f"{test}." for name in names)]


def main():
    bin_, *names = sys.argv[1:]
    listed = Listed(os.path.join(HERE, "listed.txt"))
    if not os.path.exists("/usr/lib/python3.11/test/test_json"):
        skip("libpython3.11-testsuite is not installed")
    passed = failed = 0
    with Cluster(bin_, flags={"executor": [f"--max-concurrent={AT_ONCE}"]}) as cluster, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        client = cluster.client(flags=["--result-bytes=0"])
        suites = []
        for suite in threads.map(lambda name: play(client, listed, name), names or listed.suites):
            suites.append(suite)
            breaches = list(suite.breaches(listed))
            passed, failed = passed + (suite.passed or 0), failed + len(breaches)
            print(f"{suite.name} ({suite.seconds:.0f} s): {suite.passed} passed, {len(suite.failed)} failed, {len(suite.skipped)} skipped", flush=True)
            print("".join(f"    {breach}\n" for breach in breaches), end="", flush=True)
    for test in strangers(listed, suites):
        print(f"{test}: is listed, and no suite has it")
        failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


main()
