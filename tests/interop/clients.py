#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""clients.py BIN python|typescript|inspector: the official clients of MCP against all daemons, over stdio and HTTP.

Each client is a script that gets either the gateway's command or a URL, and prints "ok ..." or "not ok ..." for each case.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import tools
from daemons import Cluster

FLAGS = ["--toolsets=core,monitor", "--log-level=info"]


def commands(kind):
    if kind == "python":
        for script, package in zip(("python_v2.py", "python_v1.py"), tools.PYTHONS):
            yield [*tools.python(package), os.path.join(HERE, script)]
    elif kind == "typescript":
        for script in ("typescript_v2.mjs", "typescript_v1.mjs"):
            yield tools.node("tests/interop/" + script)
    else:
        yield [sys.executable, "-B", os.path.join(HERE, "inspector.py")]


def play(client, server):
    """The client's cases that passed and failed."""
    ran = subprocess.run(client + server, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=300, check=False)
    print(ran.stdout, end="", flush=True)
    passed, failed = (len(re.findall(f"^{word} ", ran.stdout, re.M)) for word in ("ok", "not ok"))
    if ran.returncode != 0 or passed + failed == 0:
        print(f"not ok {client[-1]} ended with status {ran.returncode} after {passed + failed} cases")
        failed += 1
    return passed, failed


def main(binaries, kind):
    passed = failed = 0
    with Cluster(binaries) as cluster, cluster.served(FLAGS) as served:
        for server in (cluster.command("gateway") + FLAGS, [served.url]):
            print(f"over {'HTTP' if server[0] == served.url else 'stdio'}")
            for client in commands(kind):
                good, bad = play(client, server)
                passed, failed = passed + good, failed + bad
        if failed:
            print(f"--- gateway over HTTP\n{served.log()[-2000:]}")
            for name in cluster.processes:
                print(f"--- {name}\n{cluster.log(name)[-2000:]}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0 or passed == 0)


main(*sys.argv[1:])
