#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""compose/quickstart for a user who may not install packages: dpkg-query says that some are missing, and sudo refuses.

    setup.py
"""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import cases  # noqa: E402

LINE = "apt-get install --no-install-recommends libzmq3-dev shfmt\n"


def program(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/bash\n" + text)
    os.chmod(path, 0o755)


def play(cmake, sudo="exit 1"):
    with tempfile.TemporaryDirectory() as directory:
        program(directory, "dpkg-query", 'case "${@: -1}" in shfmt | libzmq3-dev) exit 1 ;; esac\necho installed\n')
        program(directory, "id", "echo 1000\n")
        program(directory, "sudo", sudo)
        program(directory, "cmake", cmake)
        program(directory, "ninja", "exit 1\n")
        program(directory, "apt-get", "echo apt-get was called; exit 1\n")
        return subprocess.run([os.path.join(ROOT, "compose", "quickstart")], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": directory + ":" + os.environ["PATH"], "BUILD_DIR": os.path.join(directory, "build")})


def test_an_administrator_gets_the_exact_line():
    done = play("echo there is no libzmq; exit 1\n")
    assert done.returncode == 1 and LINE in done.stderr and "Debian mirror" not in done.stderr, done
    assert "there is no libzmq" in done.stderr and "an administrator" in done.stderr.splitlines()[-1], done


def test_what_can_be_built_is_built():
    done = play("exit 0\n")
    assert LINE in done.stderr and "going on without" in done.stdout and "apt-get was called" not in done.stdout, done


def test_who_may_install_does():
    done = play("exit 0\n", 'case $1 in -*) exit 0 ;; esac\nexec "$@"\n')
    assert "installing: libzmq3-dev shfmt" in done.stdout and "apt-get was called" in done.stdout and "Debian mirror" in done.stderr, done


def link(directory, here, **env):
    program(directory, "id", "echo 1000\n")
    return subprocess.run([os.path.join(ROOT, "compose", "link"), here], capture_output=True, text=True, check=True,
                          env={"PATH": directory + ":/usr/bin:/bin", "HOME": directory, **env}).stdout


def test_the_command_is_linked_into_path():
    with tempfile.TemporaryDirectory() as directory:
        os.makedirs(os.path.join(directory, "build/bin"))
        here, there = os.path.join(directory, "build/bin/cloister"), os.path.join(directory, ".local/bin/cloister")
        program(os.path.dirname(here), "cloister", "echo here\n")
        said = link(directory, here)
        assert os.readlink(there) == os.path.realpath(here) and "is not in PATH" in said and "uninstall" in said, said
        assert "is not in PATH" not in link(directory, here, PATH=f"{directory}:{os.path.dirname(there)}:/usr/bin:/bin"), "it may be repeated"
        os.remove(there)
        program(os.path.dirname(there), "cloister", "echo another\n")
        assert "stays" in link(directory, here) and not os.path.islink(there)
        os.remove(there)
        os.symlink("/usr/bin/env", there)
        assert "stays" in link(directory, here) and os.readlink(there) == "/usr/bin/env"


if __name__ == "__main__":
    cases.run(sys.modules[__name__])
