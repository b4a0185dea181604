#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""curl.py BIN: the block of gateway/README.md for curl, as it is printed there but for the port, against the real programs."""

import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import cases  # noqa: E402
from daemons import Cluster, skip  # noqa: E402

PRINTED = "http://127.0.0.1:8765"
OLDEST = (7, 82)
# Parts of the output, in this order.
EXPECTED = ('"stdout":"42\\n"', '"path":"/workspace/in.csv"', '"filename":"out.csv"', "a,b\n1,2\na,b\n1,2\n",
            "event: session.created", "event: execution.completed")


def block():
    with open(os.path.join(ROOT, "gateway", "README.md"), encoding="utf-8") as file:
        found = re.search(r"^### With curl$.*?^```sh\n(.*?)^```", file.read(), re.S | re.M)
    assert found and PRINTED in found[1], "gateway/README.md has no such block"
    return found[1]


def run(url, token, script):
    return subprocess.run(["bash", "-uc", script.replace(PRINTED, url)], env={**os.environ, "TOKEN": token, "no_proxy": "*"}, timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def test_the_block(url, token):
    said, at = run(url, token, block()).stdout, 0
    for part in EXPECTED:
        assert (at := said.find(part, at)) >= 0, (part, said)


# The token is what makes it work: the other statements are those of the block.
def test_without_the_token(url, token):
    first = block().partition("SESSION=")[0]
    assert json.loads(run(url, token, first).stdout)["result"]["isError"] is False
    assert json.loads(run(url, "wrong", first).stdout)["error"]["message"] == "unknown token"


def main(binaries):
    curl = shutil.which("curl")
    version = re.match(r"curl (\d+)\.(\d+)", subprocess.run([curl, "--version"], capture_output=True, text=True, check=True).stdout) if curl else None
    if version is None or tuple(map(int, version.groups())) < OLDEST:
        skip("curl 7.82 is needed")
    with Cluster(binaries) as cluster:
        token = subprocess.run([os.path.join(binaries, "cloister"), "token", "add", "laptop", "--state=" + cluster.state],
                               check=True, capture_output=True, text=True).stdout.strip()
        with cluster.served(["--anonymous=false"]) as served:
            counts = cases.play(sys.modules[__name__], served.url.removesuffix("/mcp"), token)
    cases.end(counts)


main(os.path.abspath(sys.argv[1]))
