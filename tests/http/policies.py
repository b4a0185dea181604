#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Policies of the operator: what principals and namespaces may use, over HTTP, while the daemons run.  policies.py BIN"""

import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import Cluster  # noqa: E402
from gateway import Gateway, call, modern  # noqa: E402

POLICIES = """\
ci:
  for: {principal: "token:ci"}
  tools: [execute_code, create_session, terminate_session, list_runtimes, set_resource_limits, "sandbox_*"]
  languages: [python, shell]
  profiles: [strict, basic]
  environments: []
  domains: ["*.example.com"]
  secrets: ["CI_*"]
  sessions: 2
  concurrent: 1
  waiting: 1
  timeout_seconds: 5
  memory_mb: 128
  processes: 50
  output_bytes: 1000
guests:
  for: {namespace: guests}
  tools: []
quick:
  for: {principal: "token:quick"}
  calls_per_minute: 60
busy:
  for: {principal: "token:busy"}
  cpu_seconds_per_day: 1
"""


class World:
    def __init__(self, bin):
        self.cluster = Cluster(bin)
        self.path = os.path.join(self.cluster.state, "policies", "policies.yaml")

    def command(self, *words, status=0):
        done = subprocess.run([os.path.join(self.cluster.bin, "cloister"), *words, f"--state={self.cluster.state}", f"--run={self.cluster.run}"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == status, (words, done)
        return done.stdout + done.stderr

    def write(self, text):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path + ".new", 0o644)
        os.rename(self.path + ".new", self.path)

    def person(self, name, *flags):
        done = subprocess.run([os.path.join(self.cluster.bin, "cloister"), "token", "add", name, f"--state={self.cluster.state}", *flags],
                              check=True, capture_output=True, text=True)
        return Person(self.gateway, done.stdout.strip())


class Person:
    def __init__(self, gateway, token):
        self.gateway, self.bearer = gateway, {"Authorization": "Bearer " + token}

    def tools(self):
        return {tool["name"] for tool in self.gateway.post(modern("tools/list"), self.bearer).json["result"]["tools"]}

    def result(self, tool, **arguments):
        mirrored = {"Mcp-Param-" + name.title().replace("_", "-"): arguments[name] for name in ("language", "session_id") if name in arguments}
        return self.gateway.post(call(tool, arguments), {**self.bearer, **mirrored}).json["result"]

    def call(self, tool, **arguments):
        result = self.result(tool, **arguments)
        assert not result["isError"], result
        return result["structuredContent"]

    # The text of the refusal, which names the policy.
    def refused(self, tool, **arguments):
        result = self.result(tool, **arguments)
        assert result["isError"], result
        return result["content"][0]["text"]


def test_tools(world, ci, free):
    assert "execute_code" in ci.tools() and "sandbox_list_artifacts" in ci.tools() and "validate_code" not in ci.tools()
    assert "validate_code" in free.tools()
    assert "'validate_code' is not allowed by policy ci, which allows execute_code" in ci.refused("validate_code", code="1")
    assert free.call("validate_code", code="1")["validation"]["valid"]
    guest = world.person("guest", "--namespace=guests")
    time.sleep(1.1)
    assert guest.tools() == set() and "which allows none" in guest.refused("list_runtimes")


def test_languages_and_profiles(ci, free):
    assert ci.call("execute_code", code="print(1)")["stdout"] == "1\n"
    assert "'node' is not allowed by policy ci, which allows python, shell" in ci.refused("execute_code", code="1", language="node")
    assert "'typescript' is not allowed" in ci.refused("execute_code", code="1", language="typescript")
    assert "'node' is not allowed" in ci.refused("create_session", language="node")
    assert free.call("execute_code", code="console.log(1)", language="node")["stdout"] == "1\n"
    # The first profile is the default.
    result = ci.result("execute_code", code="import os")
    assert result["isError"] or not result["structuredContent"]["success"], result
    assert "policy_violation" in str(result), result
    for profile in "open", "basic,network":
        assert "profile: '" in ci.refused("execute_code", code="1", profile=profile)
    assert ci.call("execute_code", code="import json", profile="basic")["success"]
    session = ci.call("create_session")["session_id"]
    assert "policy_violation" in str(ci.result("execute_code", code="import os", session_id=session))
    ci.call("terminate_session", session_id=session)


def test_names(ci):
    assert "env_secrets: 'OTHER' is not allowed by policy ci, which allows CI_*" in ci.refused("execute_code", code="1", env_secrets=["OTHER"])
    assert "policy ci" not in ci.refused("execute_code", code="1", env_secrets=["CI_KEY"]), "it is not stored, which is something else"
    assert "environment: 'data' is not allowed" in ci.refused("execute_code", code="1", environment="data") \
        or "environment" in ci.refused("execute_code", code="1", environment="data")


def test_limits(ci, free):
    assert "timeout: 6 is over the limit of policy ci, 5" in ci.refused("execute_code", code="1", timeout=6)
    assert ci.call("execute_code", code="print(1)", timeout=5)["success"]
    limits = ci.call("set_resource_limits", resource_limits={"max_processes": 40})
    assert limits["max_processes"] == 40 and limits["max_ram_mb"] == 128 and limits["timeout_seconds"] == 5, limits
    assert "processes: 60 is over the limit of policy ci, 50" in ci.refused("set_resource_limits", resource_limits={"max_processes": 60})
    assert "memory: 200 is over" in ci.refused("create_session", resource_limits={"max_ram_mb": 200})
    assert len(ci.call("execute_code", code="print('x' * 5000)")["stdout"]) < 1300
    assert len(free.call("execute_code", code="print('x' * 5000)")["stdout"]) == 5001
    assert "its limit of 134217728 bytes" in ci.refused("execute_code", code="x = bytearray(200 << 20)\nprint(len(x))")


def test_sessions(ci, free):
    mine = [ci.call("create_session")["session_id"] for _ in range(2)]
    assert "you have 2 sessions, the limit is 2" in ci.refused("create_session")
    others = [free.call("create_session")["session_id"] for _ in range(3)]
    for session in mine:
        ci.call("terminate_session", session_id=session)
    for session in others:
        free.call("terminate_session", session_id=session)


def test_share_of_the_queue(ci):
    """One runs, one waits, the third is refused."""
    results, code = [], "import time\ntime.sleep(1.5)"
    threads = [threading.Thread(target=lambda: results.append(ci.result("execute_code", code=code, profile="basic"))) for _ in range(3)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
        time.sleep(0.2)
    for thread in threads:
        thread.join()
    refused = [result for result in results if result["isError"]]
    assert len(refused) == 1 and "your share of the queue is full (limit 1)" in refused[0]["content"][0]["text"], results
    assert time.monotonic() - began >= 2.9


def test_calls_a_minute(world):
    quick = world.person("quick")
    time.sleep(1.1)
    results = [quick.result("list_runtimes") for _ in range(14)]
    refused = [result for result in results if result["isError"]]
    assert 1 <= len(refused) <= 4 and not results[0]["isError"], [result["isError"] for result in results]
    text = refused[0]["content"][0]["text"]
    assert "rate_limited" in text and "policy quick allows 60 calls a minute" in text, text
    time.sleep(1.1)
    assert not quick.result("list_runtimes")["isError"]


def test_processor_seconds_a_day(world):
    """Also of runs that were cancelled by their limit; the number outlives the executor."""
    busy = world.person("busy")
    time.sleep(1.1)
    assert busy.call("execute_code", code="print(1)")["success"]
    for _ in range(4):  # this machine may give it less than a processor
        busy.result("execute_code", code="while True: pass", timeout=1.5)
    refused = busy.result("execute_code", code="print(1)")
    assert refused["isError"] and "policy busy allows 1 processor seconds a day, which are used up" in refused["content"][0]["text"], refused
    assert "retry_ms" in refused["content"][0]["text"] and not busy.result("list_runtimes")["isError"]
    time.sleep(5.5)
    world.cluster.kill("executor")
    world.cluster.restart("executor")
    until = time.monotonic() + 20
    while "used up" not in (text := str(busy.result("execute_code", code="print(1)"))) and time.monotonic() < until:
        time.sleep(0.2)
    assert "used up" in text, text


def test_a_change_is_seen(world, ci):
    """A wrong file changes nothing; one that is gone takes its policies along."""
    world.write(POLICIES.replace("[python, shell]", "[python, shell, node]"))
    time.sleep(1.2)
    assert ci.result("execute_code", code="1", language="node", profile="strict")["isError"] is False
    world.write(POLICIES + "wrong: {for: {principal: x}, tolls: []}\n")
    assert "unknown 'tolls'" in world.command("policy", "check", status=1)
    time.sleep(1.2)
    assert ci.result("execute_code", code="1", language="node", profile="strict")["isError"] is False
    assert "validate_code" not in ci.tools()
    assert "policies unchanged" in world.gateway.log() and "unknown 'tolls'" in world.cluster.log("executor")
    os.unlink(world.path)
    time.sleep(1.2)
    assert "validate_code" in ci.tools() and ci.call("execute_code", code="print('x' * 5000)")["success"]
    world.write(POLICIES)
    time.sleep(1.2)
    assert "validate_code" not in ci.tools()


def test_the_command(world):
    assert world.command("policy", "check") == "4 policies\n"
    shown = world.command("policy", "show")
    assert shown.startswith("ci, for token:ci\n  tools: execute_code, ") and "  sessions: 2\n" in shown and "guests, for  in namespace guests" in shown
    assert world.command("policy", "explain", "token:ci", "execute_code").endswith("execute_code may be called, if a scope of the credentials has it\n")
    assert "not allowed by policy ci" in world.command("policy", "explain", "token:ci", "validate_code", status=1)
    assert "which allows none" in world.command("policy", "explain", "token:ann", "execute_code", "--namespace", "guests", status=1)
    assert "no policy is for this caller" in world.command("policy", "explain", "token:ann")
    assert "PRINCIPAL required" in world.command("policy", "explain", status=2)
    assert "No such file" in world.command("policy", "check", "/no/such", status=1)


def main():
    world = World(sys.argv[1])
    world.write(POLICIES)
    with world.cluster:
        with Gateway(world.cluster.bin, ["--toolsets=all", f"--credentials={world.cluster.state}/credentials"], world.cluster, anonymous=False) as world.gateway:
            people = {name: world.person(name) for name in ("ci", "free")}
            time.sleep(1.2)
            counts = cases.play(sys.modules[__name__], named={"world": world, **people})
    cases.end(counts)


main()
