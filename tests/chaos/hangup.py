#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""SIGHUP acts like SIGTERM: requests under way are answered, then the daemon exits in order.  Its parent starts it again.

    hangup.py BIN
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import SERVERS, Client, Cluster, MODERN  # noqa: E402
from household import code_of, household, wait_for  # noqa: E402

ASKED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SLOW = {"code": "import time; time.sleep(1.5); print(6 * 7)"}


def output(result):
    return result["structuredContent"]["stdout"]


def test_each_daemon_ends_in_order(bin):
    for asked in ASKED:
        with Cluster(bin) as cluster:
            assert output(cluster.call("execute_code", {"code": "print(1)"})) == "1\n"
            for name in reversed(SERVERS):
                assert cluster.kill(name, asked) == 0, (name, asked)
                assert '"draining"' in cluster.log(name) and '"ended"' in cluster.log(name), (name, asked)


# Over stdio the client has closed the process, so its requests are cancelled and answered so.
def test_a_gateway_tells_its_client_before_it_ends(bin):
    for asked in ASKED:
        with Cluster(bin) as cluster:
            client = cluster.client()
            waiting = client.begin("tools/call", {"name": "execute_code", "arguments": SLOW})
            time.sleep(0.5)
            client.process.send_signal(asked)
            assert code_of(waiting.result(1)) == "unavailable", asked
            assert client.process.wait(10) == 0, asked


def test_a_gateway_of_http_answers_before_it_ends(bin):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "execute_code", "arguments": SLOW, "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
               "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "execute_code"}
    with Cluster(bin) as cluster, cluster.served() as served:
        request = urllib.request.Request(served.url, json.dumps(message).encode(), headers)
        killer = subprocess.Popen(["sh", "-c", f"sleep 0.7; kill -HUP {served.process.pid}"])
        with urllib.request.urlopen(request, timeout=20) as reply:
            assert output(json.load(reply)["result"]) == "42\n"
        killer.wait()
        assert served.process.wait(10) == 0


@contextlib.contextmanager
def hangups_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


# Like nohup starts a program, which must survive its terminal.
def test_one_that_was_told_to_ignore_it_goes_on(bin):
    with contextlib.ExitStack() as stack:
        with hangups_ignored():
            cluster = stack.enter_context(Cluster(bin))
            client = Client(cluster.command("gateway"), env=cluster.env)
        for pid in (client.process.pid, *map(cluster.pid, SERVERS)):
            os.kill(pid, signal.SIGHUP)
        time.sleep(0.3)
        assert output(client.call("execute_code", {"code": "print(1)"})) == "1\n"
        assert client.close() == 0


def test_a_supervisor_starts_a_daemon_anew(bin):
    with household(bin) as home:
        client = home.client()
        home.wait_ready()
        for name in SERVERS:
            before = home.daemon(name)
            os.kill(before["pid"], signal.SIGHUP)
            after = wait_for(lambda n=name, b=before: (d := home.daemon(n)).get("pid") not in (None, b["pid"]) and d["ready"]
                             and d, name)
            assert after["last_end"] == "status 0", after
        wait_for(lambda: not client.call("execute_code", {"code": "print(1)"}).get("isError"), "a success")
        # The supervisor itself ends with all its children; so does `cloister serve`.
        os.kill(home.status()["pid"], signal.SIGHUP)
        wait_for(lambda: home.status() is None and not home.alive(), "the end of all")
        client.process.send_signal(signal.SIGHUP)
        assert client.process.wait(10) == 0
        home.assert_nothing_left()


if __name__ == "__main__":
    cases.run(sys.modules[__name__], sys.argv[1])
