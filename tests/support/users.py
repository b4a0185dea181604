# SPDX-License-Identifier: Apache-2.0
"""The users that root's daemons switch to; missing users are created from the same table as in an installation."""

import grp
import os
import pwd
import re
import shutil
import subprocess
import sys

SYSUSERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "compose", "sysusers")


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def uid(name):
    return pwd.getpwnam(name).pw_uid


def gid(name):
    return grp.getgrnam(name).gr_gid


def _conf():
    return subprocess.run([SYSUSERS], stdout=subprocess.PIPE, text=True, check=True).stdout


def _rows():
    for line in _conf().splitlines():
        words = re.sub(r'"[^"]*"', "", line).split()
        yield words[0], words[1], words[2] if len(words) > 2 else ""


def _missing():
    for kind, name, more in _rows():
        try:
            if kind == "u":
                uid(name)
            elif kind == "g":
                gid(name)
            elif name not in grp.getgrnam(more).gr_mem:
                return True
        except KeyError:
            return True
    return False


def _make_by_hand():
    for kind, name, more in _rows():
        command = {"u": ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", name],
                   "g": ["groupadd", "--system", name], "m": ["usermod", "-aG", more, name]}[kind]
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)


def need_root_and_users():
    if os.getuid() != 0:
        skip("only root can start a daemon that becomes another user")
    if _missing() and shutil.which("systemd-sysusers"):
        subprocess.run(["systemd-sysusers", "-"], input=_conf(), text=True, check=False)
    if _missing():
        _make_by_hand()
    if _missing():
        skip("the users that compose/sysusers prints could not be made")
