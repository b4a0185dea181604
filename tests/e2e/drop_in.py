#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The toolsets of the replaced systems by effect: what a setting or an argument says is what programs meet.

    drop_in.py BIN
"""

import base64
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import LEGACY, Cluster  # noqa: E402

SLEEP = "import time\ntime.sleep(4)\nprint('slept')"
SECRET = "a-value-of-17-byt"


def client_of(cluster, toolset):
    return cluster.client(revision=LEGACY[0], flags=["--toolsets=" + toolset])


def ask(client, tool, **arguments):
    return json.loads(client.call(tool, arguments)["content"][0]["text"])


def ran_out(result, seconds):
    return not result["success"] and f"timed out after {seconds}s" in result["stderr"]


def add_secret(client, name, value, namespace="default"):
    client.request("cloister/vault/add", {"name": name, "namespace": namespace, "value": base64.b64encode(value.encode()).decode()})


def test_time_limits_of_sandboxmcp(bin):
    """The nearest one counts: of the call, the session, set_resource_limits, the operator; then 60 seconds."""
    with Cluster(bin) as cluster:
        client = client_of(cluster, "sandboxmcp")
        assert ran_out(ask(client, "execute_code", code=SLEEP, timeout_seconds=1), 1)
        assert ask(client, "create_session")["resource_limits"]["timeout_seconds"] == 60
        made = ask(client, "create_session", timeout_seconds=2)
        assert made["resource_limits"]["timeout_seconds"] == 2, made
        assert ran_out(ask(client, "execute_code", code=SLEEP, session_id=made["id"]), 2)
        assert ask(client, "execute_code", code=SLEEP, session_id=made["id"], timeout_seconds=9)["stdout"] == "slept\n"
        assert ask(client, "set_resource_limits", timeout_seconds=3)["timeout_seconds"] == 3
        assert ran_out(ask(client, "execute_code", code=SLEEP), 3)
        assert ask(client, "create_session")["resource_limits"]["timeout_seconds"] == 3


def test_time_limit_of_the_operator(bin):
    with Cluster(bin, env={"SANDBOXMCP_TIMEOUT": "2"}) as cluster:
        assert ran_out(ask(client_of(cluster, "sandboxmcp"), "execute_code", code=SLEEP), 2)
        ran = ask(client_of(cluster, "mcp-code-sandbox"), "sandbox_run_python", code=SLEEP)
        assert ran["exit_code"] == -1 and "timed out after 2s" in ran["stderr"], ran


def test_time_limits_have_caps(bin):
    with Cluster(bin, flags={"executor": ["--max-timeout=40"]}) as cluster:
        made = ask(client_of(cluster, "sandboxmcp"), "create_session")
        assert made["resource_limits"]["timeout_seconds"] == 40, "never over the operator's cap"
        refused = client_of(cluster, "python-sandbox").call("execute_code", {"code": "1", "timeout": 301})
        assert refused["isError"] and "greater than the maximum of 300" in str(refused), refused


def test_secrets_of_sandboxmcp(bin):
    """Each secret of the namespace is set and masked; inspect_state names them; another namespace has others."""
    with Cluster(bin) as cluster:
        client = client_of(cluster, "sandboxmcp")
        assert ask(client, "inspect_state")["vault_keys"] == []
        add_secret(client, "API_KEY", SECRET)
        add_secret(client, "TEAM_KEY", SECRET + "2", "team")
        show = {"python": "import os\nprint(os.environ.get('API_KEY'), os.environ.get('TEAM_KEY'), len(os.environ.get('API_KEY') or ''))",
                "node": "const e = process.env\nconsole.log(e.API_KEY, e.TEAM_KEY, (e.API_KEY || '').length)",
                "shell": "echo ${API_KEY:-None} ${TEAM_KEY:-None} ${#API_KEY}"}
        for language, code in show.items():
            ran = ask(client, "execute_code", code=code, language=language)
            assert ran["stdout"].split()[::2] == ["***REDACTED***", "17"], ran
            assert SECRET not in json.dumps(ran)
            team = ask(client, "execute_code", code=code, language=language, namespace="team")
            assert team["stdout"].split()[1:] == ["***REDACTED***", "0"], team
        assert ask(client, "inspect_state")["vault_keys"] == ["API_KEY"]
        assert ask(client, "inspect_state", namespace="team")["vault_keys"] == ["TEAM_KEY"]


def test_a_secret_that_cannot_be_masked_is_named(bin):
    with Cluster(bin, flags={"vault": ["--backends=env"]}, env={"SANDBOXMCP_SECRET_DEFAULT_SHORT": "1234567", "SANDBOXMCP_SECRET_DEFAULT_LONG": SECRET}) as cluster:
        ran = ask(client_of(cluster, "sandboxmcp"), "execute_code", code="import os\nprint(os.environ.get('SHORT'), len(os.environ.get('LONG', '')))")
        assert ran["stdout"] == "None 17\n" and "SHORT is not set" in ran["metadata"]["secrets"], ran


def test_without_a_vault_programs_run_and_say_so(bin):
    with Cluster(bin, flags={"executor": ["--connect-wait-ms=200"]}) as cluster:
        cluster.kill("vault")
        ran = ask(client_of(cluster, "sandboxmcp"), "execute_code", code="print(1)")
        assert ran["stdout"] == "1\n" and "none is set" in ran["metadata"]["secrets"], ran


def test_each_language_is_really_checked(bin):
    """Where sandboxmcp counts brackets, or calls anything valid."""
    with Cluster(bin) as cluster:
        client = client_of(cluster, "sandboxmcp")
        for language, good, bad in (("python", "x = 1", "x ="), ("node", "const x = 1", "const x = ;"), ("shell", "echo a", "if true; then"), ("shell", "echo a", 'echo "a')):
            assert ask(client, "validate_code", code=good, language=language)["verdict"] == "pass"
            found = ask(client, "validate_code", code=bad, language=language)
            assert not found["valid"] and found["verdict"] == "reject" and found["issues"][0]["line"] >= 1, found


def test_warnings_of_sandboxmcp(bin):
    with Cluster(bin) as cluster:
        found = ask(client_of(cluster, "sandboxmcp"), "validate_code", code="import os\nos.system('ls')\nwhile True: pass\nprint(nam)")
        assert found["valid"] and found["verdict"] == "pass", found
        assert {(one["severity"], one["line"]) for one in found["issues"]} >= {("warning", 2), ("warning", 3), ("warning", 0)}, found


SOURCES = {"data_science": "import numpy", "network": "import socket", "filesystem": "import pathlib", "none": "import os", "basic": "import json, math"}


def may_run(client):
    """The profiles whose source runs; a check must say the same."""
    runs = {name for name, code in SOURCES.items() if ask(client, "execute_code", code=code)["success"]}
    valid = {name for name, code in SOURCES.items() if ask(client, "validate_code", code=code)["validation"]["valid"]}
    told = ask(client, "get_sandbox_info")["security_capabilities"]
    assert runs == valid, (runs, valid)
    assert {name for name in ("data_science", "network", "filesystem") if told[name + "_enabled"]} == runs - {"basic", "none"}, (told, runs)
    return runs


def test_modules_of_python_sandbox(bin):
    """Those of the basic profile, and of each that its variable enables; a list of modules says all."""
    every = {"SANDBOX_ENABLE_DATA_SCIENCE": "true", "SANDBOX_ENABLE_NETWORK": "true", "SANDBOX_ENABLE_FILESYSTEM": "true"}
    for env, runs in (({}, {"basic"}), ({"SANDBOX_ENABLE_FILESYSTEM": "true"}, {"basic", "filesystem"}),
                      ({**every, "SANDBOX_ENABLE_NETWORK": "false"}, {"basic", "filesystem", "data_science"})):
        with Cluster(bin, env=env) as cluster:
            assert may_run(client_of(cluster, "python-sandbox")) == runs, env
            assert cluster.call("execute_code", {"code": "import os"})["structuredContent"]["success"], "core is as before"
    with Cluster(bin, env={"SANDBOX_ALLOWED_IMPORTS": "math,os"}) as cluster:
        client = client_of(cluster, "python-sandbox")
        for code, allowed in (("import os, math", True), ("import json", False)):
            assert ask(client, "execute_code", code=code)["success"] == allowed
            assert ask(client, "validate_code", code=code)["validation"]["valid"] == allowed
        assert ask(client, "execute_code", code="import math", allowed_imports=["math"])["success"]


def test_results_of_mcp_code_sandbox(bin):
    """As FastMCP writes them; a failed program is no refused call, and a killed one says by what in stderr."""
    with Cluster(bin) as cluster:
        client = client_of(cluster, "mcp-code-sandbox")
        listed = {tool["name"]: tool["outputSchema"] for tool in client.request("tools/list")["tools"]}
        fails = client.call("sandbox_run_python", {"code": "1/0"})["structuredContent"]["result"]
        assert "error" not in fails and fails["exit_code"] == 1 and "ZeroDivisionError" in fails["stderr"], fails
        keys = set(listed["sandbox_run_python"]["properties"]["result"]["anyOf"][0]["required"])
        assert listed["sandbox_run_python"]["x-fastmcp-wrap-result"] and keys <= set(fails) == keys, (keys, fails)
        hoards = ask(client, "sandbox_run_python", code="x = bytearray(2 << 30)")
        assert hoards["exit_code"] != 0 and "emory" in hoards["stderr"], hoards
        refused = client.call("sandbox_read_artifact", {"session_id": fails["session_id"], "path": "/etc/passwd"})["structuredContent"]["result"]
        assert refused["error"] == "invalid_path" and "/mnt/data" in refused["message"], refused


cases.run(sys.modules[__name__], sys.argv[1])
