#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that are slow, rude or many: bounded memory, bounded time, the right reply.  robust.py BIN"""

import json
import os
import signal
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import held  # noqa: E402
from gateway import Gateway, modern, readable, soon  # noqa: E402

DISCOVER = modern("server/discover")
MB = 1 << 20


# The bytes of a POST; length: the Content-Length in its head.
def post(gateway, message, more="", length=None):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    head = gateway.post_headers(message) if isinstance(message, dict) else gateway.post_headers({})
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return (f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{lines}{more}Content-Length: "
            f"{len(body) if length is None else length}\r\n\r\n").encode() + body


def alive(gateway):
    assert gateway.post(DISCOVER).status == 200


def brief(bin_, *flags):
    return Gateway(bin_, ["--header-timeout-ms=1000", "--idle-timeout-ms=1000", "--stall-timeout-ms=1000",
                          "--min-bytes-per-s=100000", *flags])


# How long the peer keeps the connection open while the client acts on it periodically.
def lasts(raw, drip, seconds=8):
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        try:
            drip()
        except (BrokenPipeError, ConnectionResetError):
            return time.monotonic() - began
        if readable(raw.socket, 0.1):
            try:
                if not raw.socket.recv(65536):
                    return time.monotonic() - began
            except ConnectionResetError:
                return time.monotonic() - began
    raise AssertionError(f"still open after {seconds} s")


# ---- slow ----

def test_a_head_that_trickles(bin_):
    with brief(bin_) as gateway, gateway.raw() as raw:
        raw.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n")
        assert 0.9 < lasts(raw, lambda: raw.send(b"X-A: b\r\n")) < 4
        alive(gateway)


def test_a_connection_that_says_nothing(bin_):
    with brief(bin_) as gateway, gateway.raw() as raw:
        assert 0.9 < lasts(raw, lambda: None) < 4


def test_a_body_that_trickles(bin_):
    with brief(bin_) as gateway, gateway.raw() as raw:
        raw.send(post(gateway, DISCOVER, length=100000))
        assert 0.9 < lasts(raw, lambda: raw.send(b" ")) < 4
        alive(gateway)


def test_a_second_head_that_trickles(bin_):
    with brief(bin_) as gateway, gateway.raw() as raw:
        raw.send(post(gateway, DISCOVER))
        assert b" 200 " in raw.read(b"serverInfo")
        raw.send(b"POST /mcp HT")
        assert 0.9 < lasts(raw, lambda: None) < 4


def test_an_answer_that_is_not_read(bin_):
    with brief(bin_, "--min-bytes-per-s=1000000") as gateway:
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(gateway.address)
        request = post(gateway, modern("tools/list"))
        sock.setblocking(False)
        try:
            while True:  # until neither side accepts more
                sock.send(request)
        except BlockingIOError:
            pass
        before = gateway.rss()
        time.sleep(5)
        assert gateway.holds(before + 4 * MB)
        assert not any_open(gateway, sock.getsockname()[1]), "it is closed"
        sock.close()
        alive(gateway)


# Does the gateway have an established connection with that local port?
def any_open(gateway, port):
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in list(table)[1:]]
    return any(row[1].endswith(f":{gateway.address[1]:04X}") and row[2].endswith(f":{port:04X}") and row[3] == "01"
               for row in rows)


def test_a_stream_that_is_not_read(bin_):
    flags = ["--max-stream-bytes=262144", "--replay-bytes=65536"]
    with Gateway(bin_, flags) as gateway:
        session = gateway.session()
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(gateway.address)
        head = "".join(f"{k}: {v}\r\n" for k, v in {**session.headers, "Content-Type": "application/json",
                                                    "Accept": "text/event-stream"}.items())
        request = (f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: "
                   f"{len(json.dumps(session.message('tools/list')))}\r\n\r\n" + json.dumps(session.message("tools/list"))).encode()
        before = gateway.rss()
        sock.setblocking(False)
        end = time.monotonic() + 4
        while time.monotonic() < end:
            try:
                sock.send(request)
            except BlockingIOError:
                time.sleep(0.05)
            except (ConnectionResetError, BrokenPipeError):
                break
        assert gateway.holds(before + 8 * MB), (before, gateway.rss())
        sock.close()
        alive(gateway)


def test_an_old_stream_that_is_not_read(bin_):
    with Gateway(bin_, ["--max-stream-bytes=262144"], transport="sse") as gateway:
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(gateway.address)
        sock.sendall(b"GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        said = b""
        while b"session_id=" not in said or not said.endswith(b"\r\n"):
            said += sock.recv(4096)
        where = "/messages?session_id=" + said.split(b"session_id=")[1][:32].decode()
        before, statuses = gateway.rss(), []
        for i in range(400):
            message = {"jsonrpc": "2.0", "id": i, "method": "initialize" if i == 0 else "tools/list", "params": {
                "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
            statuses.append(gateway.post(message, path=where).status)
        assert statuses[0] == 202 and statuses[-1] == 404, "the stream is closed, and its session with it"
        assert gateway.holds(before + 8 * MB)
        sock.close()


# ---- large ----

def test_64_mb(bin_):
    with Gateway(bin_) as gateway:
        began = time.monotonic()
        message = modern("tools/call", {"name": "nobody", "arguments": {"code": "x" * (64 * MB)}})
        reply = gateway.post(message, timeout=60)
        assert reply.status == 200 and reply.code == -32602, reply
        assert time.monotonic() - began < 20
        soon(lambda: gateway.holds(40 * MB), "memory is given back")
        alive(gateway)


def test_too_long_by_its_head(bin_):
    with Gateway(bin_, ["--max-message-bytes=1000000"]) as gateway, gateway.raw() as raw:
        raw.send(post(gateway, DISCOVER, length=10**9))
        assert b" 413 " in raw.read()
        alive(gateway)


def test_too_long_as_it_comes(bin_):
    with Gateway(bin_, ["--max-message-bytes=1000000"]) as gateway:
        before = gateway.rss()
        with gateway.raw() as raw:
            raw.send(post(gateway, {}, more="Transfer-Encoding: chunked\r\n").split(b"Content-Length")[0] + b"\r\n")
            try:
                for _ in range(640):
                    raw.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")
                raw.send(b"0\r\n\r\n")
            except (BrokenPipeError, ConnectionResetError):
                pass
            got = raw.read(b"split it")
            assert b" 413 " in got, got
            assert b"max_message_bytes" in got
        assert gateway.holds(before + 4 * MB)
        alive(gateway)


def test_a_head_that_is_too_long(bin_):
    with Gateway(bin_) as gateway:
        for lines in (b"X-A: " + b"b" * 100000 + b"\r\n", b"X-A: b\r\n" * 10000):
            with gateway.raw() as raw:
                try:
                    raw.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + lines + b"\r\n")
                except (BrokenPipeError, ConnectionResetError):
                    pass
                status = raw.read()[:12]
                assert status in (b"HTTP/1.1 431", b"HTTP/1.1 413", b""), status
        with gateway.raw() as raw:
            try:
                raw.send(b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
            except (BrokenPipeError, ConnectionResetError):
                pass
            assert raw.read()[:12] in (b"HTTP/1.1 414", b"HTTP/1.1 431", b"")
        alive(gateway)


def test_the_operator_bounds_heads(bin_):
    for flags, status in ([], b"200"), (["--max-header-bytes=4096"], b"431"):
        with Gateway(bin_, flags) as gateway, gateway.raw() as raw:
            raw.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-A: " + b"b" * 5000 + b"\r\n\r\n")
            assert raw.read()[9:12] == status, (flags, status)


def test_many_long_bodies(bin_):
    with Gateway(bin_, ["--max-bodies-bytes=20000000"]) as gateway:
        before = gateway.rss()
        kept = []
        for _ in range(20):
            raw = gateway.raw()
            raw.send(post(gateway, DISCOVER, length=5_000_000))
            kept.append(raw)
        for raw in kept:
            raw.send(b" " * 4_000_000)
        assert gateway.holds(before + 30 * MB)
        alive(gateway)
        rest = b" " * (1_000_000 - len(json.dumps(DISCOVER)))
        for raw in kept:
            raw.send(rest)
        statuses = [raw.read(b"}}")[9:12] for raw in kept]
        assert statuses.count(b"503") >= 15 and statuses.count(b"200") >= 2, statuses
        for raw in kept:
            raw.close()
        soon(lambda: gateway.post(modern("tools/call", {"name": "nobody", "arguments": {"code": "x" * 4_000_000}})).status == 200,
             "there is room again")


# A key costs a parser far more than a number does: one message with millions of them held everybody for seconds.
def test_many_keys(bin_):
    with Gateway(bin_) as gateway:
        for keys, said in (49_000, b"result"), (50_000, b"-32600"), (1_900_000, b"over the limit of 50000"):
            names = ",".join(f'"{i}":1' for i in range(keys))
            body = json.dumps(DISCOVER).replace('"params": {', '"params": {"x": {' + names + "}, ").encode()
            with gateway.raw() as raw:
                raw.send(post(gateway, DISCOVER, length=len(body)).split(b"\r\n\r\n")[0] + b"\r\n\r\n" + body)
                alive(gateway)
                got = raw.read(b"}}")
                assert said in got, (keys, got[-300:])


# ---- rude ----

def test_what_is_not_http(bin_):
    with Gateway(bin_) as gateway:
        for text in (b"\0" * 4096, b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 2000,
                     b"GET /healthz HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                     b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
                     b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
                     b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"):
            with gateway.raw() as raw:
                raw.send(text)
                raw.socket.shutdown(socket.SHUT_WR)
                got = raw.read()
                assert b" 200 " not in got and b"HTTP/1.1 2" not in got, (text, got)
        alive(gateway)


# A proxy that parses such a head differently would treat the bytes after it as another client's request.
def test_where_a_request_ends(bin_):
    with Gateway(bin_) as gateway:
        body = json.dumps(DISCOVER).encode()
        head, _, _ = post(gateway, DISCOVER).partition(b"Content-Length")
        length, chunked = b"Content-Length: %d\r\n" % len(body), b"Transfer-Encoding: chunked\r\n"
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        for status, lines, rest in (
                (400, length + b"Content-Length: 5\r\n", body), (400, b"Content-Length: 5\r\n" + length, body),
                (400, length + length, body), (400, length + chunked, chunks), (400, b"Content-Length : 5\r\n", body),
                (400, b"X: y\rTransfer-Encoding: chunked\r\n" + length, body), (400, length + b"X Y: z\r\n", body),
                (400, length + b"Host: localhost\r\n", body), (400, length[:-2] + b"\0009\r\n", body),
                (400, length[:-2] + b"\0009\r\nX: y\r\n", body), (400, length[:-2] + b"\0\r\n", body),
                (400, b"Transfer-Encoding: chunked\0x\r\n", chunks), (400, b"X: y\0z\r\n" + length, body),
                (400, length + b"X: y\0\0\r\n", body), (400, length + b"X\0: y\r\n", body),
                (400, b"X: y\r\n z\r\n" + length, body), (400, length + b"X: y\r\n\tz\r\n", body),
                (200, b"X:y\r\nZ: \r\nA:\r\n" + length, body), (200, length + b"X:  y \r\n", body), (200, length + b"X:\r\n", body),
                (200, length[:-1].replace(b"\r", b"\n"), body), (501, b"Transfer-Encoding: xchunked\r\n", chunks),
                (501, b"Transfer-Encoding: chunked, identity\r\n", chunks), (501, chunked + b"Transfer-Encoding: identity\r\n", chunks),
                (200, chunked, chunks), (200, length, body)):
            with gateway.raw() as raw:
                raw.send(head + lines + b"\r\n" + rest + (b"" if status == 200 else b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                got = raw.read(b"supportedVersions" if status == 200 else None)
                assert got.startswith(b"HTTP/1.1 %d " % status) and got.count(b"HTTP/1.1") == 1, (lines, got)
        # The library's own refusal: its body is a second head, cut to the expected size; no bytes after it are served.
        for status, value in ((400, b"+%d"), (400, b"-%d"), (400, b"0x%x"), (400, b"%d,5"), (400, b"%d 5"), (400, b"%d "), (400, b""),
                              (413, b"9999999999999999999%d")):
            with gateway.raw() as raw:
                said = value % len(body) if b"%" in value else value
                raw.send(head + b"Content-Length: " + said + b"\r\n\r\n" + body + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                got = raw.read()
                assert got.startswith(b"HTTP/1.1 %d " % status) and b"Connection: close" in got, (value, got)
                assert b" 200 " not in got and b"ready" not in got, (value, got)
        for text, status in ((head.replace(b"1.1", b"1.0") + chunked + b"\r\n" + chunks, 400),
                             (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
                             (b"GET /healthz HTTP/1.1\0\0\0\r\nHost: localhost\r\nConnection: close\r\n\r\n", 400),
                             (b"GET /healthz HTTP/1.0\r\n\r\n", 421),
                             (b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", 200)):
            with gateway.raw() as raw:
                raw.send(text)
                got = raw.read()
                assert got.startswith(b"HTTP/1.1 %d " % status) and got.count(b"HTTP/1.1") == 1, (text, got)
        alive(gateway)


def test_forms_of_a_path(bin_):
    with Gateway(bin_) as gateway:
        for path, status in ((b"/healthz", 200), (b"/%68ealthz?x", 200), (b"http://localhost/healthz", 200), (b"/healthz%00", 404),
                             (b"/%00healthz", 404), (b"/healthz x", 404), (b"http://localhost", 404), (b"*", 404), (b"//healthz", 404)):
            with gateway.raw() as raw:
                raw.send(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                assert raw.read().startswith(b"HTTP/1.1 %d " % status), path


def test_requests_in_a_row(bin_):
    with Gateway(bin_) as gateway, gateway.raw() as raw:
        raw.send(b"".join(post(gateway, modern("server/discover", id_=i)) for i in range(50)))
        raw.socket.shutdown(socket.SHUT_WR)
        got = raw.read().decode()
        assert got.count("HTTP/1.1 200") == 50
        at = [got.index(f'"id":{i},') for i in range(50)]
        assert at == sorted(at)


def test_leaving_at_every_byte(bin_):
    with Gateway(bin_) as gateway:
        whole = post(gateway, DISCOVER)
        for n in range(0, len(whole), 3):
            with gateway.raw() as raw:
                raw.send(whole[:n])
        alive(gateway)
        soon(lambda: b"cloister_http_connections 1\n" in gateway.ask("GET", "/metrics").body, "all are closed")


def test_half_closed(bin_):
    with Gateway(bin_) as gateway, gateway.raw() as raw:
        raw.send(post(gateway, DISCOVER))
        raw.socket.shutdown(socket.SHUT_WR)
        assert b"supportedVersions" in raw.read()


def test_expect_continue(bin_):
    with Gateway(bin_, ["--max-message-bytes=1000000"]) as gateway, gateway.raw() as raw:
        whole = post(gateway, DISCOVER, "Expect: 100-continue\r\n")
        head, _, body = whole.partition(b"\r\n\r\n")
        raw.send(head + b"\r\n\r\n")
        assert b"100 Continue" in raw.read(b"\r\n\r\n")
        raw.send(body)
        assert b"supportedVersions" in raw.read(b"supportedVersions")


# ---- many ----

def test_connections_are_bounded(bin_):
    with Gateway(bin_, ["--max-connections=20"]) as gateway:
        kept = [gateway.raw() for _ in range(19)]
        alive(gateway)
        kept += [gateway.raw()]
        with gateway.raw() as raw:
            raw.send(post(gateway, DISCOVER))
            assert not readable(raw.socket, 0.5), "it waits"
            for each in kept[:3]:
                each.close()
            assert b"supportedVersions" in raw.read(b"supportedVersions")
        for each in kept:
            each.close()
        soon(lambda: quiet(gateway), "there is room again")


def test_as_many_as_may_be_leave_at_once(bin_):
    with Gateway(bin_, ["--max-connections=5"]) as gateway:
        kept = [gateway.raw() for _ in range(5)]
        for each in kept:
            each.send(post(gateway, DISCOVER))
            assert b"supportedVersions" in each.read(b"supportedVersions")
        os.kill(gateway.process.pid, signal.SIGSTOP)
        for each in kept:
            each.close()
        os.kill(gateway.process.pid, signal.SIGCONT)
        assert gateway.post(DISCOVER, timeout=10).status == 200


def test_connections_of_one_address_are_bounded(bin_):
    with Gateway(bin_, ["--max-connections-per-address=5"]) as gateway:
        kept = [gateway.raw() for _ in range(8)]
        time.sleep(0.3)
        assert sum(readable(raw.socket, 0) for raw in kept) == 3
        for raw in kept:
            raw.close()
        soon(lambda: quiet(gateway), "there is room again")


def quiet(gateway):
    try:
        return gateway.post(DISCOVER).status == 200
    except OSError:
        return False


def test_many_at_once(bin_):
    with Gateway(bin_) as gateway:
        failed = []

        def ask(n):
            for i in range(50):
                reply = gateway.post(modern("tools/list", id_=f"{n}-{i}"))
                if reply.status != 200 or reply.json["id"] != f"{n}-{i}":
                    failed.append(reply)

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, failed[0]


def main():
    counts = cases.play(sys.modules[__name__], named={"bin_": os.path.abspath(sys.argv[1])}, after=held.check)
    cases.end(counts)


if __name__ == "__main__":
    main()
