#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""sources.py WORK: the SDK's sources compile as Python 3.9, import the standard library only, and pass mypy --strict."""

import ast
import os
import subprocess
import sys

import wheels

sys.path.insert(0, os.path.join(wheels.ROOT, "tests", "support"))
import cases  # noqa: E402
import tools  # noqa: E402

OLDEST = (3, 9)
MYPY = "mypy==1.18.2"  # the last that checks for 3.9
OWN = {"cloister_sandbox", "sandboxmcp"}
# In adapters only, which nothing else imports.
FRAMEWORKS = {"agents", "langchain_core", "PIL", "pydantic_ai", "smolagents"}


def sources():
    for directory, _, names in os.walk(wheels.SOURCE):
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(directory, name)
                with open(path, encoding="utf-8") as file:
                    yield path, file.read()


def test_the_grammar_of_the_oldest_version(work):
    del work
    paths = [path for path, text in sources() if ast.parse(text, path, feature_version=OLDEST)]
    assert len(paths) > 10, paths


def test_imports_of_the_standard_library_only(work):
    del work
    for path, text in sources():
        allowed = FRAMEWORKS if f"{os.sep}adapters{os.sep}" in path else set()
        if f"{os.sep}examples{os.sep}" in path:
            continue
        for node in ast.walk(ast.parse(text)):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            for name in names:
                assert name.partition(".")[0] in sys.stdlib_module_names | OWN | allowed, (path, name)
            assert allowed or "adapters" not in str(getattr(node, "module", "")), path


def test_types(work):
    done = subprocess.run([*tools.python(MYPY), "-m", "mypy", "--strict", "--python-version=3.9",
                           "--cache-dir", os.path.join(work, "mypy")], cwd=wheels.SOURCE, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout


def main(work):
    os.makedirs(work, exist_ok=True)
    cases.end(cases.play(sys.modules[__name__], work))


main(os.path.abspath(sys.argv[1]))
