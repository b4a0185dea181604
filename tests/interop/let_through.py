#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""let_through.py BIN [--print]: what sandboxmcp lets a program do to the machine, and what cloister does; the same programs on both.

The table in compose/moving/sandboxmcp.md must be what this measures, and the last column must refuse everything.
"""

import hashlib
import os
import re
import signal
import socket
import sys
import tempfile
import time

import sandboxmcp
from daemons import Client, Cluster
import tools

GUIDE = os.path.join(sandboxmcp.ROOT, "compose/moving/sandboxmcp.md")
MARK = "61.875"  # the argument of a process that would outlive its run

OPEN = "try:\n    print('yes' if {} else 'no')\nexcept Exception:\n    print('no')"
LEAVE = f"""
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        none = os.open('/dev/null', os.O_RDWR)
        for fd in 0, 1, 2: os.dup2(none, fd)
        os.execv('/bin/sleep', ['sleep', '{MARK}'])
    os._exit(0)
os.wait()
"""


def processes():
    """Pids of the processes that LEAVE left."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                if line.read().split(b"\0")[:2] == [b"sleep", MARK.encode()]:
                    yield int(pid)
        except OSError:
            pass


def outlives(run, _):
    run(LEAVE)
    time.sleep(0.5)
    left = list(processes())
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return bool(left)


def connects(run, _):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        run(f"import socket\nsocket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2)")
        try:
            server.accept()[0].close()
        except TimeoutError:
            return False
    return True


def reads(path):
    def probe(run, place):
        with open(path or place, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        return digest in run(f"import hashlib\nprint(hashlib.sha256(open({path or place!r}, 'rb').read()).hexdigest())")
    return probe


def changes(run, place):
    run(f"open({place!r}, 'a').write('changed')")
    with open(place, encoding="ascii") as file:
        return "changed" in file.read()


def says(expression):
    return lambda run, _: "yes" in run(OPEN.format(expression))


PROBES = [
    ("reads a file in the system's `/tmp`", reads(None)),
    ("changes a file in the system's `/tmp`", changes),
    ("reads the host's `/etc/passwd`", reads("/etc/passwd")),
    ("reads the server's environment", says("b'LET_THROUGH=secret' in open(f'/proc/{__import__(\"os\").getppid()}/environ', 'rb').read()")),
    ("sends a signal to the server", says("__import__('os').kill(__import__('os').getppid(), 0) is None and __import__('os').getppid() > 1")),
    ("connects to a server on the host's loopback", connects),
    ("leaves a process behind", outlives),
]


def measure(client):
    """True for each thing that was let through."""
    def run(code):
        return str(client.call("execute_code", {"code": code, "timeout_seconds": 20}))

    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        found = []
        for _, probe in PROBES:
            place = os.path.join(directory, "file")
            with open(place, "w", encoding="ascii") as file:
                file.write(f"text {time.time()}")
            os.chmod(place, 0o666)
            found.append(probe(run, place))
        return found


def table(theirs, ours):
    word = {True: "yes", False: "no"}
    return [f"| {name} | {word[one]} | {word[other]} |" for (name, _), one, other in zip(PROBES, theirs, ours)]


def main(binaries, *flags):
    python = tools.python(*sandboxmcp.PACKAGES)
    command = [os.path.join(os.path.dirname(python[0]), "sandboxmcp"), "serve"]
    os.environ["LET_THROUGH"] = "secret"
    with tempfile.TemporaryDirectory() as directory, Cluster(binaries, env={"LET_THROUGH": "secret"}) as cluster:
        with open(os.path.join(directory, "log"), "wb") as log, Client(command, sandboxmcp.REVISION, cwd=directory, stderr=log) as original, \
                cluster.client(sandboxmcp.REVISION, ["--toolsets=sandboxmcp"]) as own:
            theirs, ours = measure(original), measure(own)
    rows = table(theirs, ours)
    print(*rows, sep="\n")
    if flags == ("--print",):
        return
    with open(GUIDE, encoding="utf-8") as guide:
        written = re.findall(r"^\| .* \| (?:yes|no) \| (?:yes|no) \|$", guide.read(), re.M)
    faults = [f"lets through: {name}" for (name, _), one in zip(PROBES, ours) if one] + [f"not as in the guide: {row}" for row in rows if row not in written]
    print(*faults, sep="\n")
    all_ = 2 * len(PROBES)
    print(f"{all_ - len(faults)} passed, {len(faults)} failed, 0 skipped")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(*sys.argv[1:])
