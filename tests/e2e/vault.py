#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The vault: its commands, what is at rest, its backends, and its death at any moment.

    vault.py BIN
"""

import base64
import glob
import json
import os
import shutil
import signal
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from commands import Command  # noqa: E402
import daemons  # noqa: E402

VALUE = "sk-0123456789-abcdef"
SHOW = "import os\nprint(len(os.environ['KEY']), os.environ['KEY'])"
SHOWN = f"{len(VALUE)} ***REDACTED***\n"


def add(client, name, value, **more):
    return client.request("cloister/vault/add", {"name": name, "value": base64.b64encode(value.encode()).decode(), **more})


def show(cluster, **more):
    result = cluster.call("execute_code", {"code": SHOW, "env_secrets": ["KEY"], **more})
    return result["structuredContent"]["stdout"] if not result["isError"] else result["content"][0]["text"]


def everything(directory):
    """All bytes of all files below the directory."""
    data = b""
    for path in glob.glob(os.path.join(directory, "**"), recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                data += file.read()
    return data


def test_the_commands_of_sandboxmcp(bin):
    cloister = Command(bin)
    try:
        added = cloister("vault", "add", "MY_KEY", "my_value", "--namespace", "prod")
        assert added.returncode == 0 and b"warning" in added.stderr and b"my_value" not in added.stdout + added.stderr, added
        assert cloister("vault", "add", "OTHER", input=b"another one\n").returncode == 0
        listed = cloister("vault", "list", "--namespace", "prod")
        assert listed.returncode == 0 and b"MY_KEY" in listed.stdout and b"OTHER" not in listed.stdout, listed
        assert b"my_value" not in listed.stdout, listed
        names = json.loads(cloister("vault", "list", "--json").stdout)["secrets"]
        assert [(one["namespace"], one["name"]) for one in names] == [("default", "OTHER"), ("prod", "MY_KEY")], names
        ran = cloister("call", "execute_code", json.dumps({"code": "echo $MY_KEY", "language": "shell", "namespace": "prod",
                                                           "env_secrets": ["MY_KEY"]}))
        assert b"***REDACTED***" in ran.stdout and b"my_value" not in ran.stdout, ran
        assert cloister("vault", "rotate", "MISSING", input=b"a longer value").returncode == 1
        assert cloister("vault", "rotate", "OTHER", input=b"a longer value").returncode == 0
        assert cloister("vault", "rekey").returncode == 0
        short = cloister("vault", "add", "SHORT", input=b"1234567\n")
        assert short.returncode == 1 and b"at least 8" in short.stderr, short
        gone = cloister("vault", "delete", "MY_KEY", "--namespace", "prod")
        assert gone.returncode == 0 and b"MY_KEY" not in cloister("vault", "list").stdout, gone
        assert cloister("vault", "delete", "MY_KEY", "--namespace", "prod").returncode == 1
        assert cloister("vault", "add").returncode == 2
    finally:
        cloister.close()


def test_no_value_passes_a_gateway(bin):
    """There is none, and the command works."""
    with tempfile.TemporaryDirectory() as directory:
        copy = os.path.join(directory, "bin")
        shutil.copytree(bin, copy, ignore=shutil.ignore_patterns("cloister-gateway"))
        os.chmod(directory, 0o755)
        cloister = Command(copy)
        try:
            assert cloister("stats").returncode == 125, "this needs a gateway"
            assert cloister("vault", "add", "KEY", input=VALUE.encode()).returncode == 0
            assert b"KEY" in cloister("vault", "list").stdout
        finally:
            cloister.close()


def test_nothing_at_rest_shows_a_value(bin):
    with daemons.Cluster(bin) as cluster:
        client = cluster.client()
        add(client, "KEY", VALUE)
        assert show(cluster) == SHOWN
        cluster.restart("vault")
        assert show(cluster) == SHOWN
        client.request("cloister/vault/rekey")
        cluster.restart("vault")
        assert show(cluster) == SHOWN
        data = everything(cluster.directory)
        for form in VALUE.encode(), base64.b64encode(VALUE.encode()), VALUE.encode().hex().encode():
            assert form not in data, form
        state = os.path.join(cluster.state, "vault")
        assert {os.stat(os.path.join(state, name)).st_mode & 0o777 for name in ("vault.key", "vault.sealed")} == {0o600}


def test_a_changed_file_is_refused(bin):
    with daemons.Cluster(bin, flags={"executor": ["--connect-wait-ms=200"]}) as cluster:
        add(cluster.client(), "KEY", VALUE)
        cluster.kill("vault")
        path = os.path.join(cluster.state, "vault", "vault.sealed")
        with open(path, "r+b") as file:
            data = bytearray(file.read())
            data[len(data) // 2] ^= 1
            file.seek(0)
            file.write(data)
        try:
            cluster.restart("vault")
        except RuntimeError:
            pass  # it can end before or after it listens
        assert cluster.processes.pop("vault").wait(10) == 1
        assert "sealed with another key, or changed" in cluster.log("vault")
        assert "unavailable" in show(cluster), "a run without a vault"


def assert_nobody_else_has_it(cluster):
    """Also not their children: the builder and what waits in boxes."""
    found = [entry for entry in os.listdir("/proc") if entry.isdigit()]
    ours = []
    for pid in found:
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                name = file.read()
            if cluster.directory.encode() not in name:
                continue
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
        except OSError:
            continue
        ours.append(name)
        assert VALUE.encode() not in environment, name
    assert len(ours) >= len(cluster.processes) or os.geteuid() != 0, ours


def environment_of(pid):
    """As root sees it; for the daemon's own user the kernel refuses, as the daemon is not dumpable."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except PermissionError:
        assert os.geteuid() != 0
        return b"SANDBOXMCP_SECRET_DEFAULT_KEY="


def test_values_of_the_operator(bin):
    with tempfile.TemporaryDirectory(prefix="cloister-vault-") as directory:
        os.chmod(directory, 0o755)
        os.mkdir(os.path.join(directory, "prod"), 0o755)
        for name, text in (("prod/KEY", VALUE + "\n"), ("FILE", VALUE)):
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.symlink("/etc/passwd", os.path.join(directory, "OUT"))
        flags = {"vault": ["--backends=memory,env,directory", "--directory=" + directory]}
        with daemons.Cluster(bin, env={"SANDBOXMCP_SECRET_DEFAULT_KEY": VALUE}, flags=flags) as cluster:
            assert show(cluster) == SHOWN and show(cluster, namespace="prod") == SHOWN
            environment = environment_of(cluster.pid("vault"))
            assert b"SANDBOXMCP_SECRET_DEFAULT_KEY" in environment and VALUE.encode() not in environment
            assert_nobody_else_has_it(cluster)
            client = cluster.client()
            listed = client.request("cloister/vault/list")["secrets"]
            assert {(one["name"], one["source"]) for one in listed} >= {("KEY", "env"), ("FILE", "directory")}, listed
            refused = cluster.call("execute_code", {"code": "1", "env_secrets": ["OUT"]})
            assert refused["isError"] and "root:" not in refused["content"][0]["text"], refused
            add(client, "KEY", "of the client")
            assert show(cluster) == "13 ***REDACTED***\n", "the first backend that has it"
            cluster.restart("vault")
            assert show(cluster) == SHOWN, "memory is lost"
    flags["vault"] = ["--backends=env", "--operators=token:ci,nobody*"]
    with daemons.Cluster(bin, env={"SANDBOXMCP_SECRET_DEFAULT_KEY": VALUE}, flags=flags) as cluster:
        assert "secret_not_found" in show(cluster), "the local user is no operator"


def test_memory_is_locked_and_not_dumpable(bin):
    with daemons.Cluster(bin) as cluster:
        proc = f"/proc/{cluster.pid('vault')}"
        with open(proc + "/limits", encoding="ascii") as file:
            assert any(line.split()[:5] == ["Max", "core", "file", "size", "0"] for line in file)
        assert os.stat(proc + "/environ").st_uid == 0 or os.getuid() != 0, "it is dumpable"
        with open(proc + "/status", encoding="ascii") as file:
            status = dict(line.split(":\t", 1) for line in file if ":\t" in line)
        assert int(status["CapEff"], 16) == 0
        if '"seccomp":"in force"' in cluster.log("vault"):  # a sanitizer ignores mlock(2)
            assert status["VmLck"].split()[0] != "0", status["VmLck"]


def test_killed_at_any_moment(bin):
    with daemons.Cluster(bin) as cluster:
        client, acknowledged = cluster.client(), set()

        def work():
            for i in range(60):
                try:
                    add(client, f"KEY{i}", f"{VALUE}-{i}")
                    acknowledged.add(f"KEY{i}")
                    if i % 9 == 8:
                        client.request("cloister/vault/rekey")
                except daemons.RpcError:
                    pass

        worker = threading.Thread(target=work)
        worker.start()
        for _ in range(4):
            worker.join(0.15)
            cluster.kill("vault", signal.SIGKILL)
            cluster.restart("vault")
        worker.join()
        names = {one["name"] for one in client.request("cloister/vault/list")["secrets"]}
        assert len(acknowledged) > 5 and acknowledged <= names, acknowledged - names
        last = sorted(acknowledged)[-1]
        ran = cluster.call("execute_code", {"code": f"import os\nlen(os.environ['{last}'])", "env_secrets": [last]})
        assert ran["structuredContent"]["result"] == len(f"{VALUE}-{last[3:]}"), ran


cases.run(sys.modules[__name__], sys.argv[1])
