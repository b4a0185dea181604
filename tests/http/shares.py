#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""No principal can exhaust a shared resource: greedy takes all it can get, and modest is still served.  shares.py BIN"""

import json
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import Cluster  # noqa: E402
from gateway import Gateway, call, modern, soon  # noqa: E402

HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
DISCOVER = modern("server/discover")


# A gateway, and headers of two principals.
class World:
    def __init__(self, bin, *flags, cluster=None):
        self.gateway = Gateway(bin, flags, cluster, anonymous=False)
        state = next(f for f in self.gateway.command if f.startswith("--state="))
        self.greedy, self.modest = ({"Authorization": "Bearer " + subprocess.run(
            [os.path.join(bin, "cloister"), "token", "add", name, state], check=True, capture_output=True,
            text=True).stdout.strip()} for name in ("greedy", "modest"))

    def __enter__(self):
        self.gateway.__enter__()
        return self

    def __exit__(self, *why):
        self.gateway.__exit__(*why)

    def bytes_of(self, message, who, length=None, path="/mcp", method="POST"):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        headers = {"Host": "localhost", "Content-Length": str(length or len(body)),
                   **self.gateway.post_headers(message, who)}
        return (f"{method} {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n").encode() + body


def refused(reply, limit):
    assert reply.status == 503 and limit in reply.json["error"]["message"] and int(reply.headers["Retry-After"]) > 0, reply


def test_sessions(bin):
    with World(bin, "--max-http-sessions=16") as world:
        kept = [world.gateway.post(HELLO, world.modest).headers["Mcp-Session-Id"] for _ in range(2)]
        streams = []
        for _ in range(16):
            reply = world.gateway.post(HELLO, world.greedy)
            if reply.status != 200:
                break
            headers = {**world.greedy, "Mcp-Session-Id": reply.headers["Mcp-Session-Id"], "Accept": "text/event-stream"}
            streams.append(world.gateway.open("GET", "/mcp", None, headers))
        refused(reply, "max_http_sessions")
        assert 6 <= len(streams) <= 8, len(streams)
        # No session of another principal was ended for that, although they were idle; and there is room for more.
        kept += [world.gateway.post(HELLO, world.modest).headers["Mcp-Session-Id"] for _ in range(2)]
        for session in kept:
            ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}
            reply = world.gateway.post(ping, {**world.modest, "Mcp-Session-Id": session})
            assert reply.status == 200, reply
        for stream in streams:
            stream.close()
        soon(lambda: world.gateway.post(HELLO, world.greedy).status == 200, "its idle ones make room")


def test_connections(bin):
    with World(bin, "--max-connections=24") as world:
        kept, answer = [], b""
        for _ in range(24):
            kept.append(world.gateway.raw())
            kept[-1].send(world.bytes_of(DISCOVER, world.greedy))
            answer = kept[-1].read(b"}}")
            if b" 200 " not in answer:
                break
        assert b" 503 " in answer and b"Retry-After: " in answer and b"Connection: close" in answer, answer
        assert len(kept) == 13, len(kept)
        assert b"max_connections" in answer, answer
        kept += [world.gateway.raw() for _ in range(6)]
        for raw in kept[-6:]:
            raw.send(world.bytes_of(DISCOVER, world.modest))
            assert b" 200 " in raw.read(b"}}")
        # A connection counts for the principal that used it last, as behind a proxy.
        statuses = []
        for raw in kept[:3]:
            raw.send(world.bytes_of(DISCOVER, world.modest))
            statuses.append(raw.read(b"}}")[9:12])
        assert statuses[:2] == [b"200", b"503"], statuses
        for raw in kept:
            raw.close()
        soon(lambda: world.gateway.post(DISCOVER, world.greedy).status == 200, "it has its share again")


def test_bodies(bin):
    large = modern("tools/call", {"name": "nobody", "arguments": {"code": "x" * 4_000_000}})
    with World(bin, "--max-bodies-bytes=20000000") as world:
        kept = []
        for _ in range(12):
            kept.append(world.gateway.raw())
            kept[-1].send(world.bytes_of(DISCOVER, world.greedy, 5_000_000) + b" " * 3_000_000)
            time.sleep(0.05)
        soon(lambda: world.gateway.post(large, world.greedy).status == 503, "it has its share")
        refused(world.gateway.post(large, world.greedy), "max_bodies_bytes")
        assert world.gateway.post(large, world.modest).status == 200
        for raw in kept:
            raw.close()
        soon(lambda: world.gateway.post(large, world.greedy).status == 200, "it has it again")


# Paths that require no credentials need no body, so none is stored.
def test_bodies_of_nobody(bin):
    large = modern("tools/call", {"name": "nobody", "arguments": {"code": "x" * 4_000_000}})
    with World(bin, "--max-bodies-bytes=20000000") as world:
        before, kept = world.gateway.rss(), []
        for _ in range(12):
            kept.append(world.gateway.raw())
            kept[-1].send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n" + b" " * 4_900_000)
        time.sleep(0.3)
        assert world.gateway.holds(before + 3_000_000), world.gateway.rss() - before
        assert world.gateway.post(large, world.modest).status == 200
        for raw in kept:
            raw.send(b" " * 100_000)
            assert b" 200 " in raw.read(b"\r\n\r\n")
            raw.close()


def test_answers_that_wait(bin):
    with Cluster(bin) as cluster, World(bin, "--max-output-bytes=33554432", "--max-connections=40", cluster=cluster) as world:
        soon(lambda: world.gateway.ask("GET", "/readyz").status == 200, "readyz")
        for who in (world.greedy, world.modest):
            made = world.gateway.post(call("sandbox_upload_file", {"filename": "f", "content_base64": "AAAA" * 2_000_000}), who)
            assert not made.json["result"].get("isError"), made
        long, kept = call("sandbox_read_artifact", {"path": "f"}), []
        for _ in range(8):
            kept.append(world.gateway.raw())
            kept[-1].socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            kept[-1].send(world.bytes_of(long, world.greedy))
        reply = soon(lambda: "error" in (last := world.gateway.post(long, world.greedy)).json and last, "it has its share")
        assert "max_output_bytes" in reply.json["error"]["message"], reply
        reply = world.gateway.post(long, world.modest)
        assert len(reply.json["result"]["structuredContent"]["content_base64"]) == 8_000_000, reply
        for raw in kept:
            raw.close()
        soon(lambda: "result" in world.gateway.post(long, world.greedy).json, "it has it again")
        downloads(world)


# A read through a link counts for the principal the link was made for.
def downloads(world):
    session = world.gateway.post(call("create_session"), world.greedy).json["result"]["structuredContent"]["session_id"]
    made = world.gateway.post(call("execute_code", {"session_id": session, "code": "open('g', 'wb').write(bytes(6_000_000))"}), world.greedy)
    path = made.json["result"]["structuredContent"]["artifacts"][0]["download_url"].split("/", 3)[3]
    kept, answer = [], b""
    while b" 503 " not in answer and len(kept) < 40:
        kept.append(world.gateway.raw())
        kept[-1].socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        kept[-1].send(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        answer = kept[-1].read(b"\r\n\r\n")
    assert b" 503 " in answer and 15 < len(kept) < 25, (len(kept), answer)
    assert world.gateway.post(DISCOVER, world.modest).status == 200
    for raw in kept:
        raw.close()
    soon(lambda: world.gateway.ask("GET", "/" + path).status == 200, "it has it again")


def stream_of(world, who, session=None):
    """A session that listed tools over a stream: its owner's headers, and the event before the reply."""
    if session is None:
        session = {**who, "Mcp-Session-Id": world.gateway.post(HELLO, who).headers["Mcp-Session-Id"]}
    listed = world.gateway.post({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}},
                                {**session, "Accept": "text/event-stream"})
    return session, listed.events[0][0], len(listed.body)


def comes_back(world, session, event):
    reply = world.gateway.ask("GET", "/mcp", None, {**session, "Accept": "text/event-stream", "Last-Event-ID": event})
    return reply.status == 200 and reply.messages[-1]["id"] == 7


# Events stored for clients that reconnect: a principal that floods the store loses its own events.
def test_events_that_are_kept(bin):
    with World(bin, "--replay-bytes=65536") as world:
        session, event, size = stream_of(world, world.modest)
        assert size < 65536 and comes_back(world, session, event)
        before = world.gateway.rss()
        floods = [stream_of(world, world.greedy)[:2] for _ in range(3 * 64 * 65536 // size)]
        assert world.gateway.holds(before + 2 * 64 * 65536), world.gateway.rss() - before
        # Adds events to its session and to a new one; both need room despite the flood.
        ping = {"jsonrpc": "2.0", "id": 8, "method": "ping", "params": {}}
        assert world.gateway.post(ping, {**session, "Accept": "text/event-stream"}).status == 200
        mine = [(session, event)] + [stream_of(world, world.modest)[:2] for _ in range(8)]
        floods += [stream_of(world, world.greedy)[:2] for _ in range(8)]
        assert all(comes_back(world, *one) for one in mine)
        left = sum(comes_back(world, *one) for one in floods)
        assert 0 < left < 64 * 65536 // size, left


if __name__ == "__main__":
    cases.run(sys.modules[__name__], os.path.abspath(sys.argv[1]))
