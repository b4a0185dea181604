#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The requirements of MCP's revisions on HTTP, request by request, without daemons.  rules.py BIN"""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import held  # noqa: E402
from gateway import ACCEPT, MODERN, Gateway, modern, readable  # noqa: E402

DISCOVER = modern("server/discover")
JSON = {"Content-Type": "application/json", "Accept": ACCEPT}


def expect(reply, status, code=None, says=""):
    assert reply.status == status, reply
    if code is not None:
        assert reply.code == code, reply
    assert says in reply.body.decode(), reply


# ---- 2026-07-28 ----

def test_discover_is_answered_as_json(gateway):
    reply = gateway.post(DISCOVER)
    expect(reply, 200)
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.json["result"]["supportedVersions"] == [MODERN]
    assert "Mcp-Session-Id" not in reply.headers


def test_a_stream_only_for_who_takes_nothing_else(gateway):
    reply = gateway.post(DISCOVER, {"Accept": "text/event-stream"})
    expect(reply, 200)
    assert reply.headers["Content-Type"] == "text/event-stream"
    assert reply.headers["X-Accel-Buffering"] == "no"
    assert [m["id"] for m in reply.messages] == [1]


def test_accept(gateway):
    expect(gateway.post(DISCOVER, {"Accept": "text/html"}), 406)
    for accept in ("*/*", "application/*", "Application/JSON;q=0.5", "text/html, application/json", None):
        expect(gateway.post(DISCOVER, {"Accept": accept}), 200)
    for accept in ("application/json;q=0", "application/json; q=0.000, text/event-stream;v=1;Q=0", "*/*;q=0"):
        expect(gateway.post(DISCOVER, {"Accept": accept}), 406)
    for accept in ("application/json;q=0, text/event-stream", "*/*, application/json;q=0"):
        reply = gateway.post(DISCOVER, {"Accept": accept})
        expect(reply, 200)
        assert reply.headers["Content-Type"] == "text/event-stream", (accept, reply)


def test_accept_on_several_lines(gateway):
    body = json.dumps(DISCOVER).encode()
    with gateway.raw() as raw:
        raw.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\n"
                 b"Mcp-Method: server/discover\r\nAccept: text/html\r\nAccept: text/event-stream\r\n"
                 b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        assert b"Content-Type: text/event-stream" in raw.read()


def test_content_type(gateway):
    for given in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", "", None):
        expect(gateway.post(DISCOVER, {"Content-Type": given}), 415)
    expect(gateway.post(DISCOVER, {"Content-Type": "application/json; charset=utf-8"}), 200)


def test_unknown_methods(gateway):
    expect(gateway.post(modern("no/such")), 404, -32601)
    for legacy in ("initialize", "ping"):
        expect(gateway.post(modern(legacy)), 404, -32601)


def test_bad_params_are_answered_in_band(gateway):
    expect(gateway.post(modern("tools/call", {"name": "nobody"})), 200, -32602)


def test_versions(gateway):
    other = {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    message = modern("server/discover", meta=other)
    reply = gateway.post(message, {"MCP-Protocol-Version": "2031-01-01", "Mcp-Method": "server/discover"})
    expect(reply, 400, -32022)
    assert reply.json["error"]["data"] == {"supported": [MODERN], "requested": "2031-01-01"}
    expect(gateway.post(DISCOVER, {"MCP-Protocol-Version": "2025-11-25"}), 400, -32020)
    expect(gateway.post(DISCOVER, {"MCP-Protocol-Version": None}), 400, -32020)
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}}
    reply = gateway.post(message, {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}, wrong=True)
    expect(reply, 400, -32602, "clientCapabilities")
    assert reply.json["id"] == 7


def test_an_envelope_that_lacks_something(gateway):
    message = modern("server/discover")
    del message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    expect(gateway.post(message, {"MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover"}, wrong=True), 400, -32602)


def test_the_method_header(gateway):
    expect(gateway.post(DISCOVER, {"Mcp-Method": None}), 400, -32020, "missing")
    expect(gateway.post(DISCOVER, {"Mcp-Method": "tools/list"}), 400, -32020)
    expect(gateway.post(DISCOVER, {"Mcp-Method": "Server/discover"}), 400, -32020)
    expect(gateway.post(DISCOVER, {"Mcp-Method": "  server/discover \t"}), 200)
    expect(gateway.post(DISCOVER, {"Mcp-Method": None, "mcp-METHOD": "server/discover"}), 200)


def test_the_name_header(gateway):
    message = modern("tools/call", {"name": "nobody"})
    expect(gateway.post(message, {"Mcp-Name": None}), 400, -32020)
    expect(gateway.post(message, {"Mcp-Name": "somebody"}), 400, -32020)
    expect(gateway.post(message, {"Mcp-Name": "=?base64?bm9ib2R5?="}), 200, -32602)
    for malformed in ("=?base64?bm9ib2R5", "=?base64?bm9ib2R5=?=", "=?base64?bm9i b2R5?=", "=?BASE64?bm9ib2R5?=",
                      "=?base64?bm9ib2R?="):
        expect(gateway.post(message, {"Mcp-Name": malformed}), 400, -32020)


def test_headers_of_arguments(gateway):
    listed = gateway.post(modern("tools/list")).json["result"]["tools"]
    schema = next(tool for tool in listed if tool["name"] == "validate_code")["inputSchema"]["properties"]
    assert schema["language"]["x-mcp-header"] == "Language"
    for colour, says in (("python", 200), ("=?base64?cHl0aG9u?=", 200), ("Python", 400), ("node", 400), ("=?base64?cHl0aG9?=", 400),
                         (None, 400)):
        message = modern("tools/call", {"name": "validate_code", "arguments": {"language": "python", "code": 7}})
        reply = gateway.post(message, {"Mcp-Param-Language": colour})
        expect(reply, says, -32020 if says == 400 else None)
    message = modern("tools/call", {"name": "validate_code", "arguments": {"code": 7}})
    expect(gateway.post(message, {"Mcp-Param-Language": "python"}), 400, -32020)
    expect(gateway.post(message), 200)


def test_a_header_twice(gateway):
    body = json.dumps(DISCOVER).encode()
    with gateway.raw() as raw:
        raw.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                 b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\nMcp-Method: server/discover\r\n"
                 b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        assert b" 400 " in raw.read()


def test_notifications(gateway):
    reply = gateway.post({"jsonrpc": "2.0", "method": "notifications/x"}, {"MCP-Protocol-Version": MODERN})
    expect(reply, 202)
    assert reply.body == b""


def test_only_post_without_a_session(gateway):
    for method in ("GET", "DELETE"):
        for headers in ({}, {"MCP-Protocol-Version": MODERN}, {"MCP-Protocol-Version": MODERN, "Mcp-Session-Id": "x"}):
            reply = gateway.ask(method, "/mcp", None, {"Accept": "text/event-stream", **headers})
            expect(reply, 405)
            assert "POST" in reply.headers["Allow"]
    expect(gateway.ask("PUT", "/mcp", b"{}", JSON, wrong=True), 405)


def test_a_session_id_means_nothing(gateway):
    expect(gateway.post(DISCOVER, {"Mcp-Session-Id": "nobody", "Last-Event-ID": "1-1"}), 200)


def test_what_is_no_message(gateway):
    for body, code in ((b"", -32700), (b"{", -32700), (b"[" * 400, -32600), (b'{"a":1,"a":2}', -32700),
                       (b'"\xff"', -32700), (b'{"jsonrpc":"2.0","id":1,"method":"x","params":"\\ud800"}', -32700)):
        expect(gateway.ask("POST", "/mcp", body, JSON, wrong=True), 400, code)
    expect(gateway.ask("POST", "/mcp", b"7", JSON, wrong=True), 400)


def test_batches_with_a_claim(gateway):
    expect(gateway.ask("POST", "/mcp", json.dumps([DISCOVER]).encode(), JSON, wrong=True), 400, -32600)


def test_a_body_of_many_lines(gateway):
    body = json.dumps(DISCOVER, indent=2).encode()
    expect(gateway.ask("POST", "/mcp", body, gateway.post_headers(DISCOVER)), 200)


# ---- origin and host ----

def test_hosts(gateway):
    port = gateway.address[1]
    for host in ("localhost", f"localhost:{port}", "LOCALHOST:1", "127.0.0.1", "[::1]:80", "[::1]"):
        expect(gateway.post(DISCOVER, {"Host": host}), 200)
    for host in ("evil.example", "localhost.evil.example", "localhost:80@evil.example", "127.0.0.1.evil.example", "",
                 "[::1].evil", "localhost:x"):
        reply = gateway.post(DISCOVER, {"Host": host})
        expect(reply, 421, says="Host")


def test_origins(gateway):
    for origin in ("http://localhost:5173", "https://127.0.0.1", "http://[::1]:1"):
        reply = gateway.post(DISCOVER, {"Origin": origin})
        expect(reply, 200)
        assert reply.headers["Access-Control-Allow-Origin"] == origin
        assert "Mcp-Session-Id" in reply.headers["Access-Control-Expose-Headers"]
    for origin in ("http://evil.example", "null", "http://localhost.evil.example", "file://", "http://localhost@evil.example",
                   "http://localhost/../"):
        reply = gateway.post(DISCOVER, {"Origin": origin})
        expect(reply, 403, says="Origin")
        assert "Access-Control-Allow-Origin" not in reply.headers
    expect(gateway.ask("GET", "/healthz", None, {"Origin": "http://evil.example"}), 403)


def test_preflight(gateway):
    asked = {"Origin": "http://localhost:1", "Access-Control-Request-Method": "POST",
             "Access-Control-Request-Headers": "mcp-method,content-type"}
    reply = gateway.ask("OPTIONS", "/mcp", None, asked)
    expect(reply, 204)
    assert reply.headers["Access-Control-Allow-Headers"] == "mcp-method,content-type"
    expect(gateway.ask("OPTIONS", "/mcp", None, {**asked, "Origin": "http://evil.example"}), 403)
    expect(gateway.ask("OPTIONS", "/.well-known/oauth-protected-resource/mcp", None, asked), 204)
    expect(gateway.ask("OPTIONS", "/messages", None, asked), 404)
    with Gateway(os.path.dirname(gateway.command[0]), transport="sse") as old:
        for path in ("/sse", "/messages"):
            reply = old.ask("OPTIONS", path, None, asked)
            expect(reply, 204)
            assert reply.headers["Access-Control-Allow-Origin"] == asked["Origin"], reply


def test_names_of_the_operator(gateway):
    flags = ["--allowed-hosts=box.example.com,other.example", "--allowed-origins=https://chat.example.com"]
    with Gateway(os.path.dirname(gateway.command[0]), flags) as mine:
        expect(mine.post(DISCOVER, {"Host": "Box.example.com:443"}), 200)
        expect(mine.post(DISCOVER, {"Host": "example.com"}), 421)
        expect(mine.post(DISCOVER, {"Origin": "https://chat.example.com"}), 200)
        expect(mine.post(DISCOVER, {"Origin": "http://chat.example.com"}), 403)


# ---- authentication ----

def test_nobody_comes_in_without_credentials(gateway):
    with Gateway(os.path.dirname(gateway.command[0]), anonymous=False) as closed:
        reply = closed.post(DISCOVER)
        expect(reply, 401)
        assert reply.headers["WWW-Authenticate"].startswith("Bearer")
        expect(closed.post(DISCOVER, {"Authorization": "Bearer nobody"}), 401)
        expect(closed.ask("GET", "/metrics"), 401)
        expect(closed.ask("GET", "/healthz"), 200)


def test_rates(gateway):
    with Gateway(os.path.dirname(gateway.command[0]), ["--rate-per-s=1", "--rate-burst=3"]) as slow:
        replies = [slow.post(DISCOVER) for _ in range(5)]
        assert [r.status for r in replies] == [200, 200, 200, 429, 429], replies
        assert 1 <= int(replies[-1].headers["Retry-After"]) <= 2
        expect(slow.ask("GET", "/healthz"), 200)
    with Gateway(os.path.dirname(gateway.command[0]), ["--rate-per-s=2", "--rate-burst=20"]) as slow:
        session = slow.session("2025-03-26")
        expect(session.post([session.message("ping", id_=i) for i in range(24)]), 200)
        reply = session.post(session.message("ping"))
        expect(reply, 429)
        assert 3 <= int(reply.headers["Retry-After"]) <= 4, "a batch counts as what is in it"


# ---- sessions of earlier revisions ----

def test_every_earlier_revision(gateway):
    for version in ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"):
        session = gateway.session(version)
        assert session.reply.json["result"]["protocolVersion"] == version
        assert len(session.id) >= 32 and session.id.isalnum()
        reply = session.post(session.message("tools/list", id_="a"))
        expect(reply, 200)
        assert reply.json["id"] == "a" and reply.json["result"]["tools"]


def test_a_session_is_needed(gateway):
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    expect(gateway.post(listing), 400, says="Mcp-Session-Id")
    expect(gateway.post(listing, {"Mcp-Session-Id": "0" * 32}), 404)
    expect(gateway.post(listing, {"Mcp-Session-Id": "x" * 3000}), 404)


def test_the_end_of_a_session(gateway):
    session = gateway.session()
    stream = session.get()
    assert stream.status == 200
    expect(session.delete(), 204)
    assert stream.event() is None
    expect(session.post(session.message("ping")), 404)
    expect(session.delete(), 404)


def test_no_session_for_who_failed(gateway):
    before = metric(gateway, "cloister_http_sessions")
    reply = gateway.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}, wrong=True)
    expect(reply, 400, -32602)
    assert "Mcp-Session-Id" not in reply.headers
    assert metric(gateway, "cloister_http_sessions") == before


def test_the_head_of_a_stream_takes_none_over(gateway):
    session = gateway.session()
    stream = session.get()
    reply = gateway.ask("HEAD", "/mcp", None, {**session.headers, "Accept": "text/event-stream"})
    expect(reply, 200)
    assert reply.headers["Content-Type"] == "text/event-stream"
    assert not readable(stream.connection.sock, 0.3), "it has not ended"
    expect(session.delete(), 204)
    assert stream.event() is None


def test_a_version_that_sessions_are_not_of(gateway):
    session = gateway.session()
    expect(session.post(session.message("ping"), {"MCP-Protocol-Version": "1999-01-01"}), 400)
    expect(session.post(session.message("ping"), {"MCP-Protocol-Version": None}), 200)


def test_batches(gateway):
    session = gateway.session("2025-03-26")
    reply = session.post([session.message("ping", id_=1), session.message("tools/list", id_=2),
                          {"jsonrpc": "2.0", "method": "notifications/x"}])
    expect(reply, 200)
    assert [m["id"] for m in reply.json] == [1, 2]
    expect(session.post([{"jsonrpc": "2.0", "method": "notifications/x"}]), 202)
    expect(session.post([], wrong=True), 400, -32600)
    later = gateway.session("2025-06-18")
    reply = later.post([later.message("ping")], wrong=True)
    expect(reply, 400, -32600)


def test_what_is_no_message_of_a_session(gateway):
    for session in map(gateway.session, ("2025-11-25", "2025-03-26")):
        for bad in ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, {"jsonrpc": "1.0", "method": "ping"}, 7):
            for accept in (ACCEPT, "text/event-stream"):
                reply = session.post(bad, {"Accept": accept}, wrong=True)
                expect(reply, 400, -32600)
                assert "id" not in reply.json and reply.headers["Content-Type"] == "application/json", reply
        expect(session.post({"jsonrpc": "1.0", "id": 3, "method": "ping"}, wrong=True), 200, -32600)
        expect(session.post(session.message("ping")), 200)


def test_both_kinds_at_once(gateway):
    session = gateway.session()
    reply = gateway.post(DISCOVER, {"Mcp-Session-Id": session.id})
    expect(reply, 200)
    assert "supportedVersions" in reply.json["result"]
    expect(session.post(session.message("ping")), 200)


def test_sessions_are_bounded(gateway):
    with Gateway(os.path.dirname(gateway.command[0]), ["--max-http-sessions=3"]) as small:
        sessions = []
        for _ in range(4):
            sessions.append(small.session())
            time.sleep(0.01)
        expect(sessions[0].post(sessions[0].message("ping")), 404)
        for session in sessions[1:]:
            expect(session.post(session.message("ping")), 200)
        streams = [session.get() for session in sessions[1:]]
        reply = small.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
        expect(reply, 503)
        for stream in streams:
            stream.close()


def test_idle_sessions_end(gateway):
    with Gateway(os.path.dirname(gateway.command[0]), ["--session-ttl-ms=300"]) as brief:
        session = brief.session()
        expect(session.post(session.message("ping")), 200)
        time.sleep(2.5)
        expect(session.post(session.message("ping")), 404)


# ---- 2024-11-05 ----

def test_http_with_sse(gateway):
    with Gateway(os.path.dirname(gateway.command[0]), transport="sse") as old:
        stream = old.open("GET", "/sse", None, {"Accept": "text/event-stream"})
        _, name, where = stream.event()
        assert name == "endpoint" and where.startswith("/messages?session_id=")
        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
        expect(old.post(begin, path=where), 202)
        assert stream.message()["result"]["protocolVersion"] == "2024-11-05"
        expect(old.post({"jsonrpc": "2.0", "id": "x", "method": "tools/list"}, path=where), 202)
        answer = stream.message()
        assert answer["id"] == "x" and answer["result"]["tools"]
        expect(old.post(begin, path="/messages?session_id=" + "0" * 32), 404)
        expect(old.post(begin, path="/messages"), 404)
        expect(old.post(DISCOVER), 200)
        counts = [line for line in old.ask("GET", "/metrics").body.decode().splitlines() if "duration_seconds_count" in line]
        for method in ("initialize", "tools/list", "server/discover"):
            assert f'mcp_server_operation_duration_seconds_count{{mcp_method_name="{method}"}} 1' in counts, counts
        stream.close()


def test_a_stream_of_sse_is_no_session_of_mcp(gateway):
    with Gateway(os.path.dirname(gateway.command[0]), transport="sse") as old:
        stream = old.open("GET", "/sse", None, {"Accept": "text/event-stream"})
        _, _, where = stream.event()
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        headers = {"Mcp-Session-Id": where.partition("=")[2], "Accept": "text/event-stream"}
        expect(old.post(ping, headers, timeout=5), 404)
        for method in ("GET", "DELETE"):
            expect(old.ask(method, "/mcp", None, headers, timeout=5), 404)
        expect(old.post(ping, path=where), 202)
        assert stream.message() == {"jsonrpc": "2.0", "id": 1, "result": {}}
        expect(old.post(ping, path="/messages?session_id=" + old.session().id), 404)
        assert old.end() == 0, "with a stream that is open"
        stream.close()


def test_sse_only_where_asked_for(gateway):
    expect(gateway.ask("GET", "/sse"), 404)


# ---- monitoring ----

def metric(gateway, name):
    lines = gateway.ask("GET", "/metrics").body.decode().splitlines()
    return next(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + " ") or line.startswith(name + "{"))


def test_health(gateway):
    expect(gateway.ask("GET", "/healthz"), 200)
    expect(gateway.ask("HEAD", "/healthz"), 200)
    expect(gateway.ask("GET", "/readyz"), 503, says="is not connected")
    expect(gateway.ask("GET", "/nothing"), 404)


def test_metrics(gateway):
    gateway.post(DISCOVER)
    gateway.post(modern("bad\"method\n{}"), {"Mcp-Method": None})
    text = gateway.ask("GET", "/metrics").body.decode()
    assert 'mcp_server_operation_duration_seconds_count{mcp_method_name="server/discover"}' in text
    assert 'le="+Inf"' in text and "bad" not in text
    for line in text.splitlines():
        assert line.startswith("# ") or len(line.rsplit(" ", 1)) == 2 and float(line.rsplit(" ", 1)[1]) >= 0, line


# Messages without a reply do not count as cancelled: notifications, alone or in a batch, and replies to the server.
def test_metrics_of_what_is_not_answered(gateway):
    def counted(method, labels=""):
        lines = gateway.ask("GET", "/metrics").body.decode().splitlines()
        row = f'mcp_server_operation_duration_seconds_count{{mcp_method_name="{method}"{labels}}} '
        return sum(int(line[len(row):]) for line in lines if line.startswith(row))

    notice = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
    before = counted(notice["method"]), counted("_OTHER"), counted("_OTHER", ',error_type="cancelled"')
    expect(gateway.session().post(notice), 202)
    session = gateway.session("2025-03-26")
    for message in (notice, [notice], {"jsonrpc": "2.0", "id": "none", "result": {}}):
        expect(session.post(message), 202)
    assert not counted(notice["method"], ',error_type="cancelled"')
    after = counted(notice["method"]), counted("_OTHER"), counted("_OTHER", ',error_type="cancelled"')
    assert after == (before[0] + 2, before[1] + 2, before[2]), (before, after)
    assert counted("notifications/initialized") and not counted("notifications/initialized", ',error_type="cancelled"')


def main():
    with Gateway(os.path.abspath(sys.argv[1])) as gateway:
        counts = cases.play(sys.modules[__name__], gateway, after=held.check)
    cases.end(counts)


if __name__ == "__main__":
    main()
