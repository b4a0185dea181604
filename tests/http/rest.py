#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The REST API of sandboxmcp: each route of rest.def, what it refuses, and the credentials.  rest.py BIN"""

import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import Cluster  # noqa: E402
from gateway import Gateway  # noqa: E402

FLAGS = ("--rest=true", "--toolsets=sandboxmcp")
SESSION = {"id", "language", "backend", "status", "created_at", "last_activity", "resource_limits", "namespace", "env_vars", "metadata"}
RESULT = {"request_id", "success", "exit_code", "stdout", "stderr", "duration_ms", "language", "artifacts", "resource_usage",
          "namespace", "metadata"}


class World:
    """A gateway with daemons, and keys of two principals; only the first may use the vault."""

    def __init__(self, bin):
        self.bin, self.cluster, self.used = os.path.abspath(bin), Cluster(bin).start(), set()
        self.keys = [subprocess.run([os.path.join(self.bin, "cloister"), "token", "add", name, *scopes, "--state=" + self.cluster.state],
                                    check=True, capture_output=True, text=True).stdout.strip()
                     for name, scopes in (("one", ["--scopes=run,read,monitor,vault"]), ("two", []))]
        self.gateway = Gateway(self.bin, FLAGS, self.cluster, anonymous=False).__enter__()

    def close(self):
        self.gateway.__exit__(None, None, None)
        self.cluster.stop()

    def ask(self, method, path, body=None, key=0, **headers):
        sent = {"X-API-Key": self.keys[key], **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body is not None:
            sent["Content-Type"] = "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        reply = self.gateway.ask(method, path, body, {name: value for name, value in sent.items() if value is not None})
        assert reply.headers["Content-Type"] == "application/json", reply
        return reply

    def good(self, method, path, body=None, route=None, **more):
        reply = self.ask(method, path, body, **more)
        assert reply.status == 200, reply
        self.used.add(f"{method} {route or path.partition('?')[0]}")
        return reply.json

    def bad(self, status, text, *request, **more):
        reply = self.ask(*request, **more)
        assert reply.status == status and text in reply.json["detail"], reply
        return reply


def test_health_needs_no_key(world):
    health = world.good("GET", "/health", X_API_Key=None, X_Tenant_Id="t1")
    assert health["status"] == "ok" and health["namespace"] == "t1", health


def test_code(world):
    assert world.good("POST", "/validate", {"code": "1 +"})["verdict"] == "reject"
    assert world.good("POST", "/validate", {"code": "x = 1"})["verdict"] == "pass"
    done = world.good("POST", "/execute", {"code": "print(2 + 2)"}, X_Tenant_Id="t1")
    assert RESULT <= set(done) and done["stdout"] == "4\n" and done["success"] and done["namespace"] == "t1", done
    failed = world.good("POST", "/execute", {"code": "exit(3)", "language": "shell"})
    assert not failed["success"] and failed["exit_code"] != 0, failed
    long = world.good("POST", "/execute", {"code": "print('x' * 9000)"})
    assert len(long["stdout"]) == 9001, long
    world.bad(422, "no requirement", "POST", "/install", {"packages": ["no requirement"], "language": "python"})
    world.used.add("POST /install")  # its success needs an index: e2e/packages.py


def described_routes(world):
    shown = subprocess.run([os.path.join(world.bin, "cloister-gateway"), "--describe"], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^\| `([A-Z]+ /\S*)`", shown, re.M))


def settled(world, job, **more):
    for _ in range(200):
        told = world.good("GET", f"/execute/{job}/status", route="/execute/{job_id}/status", **more)
        assert set(told) == {"job_id", "status", "result"} and told["job_id"] == job, told
        if told["status"] != "running":
            return told
        assert told["result"] is None, told
        time.sleep(0.05)
    raise AssertionError(told)


def test_jobs(world):
    begun = world.good("POST", "/execute/async", {"code": "import time\ntime.sleep(1)\nprint(40 + 2)"})
    assert set(begun) == {"job_id", "status"} and begun["status"] == "queued", begun
    job = begun["job_id"]
    listed = world.good("GET", "/jobs")
    assert listed == {"jobs": [{"job_id": job, "status": "running"}], "total": 1, "running": 1, "queued": 0}, listed
    done = settled(world, job)
    assert done["status"] == "completed" and RESULT <= set(done["result"]) and done["result"]["stdout"] == "42\n", done
    failed = world.good("POST", "/execute/async", {"code": "1/0"})["job_id"]
    told = settled(world, failed)
    assert told["status"] == "completed" and not told["result"]["success"] and "ZeroDivisionError" in told["result"]["stderr"], told
    assert world.good("GET", "/jobs")["jobs"] == [{"job_id": job, "status": "completed"}, {"job_id": failed, "status": "completed"}]
    for foreign in {"key": 1}, {"X_Tenant_Id": "other"}:
        world.bad(404, "none of that id", "GET", f"/execute/{job}/status", **foreign)
        assert world.good("GET", "/jobs", **foreign)["total"] == 0
    world.bad(404, "none of that id", "GET", "/execute/nosuch/status")
    world.bad(404, "Not Found", "GET", f"/execute/{job}/x/status")
    world.bad(401, "", "GET", "/jobs", X_API_Key=None)


def test_a_job_that_is_refused(world):
    before = world.good("GET", "/jobs")["total"]
    world.bad(422, "code", "POST", "/execute/async", {"language": "python"})
    assert world.good("GET", "/jobs")["total"] == before
    absent = world.good("POST", "/execute/async", {"code": "1", "session_id": "sess_nosuch"})["job_id"]
    told = settled(world, absent)
    assert told["status"] == "failed" and told["result"]["error"], told


def test_jobs_are_bounded(world):
    first = world.good("POST", "/execute/async", {"code": "print(0)"})["job_id"]
    settled(world, first)
    for _ in range(110):
        last = world.good("POST", "/execute/async", {"code": "print('x' * 1000)"})["job_id"]
        settled(world, last)
    assert world.good("GET", "/jobs")["total"] == 100
    world.bad(404, "none of that id", "GET", f"/execute/{first}/status")


def test_description(world):
    document = world.good("GET", "/openapi.json", X_API_Key=None)
    assert document["openapi"].startswith("3.1"), document
    told = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert told == described_routes(world), told
    ids = [one["operationId"] for methods in document["paths"].values() for one in methods.values()]
    assert len(set(ids)) == len(ids), ids
    run = document["paths"]["/execute"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert "code" in run["required"] and {"language", "timeout_seconds", "allowed_domains"} <= set(run["properties"]), run
    status = document["paths"]["/execute/{job_id}/status"]["get"]["parameters"]
    assert {"job_id", "X-Tenant-Id"} == {one["name"] for one in status}, status
    assert document["paths"]["/health"]["get"]["security"] == [], document["paths"]["/health"]


def test_sessions(world):
    made = world.good("POST", "/sessions", {"language": "python"})
    assert SESSION <= set(made), made
    listed = world.good("GET", "/sessions")
    assert made["id"] in [one["id"] for one in listed["sessions"]] and listed["total"] == len(listed["sessions"]), listed
    assert world.good("GET", "/sessions", key=1) == {"sessions": [], "total": 0}
    unknown = world.bad(404, "", "DELETE", "/sessions/" + made["id"], key=1)
    assert unknown.json["code"] == "not_found" and unknown.json["hint"], unknown
    assert world.good("DELETE", "/sessions/" + made["id"], route="/sessions/{session_id}")["killed"] == made["id"]
    assert {"python"} <= {one["language"] for one in world.good("GET", "/runtimes")["runtimes"]}
    stats = world.good("GET", "/stats")
    assert stats["queue"]["total_processed"] >= 0 and isinstance(stats["sessions"], int), stats


def test_tenants_have_sessions_of_their_own(world):
    made = world.good("POST", "/sessions", {}, X_Tenant_Id="acme")
    assert made["namespace"] == "acme", made
    world.good("POST", "/execute", {"code": "s = 'secret of acme'", "session_id": made["id"]}, X_Tenant_Id="acme")
    for other in {"X_Tenant_Id": "other"}, {"X_Tenant_Id": "default"}, {}:
        assert made["id"] not in str(world.good("GET", "/sessions", **other))
        stolen = world.bad(404, "no session", "POST", "/execute", {"code": "print(s)", "session_id": made["id"]}, **other)
        assert "secret of acme" not in str(stolen.json)
        world.bad(404, "no session", "DELETE", "/sessions/" + made["id"], **other)
        world.bad(404, "no session", "POST", "/install", {"packages": ["six"], "language": "python", "session_id": made["id"]}, **other)
        assert made["id"] not in str(world.good("GET", "/audit", **other))
    listed = world.good("GET", "/sessions", X_Tenant_Id="acme")["sessions"]
    assert [(one["id"], one["namespace"]) for one in listed] == [(made["id"], "acme")], listed
    assert world.good("POST", "/execute", {"code": "print(s)", "session_id": made["id"]}, X_Tenant_Id="acme")["stdout"] == "secret of acme\n"
    assert "tenant" not in str(world.good("GET", "/stats"))
    world.good("DELETE", "/sessions/" + made["id"], route="/sessions/{session_id}", X_Tenant_Id="acme")


def test_vault(world):
    assert world.good("POST", "/vault", {"key": "API_KEY", "value": "s3cret-value"}) == {"added": "API_KEY"}
    assert world.good("POST", "/vault", {"key": "OTHER", "value": "other-value"}, X_Tenant_Id="t1") == {"added": "OTHER"}
    assert world.good("GET", "/vault") == {"keys": ["API_KEY"], "total": 1}
    used = world.good("POST", "/execute", {"code": "import os\nprint(len(os.environ['API_KEY']))", "env_secrets": ["API_KEY"]})
    assert used["stdout"] == "12\n", used
    assert world.good("DELETE", "/vault/API_KEY", route="/vault/{name}") == {"deleted": "API_KEY"}
    assert world.good("GET", "/vault") == {"keys": [], "total": 0}
    world.bad(422, "key and value", "POST", "/vault", {"key": "X"})
    world.bad(403, "cloister:vault", "GET", "/vault", key=1)


def test_audit(world):
    world.good("POST", "/execute", {"code": "1"})
    page = world.good("GET", "/audit?limit=2")
    assert page["total"] == len(page["entries"]) == 2 and {"id", "timestamp", "action", "success"} <= set(page["entries"][0]), page
    runs = world.good("GET", "/audit?action=create_session")
    assert {one["action"] for one in runs["entries"]} == {"create_session"}, runs
    for limit in ("0", "501", "many", "1x"):
        world.bad(422, "limit", "GET", "/audit?limit=" + limit)


def test_refusals(world):
    assert "GET" in world.bad(405, "Method Not Allowed", "DELETE", "/runtimes").headers["Allow"]
    world.bad(405, "Method Not Allowed", "GET", "/sessions/x")
    for path in ("/nothing", "/sessions/", "/sessions/x/y", "/vault/x/y"):
        world.bad(404, "Not Found", "DELETE", path)
    world.bad(400, "", "POST", "/execute", b"{")
    world.bad(400, "", "POST", "/execute", b"")
    for body in ([1], "text", None):
        world.bad(422, "must be a JSON object", "POST", "/execute", json.dumps(body).encode())
    world.bad(422, "'code' is a required property", "POST", "/execute", {})
    world.bad(422, "code", "POST", "/execute", {"code": 1})
    world.bad(422, "ruby", "POST", "/execute", {"code": "1", "language": "ruby"})
    world.bad(401, "", "GET", "/stats", X_API_Key=None)
    world.bad(401, "", "GET", "/stats", X_API_Key="wrong")
    world.bad(403, "Origin", "GET", "/stats", Origin="http://evil.example")
    assert world.gateway.ask("POST", "/execute", b"{}", {"X-API-Key": world.keys[0], "Content-Type": "text/plain"}).status == 415
    # The key of the REST API is no credential of /mcp.
    assert world.gateway.ask("GET", "/metrics", None, {"X-API-Key": world.keys[0]}).status == 401


def test_every_route_was_used(world):
    routes = described_routes(world)
    assert routes == world.used, routes ^ world.used


def test_off_by_default(world):
    with Gateway(world.bin, FLAGS[1:]) as gateway:
        assert gateway.ask("GET", "/health").status == 404
    for flags in (["--rest=true"], [*FLAGS, "--transport=stdio"]):
        run = subprocess.run([os.path.join(world.bin, "cloister-gateway"), "--transport=http", *flags], stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=20, check=False)
        assert run.returncode != 0 and "toolsets=sandboxmcp" in run.stderr, run


def main():
    world = World(sys.argv[1])
    try:
        cases.run(sys.modules[__name__], world)
    finally:
        world.close()


main()
