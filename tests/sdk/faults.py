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


def fails(kind, server, *words, call=lambda sandbox: sandbox.call("tool"), **more):
    """The call raises that exception, in time, and close() returns in time, too."""
    deadline = 2.0 if kind is RequestTimeout else 20.0  # what a busy machine needs to start a server is no part of the test
    began = time.monotonic()
    sandbox = Sandbox(server, deadline=deadline, **more)
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
    error = fails(ToolError, fake(refuses("{'code': 'queue_full', 'hint': 'wait', 'retry_ms': 5}")), "m")
    assert (error.code, error.message, error.hint, error.retry_ms) == ("queue_full", "m", "wait", 5)
    for wrong in "'5'", "-1", "0", "True", "10 ** 400", "1e3", "[]":
        error = fails(ToolError, fake(refuses(f"{{'code': 'queue_full', 'retry_ms': {wrong}}}")), call=lambda sandbox: sandbox.run("1", retry=5))
        assert error.retry_ms is None, wrong


def refuses(data):
    return f"say({{'jsonrpc': '2.0', 'id': id, 'error': {{'code': -32000, 'message': 'm', 'data': {data}}}}})"


def counted(mark, call):
    """Writes a line for each call, and has the number of the call."""
    return fake("open(sys.argv[1], 'a').write('x\\n')\nnumber = len(open(sys.argv[1]).readlines())\n" + call, mark)


def calls(mark):
    with open(mark, encoding="ascii") as file:
        return file.readlines().count("x\n")


def test_refusals_that_end(directory):
    later = "'code': 'queue_full', 'retry_ms': 20}"
    for name, refusal in (("result", f"say(text(id, json.dumps({{'error': {{'message': 'm', {later}}}), isError=True))"),
                          ("error", refuses("{" + later))):
        mark = os.path.join(directory, name)
        with Sandbox(counted(mark, f"say(text(id, 'done')) if number > 3 else {refusal}"), retry=20) as sandbox:
            assert sandbox.call("tool") == {"text": "done"} and calls(mark) == 4


def test_refusals_without_an_end(directory):
    mark = os.path.join(directory, "endless")
    began = time.monotonic()
    with Sandbox(counted(mark, refuses("{'code': 'queue_full', 'retry_ms': 100}")), retry=1) as sandbox:
        for call in (lambda: sandbox.call("tool"), lambda: sandbox.run("1", retry=0)):
            try:
                call()
            except ToolError as error:
                assert error.code == "queue_full"
            else:
                raise AssertionError("it succeeded")
    assert 5 <= calls(mark) <= 12 and time.monotonic() - began < LIMIT, calls(mark)
    with Sandbox(fake(refuses("{'code': 'queue_full', 'retry_ms': 60000}")), retry=30) as sandbox:
        began = time.monotonic()
        with contextlib.suppress(ToolError):
            sandbox.call("tool")
        assert time.monotonic() - began < LIMIT, "a wait over the limit is not begun"


def test_what_is_not_repeated(directory):
    """A call that may have been carried out, and one that was refused for good."""
    for name, kind, call in (("lost", ConnectionLost, "os._exit(3)"), ("failed", RpcError, "say({'jsonrpc': '2.0', 'id': id, 'error': {'code': -32603, 'message': 'sick'}})"),
                             ("busy", ToolError, refuses("{'code': 'session_busy'}")), ("slow", RequestTimeout, "pass")):
        mark = os.path.join(directory, name)
        with Sandbox(counted(mark, call), retry=20, deadline=2 if kind is RequestTimeout else 20) as sandbox:
            try:
                sandbox.call("tool")
            except SandboxError as error:
                assert type(error) is kind, error
        assert calls(mark) == 1, name


def test_requests_of_a_server():
    call = "say({'jsonrpc': '2.0', 'id': 'p', 'method': 'ping'}); say({'jsonrpc': '2.0', 'id': 'r', 'method': 'roots/list'})\n" \
           "a, b = json.loads(sys.stdin.readline()), json.loads(sys.stdin.readline())\nsay(text(id, json.dumps([a, b])))"
    with Sandbox(fake(call)) as sandbox:
        ping, roots = sorted(json.loads(sandbox.call("tool")["text"]), key=lambda one: one["id"])
        assert ping == {"jsonrpc": "2.0", "id": "p", "result": {}} and roots["error"]["code"] == -32601


# What a client without on_question is asked, and with one: what the server got as the answer.
def question(form, **more):
    params = {"message": "May it?", "requestedSchema": form, **more}
    return f"say({{'jsonrpc': '2.0', 'id': 'q', 'method': 'elicitation/create', 'params': {params!r}}})\nsay(text(id, sys.stdin.readline()))"


WORD = {"type": "object", "properties": {"until": {"type": "string"}, "decision": {"type": "string", "enum": ["a", "b"]}}, "required": ["decision"]}


def answered(form, on_question, **more):
    with Sandbox(fake(question(form, **more)), deadline=20, on_question=on_question) as sandbox:
        reply = json.loads(sandbox.call("tool")["text"])
    assert reply["id"] == "q", reply
    return reply.get("result") or reply["error"]["code"]


def test_questions():
    assert answered(WORD, None) == -32601
    assert answered(WORD, lambda asked: asked.choices[1]) == {"action": "accept", "content": {"decision": "b"}}
    assert answered(WORD, lambda asked: {"decision": "a", "until": "x"}) == {"action": "accept", "content": {"decision": "a", "until": "x"}}
    assert answered(WORD, lambda asked: None) == {"action": "cancel"}
    for word, sent in ("yes", True), ("no", False):
        form = {"type": "object", "properties": {"confirm": {"type": "boolean"}}}
        assert answered(form, lambda asked, word=word: word) == {"action": "accept", "content": {"confirm": sent}}
    free = {"type": "object", "properties": {"name": {"type": "string"}}}
    assert answered(free, lambda asked: f"{asked.choices} {asked.message}") == {"action": "accept", "content": {"name": "[] May it?"}}


def test_questions_that_are_wrong():
    for form in 5, {}, {"properties": {}}, {"properties": {"a": 1}}, {"properties": {"a": {"enum": 1}}}, {"properties": {"a": {}}, "required": 1}:
        assert answered(form, lambda asked: "a") == -32602, form
    assert answered(WORD, lambda asked: "a", mode="url", url="http://x/") == -32602
    assert answered(WORD, lambda asked: "a", message=1) == -32602
    assert answered({**WORD, "required": [["decision"], "none", "decision"]}, lambda asked: "a")["content"] == {"decision": "a"}


def test_answers_that_are_wrong():
    """The server is told that nobody decided; the event loop hears of the exception."""
    async def raising(_):
        raise OSError("async")

    async def work():
        seen = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(type(context["exception"])))
        for answer in lambda _: 1 / 0, lambda _: "c", lambda _: 5, lambda _: {"decision": object()}, raising:
            async with AsyncSandbox(fake(question(WORD)), on_question=answer) as sandbox:
                assert json.loads((await sandbox.call("tool"))["text"])["result"] == {"action": "cancel"}
        assert seen == [ZeroDivisionError, ValueError, ValueError, TypeError, OSError], seen
    asyncio.run(work())


def test_a_person_who_does_not_answer():
    """The call ends by its deadline, close() does not wait, and questions do not pile up."""
    release = threading.Event()
    error = fails(RequestTimeout, fake(question(WORD)), "tools/call", on_question=lambda _: release.wait(60))
    assert "2 s" in str(error)
    many = "for n in range(20): say({'jsonrpc': '2.0', 'id': n, 'method': 'elicitation/create', 'params': %r})\n" \
           "say(text(id, ''.join(sys.stdin.readline() for _ in range(4))))" % {"message": "m", "requestedSchema": WORD}
    with Sandbox(fake(many), on_question=lambda _: release.wait(60)) as sandbox:
        replies = [json.loads(line) for line in sandbox.call("tool")["text"].splitlines()]
    release.set()
    assert sorted(reply["id"] for reply in replies) == [16, 17, 18, 19] and replies[0]["error"]["code"] == -32603, replies


def test_names_from_a_server(directory):
    """A download writes nothing outside of the directory."""
    top = os.path.join(directory, "names", "to")
    for name in "../out", "/out", "a/../../out", "a//b", "", ".", "a/\0":
        listed = {"artifacts": [{"filename": name, "path": "/workspace/x", "size": 1, "sha256": ""}]}
        reply = {"jsonrpc": "2.0", "result": {"structuredContent": {"session_id": "s", "total_size": 1, "content_base64": "eA==", **listed}}}
        fails(ProtocolError, fake(f"say({{**{reply!r}, 'id': id}})"), "name of a file",
              call=lambda sandbox: sandbox.session("s").download_dir(top))
    assert not os.path.exists(top) and not os.path.exists(os.path.join(directory, "names")), os.listdir(directory)


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


def test_a_server_that_forgets_the_session():
    """The call that it refuses for that is sent once more; one that may have been carried out is not."""
    asked = []

    def reply(message):
        if message.get("method") == "initialize":
            return hello(message)
        if message.get("method") != "tools/call":
            return http(202, b"")
        asked.append(message["params"]["name"])
        return http(404, b"") if asked[-1] == "refused" else None

    async def work():
        async with AsyncSandbox(server, deadline=20) as sandbox:
            begun = asyncio.ensure_future(sandbox.call("begun"))
            while asked != ["begun"]:
                await asyncio.sleep(0.01)
            return await asyncio.gather(begun, sandbox.call("refused"), return_exceptions=True)
    with FakeHttp(reply) as server:
        assert [type(one) for one in asyncio.run(work())] == [ConnectionLost, ConnectionLost]
    assert asked == ["begun", "refused", "refused"], asked


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


def reads_on(sandbox, restart):
    """The same objects, and no exception in between."""
    with sandbox.session() as session:
        session.run("x = 41").check()
        session.upload("kept", "1")
        restart()
        assert session.run("x + 1").result == 42 and session.read("kept") == b"1"
        assert [one.filename for one in session.list()] == ["kept"]


def test_a_session_outlives_its_connection(cluster):
    before = children()

    def end():
        gateway, = children() - before
        os.kill(gateway, signal.SIGKILL)
        while children() - before:
            time.sleep(0.02)
        time.sleep(0.5)  # the client sees the end
    with Sandbox(Server(cluster.command("gateway") + ["--toolsets=core"])) as sandbox:
        reads_on(sandbox, end)


def test_a_session_outlives_its_gateway_over_http(cluster):
    """The new gateway does not know the connection's session, did not carry out the call, and gets it again."""
    with contextlib.ExitStack() as stack:
        first = cluster.served(["--toolsets=core"])

        def restart():
            first.stop()
            port = first.url.rsplit(":", 1)[1].partition("/")[0]
            stack.enter_context(cluster.served(["--toolsets=core", f"--listen=127.0.0.1:{port}"]))
        with Sandbox(Server(url=first.url)) as sandbox:
            reads_on(sandbox, restart)


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
