#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compromised daemons. The other daemons must stay up, stay within their bounds, and serve all other clients.

    hostile.py BIN TESTS [SEED]

A seed reproduces a failure if requests come in the same order; it is in the name of each test.
"""

import base64
import contextlib
import http.client
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import cases  # noqa: E402
import daemons  # noqa: E402
import peers  # noqa: E402
import schemas  # noqa: E402
import users  # noqa: E402
from gateway import Gateway, call, modern  # noqa: E402
from taken import CALLS, COMPLETED, URIS, FarTaken, Taken, peak_mb, well  # noqa: E402

TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
TIMEOUT_MS, ROUNDS = 1000, 4
# Memory for an honest daemon's largest replies, and for two seconds of an endless message.
PEAK_MB, ENDLESS_MB, AFTER_MB, LOG_BYTES = 1500, 3000, 200, 200_000
# Maximum time of other daemons' replies during an attack, which lasts until some have arrived; a blocked daemon replies to
# none before it ends.  Even on a busy machine no reply takes that long.
BESIDE_S, BESIDE, LATE_S, WELL_S = 30, 12, 30, 60


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def rounds(client):
    """All requests of a client that a daemon answers, at once."""
    for tool, arguments in CALLS.items():
        yield "tools/call", {"name": tool, "arguments": arguments}
    for uri in URIS:
        yield "resources/read", {"uri": uri}
    yield "resources/list", {}
    for name in COMPLETED:
        yield "completion/complete", {"ref": {"type": "ref/resource", "uri": COMPLETED[name]}, "argument": {"name": name, "value": ""}}
    if client.revision in daemons.LEGACY:
        yield "resources/subscribe", {"uri": URIS[0]}


def answered(client):
    for method, params in [*rounds(client)]:
        yield method, params, client.begin(method, params, progress=True)


def follow_task(client, result):
    if result.get("resultType") == "task":
        for method in ("tasks/get", "tasks/cancel"):
            client.begin(method, {"taskId": result["taskId"]}).message(TIMEOUT_MS / 1000 + LATE_S)


def play(client):
    """Each request is answered exactly once and in time, and progress grows."""
    for _ in range(ROUNDS):
        for method, params, waiting in [*answered(client)]:
            message = waiting.message(TIMEOUT_MS / 1000 + LATE_S)
            assert ("result" in message) != ("error" in message), message
            follow_task(client, message.get("result", {}))
            said = [p["progress"] for p in waiting.progress]
            assert all(a < b for a, b in zip(said, said[1:])), (method, params, said)
            for file in message.get("result", {}).get("structuredContent", {}).get("artifacts", []):
                assert "download_url" not in file, file
    text = json.dumps(client.request("tools/call", {"name": "list_runtimes", "arguments": {}}))
    assert '"code": "none"' not in text
    assert not client.strays, client.strays[:3]
    assert not client.breaches, client.breaches[:3]


def over_stdio(bin, tests, seed, revision):
    held = schemas.load_if_npm()
    watch = (lambda revision: schemas.Watch(held, revision)) if held else None
    flags = {"gateway": ["--toolsets=all", f"--call-timeout-ms={TIMEOUT_MS}", "--task-after-ms=100"]}
    with Taken(bin, tests, dict.fromkeys(peers.servers_of("gateway"), ""), seed, flags=flags, watch=watch) as cluster:
        client = cluster.client(revision, capabilities=TASKS if revision == daemons.MODERN else None)
        play(client)
        well(cluster.log("gateway"), client.process, PEAK_MB, LOG_BYTES)
        assert client.close() == 0


def test_gateway_over_stdio(bin, tests, seed):
    over_stdio(bin, tests, seed, daemons.MODERN)


def test_gateway_over_stdio_of_earlier_revisions(bin, tests, seed):
    over_stdio(bin, tests, seed, "2025-11-25")
    over_stdio(bin, tests, seed + 1, "2024-11-05")


# A flood of hellos is logged once for each of our hellos.
def test_greetings_do_not_fill_the_log(bin, tests, seed):
    with Taken(bin, tests, {"executor": "greetings"}, seed, servers=("executor",)) as cluster:
        client = cluster.client()
        for _ in range(10):
            client.call("list_runtimes")
        assert cluster.log("gateway").count("server connected") < 5


# ---- over HTTP, with calls of another principal ----

class Beside:
    """Another principal's calls to a daemon that is not compromised, one after the other; worst: seconds of the slowest."""

    def __init__(self, gateway):
        self.gateway, self.stopped, self.worst, self.failed, self.count, self.sizes = gateway, threading.Event(), 0, [], 0, []
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *why):
        self.stopped.set()
        self.thread.join()
        if why[0] is None:
            assert self.count >= BESIDE and not self.failed, (self.count, self.failed[:3])
            assert self.worst < BESIDE_S, self.worst

    def wanted(self):
        """Are more calls needed?"""
        return self.count < BESIDE and self.thread.is_alive()

    def run(self):
        while not self.stopped.wait(0.02):
            began = time.monotonic()
            reply = self.gateway.post(call("validate_code", {"code": "import os"}))
            self.worst, self.count = max(self.worst, time.monotonic() - began), self.count + 1
            if "structuredContent" not in message_of(reply).get("result", {}):
                self.failed.append(reply)
            self.sizes.append(self.gateway.rss() >> 20)


def message_of(reply):
    assert reply.status == 200, reply
    return reply.messages[-1] if "event-stream" in reply.headers["Content-Type"] else reply.json


def downloads(gateway, message):
    """Links in a result point to this gateway and get a reply, whatever it is."""
    for file in itertools.islice(message.get("result", {}).get("structuredContent", {}).get("artifacts", []), 4):
        url = file.get("download_url", gateway.url + "/")
        assert url.startswith(gateway.url + "/"), file
        try:
            assert gateway.ask("GET", url[len(gateway.url):], headers={"Range": "bytes=0-99999"}, timeout=5).status in (200, 206, 403, 404, 416, 503)
        except (OSError, EOFError, ValueError, http.client.HTTPException):
            pass  # closed in the middle, which is the only way to report an error then


def test_gateway_over_http(bin, tests, seed):
    flags = ["--toolsets=all", f"--call-timeout-ms={TIMEOUT_MS}", "--max-in-flight=256"]
    with Taken(bin, tests, {"executor": "", "auditd": ""}, seed, servers=peers.servers_of("gateway")) as cluster:
        with Gateway(bin, flags, cluster) as gateway:
            session = gateway.session()
            session.post(session.message("resources/subscribe", {"uri": "sandbox://status"}))
            stream = session.get()
            with Beside(gateway) as beside:
                rounds_left = 2
                while rounds_left > 0 or beside.wanted():
                    rounds_left -= 1
                    for tool, arguments in CALLS.items():
                        downloads(gateway, message_of(gateway.post(call(tool, arguments))))
                    for uri in URIS:
                        assert gateway.post(modern("resources/read", {"uri": uri})).status in (200, 404)
            stream.close()
            well(gateway.log(), gateway.process, PEAK_MB, LOG_BYTES)


# The gateway requested a small piece, and reserved memory for no more.
def test_download_of_more_than_was_asked_for(bin, tests, seed):
    with Taken(bin, tests, {"executor": "plain sandbox_read_artifact=large"}, seed, servers=("executor",)) as cluster:
        with Gateway(bin, ["--result-bytes=0"], cluster) as gateway:
            urls = []
            while not urls:  # some of these replies contain no files
                content = message_of(gateway.post(call("execute_code", {"code": "1"})))["result"]["structuredContent"]
                urls = [f["download_url"] for f in content["artifacts"] if "download_url" in f]
            reply = gateway.ask("GET", urls[0][len(gateway.url):])
            assert reply.status == 503 and b"sent more of the file than requested" in reply.body, reply


# ---- below the bus ----

def gives_back(sizes):
    """The recorded part of each message; the last one may be incomplete."""
    much = next((place for place, size in enumerate(sizes) if size >= AFTER_MB), 0)
    return min(sizes[much:]) < AFTER_MB


def over_raw(bin, tests, seed, tricks, most_mb):
    """One daemon violates ZeroMQ's own protocol; the others stay available, and so is this one after its replacement."""
    with Taken(bin, tests, tricks, seed, servers=peers.servers_of("gateway"), raw=True) as cluster:
        with Gateway(bin, ["--toolsets=all", f"--call-timeout-ms={TIMEOUT_MS}"], cluster) as gateway:
            end = time.monotonic() + 5
            with Beside(gateway) as beside:
                while time.monotonic() < end or beside.wanted():
                    message_of(gateway.post(call("list_runtimes")))
                    message_of(gateway.post(call("audit_execution")))
            assert gives_back(beside.sizes) or gateway.holds(0), beside.sizes
            well(gateway.log(), gateway.process, most_mb, LOG_BYTES)
            for name in tricks:
                cluster.mend(name)
            began = time.monotonic()
            for tool in ("list_runtimes", "audit_execution"):
                while message_of(gateway.post(call(tool)))["result"]["isError"]:
                    assert time.monotonic() - began < WELL_S, f"{tool}: it does not come back"
                    time.sleep(0.1)


def test_message_that_does_not_end(bin, tests, seed):
    over_raw(bin, tests, seed, {"executor": "endless"}, ENDLESS_MB)


def test_large_answers_to_nothing(bin, tests, seed):
    over_raw(bin, tests, seed, {"executor": "bulky", "auditd": "drip"}, PEAK_MB)


def test_broken_protocol(bin, tests, seed):
    over_raw(bin, tests, seed, {"executor": "oversized", "auditd": "mute"}, PEAK_MB)


# ---- the executor ----

def test_request_that_does_not_end(bin, tests, seed):
    """Tests one gateway; clients of the other one are served meanwhile, and the memory is released."""
    with Taken(bin, tests, {}, seed, servers=("executor",)) as cluster:
        client, pid, sizes = cluster.client(), cluster.pid("executor"), []
        with subprocess.Popen([os.path.join(tests, "raw_peer"), "executor", cluster.run, "endless", "gateway"], start_new_session=True) as raw:
            end = time.monotonic() + 8
            while time.monotonic() < end:
                began = time.monotonic()
                assert not client.call("list_runtimes")["isError"] and time.monotonic() - began < BESIDE_S, time.monotonic() - began
                sizes.append(resident_mb(pid))
                time.sleep(0.02)
            os.killpg(raw.pid, signal.SIGKILL)
        sanitized = b"__asan_init" in open(os.path.join(bin, "cloister-executor"), "rb").read()
        assert max(sizes) > AFTER_MB and (gives_back(sizes) or sanitized), sizes
        well(cluster.log("executor"), cluster.processes["executor"], ENDLESS_MB, LOG_BYTES)


def records(cluster):
    """Ids of the executions in the executor's records on the disk."""
    directory, found = os.path.join(cluster.state, "executor"), set()
    for where, _, files in os.walk(directory):
        for name in files:
            with open(os.path.join(where, name), "rb") as file:
                found.update(re.findall(rb"exec_[0-9a-f]{32}", file.read()))
    return found


def beside_workspaces(cluster):
    """Files in the daemons' directories, without the ones that each daemon keeps there itself."""
    return {os.path.relpath(os.path.join(where, name), cluster.directory) for where, _, files in os.walk(cluster.directory)
            for name in files if not where.startswith(cluster.state + "/")}


# Its servers and its clients are compromised.  Runs are recorded before they start, and other requests are served.
def test_executor(bin, tests, seed):
    users.need_root_and_users()
    with Taken(bin, tests, {**dict.fromkeys(peers.servers_of("executor"), ""), "auditd": "never"}, seed,
               flags={"executor": ["--validator-ms=1000", "--snapshot-ms=1000"]}) as cluster:
        before = beside_workspaces(cluster)
        client = cluster.client(flags=["--toolsets=all"])
        caller = subprocess.Popen([*next(asking(cluster, tests, seed, "executor"))], stdout=subprocess.PIPE, text=True)
        ran = set()
        while caller.poll() is None or len(ran) < 5:
            began = time.monotonic()
            result = client.call("execute_code", {"code": "print(6 * 7)"})["structuredContent"]
            assert result["stdout"] == "42\n" and time.monotonic() - began < 2 * BESIDE_S, (time.monotonic() - began, result)
            ran.add(result["execution_id"].encode())
            for tool in ("create_state_snapshot", "restore_state_snapshot", "list_state_snapshots"):
                client.call(tool, CALLS[tool])
            client.call("execute_code", {"code": f"print({len(ran)})", "profile": "strict"})
        assert caller.returncode == 0 and "answers" in caller.stdout.read()
        assert len(ran) > 3 and ran <= records(cluster), ran - records(cluster)
        well(cluster.log("executor"), cluster.processes["executor"], PEAK_MB, 10 * LOG_BYTES)
        assert beside_workspaces(cluster) <= before | {"logs/gateway"}, beside_workspaces(cluster) - before


# ---- auditd ----

def works(client, seconds):
    """Runs programs and takes snapshots for that long; returns the ids of the runs."""
    ran, end = set(), time.monotonic() + seconds
    session = client.call("create_session", {})["structuredContent"]["session_id"]
    while time.monotonic() < end or len(ran) < 3:
        began = time.monotonic()
        result = client.call("execute_code", {"code": "open('f', 'a').write('x'); print(6 * 7)", "session_id": session})
        assert not result["isError"] and result["structuredContent"]["stdout"] == "42\n", result
        saved = client.call("create_state_snapshot", {"session_id": session})
        assert not saved["isError"], saved
        assert not client.call("delete_state_snapshot", {"snapshot_id": saved["structuredContent"]["snapshot_id"]})["isError"]
        assert time.monotonic() - began < BESIDE_S, time.monotonic() - began
        ran.add(result["structuredContent"]["execution_id"])
    return ran


def over_auditd(bin, tests, seed, trick, most_mb, raw):
    """The daemons that report to it go on, and report to its replacement."""
    with Taken(bin, tests, {"auditd": trick}, seed, servers=("auditd", "snapshotd", "executor"), raw=raw) as cluster:
        client = cluster.client(flags=["--toolsets=all"])
        works(client, 4)
        for name in "executor", "snapshotd":
            well(cluster.log(name), cluster.processes[name], most_mb, 10 * LOG_BYTES)
        cluster.mend("auditd")
        ran, began = works(client, 0), time.monotonic()
        while not ran <= {record["event"].get("execution_id") for record in recorded(client)}:
            assert time.monotonic() - began < WELL_S, "what ran is not in the log"
            time.sleep(0.1)


def recorded(client):
    result = client.call("audit_execution", {"event": "execution.completed"})
    return [] if result["isError"] else result["structuredContent"]["entries"]


def test_auditd(bin, tests, seed):
    over_auditd(bin, tests, seed, "", PEAK_MB, raw=False)


def test_auditd_below_the_bus(bin, tests, seed):
    over_auditd(bin, tests, seed, "endless", ENDLESS_MB, raw=True)
    for trick in "bulky", "oversized", "mute", "silent":
        over_auditd(bin, tests, seed, trick, PEAK_MB, raw=True)


# ---- over TCP ----

NETWORKED = {"code": "import socket; print(socket.gethostbyname('a.test'))", "enable_network": True, "allowed_domains": ["a.test"]}
# For each daemon a call that needs it, and what the result then has.
CALLED = {
    "auditd": ("audit_execution", {}, '"entries"'),
    "validator": ("validate_code", {"code": "import os"}, '"isError": false'),
    "executor": ("execute_code", {"code": "print(6 * 7)"}, '"stdout": "42'),
    "snapshotd": ("list_state_snapshots", {}, '"isError": false'),
    "vault": ("execute_code", {"code": "import os; print(len(os.environ['KEY']))", "env_secrets": ["KEY"]}, '"stdout": "14'),
    "secretd": ("execute_code", NETWORKED, '"stdout": "198.18.0.1'),
    "egress": ("execute_code", NETWORKED, '"stdout": "198.18.0.1'),
    "approvald": ("request_egress", {"domain": "b.test"}, "approval_required"),
}
# They get sockets from the executor, and so only on its own machine.
FAR = {name: ("execute_code", NETWORKED, "cannot be reached") for name, (_, arguments, _) in CALLED.items() if arguments is NETWORKED}
FLAGS = {"executor": ["--egress-domains=a.test", "--validator-ms=1000"]}
ATTACK_S = 1


def ready_client(cluster):
    client = cluster.client(flags=["--toolsets=all"])
    client.request("cloister/vault/add", {"name": "KEY", "value": base64.b64encode(b"a secret value").decode()})
    return client


def attacked(cluster, client, name, command, called=CALLED):
    """It stays available to others, and intact, during the attack."""
    tool, arguments, wanted = called[name]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as attack:
        try:
            end, count = time.monotonic() + ATTACK_S, 0
            while time.monotonic() < end or count < BESIDE:
                began, result, count = time.monotonic(), client.call(tool, arguments), count + 1
                assert wanted in json.dumps(result) and time.monotonic() - began < BESIDE_S, (name, time.monotonic() - began, result, cluster.log(name)[-500:])
            assert attack.poll() in (None, 0), (name, command, attack.poll())
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(attack.pid, signal.SIGKILL)
    well(cluster.log(name), cluster.processes[name], PEAK_MB, 10 * LOG_BYTES)


def test_no_list_here_is_stale(bin, tests, seed):
    """Each tool is called, and each daemon is attacked; the tables say which there are."""
    with Taken(bin, tests, {}, seed, servers=()) as cluster:
        client, tools, page = cluster.client(flags=["--toolsets=all"]), set(), {}
        while page.get("nextCursor", "") is not None:
            page = client.request("tools/list", {"cursor": page["nextCursor"]} if page else {})
            tools |= {tool["name"] for tool in page["tools"]}
            page.setdefault("nextCursor")
    assert tools == set(CALLS), f"CALLS of taken.py and tools/list differ: {sorted(tools ^ set(CALLS))}"
    assert set(CALLED) == set(peers.RESIDENT), f"CALLED and peers.def differ: {sorted(set(CALLED) ^ set(peers.RESIDENT))}"
    silent = [edge for edge in peers.EDGES if edge[1] in CALLED and "auditd" not in edge and not peers.messages_of(*edge)]
    assert not silent or silent == [("egress", "secretd")], f"edges without a message: {silent}"


def test_strangers_over_tcp(bin, tests, seed):
    """From any host in the network: without a key."""
    with FarTaken(bin, tests, {}, seed, flags=dict(FLAGS)) as cluster:
        client = ready_client(cluster)
        for name in CALLED:
            for trick in "announce", "noise", "silent":
                where = cluster.place(name).partition(",")[0]
                attacked(cluster, client, name, [os.path.join(tests, "raw_peer"), name, where, trick, peers.first_client(name)], {**CALLED, **FAR})


def test_announcements(bin, tests, seed):
    """The same by a compromised daemon on the same machine."""
    with Taken(bin, tests, {}, seed, flags=dict(FLAGS)) as cluster:
        client = ready_client(cluster)
        for name in CALLED:
            attacked(cluster, client, name, [os.path.join(tests, "raw_peer"), name, cluster.run, "announce", peers.first_client(name)])


def asking(cluster, tests, seed, name):
    """Each compromised client of that daemon, which asks it what it may and what it may not."""
    for client, server in peers.EDGES:
        messages = peers.messages_of(client, server)
        if server == name and messages:
            yield [os.path.join(tests, "caller"), client, server, cluster.place(server), str(seed), "250", *messages]


def test_keys_that_were_taken(bin, tests, seed):
    """By a server and by a client, each with the key of its daemon."""
    with FarTaken(bin, tests, {"validator": "", "auditd": ""}, seed, flags=dict(FLAGS)) as cluster:
        client = ready_client(cluster)
        for name in set(CALLED) - set(cluster.taken):
            for command in asking(cluster, tests, seed, name):
                attacked(cluster, client, name, command, {**CALLED, **FAR})
        assert client.process.poll() is None


def test_clients_of_the_daemons_that_guard(bin, tests, seed):
    """On one machine, where the kernel says who is who: they have no more than their edges give."""
    with Taken(bin, tests, {}, seed, flags=dict(FLAGS)) as cluster:
        client = ready_client(cluster)
        for name in (peer.name for peer in peers.PEERS.values() if peer.directory.startswith("executor/")):
            for command in asking(cluster, tests, seed, name):
                attacked(cluster, client, name, command)


if __name__ == "__main__":
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    cases.end(cases.play(sys.modules[__name__], sys.argv[1], sys.argv[2], seed, label=f" of seed {seed}"))
