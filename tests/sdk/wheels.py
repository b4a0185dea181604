# SPDX-License-Identifier: Apache-2.0
"""The SDK as a user installs it: wheels of this tree, in a virtual environment of an interpreter.

    wheels = build("build/x")                      # paths of the wheels
    python = environment("build/x/3.11", "/usr/bin/python3", wheels)
"""

import glob
import os
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SOURCE = os.path.join(ROOT, "compose", "sdk", "python")
SHIM = os.path.join(SOURCE, "shim")
VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13")


def run(*command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stdout[-3000:]}")
    return done.stdout


def build(directory, *sources):
    """Builds a wheel from each source, by default the SDK and its shim; from a copy, because setuptools writes beside the sources."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    venv = os.path.join(directory, "builder")
    run(sys.executable, "-m", "venv", venv)
    for i, source in enumerate(sources or (SOURCE, SHIM)):
        copy = os.path.join(directory, f"source{i}")
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        run(os.path.join(venv, "bin", "pip"), "wheel", "--quiet", "--no-deps", "--wheel-dir", os.path.join(directory, "dist"), copy)
    return sorted(glob.glob(os.path.join(directory, "dist", "*.whl")))


def environment(directory, interpreter, wheels):
    shutil.rmtree(directory, ignore_errors=True)
    run(interpreter, "-m", "venv", directory)
    run(os.path.join(directory, "bin", "pip"), "install", "--quiet", "--no-deps", "--no-index", *wheels)
    return os.path.join(directory, "bin", "python")


def interpreters():
    """(version, path) of each version that the SDK supports; path is None if it is not on this machine."""
    for version in VERSIONS:
        found = [os.path.join("/usr/bin", "python" + version), shutil.which("python" + version),
                 *sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python")))]
        yield version, next((path for path in found if path and _works(path)), None)


def _works(path):
    return os.path.exists(path) and subprocess.run([path, "-c", "import ensurepip, ssl, venv"], stdin=subprocess.DEVNULL,
                                                   capture_output=True, check=False).returncode == 0
