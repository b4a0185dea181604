# SPDX-License-Identifier: Apache-2.0
"""faults.py BIN: servers that are dead, slow, wrong or hostile.  Each call ends in time with a clear exception.

The last tests kill the real programs during a call.  Run by an interpreter that has the SDK's wheel installed.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import Cluster  # noqa: E402

from cloister_sandbox import (AsyncSandbox, ConnectionLost, HttpError, NotSupported, ProtocolError, RequestTimeout,  # noqa: E402
                              RpcError, Sandbox, SandboxError, Server, StartError, ToolError)

# A server over stdio; `reply` gets each request and returns what is printed, or None.
FAKE = """
import json, os, sys, time
def hello(id):
    return {"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "fake", "version": "1"}}}
def text(id, text, **more):
    return {"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}], **more}}
def say(message):
    print(json.dumps(message) if isinstance(message, (dict, list)) else message, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        say(hello(asked["id"]))
    elif asked.get("method") == "tools/call":
        id = asked["id"]
%s
    elif asked.get("method") == "notifications/cancelled":
        with open(sys.argv[1], "a") as file:
            file.write(line)
"""
LIMIT = 6.0


def fake(call, mark="/dev/null"):
    body = "\n".join("        " + line for line in call.split("\n"))
    return Server([sys.executable, "-c", FAKE % body, mark])


def fails(kind, server, *words, call=lambda sandbox: sandbox.call("tool")):
    """The call raises that exception, in time, and close() returns in time, too."""
    deadline = 2.0 if kind is RequestTimeout else 20.0  # what a busy machine needs to start a server is no part of the test
    began = time.monotonic()
    sandbox = Sandbox(server, deadline=deadline)
    try:
        call(sandbox)
    except SandboxError as error:
        assert type(error) is kind and all(word in str(error) for word in words), (kind, words, repr(error))
        return error
    finally:
        sandbox.close()
        assert time.monotonic() - began < (LIMIT + deadline if kind is RequestTimeout else deadline), time.monotonic() - began
    raise AssertionError(f"no {kind.__name__}")


def test_no_server():
    fails(StartError, Server(["/no/such/program", "x"]), "/no/such/program")
    fails(StartError, Server(url="http://127.0.0.1:1/mcp"), "127.0.0.1", "port 1")
    for url in ("ftp://x/", "http://", "http://u:p@x/", "x", "http://x\r\nX: y/", "http://x:99999/", "http://x/a b"):
        try:
            Server(url=url)
        except ValueError as error:
            assert "url" in str(error)
        else:
            raise AssertionError(url)


def test_a_server_that_ends_at_once():
    server = Server([sys.executable, "-c", "import sys; sys.exit('settings: no such flag')"])
    fails(ConnectionLost, server, "status 1", "no such flag")


def test_a_server_that_is_none():
    fails(ProtocolError, Server(["/bin/echo", "hello", "there"]), "hello there")
    fails(RequestTimeout, Server(["/bin/sleep", "60"]), "initialize", "2 s")


def test_a_server_that_dies_during_a_call():
    fails(ConnectionLost, fake("print('disk is full', file=sys.stderr); os._exit(3)"), "status 3", "disk is full")
    fails(ConnectionLost, fake("os.kill(os.getpid(), 9)"), "status -9")


def test_a_server_that_closes_its_output():
    fails(ConnectionLost, fake("os.close(1); time.sleep(60)"), "closed its standard output")


def test_the_next_call_starts_it_again():
    with Sandbox(fake("os._exit(3) if asked['params']['name'] == 'die' else say(text(id, 'alive'))")) as sandbox:
        for _ in range(2):
            try:
                sandbox.call("die")
            except ConnectionLost:
                pass
            assert sandbox.call("live") == {"text": "alive"}


def test_a_slow_server_is_told_of_the_cancellation(directory):
    mark = os.path.join(directory, "cancelled")
    fails(RequestTimeout, fake("pass", mark), "tools/call", "2 s")
    with open(mark, encoding="utf-8") as file:
        assert json.loads(file.read())["params"]["requestId"] == 2


def test_a_server_that_reads_nothing():
    code = FAKE % "        time.sleep(60)"
    large = "x" * 4_000_000
    fails(RequestTimeout, Server([sys.executable, "-c", code, "/dev/null"]), "2 s",
          call=lambda sandbox: [sandbox.call("tool", code=large) for _ in range(2)])


def test_a_server_that_does_not_end():
    server = Server([sys.executable, "-c", "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nwhile 1: time.sleep(60)"])
    before, began = children(), time.monotonic()
    sandbox = Sandbox(server, deadline=0.5)
    try:
        sandbox.call("tool")
    except RequestTimeout:
        pass
    sandbox.close()
    assert 7 <= time.monotonic() - began < 12, "it is terminated after 5 s and killed 2 s later"
    assert children() == before


def children():
    """Of all threads of this process."""
    pids = set()
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended meanwhile
            with open(f"/proc/self/task/{thread}/children", encoding="ascii") as file:
                pids.update(map(int, file.read().split()))
    return pids


def test_garbage():
    fails(ProtocolError, fake("say('oops')"), "oops")
    fails(ProtocolError, fake("say('[' * 100000)"), "not JSON")
    fails(ProtocolError, fake("say('17')"), "17")
    fails(ProtocolError, fake("sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()"), "not JSON")
    fails(ProtocolError, fake("say({'jsonrpc': '2.0', 'id': id})"), "lacks result")
    fails(ProtocolError, fake("say({'jsonrpc': '2.0', 'id': id, 'result': 5})"), "result", "dict")
    fails(ProtocolError, fake("say({'jsonrpc': '2.0', 'id': None, 'error': {'code': -32700, 'message': 'parse'}})"), "parse")
    fails(RequestTimeout, fake("say({'jsonrpc': '2.0', 'id': [1], 'result': {}}); say({'jsonrpc': '2.0', 'id': 99, 'result': {}})"))
    fails(ProtocolError, fake("say({'jsonrpc': '2.0', 'id': id, 'result': {'structuredContent': {'success': 'yes'}}})"),
          "success", "bool", call=lambda sandbox: sandbox.run("1"))


def test_refusals():
    error = fails(RpcError, fake("say({'jsonrpc': '2.0', 'id': id, 'error': {'code': -32603, 'message': 'sick', 'data': [1]}})"), "sick")
    assert (error.code, error.data) == (-32603, [1])
    error = fails(ToolError, fake("""say(text(id, '{"error": {"code": "denied", "message": "no", "hint": "ask"}}', isError=True))"""))
    assert (error.code, error.message, error.hint) == ("denied", "no", "ask")
    assert fails(ToolError, fake("say(text(id, 'plain', isError=True))"), "plain").code == "unknown"


def test_requests_of_a_server():
    call = "say({'jsonrpc': '2.0', 'id': 'p', 'method': 'ping'}); say({'jsonrpc': '2.0', 'id': 'r', 'method': 'roots/list'})\n" \
           "a, b = json.loads(sys.stdin.readline()), json.loads(sys.stdin.readline())\nsay(text(id, json.dumps([a, b])))"
    with Sandbox(fake(call)) as sandbox:
        ping, roots = sorted(json.loads(sandbox.call("tool")["text"]), key=lambda one: one["id"])
        assert ping == {"jsonrpc": "2.0", "id": "p", "result": {}} and roots["error"]["code"] == -32601


def test_a_callback_that_raises():
    say = "say({'jsonrpc': '2.0', 'method': 'notifications/progress', 'params': {'progressToken': id, 'progress': 1, " \
          "'message': 'x', '_meta': {'cloister/channel': 'stdout'}}})\n" \
          "say({'jsonrpc': '2.0', 'id': id, 'result': {'structuredContent': {'success': True, 'execution_id': 'e'}}})"

    async def work():
        seen = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context["exception"]))
        async with AsyncSandbox(fake(say)) as sandbox:
            assert (await sandbox.run("1", on_output=lambda *_: 1 / 0)).success
        assert isinstance(seen[0], ZeroDivisionError)
    asyncio.run(work())


# ---- HTTP ----

class FakeHttp:
    """Replies to each connection with the bytes that reply(request) returns; None: never."""

    def __init__(self, reply):
        self.socket, self.reply, self.open = socket.create_server(("127.0.0.1", 0)), reply, []
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/mcp"
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def __enter__(self):
        return Server(url=self.url)

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        for connection in self.open:
            connection.close()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.open.append(connection)
            data = self.reply(self.read(connection))
            if data is not None:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)

    @staticmethod
    def read(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536) or b"\r\n\r\n"
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(next(line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")))
        while len(body) < length:
            body += connection.recv(65536) or b" " * length
        return json.loads(body) if body else {}


def http(status, body, kind="application/json", *more):
    head = [f"HTTP/1.1 {status} x", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *more, "", ""]
    return "\r\n".join(head).encode() + body


def hello(asked):
    body = {"jsonrpc": "2.0", "id": asked["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}}
    return http(200, json.dumps(body).encode(), "application/json", "Mcp-Session-Id: s")


def over_http(call):
    """A server that greets, and answers tools/call with call(id)."""
    def reply(asked):
        if asked.get("method") == "initialize":
            return hello(asked)
        return call(asked["id"]) if asked.get("method") == "tools/call" else http(202, b"")
    return FakeHttp(reply)


def test_http_statuses():
    for status, word in ((401, "pass a token"), (403, "scope"), (500, "sick"), (302, "302")):
        body = json.dumps({"jsonrpc": "2.0", "error": {"code": -1, "message": "sick"}}).encode()
        with FakeHttp(lambda _, status=status, body=body: http(status, body)) as server:
            assert fails(HttpError, server, word).status == status


def test_http_responses_that_are_wrong():
    chunked = b"HTTP/1.1 200 x\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    for kind, data, word in (
            (ConnectionLost, b"", "closed the connection"), (ProtocolError, b"SSH-2.0-x\r\n", "SSH"),
            (ProtocolError, b"HTTP/1.1 200 x\r\n" + b"a: b\r\n" * 5 + b"x: " + b"y" * 70000, "header line"),
            (ProtocolError, b"HTTP/1.1 200 x\r\n" + b"".join(b"h%d: x\r\n" % i for i in range(200)), "headers"),
            (ProtocolError, http(200, b"{]"), "not JSON"), (ProtocolError, http(200, b"hi", "text/html"), "text/html"),
            (ConnectionLost, b"HTTP/1.1 200 x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{", "closed"),
            (ProtocolError, b"HTTP/1.1 200 x\r\nContent-Length: -1\r\n\r\n", "length"),
            (ProtocolError, chunked + b"xyz\r\n", "length"), (ConnectionLost, chunked + b"0\r\n\r\n", "without a reply"),
            (ConnectionLost, chunked + b"5\r\nda", "closed"), (ProtocolError, chunked + b"9\r\ndata: {]\n\r\n2\r\n\n\n\r\n", "not JSON"),
            (ConnectionLost, http(404, b""), "ended this session")):
        with over_http(lambda _, data=data: data) as server:
            fails(kind, server, word)


def test_http_without_a_reply():
    with over_http(lambda _: None) as server:
        fails(RequestTimeout, server, "2 s")
    with FakeHttp(lambda _: None) as server:
        fails(RequestTimeout, server, "initialize")


# Chunks and lines that end anywhere, comments, events of two lines.
def test_http_stream_in_small_pieces():
    def reply(id_):
        message = json.dumps({"jsonrpc": "2.0", "id": id_, "result": {"content": [{"type": "text", "text": "\u00e9 in pieces"}]}})
        half = message.index("result") - 1
        text = f": comment\r\nid: 1\r\ndata:\r\n\r\nevent: message\ndata: {message[:half]}\r\ndata: {message[half:]}\n\n".encode()
        chunks = b"".join(b"1;x=y\r\n%c\r\n" % byte for byte in text)
        return b"HTTP/1.1 200 x\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    with over_http(reply) as server, Sandbox(server, deadline=5) as sandbox:
        assert sandbox.call("tool") == {"text": "\u00e9 in pieces"}


def test_a_token_of_two_lines():
    try:
        Server(url="http://127.0.0.1/mcp", token="a\r\nX: y")
    except ValueError as error:
        assert "token" in str(error) and "X: y" not in str(error)
    else:
        raise AssertionError("it was accepted")


# ---- the real programs ----

def begin(sandbox):
    """A call that does not end by itself, and how it ends."""
    outcome = []

    def work():
        try:
            outcome.append(sandbox.run("import time; time.sleep(60)"))
        except SandboxError as error:
            outcome.append(error)
    thread = threading.Thread(target=work)
    thread.start()
    while sandbox.stats()["queue"]["running"] == 0:
        time.sleep(0.02)
    return thread, outcome


def killed(server, kill):
    with Sandbox(server) as sandbox:
        thread, outcome = begin(sandbox)
        began = time.monotonic()
        kill()
        thread.join(20)
        assert time.monotonic() - began < 15 and outcome, outcome
    return outcome[0]


def test_the_gateway_is_killed(cluster):
    command = cluster.command("gateway") + ["--toolsets=core,monitor"]
    before = children()

    def kill():
        gateway, = children() - before
        os.kill(gateway, signal.SIGKILL)
    outcome = killed(Server(command), kill)
    assert isinstance(outcome, ConnectionLost) and "-9" in str(outcome), outcome


def test_the_gateway_over_http_is_killed(cluster):
    with cluster.served(["--toolsets=core,monitor"]) as served:
        outcome = killed(Server(url=served.url), lambda: os.kill(served.process.pid, signal.SIGKILL))
        assert isinstance(outcome, ConnectionLost), outcome


def test_the_executor_is_killed(cluster):
    command = cluster.command("gateway") + ["--toolsets=core,monitor"]
    outcome = killed(Server(command), lambda: cluster.kill("executor"))
    cluster.restart("executor")
    assert isinstance(outcome, ToolError) and outcome.code == "unavailable", outcome
    with Sandbox(Server(command)) as sandbox:
        assert sandbox.run("1 + 1").result == 2


def test_tokens(cluster):
    with cluster.served(["--toolsets=core"]) as served:
        error = fails(HttpError, Server(url=served.url, token="wrong"), "unknown token")
        assert error.status == 401
        with Sandbox(Server(url=served.url)) as sandbox:
            try:
                sandbox.stats()
            except NotSupported as error:
                assert "sandbox_stats" in str(error)
            else:
                raise AssertionError("a tool of another toolset was called")


def main(binaries):
    with tempfile.TemporaryDirectory() as directory, Cluster(binaries) as cluster:
        counts = cases.play(sys.modules[__name__], named={"directory": directory, "cluster": cluster})
    cases.end(counts)


if __name__ == "__main__":
    main(sys.argv[1])
