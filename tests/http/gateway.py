# SPDX-License-Identifier: Apache-2.0
"""A gateway that serves HTTP, and clients that can do what no library's client does.

    with Gateway(bin, flags=["--rate-per-s=5"]) as gateway:          # cluster=...: with daemons
        reply = gateway.post(modern("tools/list"))                   # Reply: status, headers, body, json, events
        session = gateway.session()                                  # initialized; .post(...), .get(...), .delete()
        with gateway.raw() as raw: raw.send(b"GET ..."); raw.read()

Each message is checked against the schema of its revision (held.py), except messages sent with wrong=True, which are
invalid on purpose.
"""

import http.client
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time

import held
from held import parse_events

MODERN = "2026-07-28"
ACCEPT = "application/json, text/event-stream"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
         "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}
# Arguments that are also sent as headers: x-mcp-header of the tools' schemas.
MIRRORED = {"language": "Language", "session_id": "Session-Id"}


def modern(method, params=None, id_=1, meta=None):
    return {"jsonrpc": "2.0", "id": id_, "method": method,
            "params": {**(params or {}), "_meta": {**META, **(meta or {})}}}


def call(tool, arguments=None, id_=1, meta=None):
    return modern("tools/call", {"name": tool, "arguments": arguments or {}}, id_, meta)


# The headers that belong to a message of 2026-07-28.
def headers_of(message):
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
    if message["method"] in NAMES:
        headers["Mcp-Name"] = message["params"][NAMES[message["method"]]]
    for name, header in MIRRORED.items():
        if name in (message["params"].get("arguments") or {}):
            headers["Mcp-Param-" + header] = str(message["params"]["arguments"][name])
    return headers


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json["error"]["code"]

    @property
    def events(self):
        return parse_events(self.body.decode())

    # The messages of a stream, without its empty events.
    @property
    def messages(self):
        return [json.loads(data) for _, _, data in self.events if data]

    def __repr__(self):
        return f"<{self.status} {dict(self.headers)} {self.body[:300]!r}>"


# A response that is read as it arrives.
class Stream:
    def __init__(self, connection, response, exchange):
        self.connection, self.response, self.exchange = connection, response, exchange
        self.status, self.headers = response.status, response.headers

    # Reads all of it, as a reply.
    def reply(self):
        body = self.response.read()
        self.connection.close()
        self.exchange.received(self.status, self.headers, body)
        return Reply(self.status, self.headers, body)

    # The next event; None at the end of the stream.
    def event(self):
        lines = []
        while line := self.response.readline():
            line = line.decode().rstrip("\r\n")
            if line:
                lines.append(line)
            elif lines:
                if all(line.startswith(":") for line in lines):
                    return (None, "comment", lines[0][1:].strip())
                event = parse_events("\n".join(lines) + "\n\n")[0]
                self.exchange.event(*event[1:])
                return event
        return None

    def message(self):
        while (event := self.event()) is not None:
            if event[1] != "comment" and event[2]:
                return json.loads(event[2])
        return None

    def close(self):
        if self.connection.sock is not None:
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.connection.close()


class Raw:
    def __init__(self, address, timeout=20, source=None, trust=None):
        self.socket = socket.create_connection(address, timeout, source)
        if trust is not None:
            self.socket = trust.wrap_socket(self.socket, server_hostname="localhost")
        self.sent, self.got = bytearray(), bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()
        held.raw(bytes(self.sent), bytes(self.got))
        self.sent, self.got = bytearray(), bytearray()

    def send(self, data):
        self.sent += data
        self.socket.sendall(data)

    # Reads until the peer closes or `until` arrives; a reset counts as a close.
    def read(self, until=None, timeout=20):
        self.socket.settimeout(timeout)
        got = b""
        try:
            while until is None or until not in got:
                data = self.socket.recv(65536)
                if not data:
                    break
                got += data
        except ConnectionResetError:
            pass
        self.got += got
        return got


class Gateway:
    def __init__(self, bin, flags=(), cluster=None, anonymous=True, transport="http", limit=None):
        self.own = None if cluster else tempfile.mkdtemp(prefix="cloister-http-")
        if self.own:
            os.chmod(self.own, 0o755)
        run, state = (cluster.run, cluster.state) if cluster else (self.own, os.path.join(self.own, "state"))
        self.log_path = os.path.join(cluster.logs if cluster else self.own, "gateway-http")
        self.command = [os.path.join(bin, "cloister-gateway"), "--transport=" + transport, "--listen=127.0.0.1:0",
                        "--run=" + run, "--state=" + state, *(["--anonymous"] if anonymous else []), *flags]
        self.limit = limit

    def __enter__(self):
        # Two gateways of a cluster share one log file. Both append, so that neither overwrites the other.
        open(self.log_path, "wb").close()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=self.limit)
        end = time.monotonic() + 20
        while (url := self._url()) is None:
            if self.process.poll() is not None or time.monotonic() > end:
                self.end()
                raise RuntimeError(self.log())
            time.sleep(0.01)
        scheme, _, where = url.partition("://")
        self.url, self.secure = url, scheme == "https"
        host, _, port = where.rpartition(":")
        self.address = (host, int(port))
        return self

    def __exit__(self, *_):
        status = self.end()
        if self.own:
            shutil.rmtree(self.own, ignore_errors=True)
        if status != 0 and _[0] is None:
            raise AssertionError(f"the gateway ended with {status}: {self.log()[-3000:]}")
        if _[0] is None:
            held.check()

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def _url(self):
        for line in self.log().splitlines():
            if '"text":"listening"' in line:
                return json.loads(line)["url"]
        return None

    def end(self, timeout=20):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    # Does it use at most that much memory? Always true with a sanitizer, which keeps freed memory.
    def holds(self, most):
        with open(self.command[0], "rb") as program:
            return b"__asan_init" in program.read() or self.rss() <= most

    def rss(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))

    def raw(self, timeout=20, **more):
        return Raw(self.address, timeout, **more)

    def open(self, method, path, body=None, headers=None, timeout=30, wrong=False):
        connection = http.client.HTTPConnection(*self.address, timeout=timeout)
        exchange = held.Exchange(path, headers or {}, body, wrong)
        connection.request(method, path, body, headers or {})
        return Stream(connection, connection.getresponse(), exchange)

    def ask(self, method, path, body=None, headers=None, timeout=30, wrong=False):
        return self.open(method, path, body, headers, timeout, wrong).reply()

    # The headers that belong to a message; headers: overrides, where None omits one.
    def post_headers(self, message, headers=None):
        all_ = {"Content-Type": "application/json", "Accept": ACCEPT}
        if isinstance(message, dict) and message.get("params", {}).get("_meta", {}).get(
                "io.modelcontextprotocol/protocolVersion") == MODERN:
            all_.update(headers_of(message))
        all_.update(headers or {})
        return {name: value for name, value in all_.items() if value is not None}

    def post(self, message, headers=None, timeout=30, path="/mcp", wrong=False):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.ask("POST", path, body, self.post_headers(message, headers), timeout, wrong)

    def post_open(self, message, headers=None, timeout=30):
        return self.open("POST", "/mcp", json.dumps(message).encode(), self.post_headers(message, headers), timeout)

    def session(self, version="2025-11-25"):
        return Session(self, version)


class Session:
    def __init__(self, gateway, version):
        self.gateway = gateway
        self.reply = gateway.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}})
        assert self.reply.status == 200, self.reply
        self.id = self.reply.headers["Mcp-Session-Id"]
        self.headers = {"Mcp-Session-Id": self.id, "MCP-Protocol-Version": version}
        done = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert done.status == 202, done

    def message(self, method, params=None, id_=1):
        return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}

    def post(self, message, headers=None, timeout=30, wrong=False):
        return self.gateway.post(message, {**self.headers, **(headers or {})}, timeout, wrong=wrong)

    def post_open(self, message, headers=None):
        return self.gateway.post_open(message, {**self.headers, **(headers or {})})

    def get(self, event=None):
        headers = {**self.headers, "Accept": "text/event-stream"}
        if event is not None:
            headers["Last-Event-ID"] = event
        return self.gateway.open("GET", "/mcp", None, headers)

    def delete(self):
        return self.gateway.ask("DELETE", "/mcp", None, self.headers)


# Waits until check() returns something true.
def soon(check, what, seconds=10):
    end = time.monotonic() + seconds
    while not (value := check()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)
    return value


def readable(sock, seconds):
    return bool(select.select([sock], [], [], seconds)[0])
