#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Events as their readers get them: GET /events of the gateway, and `cloister events`.

    events.py BIN
"""

import http.client
import json
import os
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from commands import Command  # noqa: E402
import daemons  # noqa: E402


class Stream:
    """A reader of server-sent events."""

    def __init__(self, url, query="", last=None):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=15)  # less than the gateway's own wait
        self.connection.request("GET", "/events" + query, headers={"Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})})
        self.reply = self.connection.getresponse()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    # The next event: id, type and data.  Comments keep the connection alive, so the time is bounded here.
    def next(self):
        event, end = {}, time.monotonic() + 10
        while True:
            assert time.monotonic() < end, "no event"
            line = self.reply.readline().decode()
            assert line, "the stream ended"
            if line == "\n" and "data" in event:
                return event.get("id"), event.get("event"), json.loads(event["data"])
            name, _, value = line.rstrip("\n").partition(": ")
            event[name] = value


def run(cluster, url, code):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "execute_code", "arguments": {"code": code},
        "_meta": {"io.modelcontextprotocol/protocolVersion": daemons.MODERN, "io.modelcontextprotocol/clientCapabilities": {}}}}
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
    connection.request("POST", "/mcp", json.dumps(body), {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Method": "tools/call",
        "Mcp-Name": "execute_code", "MCP-Protocol-Version": daemons.MODERN})
    reply = json.loads(connection.getresponse().read())
    connection.close()
    return reply["result"]["structuredContent"]["execution_id"]


def test_events_come_as_they_happen(cluster, url):
    with Stream(url) as stream:
        assert stream.reply.status == 200 and stream.reply.getheader("Content-Type") == "text/event-stream"
        one = run(cluster, url, "print(1)")
        for type_ in "execution.started", "execution.completed":
            id_, type_got, data = stream.next()
            assert type_got == type_ and data["event"]["execution_id"] == one and id_ == str(data["sequence"]), data


def test_a_reader_that_was_away_gets_what_it_missed(cluster, url):
    with Stream(url) as stream:
        run(cluster, url, "1")
        seen = stream.next()[0]
    missed = [run(cluster, url, "2"), run(cluster, url, "3")]
    with Stream(url, last=seen) as stream:
        types = [stream.next() for _ in range(5)]
        assert [data["event"]["execution_id"] for _, _, data in types[1:]] == [missed[0]] * 2 + [missed[1]] * 2, types
    cluster.restart("auditd")
    with Stream(url, "?after=" + seen + "&type=execution.completed&execution=" + missed[1]) as stream:
        assert stream.next()[2]["event"]["execution_id"] == missed[1]


def test_a_wrong_filter_is_an_error(cluster, url):
    for query, code in ("?type=execution.exploded", "invalid_argument"), ("?after=x", "invalid_argument"), ("?after=99999999", "not_found"):
        with Stream(url, query) as stream:
            _, type_, data = stream.next()
            assert (type_, data["code"]) == ("error", code), data
            assert stream.reply.readline() == b"", "the stream ends"


def test_another_owner_sees_nothing(cluster, url):
    run(cluster, url, "4")
    other = cluster.client(flags=["--toolsets=all", "--namespace=other"])
    told = other.call("follow_events", {"after": "0", "limit": 1000})["structuredContent"]
    assert told["events"] == [] and int(told["last"]) > 0, told


def test_the_command_prints_events(cloister):
    def run_one():
        return json.loads(cloister("run", "--json", "-", input=b"1").stdout)["execution_id"]

    one = run_one()
    following = subprocess.Popen([cloister.program, "events", "--json", "--follow", "--after=0", "--type=execution.completed"],
                                 env=cloister.env, stdout=subprocess.PIPE)
    try:
        assert json.loads(following.stdout.readline())["event"]["execution_id"] == one
        two = run_one()
        assert json.loads(following.stdout.readline())["event"]["execution_id"] == two
    finally:
        following.terminate()
        following.wait(20)
        following.stdout.close()
    told = cloister("events", "--json", "--execution=" + one)
    assert [json.loads(line)["event"]["event"] for line in told.stdout.splitlines()] == ["execution.started", "execution.completed"], told
    told = cloister("events")
    assert told.stdout.count(b"execution.completed") == 2 and one.encode() in told.stdout, told
    told = cloister("events", "--type=execution.exploded")
    assert told.returncode == 1 and b"execution.exploded" in told.stderr, told


if __name__ == "__main__":
    command = Command(sys.argv[1])
    try:
        with daemons.Cluster(sys.argv[1]) as cluster, cluster.served() as served:
            counts = cases.play(sys.modules[__name__], named={"cluster": cluster, "url": served.url, "cloister": command})
    finally:
        command.close()
    cases.end(counts)
