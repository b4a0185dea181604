# SPDX-License-Identifier: Apache-2.0
"""The official Inspector's command line, in its three revisions.  Arguments: the gateway's command, or its URL.

--strict refuses tool schemas that some client or model could not process.
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tools

PROGRAM = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
VERSIONS = {"modern": "2026-07-28", "auto": "2026-07-28", "legacy": "2025-11-25"}
CODE = {"code": "print(6 * 7)"}


def describe(directory, server):
    """Writes a settings file, because the Inspector would parse the server's options as its own."""
    one = {"type": "streamable-http", "url": server[0]} if server[0].startswith("http") else {"command": server[0], "args": server[1:]}
    path = os.path.join(directory, "mcp.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"cloister": one}}, file)
    return path


def ask(config, revision, method, *more):
    """Its output, parsed as JSON."""
    command = tools.node(PROGRAM, "--cli", "--config", config, "--server", "cloister", "--protocol-era", revision, "--format", "json",
                         "--method", method, *more)
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
                         env={**os.environ, "HOME": os.path.dirname(config)})
    assert ran.returncode == 0, f"status {ran.returncode}: {ran.stdout[-600:]} {ran.stderr[-1500:]}"
    return json.loads(ran.stdout)["result"]


def agrees(*peer):
    got = json.dumps(ask(*peer, "initialize"))
    assert VERSIONS[peer[1]] in got and "cloister" in got, got[:600]


def lists_tools_strictly(*peer):
    names = {tool["name"] for tool in ask(*peer, "tools/list", "--strict")["tools"]}
    assert {"execute_code", "create_session"} <= names, names


def runs_code(*peer):
    got = ask(*peer, "tools/call", "--tool-name", "execute_code", "--tool-args-json", json.dumps(CODE))
    assert got["structuredContent"]["stdout"] == "42\n", got


def lists_resources_and_prompts(*peer):
    assert ask(*peer, "resources/list")["resources"] and ask(*peer, "prompts/list")["prompts"]
    assert ask(*peer, "resources/templates/list")["resourceTemplates"]


def main(*server):
    with tempfile.TemporaryDirectory() as directory:
        config = describe(directory, server)
        for revision in VERSIONS:
            for case in (agrees, lists_tools_strictly, runs_code, lists_resources_and_prompts):
                try:
                    case(config, revision)
                    print(f"ok inspector, {revision}: {case.__name__}", flush=True)
                except Exception as error:  # pylint: disable=broad-except
                    print(f"not ok inspector, {revision}: {case.__name__}: {error}", flush=True)


main(*sys.argv[1:])
