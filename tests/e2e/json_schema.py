#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The official JSON-Schema-Test-Suite through MCP, every draft and the optional cases: what a client gets.

    json_schema.py BIN [SUITE]      SUITE: a newer one than the package of tools.py has

Numbers go as they are written there, however long.  unit.test_schema_suite asks the plans of the same cases for all errors.
"""

import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from daemons import MODERN, Cluster  # noqa: E402
import tools  # noqa: E402

DRAFTS = {"draft4": "draft-04", "draft6": "draft-06", "draft7": "draft-07", "draft2019-09": "2019-09", "draft2020-12": "2020-12"}
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
NUMBER, SHOWN = "\u2060number\u2060", 20
# Fewer fail only if files of the suite were not found.
LEAST = 7000


def read(path):
    """Each number is a marked text."""
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=lambda digits: NUMBER + digits, parse_int=lambda digits: NUMBER + digits)


def write(value):
    return re.sub(f'"{NUMBER}([^"]*)"', r"\1", json.dumps(value, ensure_ascii=False))


def cases(suite):
    """The arguments of a call, what it must find, and where the case stands."""
    remotes = {"http://localhost:1234/" + os.path.relpath(path, suite + "/remotes"): read(path)
               for path in glob.glob(suite + "/remotes/**/*.json", recursive=True)}
    for directory, draft in DRAFTS.items():
        for path in sorted(glob.glob(f"{suite}/tests/{directory}/**/*.json", recursive=True)):
            formats = "/format/" in path or path.endswith("/optional/content.json")
            for group in read(path):
                more = {"documents": remotes} if "localhost" in write(group["schema"]) or "$ref" in write(group["schema"]) else {}
                for test in group["tests"]:
                    yield {"data": test["data"], "schema_name_or_dict": group["schema"], "draft": draft, "check_formats": formats,
                           "output": "flag", **more}, test["valid"], f"{path[len(suite):]}: {group['description']}: {test['description']}"


def call(gateway, arguments):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "validate_json_data", "arguments": arguments, "_meta": META}}
    text = write(message)
    gateway.stdin.write(text.encode() + b"\n")
    gateway.stdin.flush()
    answer = json.loads(gateway.stdout.readline())
    return answer.get("result", {}).get("structuredContent", {}).get("valid"), answer


def main(bin_, suite=None):
    suite = suite or tools.source_part(*tools.SUITE)
    passed, failed = 0, []
    with Cluster(bin_) as cluster:
        gateway = subprocess.Popen(cluster.command("gateway"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=cluster.env)
        for arguments, valid, where in cases(suite):
            found, answer = call(gateway, arguments)
            passed += found is valid
            if found is not valid:
                failed.append(f"{where}: expected {valid}: {json.dumps(answer)[:300]}")
        gateway.stdin.close()
        gateway.wait()
    print("\n".join(failed[:SHOWN]))
    print(f"{passed} passed, {len(failed)} failed, 0 skipped")
    sys.exit(bool(failed) or passed < LEAST)


if __name__ == "__main__":
    main(*sys.argv[1:])
