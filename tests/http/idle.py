#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Idle streams: the memory of each, and their effect on other requests.  idle.py BIN [STREAMS]

The streams are GET /mcp of sessions (2025-11-25), all from one client process.  The test fails if a stream costs more
than 24 KiB, or if other requests become ten times as slow."""

import os
import resource
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from gateway import Gateway, modern  # noqa: E402

MAX_BYTES = 24 * 1024


# Raises the limit of descriptors to at least that many; returns the limit.
def descriptors(wanted):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))
    except (ValueError, PermissionError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def open_stream(gateway, address):
    raw = gateway.raw(source=(address, 0))
    body = (b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
            b'"clientInfo":{"name":"t","version":"1"}}}')
    raw.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
             b"Content-Length: %d\r\n\r\n" % len(body) + body)
    reply = raw.read(b'"serverInfo"')
    id_ = next(line for line in reply.split(b"\r\n") if line.lower().startswith(b"mcp-session-id")).split(b": ")[1]
    raw.send(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: " + id_ + b"\r\n\r\n")
    reply = raw.read(b"\r\n\r\n")
    assert b" 200 " in reply, reply
    return raw


# Median time of a single request, in microseconds.
def request_us(gateway, times=300):
    import json

    message = modern("server/discover")
    body = json.dumps(message).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in gateway.post_headers(message).items())
    whole = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    took = []
    with gateway.raw() as raw:
        for _ in range(times):
            began = time.perf_counter()
            raw.send(whole)
            raw.read(b"serverInfo")
            took.append((time.perf_counter() - began) * 1e6)
    return sorted(took)[times // 2]


def cpu_s(gateway):
    with open(f"/proc/{gateway.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    n = min(wanted, descriptors(wanted + 500) - 200)
    flags = [f"--max-connections={n + 500}", f"--max-http-sessions={n + 10}", "--keep-alive-ms=600000"]
    with Gateway(os.path.abspath(sys.argv[1]), flags) as gateway:
        alone, before = request_us(gateway), gateway.rss()
        began = time.monotonic()
        # Each address has 28,000 ports.
        streams = [open_stream(gateway, f"127.0.0.{1 + i // 20000}") for i in range(n)]
        opened = time.monotonic() - began
        each = (gateway.rss() - before) / n
        beside = request_us(gateway)
        used, began = cpu_s(gateway), time.monotonic()
        time.sleep(3)
        idle = (cpu_s(gateway) - used) / (time.monotonic() - began)
        print(f"{n} streams of as many sessions, opened in {opened:.1f} s: {gateway.rss() / 2**20:.1f} MiB resident, "
              f"{each:.0f} bytes each; discover {alone:.0f} us alone, {beside:.0f} us beside them; "
              f"{idle * 100:.1f} % of a processor while nothing happens")
        for stream in streams:
            stream.close()
        assert n == wanted, f"only {n} descriptors could be had"
        assert gateway.holds(before + n * MAX_BYTES), each
        assert beside < alone * 10 + 1000, (alone, beside)


if __name__ == "__main__":
    main()
