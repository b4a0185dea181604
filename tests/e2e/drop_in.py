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


cases.run(sys.modules[__name__], sys.argv[1])
