#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a test as an ordinary user: most newcomers are one, and some branches of each daemon only then run.

    as_user.py USER TEST.py BIN [ARGUMENT...]

The test, and what it imports and reads, must be reachable for the user; a tree below a closed directory is copied.  If root
does not start it, the test runs as the user that does.
"""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PARTS = ("tests", "common", "compose", "executor", "gateway")


def reaches(user, *paths):
    return all(subprocess.run(["test", "-r", path, "-a", "-x", path], user=user.pw_uid, group=user.pw_gid, extra_groups=[], check=False).returncode == 0
               for path in paths)


def copied(directory, program, bin_):
    for part in PARTS:
        shutil.copytree(os.path.join(ROOT, part), os.path.join(directory, part), symlinks=True)
    shutil.copytree(bin_, os.path.join(directory, "bin"))
    return os.path.join(directory, os.path.relpath(program, ROOT)), os.path.join(directory, "bin")


def main(name, program, bin_, *more):
    program, bin_ = os.path.abspath(program), os.path.abspath(bin_)
    command = ["/usr/bin/python3", "-B", program, bin_, *more]
    if os.geteuid() != 0:
        return subprocess.run(command, check=False).returncode
    user = pwd.getpwnam(name)
    with tempfile.TemporaryDirectory(prefix="cloister-user-") as directory:
        os.chmod(directory, 0o755)
        home = os.path.join(directory, "home")
        os.mkdir(home, 0o700)
        os.chown(home, user.pw_uid, user.pw_gid)
        if not reaches(user, os.path.dirname(program), os.path.join(bin_, "cloister")):
            command[2:4] = copied(directory, program, bin_)
        kept = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
        env = {**kept, "HOME": home, "USER": name, "LOGNAME": name}
        return subprocess.run(command, env=env, cwd=home, user=user.pw_uid, group=user.pw_gid, extra_groups=[], start_new_session=True,
                              check=False).returncode


sys.exit(main(*sys.argv[1:]))
