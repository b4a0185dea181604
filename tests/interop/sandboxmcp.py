#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""sandboxmcp.py BIN: the same calls to sandboxmcp itself and to cloister in its toolset; the answers are compared.

Each key of sandboxmcp's answer must be in cloister's, with a value of the same type, and the outcome must be the same. What may
differ is a DIFFER row of common/table/compat.def, which EXCUSED names by tool and subject.
"""

import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import tools
from daemons import LEGACY, Client, Cluster

ROOT = os.path.dirname(os.path.dirname(HERE))
# Its metadata asks for mcp>=1.0, and it does not start with mcp 2.
PACKAGES = "mcpaisuite-sandboxmcp==1.1.0", "mcp<2"
REVISION = LEGACY[0]
PY = "execute_code"

# Tool, arguments, and keys whose values must be equal.
CALLS = [
    (PY, {"code": "print('hello')"}, ["success", "exit_code", "stdout", "language", "namespace"]),
    (PY, {"code": "2 + 2"}, ["success", "exit_code", "stdout"]),
    (PY, {"code": "x = [1, 2]\nx\n'text'\nx[0] + 1"}, ["success", "stdout"]),
    (PY, {"code": "def f():\n    return 3\nf()\n(4,\n 5)\nNone"}, ["success", "stdout"]),
    (PY, {"code": "import sys\nprint('e', file=sys.stderr)\nsys.exit(3)"}, ["success", "exit_code", "stdout"]),
    (PY, {"code": "1/0"}, ["success", "exit_code", "stdout"]),
    (PY, {"code": "import time\ntime.sleep(30)", "timeout_seconds": 1}, ["success", "exit_code", "stderr"]),
    (PY, {"code": "print("}, ["success", "exit_code", "stdout"]),
    (PY, {"code": "echo $((2 + 2))", "language": "shell"}, ["success", "exit_code", "stdout", "language"]),
    (PY, {"code": "exit 7", "language": "shell", "timeout_seconds": 10}, ["success", "exit_code"]),
    (PY, {"code": "print(1)", "namespace": "team", "unheard": [1]}, ["success", "stdout", "namespace"]),
    (PY, {"code": "import os\nopen(os.path.join(os.environ['SANDBOX_OUTPUT_DIR'], 'a.txt'), 'w').write('hello')"},
     ["success", "artifacts.0.name", "artifacts.0.content_b64", "artifacts.0.size_bytes", "artifacts.0.sha256"]),
    (PY, {"code": "print(1)", "allowed_domains": ["example.com"]}, ["success", "stdout"]),
    (PY, {}, ["isError"]),
    (PY, {"code": 5}, ["isError"]),
    (PY, {"code": "x", "language": "ruby"}, ["isError"]),
    ("create_session", {}, ["language", "backend", "status", "namespace", "env_vars", "metadata"]),
    ("create_session", {"language": "shell", "timeout_seconds": 60}, ["language", "status", "resource_limits.timeout_seconds"]),
    ("sandbox_stats", {}, ["sessions"]),
    ("inspect_state", {}, ["vault_keys", "sessions.0.status", "sessions.0.namespace"]),
    ("inspect_state", {"namespace": "default"}, ["vault_keys"]),
    ("list_runtimes", {}, []),
    ("bridge_data", {"data": {"a": 1}, "from_session": "x"}, ["bridged", "data"]),
    ("bridge_data", {"data": {}}, ["bridged", "data"]),
    ("set_resource_limits", {"max_ram_mb": 256, "timeout_seconds": 50}, []),
    ("set_resource_limits", {}, []),
    ("get_artifacts", {"request_id": "unknown"}, []),
    ("terminate_session", {"session_id": "unknown"}, []),
    ("request_egress", {"domain": "example.com"}, ["domain"]),
    ("audit_execution", {"namespace": "default", "limit": 5}, []),
    ("validate_code", {"code": "print(1)"}, ["valid", "verdict", "issues", "fixes_applied", "original_code", "fixed_code", "language"]),
    ("validate_code", {"code": "print("}, ["valid", "verdict", "issues.0.severity", "original_code"]),
    ("validate_code", {"code": "import os\nos.system('ls')"}, ["valid", "verdict"]),
    ("validate_code", {"code": "f(1)", "language": "node"}, ["valid", "verdict", "issues", "language"]),
    ("validate_code", {"code": "f((1)", "language": "node"}, []),
    ("validate_code", {"code": "echo 1", "language": "shell"}, ["valid", "verdict", "issues", "language"]),
    ("nothing_like_this", {}, ["isError"]),
    # Effects: what an earlier call set holds in a later one.
    (PY, {"code": "import os\nprint(len(os.environ['API_KEY']), os.environ['API_KEY'])"}, ["success", "stdout"]),
    (PY, {"code": "echo $API_KEY", "language": "shell"}, ["success", "stdout"]),
    ("inspect_state", {"namespace": "default"}, ["vault_keys"]),
    (PY, {"code": "print(open('kept.txt').read())"}, ["success"]),
    (PY, {"code": "import sys\nprint(sys.argv[1:])\nprint(input())"}, ["success", "stdout"]),
    (PY, {"code": "x = 5"}, ["success", "stdout"]),
    (PY, {"code": "x"}, ["success", "stdout"]),
    (PY, {"code": "import asyncio\nasync def f():\n    return 4\nprint(asyncio.run(f()))"}, ["success", "stdout"]),
    (PY, {"code": "import subprocess\nprint(subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout)"}, ["success", "stdout"]),
    (PY, {"code": "import socket\nsocket.create_connection(('192.0.2.1', 80), 2)"}, ["success", "exit_code"]),
    (PY, {"code": "import threading\nt = threading.Thread(target=lambda: print('in'))\nt.start()\nt.join()"}, ["success", "stdout"]),
    (PY, {"code": "print('\\u00e4', '\\U0001f600')"}, ["success", "stdout"]),
    (PY, {"code": "raise SystemExit('bye')"}, ["success", "exit_code", "stdout"]),
    (PY, {"code": "import os\nos._exit(9)"}, ["success", "exit_code"]),
    (PY, {"code": "console.log([1, 2].map(x => x * 2))", "language": "node"}, ["success", "exit_code", "stdout", "language"]),
    (PY, {"code": "throw new Error('no')", "language": "node"}, ["success", "exit_code", "stdout"]),
    (PY, {"code": "process.exit(4)", "language": "node"}, ["success", "exit_code"]),
    (PY, {"code": "for i in 1 2 3; do echo $i; done | tac", "language": "shell"}, ["success", "stdout"]),
    (PY, {"code": "false; echo $?; set -e; false; echo never", "language": "shell"}, ["success", "exit_code", "stdout"]),
    (PY, {"code": "nosuchcommand", "language": "shell"}, ["success", "exit_code"]),
    (PY, {"code": "import os\nfor n in 'ab':\n    open(os.path.join(os.environ['SANDBOX_OUTPUT_DIR'], n + '.bin'), 'wb').write(bytes(range(256)))"},
     ["success", "artifacts.0.sha256", "artifacts.1.sha256", "artifacts.1.content_b64"]),
    (PY, {"code": "import time\ntime.sleep(3)\nprint('slept')", "timeout_seconds": 20}, ["success", "stdout"]),
    (PY, {"code": "sleep 30", "language": "shell", "timeout_seconds": 1}, ["success", "exit_code"]),
]
# Read by both at their start.
SETTINGS = {"SANDBOXMCP_VAULT": "env", "SANDBOXMCP_SECRET_DEFAULT_API_KEY": "s3cret-of-both"}

# Path of a difference, by tool: the subject of the row that allows it.
EXCUSED = {
    ("get_artifacts", r"note"): "artifacts",
    ("terminate_session", r"killed"): "unknown id",
    ("inspect_state", r"sessions\.\d+\.(created_at|last_activity|resource_limits)"): "sessions",
    ("validate_code", r"issues(\.\d+)?"): "warnings",
    ("execute_code", r"metadata\.validation.*"): "syntax error",
}


def rows():
    with open(os.path.join(ROOT, "common/table/compat.def"), encoding="utf-8") as table:
        return set(re.findall(r'^DIFFER\(sandboxmcp, (\w+), "([^"]*)"', table.read(), re.M))


def kind(value):
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def lacking(theirs, ours, path=""):
    """Yields a path and a sentence for each key or type that differs."""
    if theirs is None:
        return
    if kind(theirs) != kind(ours):
        yield path, f"is {kind(theirs)} there, and {kind(ours)} here"
    elif isinstance(theirs, dict):
        for key, value in theirs.items():
            where = f"{path}.{key}".lstrip(".")
            if key in ours:
                yield from lacking(value, ours[key], where)
            else:
                yield where, "is missing"
    elif isinstance(theirs, list) and theirs:
        if ours:
            yield from lacking(theirs[0], ours[0], f"{path}.0".lstrip("."))
        else:
            yield path, "is empty here"


def at(value, path):
    for name in path.split("."):
        value = value[int(name)] if isinstance(value, list) else value.get(name)
    return value


def read(result):
    """The content as a value; isError beside it."""
    text = result["content"][0]["text"]
    try:
        value = json.loads(text)
    except ValueError:
        value = {"text": text}
    if isinstance(value, dict):
        value["isError"] = bool(result.get("isError"))
    return value


def differences(call, theirs, ours):
    tool, _, equal = call
    for path, why in lacking(theirs, ours):
        yield path, why
    for path in equal:
        if at(theirs, path) != at(ours, path):
            yield path, f"is {at(theirs, path)!r} there, and {at(ours, path)!r} here"
    if isinstance(theirs, dict) and theirs["isError"] != ours["isError"]:
        yield "isError", f"is {theirs['isError']} there"


def excused(tool, path):
    for (name, pattern), subject in EXCUSED.items():
        if name == tool and re.fullmatch(pattern, path):
            return tool, subject
    return None


def compare(call, theirs, ours, used):
    faults, reasons = [], set()
    for path, why in differences(call, theirs, ours):
        row = excused(call[0], path)
        if row is None:
            faults.append(f"{path} {why}")
        else:
            reasons.add(row)
    used.append(reasons)
    print(f"{'not ok' if faults else 'ok'} {call[0]} {json.dumps(call[1])[:90]}", *faults, sep="\n    ", flush=True)
    return not faults


def schemas_agree(theirs, ours):
    """Each tool that both offer takes the arguments of sandboxmcp, with the same types and defaults."""
    mine = {tool["name"]: tool["inputSchema"] for tool in ours}
    good = True
    for tool in theirs:
        schema = mine.get(tool["name"])
        for name, one in tool["inputSchema"].get("properties", {}).items() if schema else ():
            other = schema["properties"].get(name, {})
            if [one.get(key) for key in ("type", "enum", "default")] != [other.get(key) for key in ("type", "enum", "default")]:
                print(f"not ok schema of {tool['name']}: {name} is {one} there, and {other} here")
                good = False
        if schema and set(tool["inputSchema"].get("required", [])) != set(schema["required"]):
            print(f"not ok schema of {tool['name']}: other arguments are required")
            good = False
    print(f"{'ok' if good else 'not ok'} schemas of {len(mine)} tools of {len(theirs)}")
    return good


def play(original, cluster):
    known, used, passed = rows(), [], 0
    with original as theirs, cluster.client(REVISION, ["--toolsets=sandboxmcp"]) as ours:
        good = schemas_agree(*(client.request("tools/list")["tools"] for client in (theirs, ours)))
        for call in CALLS:
            passed += compare(call, read(theirs.call(call[0], call[1])), read(ours.call(call[0], call[1])), used)
    unknown = {row for row in EXCUSED.items() if (row[0][0], row[1]) not in known}
    print(f"{'not ok' if unknown else 'ok'} differences are rows of compat.def", *unknown)
    differ = sum(bool(reasons) for reasons in used)
    print(f"sandboxmcp | {len(CALLS)} | {len(CALLS) - differ} | {differ}")
    return passed + good + (not unknown), len(CALLS) + 2


def main(binaries):
    python = tools.python(*PACKAGES)
    command = [os.path.join(os.path.dirname(python[0]), "sandboxmcp"), "serve"]
    with tempfile.TemporaryDirectory() as directory, \
            Cluster(binaries, env=SETTINGS, flags={"vault": ["--backends=env"]}) as cluster:
        # It returns what anyone writes to its /tmp meanwhile: the row "/tmp".
        env = {**os.environ, **SETTINGS, "TMPDIR": tempfile.mkdtemp(dir=directory)}
        original = Client(command, REVISION, env=env, cwd=directory, stderr=open(os.path.join(directory, "log"), "wb"))
        passed, all_ = play(original, cluster)
    print(f"{passed} passed, {all_ - passed} failed, 0 skipped")
    sys.exit(passed != all_)


if __name__ == "__main__":
    main(*sys.argv[1:])
