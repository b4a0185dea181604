# SPDX-License-Identifier: Apache-2.0
"""Checks a running `docker compose up --scale executor=2`; tests/deploy/run starts it.

    checks.py ROOT URL TOKEN-FILE IMAGES
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT, URL, TOKEN_FILE, IMAGES = sys.argv[1:]
sys.path.insert(0, os.path.join(ROOT, "compose"))
import rows  # noqa: E402

with open(TOKEN_FILE, encoding="ascii") as token_file:
    TOKEN = token_file.read().strip()
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "deploy", "version": "1"}}
WAIT_S = 40


class Skipped(Exception):
    """What this machine lacks."""


def docker(*words, check=True):
    ran = subprocess.run(["docker", *words], capture_output=True, text=True, check=False)
    if check and ran.returncode != 0:
        raise RuntimeError(f"docker {' '.join(words)}: {ran.stderr[-500:]}")
    return ran.stdout + ran.stderr


def post(tool, token, **arguments):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments, "_meta": META}}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Method": "tools/call",
               "Mcp-Name": tool, "MCP-Protocol-Version": "2026-07-28", "Authorization": "Bearer " + token}
    if "session_id" in arguments:
        headers["Mcp-Param-Session-Id"] = arguments["session_id"]
    try:
        with urllib.request.urlopen(urllib.request.Request(URL, body, headers), timeout=60) as reply:
            return json.loads(next(line.removeprefix(b"data: ") for line in reply if line.startswith((b"{", b"data: {"))))
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{error}: {error.read(500).decode(errors='replace')}") from error


def call(tool, **arguments):
    result = post(tool, TOKEN, **arguments)["result"]
    if result.get("isError"):
        raise RuntimeError(f"{tool}: {result['content'][0]['text'][:300]}")
    return result["structuredContent"]


def containers(service):
    return sorted(docker("ps", "-aq", "--no-trunc", "--filter", "label=com.docker.compose.service=" + service).split())


def inspect(container):
    return json.loads(docker("inspect", container))[0]


def until(condition, what):
    """For what has no event to wait for: a container that restarts."""
    end = time.monotonic() + WAIT_S
    while True:
        try:
            if condition():
                return
            why = "not so"
        except (RuntimeError, OSError) as error:
            why = error
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {WAIT_S} s: {why}")
        time.sleep(0.1)


def kill(container):
    """As a crash: Docker does not restart what `docker kill` ended."""
    os.kill(inspect(container)["State"]["Pid"], signal.SIGKILL)


def instance_of(session):
    return session.removeprefix("sess_").rsplit("_", 1)[0]


# ---- the checks, in their order ----

def runs_with_every_layer():
    ran = call("execute_code", code="print(6 * 7)")
    assert ran["stdout"] == "42\n", ran
    missing = [layer for layer in ran["isolation"]["missing"] if not layer.startswith("landlock scopes:")]
    assert missing == [] and ran["isolation"]["limits_by"].startswith("cgroup"), ran["isolation"]


def demonstration_runs():
    subprocess.run([sys.executable, "-B", os.path.join(ROOT, "compose", "demo.py"), URL, TOKEN_FILE], check=True,
                   stdout=subprocess.DEVNULL)


def needs_the_token():
    try:
        post("execute_code", "cl_wrong", code="1")
    except RuntimeError as error:
        assert "401" in str(error), error
        return
    raise AssertionError("a wrong token was accepted")


def containers_have_no_privileges():
    for name in rows.PEERS:
        for one in containers(name):
            is_now = inspect(one)
            status = docker("exec", one, "/usr/libexec/cloister/cloister-" + name, "--version")
            assert status.strip(), name
            host = is_now["HostConfig"]
            assert host["ReadonlyRootfs"] and not host["Privileged"] and host["CapDrop"] == ["ALL"], name
            with open(f"/proc/{is_now['State']['Pid']}/status", encoding="ascii") as file:
                process = dict(line.split(":", 1) for line in file)
            # The executor itself has left root and its capabilities; its builder keeps what it needs.
            assert process["Uid"].split()[1] == str(rows.UIDS[name]), (name, process["Uid"])
            assert int(process["CapEff"], 16) == 0 and process["NoNewPrivs"].strip() == "1", (name, process)
            assert process["Seccomp"].strip() == "2", name


def images_are_small():
    assert int(docker("image", "inspect", "-f", "{{.Size}}", "cloister:" + os.environ["CLOISTER_VERSION"])) < 100e6
    with open(os.path.join(IMAGES, "cloister.spdx.json"), encoding="utf-8") as file:
        packages = {package["name"]: package["versionInfo"] for package in json.load(file)["packages"]}
    assert {"libc6", "libzmq5"} <= packages.keys() and "nodejs" not in packages, packages


def lost_executor_is_replaced():
    """One principal's sessions are on one executor while it is there."""
    hosts = {inspect(one)["Config"]["Hostname"]: one for one in containers("executor")}
    home = instance_of(new_session())
    assert len(hosts) == 2 and home in hosts, (home, hosts)
    before = inspect(hosts[home])["RestartCount"]
    kill(hosts[home])
    lost = 0
    for i in range(20):
        try:
            assert call("execute_code", code=f"print({i})")["stdout"] == f"{i}\n"
        except RuntimeError as error:
            # The one that was sent to it before its end was noticed.
            lost += 1
            assert lost == 1 and '"unavailable"' in str(error), error
    assert instance_of(new_session()) in hosts.keys()
    until(lambda: inspect(hosts[home])["RestartCount"] > before, "restart of the executor")
    until(lambda: instance_of(new_session()) == home, "sessions on the restarted executor")


def new_session():
    session = call("create_session")["session_id"]
    call("terminate_session", session_id=session)
    return session


def each_daemon_restarts():
    for name in rows.PEERS:
        one = containers(name)[0]
        before = inspect(one)["RestartCount"]
        kill(one)
        until(lambda: inspect(one)["RestartCount"] > before and inspect(one)["State"]["Running"], name + " restarts")
        until(lambda: call("execute_code", code="print(1)", profile="strict")["stdout"] == "1\n", "a call after the loss of " + name)


def is_refused_without_a_profile():
    """With Docker's own seccomp profile, which has no pivot_root, the executor must end and say why."""
    image = "cloister-executor:" + os.environ["CLOISTER_VERSION"]
    said = docker("run", "--rm", "--user", "0:0", "--cap-add", "SYS_ADMIN", "--tmpfs", "/run/cloister", image, rows.GUESTS[0],
                  "--own-cgroup", "--require-layers=all,-landlock_scopes", check=False)
    assert "require_layers" in said and '"ready"' not in said, said[-1000:]


def decode(manifests):
    ran = subprocess.run([os.environ["DECODER"]], input=manifests, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-500:]
    return int(ran.stdout.split()[-2])


def kubernetes_files_decode():
    """As an API server does: overlays put together by kubectl, each object by its type, without unknown fields."""
    if "DECODER" not in os.environ:
        raise Skipped("needs go and kubectl")
    for overlay in ("single", "ha"):
        made = subprocess.run(["kubectl", "kustomize", os.path.join(ROOT, "compose", "kubernetes", "overlays", overlay)], check=True,
                              capture_output=True, text=True).stdout
        assert decode(made) >= 3 * len(rows.PEERS), overlay
    made = subprocess.run([os.path.join(ROOT, "compose", "manifests"), "--secrets", os.path.dirname(TOKEN_FILE)], check=True,
                          capture_output=True, text=True).stdout
    assert decode(made) == len(rows.PEERS) + 1


def runs_on_volumes_of_kubernetes():
    """A claim belongs to root and the pod's group; a Secret has links to files that the group can read."""
    with tempfile.TemporaryDirectory() as directory:
        for name in rows.PEERS:
            if name not in rows.GUESTS and rows.PEERS[name]["life"] == "RESIDENT":
                run_with_group(name, os.path.join(directory, name))


def run_with_group(name, directory):
    uid, keys = rows.UIDS[name], os.path.join(os.path.dirname(TOKEN_FILE), "keys")
    for part in ("state", "run", "keys/..data"):
        os.makedirs(os.path.join(directory, part))
        os.chown(os.path.join(directory, part), 0, uid)
        os.chmod(os.path.join(directory, part), 0o2777)
    for file in [name + ".key"] + [near + ".pub" for near in rows.servers_of(name) + rows.clients_of(name)]:
        copy = shutil.copy(os.path.join(keys, file), os.path.join(directory, "keys/..data"))
        os.chown(copy, 0, uid)
        os.chmod(copy, 0o440)
        os.symlink("..data/" + file, os.path.join(directory, "keys", file))
    flags = [f"--connect-{server}=tcp://127.0.0.1:9" for server in rows.servers_of(name)]
    one = docker("run", "-d", "--read-only", "--cap-drop", "ALL", "--user", f"{uid}:{uid}", "--security-opt", "no-new-privileges",
                 "-e", "CLOISTER_KEYS=/run/keys", "-e", "CLOISTER_METRICS=/run/cloister/", "-v", directory + "/state:/var/lib/cloister",
                 "-v", directory + "/run:/run/cloister", "-v", directory + "/keys:/run/keys:ro", "--tmpfs", "/tmp",
                 "cloister:" + os.environ["CLOISTER_VERSION"], name, f"--listen=tcp://0.0.0.0:{rows.PORT}", *flags).strip()
    try:
        until(lambda: '"ready"' in docker("logs", one), name + " on such volumes")
        docker("exec", one, "/usr/libexec/cloister/cloister-" + name, "--healthy")
    finally:
        docker("rm", "-f", one)


CHECKS = [runs_with_every_layer, demonstration_runs, needs_the_token, containers_have_no_privileges, images_are_small,
          is_refused_without_a_profile, kubernetes_files_decode, runs_on_volumes_of_kubernetes, lost_executor_is_replaced, each_daemon_restarts]


def main():
    failed = skipped = 0
    for check in CHECKS:
        began = time.monotonic()
        try:
            check()
            print(f"ok {check.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
        except Skipped as why:
            skipped += 1
            print(f"skipped {check.__name__}: {why}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {check.__name__}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(CHECKS) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
