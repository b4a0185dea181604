#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a monitoring system sees of real daemons: /metrics, /healthz, /readyz and --healthy of each.

    monitoring.py BIN
"""

import json
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import openmetrics  # noqa: E402
import peers  # noqa: E402


ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = ROOT / "compose" / "monitoring"


class Watched(daemons.Cluster):
    """Daemons that serve their metrics in a directory."""

    def __init__(self, bin, user=None):
        super().__init__(bin, user=user)
        self.env["CLOISTER_METRICS"] = os.path.join(self.run, "metrics") + "/"

    def socket(self, name):
        return self.env["CLOISTER_METRICS"] + name + ".sock"

    def samples(self, name):
        status, text = openmetrics.ask(self.socket(name), "/metrics")
        assert status == 200, text
        return openmetrics.read(text)

    def session(self, language):
        return self.call("create_session", {"language": language})["structuredContent"]["session_id"]

    def healthy(self, name):
        return subprocess.run([*self.command(name), "--healthy"], env=self.env, capture_output=True, check=False, timeout=30,
                              **self._identity())


def test_each_daemon_says_that_it_lives(cluster):
    cluster.call("list_runtimes")
    for name in peers.PEERS:
        assert openmetrics.ask(cluster.socket(name), "/healthz") == (200, "ok\n"), name
        assert openmetrics.ask(cluster.socket(name), "/readyz") == (200, "ready\n"), name
        assert openmetrics.ask(cluster.socket(name), "/nothing")[0] == 404, name
        asked = cluster.healthy(name)
        assert (asked.returncode, asked.stderr) == (0, b""), (name, asked)
        assert "cloister_process_start_seconds" in cluster.samples(name), name


def test_a_call_is_counted_once(cluster):
    before = cluster.samples("executor")
    cluster.call("list_runtimes", {"language": "python"})
    cluster.call("list_runtimes", {"language": "cobol"})
    after = cluster.samples("executor")
    for result in "ok", "error":
        labels = ('message="list_runtimes"', f'result="{result}"')
        assert openmetrics.total(after, "cloister_request_seconds_count", *labels) == \
            openmetrics.total(before, "cloister_request_seconds_count", *labels) + 1, after
    assert openmetrics.total(after, "cloister_request_failures_total", 'code="invalid_argument"') == 1
    assert openmetrics.total(after, "cloister_peer_ready", 'daemon="auditd"') == 1


def test_runs_are_counted_by_what_came_of_them(cluster):
    cluster.call("execute_code", {"code": "print('twelve bytes')"})
    cluster.call("execute_code", {"code": "1 / 0"})
    cluster.call("execute_code", {"code": "echo x", "language": "shell", "session_id": cluster.session("shell")})
    samples = cluster.samples("executor")
    runs = "cloister_run_seconds_count"
    assert openmetrics.total(samples, runs, 'language="python"', 'outcome="completed"') == 1, samples[runs]
    assert openmetrics.total(samples, runs, 'language="python"', 'outcome="failed"') == 1, samples[runs]
    assert openmetrics.total(samples, runs, 'language="shell"', 'outcome="completed"', 'start="session"') == 1, samples[runs]
    assert openmetrics.total(samples, "cloister_run_queue_seconds_count") == 3
    assert openmetrics.total(samples, "cloister_run_output_bytes_total", 'channel="stdout"') >= len("twelve bytes\n")
    assert openmetrics.total(samples, "cloister_box_step_seconds_count", 'step="mounts"') >= 1
    assert openmetrics.total(samples, "cloister_sessions") == 1
    assert openmetrics.total(samples, "cloister_box_failures_total") == 0


def test_what_is_no_request_is_closed(cluster):
    for bytes_ in b"\0" * 100, b"GET /metrics HTTP/1.1\r\n" + b"x: y\r\n" * 1000, b"POST /metrics HTTP/1.1\r\n\r\n":
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(10)
            s.connect(cluster.socket("executor"))
            s.sendall(bytes_)
            try:
                assert s.recv(4096)[:12] in (b"", b"HTTP/1.1 404"), bytes_
            except ConnectionResetError:
                pass
    silent = [socket.socket(socket.AF_UNIX) for _ in range(12)]
    for s in silent:
        s.connect(cluster.socket("executor"))
    silent[-1].settimeout(10)
    assert silent[-1].recv(1) == b"", "more connections than it keeps are closed at once"
    for s in silent:
        s.close()
    end = time.monotonic() + 10
    while True:  # it notices each end by itself
        try:
            assert openmetrics.ask(cluster.socket("executor"), "/healthz")[0] == 200
            return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.01)


# Dashboards and alerts name metrics that exist.
def test_the_files_for_operators_fit(cluster):
    kinds = {}
    for table in ROOT.glob("*/metrics.def"), ROOT.glob("common/metric/metrics.def"):
        for path in table:
            for name, kind in re.findall(r"^METRIC\((\w+), (\w+),", path.read_text(), re.M):
                kinds["cloister_" + name] = kind
    suffixes = {"COUNTER": {"_total"}, "GAUGE": {""}, "SECONDS": {"_bucket", "_sum", "_count"}}
    known = {name + suffix for name, kind in kinds.items() for suffix in suffixes[kind]}
    dashboard = json.loads((FILES / "dashboard.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries += re.findall(r"expr: (?:\|\n)?(.*(?:\n {10,}.*)*)", (FILES / "alerts.yaml").read_text())
    used = {name for query in queries for name in re.findall(r"cloister_\w+", query)}
    assert used and used <= known, used - known
    told = subprocess.run(["promtool", "test", "rules", "alerts_test.yaml"], cwd=FILES, capture_output=True, check=False, timeout=60)
    assert told.returncode == 0, told
    rules = [{"record": f"q{i}", "expr": query.replace("$__rate_interval", "5m")} for i, query in enumerate(queries)]
    path = os.path.join(cluster.directory, "queries.yaml")
    pathlib.Path(path).write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
    told = subprocess.run(["promtool", "check", "rules", path], capture_output=True, check=False, timeout=60)
    assert told.returncode == 0, told


def test_a_daemon_that_is_away_is_noticed(cluster):
    cluster.kill("validator")
    asked = cluster.healthy("validator")
    assert asked.returncode == 1 and b"connect to" in asked.stderr, asked
    while openmetrics.ask(cluster.socket("executor"), "/readyz")[0] == 200:
        pass
    assert openmetrics.ask(cluster.socket("executor"), "/readyz") == (503, "validator is not connected\n")
    cluster.restart("validator")  # on the socket that the killed process left
    assert cluster.healthy("validator").returncode == 0


def test_a_loopback_port_serves_only_requests_to_loopback(cluster):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    cluster.kill("validator")
    cluster.flags["validator"] = [f"--metrics=127.0.0.1:{port}"]
    cluster.restart("validator")
    assert cluster.healthy("validator").returncode == 0
    for host, status in ("localhost", b"200"), ("127.0.0.1:1", b"200"), ("evil.example", b"421"), ("localhost.evil.example", b"421"):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as s:
            s.sendall(f"GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert s.recv(4096).split()[1] == status, host
    for where in "0.0.0.0:9464", "10.0.0.1:9464", "localhost:9464", "70000", "relative/path", ":":
        refused = subprocess.run([*cluster.command("validator"), "--metrics=" + where], capture_output=True, check=False, timeout=30)
        assert refused.returncode == 1 and b"neither an absolute path" in refused.stderr, (where, refused)


# One user in a namespace of its own that allows no further ones, as a host does with user.max_user_namespaces=0.
CONFINED = ("unshare", "-U", "--map-current-user", "--keep-caps", "sh", "-c",
            'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all "$0" "$@"')


class Confined(Watched):
    """Daemons of an ordinary user who may make no namespaces."""

    def _spawn(self, name):
        with open(os.path.join(self.logs, name), "ab") as log:
            self.processes[name] = subprocess.Popen([*CONFINED, *self.command(name)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                    env=self.env, start_new_session=True, **self._identity())


def status_of(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def confined_user():
    user = pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else None
    identity = {"user": user, "group": pwd.getpwuid(user).pw_gid, "extra_groups": []} if user is not None else {}
    tried = subprocess.run([*CONFINED, "true"], capture_output=True, check=False, timeout=30, **identity)
    if tried.returncode != 0:
        raise cases.Skip("no user namespace can be made here")
    return user, identity


def test_an_executor_that_can_make_no_box_is_not_ready(cluster):
    user, _ = confined_user()
    with Confined(cluster.bin, user=user) as confined:
        for page in "/readyz", "/healthz":
            status, text = openmetrics.ask(confined.socket("executor"), page)
            assert status == 503 and "user.max_user_namespaces" in text, (page, status, text)
        asked = confined.healthy("executor")
        assert asked.returncode == 1 and b"user.max_user_namespaces" in asked.stderr, asked
        assert confined.healthy("validator").returncode == 0
        ran = confined.call("execute_code", {"code": "1"})
        assert ran["isError"] and "user.max_user_namespaces" in ran["content"][0]["text"], ran
        says = "executor cannot do its work until it is started again; its log says why\n"
        until = time.monotonic() + 10
        while (answer := openmetrics.ask(confined.socket("gateway"), "/readyz")) != (503, says):
            assert time.monotonic() < until, answer
        setpriv = () if user is None else ("setpriv", f"--reuid={user}", "--clear-groups")
        with daemons.Served([*setpriv, *confined.command("gateway")], env=confined.env, directory=confined.directory) as served:
            until, page = time.monotonic() + 10, served.url.replace("/mcp", "/readyz")
            while (answer := status_of(page)) != (503, says):
                assert time.monotonic() < until, answer


def test_the_command_tells_that_no_box_can_be_made(cluster):
    user, identity = confined_user()
    directory = tempfile.mkdtemp(prefix="cloister-test-")
    if user is not None:
        os.chown(directory, user, user)
    env = {**{k: v for k, v in cluster.env.items() if not k.startswith("CLOISTER_")}, "CLOISTER_RUN": directory + "/run", "CLOISTER_STATE": directory + "/state"}
    script = '"$1" up >&2; echo "$?"; "$1" status --json; "$1" down >&2'
    try:
        told = subprocess.run([*CONFINED, "sh", "-c", script, "sh", os.path.join(cluster.bin, "cloister")], env=env, capture_output=True,
                              text=True, check=True, timeout=60, **identity)
        up, status = told.stdout.split("\n", 1)
        status = json.loads(status)
        executor = next(d for d in status["daemons"] if d["name"] == "executor")
        assert up == "1" and not status["ready"] and not executor["ready"] and executor["fault"], told
        assert "user.max_user_namespaces" in executor["why"] and "user.max_user_namespaces" in told.stderr, told
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    with Watched(sys.argv[1]) as cluster:
        counts = cases.play(sys.modules[__name__], cluster)
    cases.end(counts)
