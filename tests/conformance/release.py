#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""release.py BUILD: the installed programs contain no fixture of the conformance suite, and a build contains them only on request."""

import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import cases  # noqa: E402

# Of a tool, a resource and a prompt.
MARKS = (b"test_simple_text", b"test://static-text", b"test_simple_prompt", b"slow_compute")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def test_marks_are_those_of_fixtures(build):
    program = os.path.join(build, "bin", "cloister-gateway-fixtures")
    if not os.path.exists(program):
        raise cases.Skip("there are no fixtures in this build")
    assert all(mark in read(program) for mark in MARKS)


def test_the_gateway_has_none(build):
    assert not any(mark in read(os.path.join(build, "bin", "cloister-gateway")) for mark in MARKS)


def test_nothing_installed_has_any(build):
    with tempfile.TemporaryDirectory() as directory:
        run("cmake", "--install", build, "--prefix", directory)
        files = [path for path in glob.glob(directory + "/**", recursive=True) if os.path.isfile(path)]
        assert any(path.endswith("/cloister-gateway") for path in files), files
        bad = [path for path in files if "fixture" in path or any(mark in read(path) for mark in MARKS)]
        assert not bad, bad


def targets(directory, *settings):
    run("cmake", "-S", ROOT, "-B", directory, "-G", "Ninja", *settings)
    return run("ninja", "-C", directory, "-t", "targets", "all")


def test_a_build_has_none_by_itself(_build):
    with tempfile.TemporaryDirectory() as directory:
        by_itself = targets(directory)
        assert "cloister-gateway:" in by_itself and "fixtures" not in by_itself
        assert "cloister-gateway-fixtures:" in targets(directory, "-DCLOISTER_FIXTURES=ON")


cases.run(sys.modules[__name__], os.path.abspath(sys.argv[1]))
