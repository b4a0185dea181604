#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds of the fuzzers: seeds.py GOLDEN DIRECTORY writes a directory of inputs for each, and a dictionary of the table's words.

The samples, of test_golden --print, are in the order of the table, so the n-th message is number n of enum msg_id.
"""
import contextlib
import json
import pathlib
import ssl
import struct
import sys

LINES = [
    '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{}}}',
    '{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"x","version":"1"}}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"\\u20ac"}}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"1"}}}',
    '[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"}]',
    '{"jsonrpc":"2.0","id":9223372036854775807,"result":{}}',
]
META = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":' \
    '{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}'
METHODS = {
    "completion/complete": '"ref":{"type":"ref/resource","uri":"sandbox://artifacts/{session_id}/{+path}"},'
                           '"argument":{"name":"path","value":"a"},"context":{"arguments":{"session_id":"s"}}',
    "logging/setLevel": '"level":"debug"',
    "prompts/get": '"name":"generate_secure_script","arguments":{"task":"t","language":"shell"}',
    "prompts/list": "",
    "resources/list": '"cursor":null',
    "resources/read": '"uri":"sandbox://artifacts/s/a%20b"',
    "resources/subscribe": '"uri":"sandbox://status"',
    "resources/templates/list": "",
    "server/discover": "",
    "subscriptions/listen": '"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["sandbox://logs"],"taskIds":["t"]}',
    "tasks/get": '"taskId":"task_00000000000000000000000000000000"',
    "tasks/update": '"taskId":"t","inputResponses":{"x":{}}',
    "tools/call": '"name":"terminate_session","arguments":{"session_id":"s"},"inputResponses":{"confirm":{"action":"accept"}},"requestState":"AA"',
    "tools/list": "",
}
REQUESTS = [
    "GET /simple/ HTTP/1.1\r\nHost: a.test\r\nAuthorization: Basic eDp5\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.1\r\nHost: a.test:443\r\n\r\n",
    "POST /u HTTP/1.1\r\nhost:a.test\r\nContent-Length: 5\r\nAccept-Encoding: gzip\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
    "PUT /u HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nConnection: close, TE\r\n\r\n5;x=y\r\nhello\r\n0\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]
PATHS = ["data/a.csv", "/workspace/a%25.csv", "/mnt/data/x", "%FF%0A/b", "a/../b", "a//b", "\u202e\u00e9/\U0001f40d"]
CODES = [
    "import os, math as m\nfrom a.b import *\nfrom . import c\nprint(eval('1'), ().__class__)\n",
    "@lru_cache\ndef f(a, *b, c=1, **d):\n    global g\n    return [x for x in a if x] or (lambda: json.dumps(c))\n",
    "Here:\n```python\nprint(\u201chi\u201d, math.pi)\n```\n",
    "if 1:\n    x = 1\n\ty = \'\'\'\n\tz\'\'\'\n",
    "    x = 1\n    y = '{0.__a__}'\n",
    "match x:\n case A(b=c, *_): pass\ntry:\n  getattr(a, 'b' + c)\nexcept* E as e:\n  f'{a!r:>{b}}'\n",
    "class A(B, metaclass=C):\n  'doc'\n  async def f(self): await self.g\n",
]
ENTRY = {"mode": 420, "mtime_ns": 0, "size": 0}
TREE = {"snapshot": {"snapshot_id": "b9c5cb36", "created_at": "2026-01-02T03:04:05Z", "file_count": 1, "total_bytes": 7,
                     "new_bytes": 7},
        "entries": [{"path": "a", "type": "directory", **ENTRY},
                    {"path": "a/%FF", "type": "file", **ENTRY, "size": 7, "sha256": "0123456789abcdef" * 4},
                    {"path": "l", "type": "symlink", **ENTRY, "target": "../x"}]}
# Frames of a driver, see executor/guest/protocol.h: kind and payload.
FRAMES = [(b"R", b'{"a":[1,2.5,null]}'), (b"V", b"x\ny\n"), (b"E", b"ValueError\n3\nno\n"), (b"R", b"")]
# Which of the five of fuzz_token.c, and its text.  The token and the key are those of RFC 7515, appendix A.3.
POINT = '"x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"'
TOKENS = [
    (0, "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"),
    (0, "eyJhbGciOiJub25lIn0.e30."),
    (1, '{"iss":"https://i","aud":["https://r"],"exp":2000,"nbf":1,"iat":1,"sub":"a","ns":"b","scope":"cloister:run x"}'),
    (1, '{"iss":"https://i","aud":"https://r","exp":2e3,"sub":"a b","scp":["cloister:read"]}'),
    (2, '{"keys":[{"kty":"EC","crv":"P-256","kid":"k","use":"sig","key_ops":["verify"],"alg":"ES256",' + POINT + "}]}"),
    (2, '{"keys":[{"kty":"RSA","e":"AQAB","n":"' + "wLIG" * 86 + '"}]}'),
    (3, '# who\n{"name":"a","principal":"p","namespace":"n","scopes":["run"],"expires":"2027-01-31T00:00:00Z","sha256":"'
        + "0123456789abcdef" * 4 + '"}\n'),
    (4, "https://id.example.com:8/a"), (4, "http://[::1]:80/keys"), (4, "http://localhost@b/"),
]

# To the operator's socket; fuzz_operator.c has one request, with that id.
ORDERS = [("approval_query", {"kind": "egress"}), ("approval_query", {"kind": "egress", "cursor": "0" * 15 + "1"}),
          ("approval_answer", {"request_id": "0" * 16, "verdict": "approve", "duration": "once"}),
          ("approval_answer", {"request_id": "0" * 16, "verdict": "revoke"}),
          ("approval_grant", {"kind": "egress", "subject": "*.Example.com:8443", "until": "2027-02-28"}),
          ("approval_grant", {"kind": "egress", "subject": "a.test", "namespace": "n", "principal": "p"})]
PATTERNS = [("^(a|b)+?c{2,3}$", "abcc"), ("(?<=a{2,}|\\u{1F40D})\\p{Letter}\\1", "aab"), ("[^\\s\\cA-\\x7f[\\b]*", "x"), ("(?<n>.)\\k<n>(?!\\d)", "zz"),
            ("\\ud83d\\udc0d|(?:)|[]", "\U0001f40d"), ("(*FAIL)|(?R)|\\Qx\\E|(?i)a|\\C", "x")]

# Which of the three of fuzz_headers.c, and its text: a parameter's value, an event's id, a seal.
HEADERS = [(0, "greet"), (0, "12"), (0, "true"), (0, "=?base64?Z3LDvMOf?="), (0, "=?base64?Z3I?="), (0, "=?BASE64?Z3I=?="),
           (1, "1-2"), (1, "18446744073709551615-0"), (1, "1-"), (2, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), (2, "")]

# Requests of HTTP; see fuzz_http.c.
HEAD = "Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
GETS = ["/healthz", "/readyz", "/metrics", "/mcp", "/sse", "/files/s/a%20b?t=AAAA", "/.well-known/oauth-protected-resource/mcp"]


def http(method, path, body="", head=""):
    return f"{method} {path} HTTP/1.1\r\n{HEAD}{head}Content-Length: {len(body)}\r\n\r\n{body}"


def chunked(body):
    return f"POST /mcp HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n{body}\r\n0\r\n\r\n"


# A request of 2026-07-28 with the headers that go with it.
def modern(line):
    message = json.loads(line)
    params = message["params"]
    name = params.get("name", params.get("uri", params.get("taskId")))
    return http("POST", "/mcp", line, f"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {message['method']}\r\n"
                + (f"Mcp-Name: {name}\r\n" if name else ""))


YAMLS = [
    "executor:\n  name: 'a b'\n  max_open: 7\n  share: 1e-3\n  loud: yes\n",
    "gateway: {x: [1, {y: z}]}\nexecutor: {name: \"\\u00e9\\t\", loud: off} # c\n",
    "&a executor: &b\n  name: >-\n    x\n  max_open: *a\n--- !!map\nsupervisor: *b\n",
]
# Records, from where on, does it go on, bytes; see fuzz_journal.c.
LOGS = [(0, 0, 0, b""), (3, 400, 0, b""), (3, 150, 1, b"\0"), (5, 544, 0, b"CLR1" + bytes(200)), (2, 272, 0, bytes(5000)), (8, 0, 1, b"CLR1")]


def order(kind, fds):
    """A struct order of executor/builder/order.h, preceded by the number of its descriptors."""
    return struct.pack("<B10I9Q", fds, kind, 1, 1, 1, 0, 1, 0, 2, 0, 0, 1 << 20, 100, 1 << 28, 1 << 20, 1000, 64, 256, 1000, 1000)


def file_frame(kind, path, tail):
    """A struct file frame of executor/builder/files/file_frame.h."""
    head = (kind, len(path), len(tail), 0, 0o644, 0, 0, 1, 0, 0, len(tail), 10, 0, 7, 1700000000 * 10**9)
    return struct.pack("<10I4Qq32s", *head, b"") + path + tail


def packed(value):
    """msgpack of what TREE holds."""
    if isinstance(value, str):
        return (bytes([0xA0 + len(value)]) if len(value) < 32 else b"\xd9" + bytes([len(value)])) + value.encode()
    if isinstance(value, int):
        return bytes([value]) if value < 128 else b"\xcd" + value.to_bytes(2, "big")
    if isinstance(value, list):
        return bytes([0x90 + len(value)]) + b"".join(map(packed, value))
    return bytes([0x80 + len(value)]) + b"".join(packed(k) + packed(v) for k, v in value.items())


def manifest(body):
    """A file of snapshotd/manifest.c; the fuzzer fills in its digest."""
    names = (b"local:1000", b"work", b"sess_1")
    return b"clsnap\r\n" + struct.pack("<32s4IQ", b"", 1, *map(len, names), len(body)) + b"".join(names) + body


def flattened(body, frames):
    """A message as wire_flatten() stores it."""
    return struct.pack(f"={len(frames) + 2}Q", len(frames), len(body), *map(len, frames)) + body + b"".join(frames)


def packet(message, body, frames=()):
    """See fuzz_operator.c."""
    data = message.encode() + b"\0" + flattened(body, frames)
    return struct.pack("<H", len(data)) + data


def client_hello(name):
    """What OpenSSL sends first."""
    sent = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname=name).do_handshake()
    return sent.read()


def samples(printed):
    """(message, number, body, frames, JSON) of each."""
    names = []
    for block in printed.read_text().split("\n\t"):
        for line in block.split("\n"):
            what, _, rest = line.partition(" ")
            if what == "body":
                body, frames = bytes.fromhex(rest), []
            elif what == "frame":
                frames.append(bytes.fromhex(rest))
            elif what == "json":
                yield names[-1], len(names), body, frames, rest
            elif what and what not in names:
                names.append(what)


def words(value):
    """All keys of a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words(inner)


def main(printed, directory):
    inputs = {"wire": [], "json": [], "lines": [], "path": [], "guest": [], "file_frame": [], "chain": [], "code": [],
              "manifest": [], "methods": [], "token": [], "headers": [], "bus_message": [], "sealed": [bytes(60)], "operator": [],
              "csv": [b"a,b\r\n1,\"x \"\"y\"\"\"\r\n", b"\xef\xbb\xbfa;b\n2026-01-31;1.5\n", b"\"a\nb\"\t1\r2\t3"],
              "schema": [b"1e400", b"[-0.12345678901234567, 18446744073709551616, 9007199254740993.0e-3]", b'{"a": [1e999999999, 0.1]}',
                         b'{"multipleOf": 18446744073709551617}\x00123456789012345678901234567890e30', b'{"maximum": 1e400, "enum": [1e-400]}\x001e401']}
    known = set()
    for message, number, body, frames, text in samples(pathlib.Path(printed)):
        head = bytes([number - 1, len(frames)])
        inputs["wire"].append(head + b"".join(len(f).to_bytes(2, "little") + f for f in frames) + body)
        inputs["json"].append(bytes([number - 1]) + text.encode())
        known.update(words(json.loads(text)))
        if message == "envelope":
            inputs["bus_message"] += [bytes([n % 2]) + b"".join(len(part).to_bytes(2, "little") + part for part in parts)
                                 for n, parts in enumerate([[body], [b"me", body, b"b"], [body, b"b", b"", b"c"], [b""]])]
        if message == "audit_event":  # see auditd/record.h
            inputs["chain"].append(bytes([8]) + b"executor" + body)
        if message == "vault_file":
            inputs["sealed"].append(b"\1" + flattened(body, frames))
        if message in dict(ORDERS):
            inputs["operator"].append(packet(message, body, frames))
        if message == "snapshot_manifest":
            inputs["manifest"].append(manifest(body))
    inputs["manifest"].append(manifest(packed(TREE)))
    inputs["lines"] = [bytes([255, 63]) + line.encode() + b"\n" for line in LINES]
    inputs["lines"].append(bytes([255, 7]) + "\r\n".join(LINES).encode())
    requests = [f'{{"jsonrpc":"2.0","id":{n},"method":"{method}","params":{{{",".join(filter(None, (params, meta)))}}}}}'
                for meta in (META, "") for n, (method, params) in enumerate(METHODS.items())]
    requests.append(requests[12].replace("terminate_session", "execute_code").replace("session_id", "code"))
    inputs["methods"] = [bytes([n % 5, 7 - n % 2 * 4]) + line.encode() for n, line in enumerate([*requests, "\n".join(requests)])]
    streams = [http("GET", path) for path in GETS] + [
        http("POST", "/mcp", LINES[1]) + http("GET", "/mcp", head="Mcp-Session-Id: x\r\nLast-Event-ID: 1-2\r\n"),
        http("DELETE", "/mcp", head="Mcp-Session-Id: x\r\n"), http("OPTIONS", "/mcp", head="Origin: http://localhost:1\r\n"),
        http("POST", "/messages?session_id=x", LINES[4]), chunked(LINES[0]), http("POST", "/mcp", LINES[4], "Expect: 100-continue\r\n")]
    streams += [modern(line) for line in requests if META in line]
    inputs["http"] = [bytes([n % 16, n % 3 * 100]) + text.encode() for n, text in enumerate(streams)]
    inputs["path"] = [path.encode() for path in PATHS]
    frames = [kind + len(data).to_bytes(4, "little") + data for kind, data in FRAMES]
    inputs["guest"] = [bytes([31]) + stream for stream in [*frames, b"".join(frames)]]
    inputs["file_frame"] = [file_frame(kind, b"a/b", b"content" * (kind % 3)) for kind in range(1, 16)]
    inputs["code"] = [bytes([first]) + code.encode() for code in CODES for first in (0, 128, 131)]
    inputs["token"] = [bytes([which]) + text.encode() for which, text in TOKENS]
    inputs["settings"] = [text.encode() for text in YAMLS]
    inputs["journal"] = [struct.pack("<BHB", *head) + rest for *head, rest in LOGS]
    inputs["capture"] = [bytes([limit, limit >> 7]) + bytes([200, 10, 1, 1, 255, 255]) for limit in (0, 1, 7, 100)]
    inputs["order"] = [order(kind, {4: 3, 5: 1, 12: 1}.get(kind, 0)) for kind in range(1, 14)]
    inputs["headers"] = [bytes([which]) + text.encode() for which, text in HEADERS]
    inputs["hello"] = [b"GET / HTTP/1.1\r\nHost: a.test:80\r\nX: y\r\n\r\n", client_hello("a.test"), client_hello("a.b.example.test")]
    inputs["request"] = [bytes([7]) + text.encode() for text in REQUESTS]
    inputs["netrc"] = [b'machine a.test login me password 12345678\n# more\nmachine b.test password "a\\"b 45678" login x\n',
                       b"default login x", b"macdef y"]
    inputs["echo"] = [b"\3\2abcabx", b"\x01\x01" + b"secret sec ret" * 3]
    inputs["operator"] += [b"".join(packet(message, packed(order)) for message, order in orders) for orders in (ORDERS, ORDERS[:2], ORDERS[3:])]
    inputs["pattern"] = [pattern.encode() + b"\0" + text.encode() for pattern, text in PATTERNS]
    question = b"\1\2\1\0\0\1\0\0\0\0\0\0\1a\4test\0\0\1\0\1"
    inputs["dns"] = [question, question[:2] + b"\x81\x80\0\1\0\1" + question[8:] + b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4\1\2\3\4"]
    for name, seeds in inputs.items():
        where = pathlib.Path(directory, name)
        where.mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(seeds):
            where.joinpath(f"seed-{i:03}").write_bytes(seed)
    dictionary = "".join(f'"{word}"\n' for word in sorted(known) if word.isidentifier())
    pathlib.Path(directory, "words.dict").write_text(dictionary)


if __name__ == "__main__":
    main(*sys.argv[1:])
