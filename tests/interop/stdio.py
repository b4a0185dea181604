#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The gateway's process from a client's view: streams of every kind, hostile lines, slow readers, shutdown.

stdio.py BIN: runs without other daemons, which is part of the test.
"""

import atexit
import fcntl
import json
import os
import pty
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases
from daemons import MODERN, Client

META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
MIB = 1 << 20


class Gateway:
    """Its command line: with separate directories, so that no other daemon on the machine answers."""

    def __init__(self, binary):
        self.binary, self.directory = binary, tempfile.mkdtemp(prefix="cloister-test-")
        os.chmod(self.directory, 0o755)
        atexit.register(shutil.rmtree, self.directory, ignore_errors=True)

    def command(self, *flags):
        return [self.binary, f"--run={self.directory}/run", f"--state={self.directory}/state", "--log-level=error", *flags]

    def start(self, *flags, **popen):
        return subprocess.Popen(self.command(*flags), **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **popen})

    def client(self, *flags, revision=MODERN):
        return Client(self.command(*flags), revision)


def request(id_, method="server/discover", **params):
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": {**params, "_meta": META}}).encode() + b"\n"


def call(id_, tool, **arguments):
    return request(id_, "tools/call", name=tool, arguments=arguments)


def answers(data):
    assert data.endswith(b"\n") or not data, data[-80:]
    return [json.loads(line) for line in data.splitlines()]


def rss_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def peak_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def test_answers_before_any_daemon(gateway):
    with gateway.client() as client:
        assert client.request("server/discover")["supportedVersions"] == [MODERN]
        assert client.request("tools/list")["tools"]


def test_is_small(gateway):
    with gateway.client() as client:
        client.request("server/discover")
        client.request("tools/list")
        assert rss_bytes(client.process.pid) < 15 * MIB, rss_bytes(client.process.pid)


def test_ends_with_its_input(gateway):
    process = gateway.start()
    began = time.monotonic()
    out, _ = process.communicate(request(1), timeout=10)
    assert process.returncode == 0 and time.monotonic() - began < 5
    assert [a["id"] for a in answers(out)] == [1]


def test_answers_a_last_line_without_end(gateway):
    out, _ = gateway.start().communicate(request(1) + request(2).rstrip(), timeout=10)
    assert [a["id"] for a in answers(out)] == [1, 2]


def test_reads_and_writes_files(gateway):
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(b"".join(request(n) for n in range(500)))
        source.seek(0)
        assert gateway.start(stdin=source, stdout=sink).wait(10) == 0
        sink.seek(0)
        assert [a["id"] for a in answers(sink.read())] == list(range(500))


def test_reads_nothing_at_all(gateway):
    assert gateway.start(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).wait(10) == 0


def test_speaks_over_a_socket(gateway):
    ours, theirs = socket.socketpair()
    process = gateway.start(stdin=theirs, stdout=theirs)
    theirs.close()
    ours.sendall(request(1) + request(2))
    data = b""
    while data.count(b"\n") < 2:
        data += ours.recv(65536)
    assert [a["id"] for a in answers(data)] == [1, 2]
    ours.shutdown(socket.SHUT_WR)
    assert process.wait(10) == 0


def test_leaves_a_terminal_as_it_was(gateway):
    """The parent shell shares the open file, which must not become non-blocking for it."""
    ours, theirs = pty.openpty()
    mode = termios.tcgetattr(theirs)
    mode[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(theirs, termios.TCSANOW, mode)
    process = gateway.start(stdin=theirs, stdout=theirs)
    os.write(ours, request(1))
    data = b""
    while not data.endswith(b"\n"):
        assert select.select([ours], [], [], 10)[0]
        data += os.read(ours, 65536)
    assert json.loads(data)["id"] == 1
    assert fcntl.fcntl(theirs, fcntl.F_GETFL) & os.O_NONBLOCK == 0
    os.close(theirs)
    os.close(ours)
    assert process.wait(10) == 0


def test_lives_through_hostile_lines(gateway):
    hostile = [b"", b" ", b"\0", b"\xff\xfe", b"{", b"[]", b"[[[[", b"5", b"null", b'"x"', b"{}", b'{"id":1}', b"nonsense",
               b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"jsonrpc":"2.0","method":5}', b"[" * 100000, b"{\"a\":" * 5000,
               b'{"jsonrpc":"2.0","id":1,"method":"' + b"\xf0\x9f\x98" + b'"}', b'{"jsonrpc":"2.0","id":"' + b"x" * 5000 + b'","method":"x"}']
    with gateway.client() as client:
        for line in hostile:
            client.send_raw(line + b"\n")
            assert client.request("server/discover")["resultType"] == "complete"
        # Two are blank; each of the others gets a reply, and none of these is a result.
        assert len(client.strays) == len(hostile) - 2, client.strays
        assert {m["error"]["code"] for m in client.strays} <= {-32700, -32600}


def test_skips_a_line_that_is_too_long(gateway):
    with gateway.client() as client:
        waiting = client.begin("server/discover")
        waiting.result()
        before = peak_bytes(client.process.pid)
        client.send_raw(b'{"jsonrpc":"2.0","method":"tools/call","params":{"x":"')
        for _ in range(100):
            client.send_raw(b"x" * MIB)
        client.send_raw(b'"},"id":"last"}\n')
        client.request("server/discover", timeout=60)
        assert [m["id"] for m in client.strays] == ["last"]
        assert client.strays[0]["error"]["code"] == -32600 and "max_message_bytes" in client.strays[0]["error"]["message"]
        assert peak_bytes(client.process.pid) - before < 160 * MIB
        time.sleep(0.1)
        assert rss_bytes(client.process.pid) < 20 * MIB, rss_bytes(client.process.pid)


def test_a_line_at_the_limit_is_read(gateway):
    with gateway.client("--max-message-bytes=4096") as client:
        base = len(request("a", "server/discover", pad=""))
        fits = request("a", "server/discover", pad="x" * (4096 - base + 1))
        assert len(fits) == 4097  # with its newline
        client.send_raw(fits)
        client.send_raw(request("b", "server/discover", pad="x" * (4096 - base + 2)))
        client.request("server/discover")
        assert ["result" in m for m in client.strays] == [True, False]


def test_bounds_what_json_may_build(gateway):
    """36 million values in 72 MB would need gigabytes in any parser."""
    with gateway.client() as client:
        client.request("server/discover")
        client.send_raw(b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":[' + b"[]," * (20 * MIB) + b"[]]}}\n")
        client.request("server/discover", timeout=60)
        assert client.strays[0]["id"] == 5 and "2000000" in client.strays[0]["error"]["message"]
        assert peak_bytes(client.process.pid) < 200 * MIB


def test_waits_for_a_client_that_does_not_read(gateway):
    """Memory stays bounded and no request is lost: the gateway stops reading, and continues later."""
    process = gateway.start()
    os.set_blocking(process.stdin.fileno(), False)
    sent, pending, stuck_since = 0, b"", None
    while stuck_since is None or time.monotonic() - stuck_since < 0.5:
        pending = pending or request(sent, "tools/list")
        try:
            pending = pending[os.write(process.stdin.fileno(), pending):]
            sent, stuck_since = sent + (not pending), None
        except BlockingIOError:
            stuck_since = stuck_since or time.monotonic()
            time.sleep(0.01)
        assert sent < 100000
    assert rss_bytes(process.pid) < 20 * MIB, rss_bytes(process.pid)
    os.set_blocking(process.stdin.fileno(), True)
    writer = os.fork()
    if writer == 0:
        os.write(process.stdin.fileno(), pending)
        os._exit(0)
    for n in range(sent + bool(pending)):
        assert json.loads(process.stdout.readline())["id"] == n
    os.waitpid(writer, 0)
    process.stdin.close()
    assert process.wait(10) == 0 and process.stdout.read() == b""
    assert sent > 100


def test_ends_where_a_client_that_does_not_read_goes(gateway):
    """The client has closed its side after requests that the gateway reads only when the client reads replies."""
    near, far = socket.socketpair()
    for stdin, close in ((subprocess.PIPE, lambda process: process.stdin.close()), (far, lambda _: near.shutdown(socket.SHUT_WR))):
        process = gateway.start("--eof-grace-ms=300", stdin=stdin)
        end = near.fileno() if stdin is far else process.stdin.fileno()
        os.set_blocking(end, False)
        line, stuck = request(1, "tools/list"), 0
        while stuck < 20:
            try:
                line = line[os.write(end, line):] or request(1, "tools/list")
                stuck = 0
            except BlockingIOError:
                stuck += 1
                time.sleep(0.02)
        close(process)
        assert process.wait(15) == 0
        process.stdout.close()
    near.close()
    far.close()


def test_a_client_that_reads_slowly_gets_all(gateway):
    """A client that reads occasionally counts as connected, even long after it closed its side."""
    with open(os.path.join(gateway.directory, "requests"), "wb") as file:
        file.write(b"".join(request(n, "tools/list") for n in range(300)))
    with subprocess.Popen(["/bin/cat", file.name], stdout=subprocess.PIPE) as cat:
        process = gateway.start("--eof-grace-ms=1000", stdin=cat.stdout)
        cat.stdout.close()
        data = b""
        while part := os.read(process.stdout.fileno(), 1 << 19):
            data += part
            time.sleep(0.02)
    assert process.wait(10) == 0
    process.stdout.close()
    assert [answer["id"] for answer in answers(data)] == list(range(300))


def test_ends_when_nobody_reads(gateway):
    process = gateway.start()
    process.stdout.close()
    process.stdin.write(request(1))
    process.stdin.flush()
    assert process.wait(10) == 0
    process.stdin.close()


def test_ends_on_sigterm(gateway):
    process = gateway.start()
    process.stdin.write(request(1))
    process.stdin.flush()
    process.stdout.readline()
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0 and time.monotonic() - began < 5
    process.stdin.close()
    process.stdout.close()


def test_says_that_a_daemon_is_away(gateway):
    with gateway.client("--connect-wait-ms=200") as client:
        result = client.call("validate_code", {"code": "1"})
        error = json.loads(result["content"][0]["text"])["error"]
        assert result["isError"] and error["code"] == "unavailable" and error["hint"]


def test_gives_up_calls_when_the_client_goes(gateway):
    process = gateway.start("--connect-wait-ms=60000", "--eof-grace-ms=300")
    began = time.monotonic()
    out, _ = process.communicate(call("a", "validate_code", code="1"), timeout=10)
    assert process.returncode == 0 and time.monotonic() - began < 10
    text = answers(out)[0]["result"]["content"][0]["text"]
    assert json.loads(text)["error"]["code"] == "cancelled", text


def test_gives_up_calls_on_sigterm(gateway):
    process = gateway.start("--connect-wait-ms=60000")
    process.stdin.write(call("a", "validate_code", code="1") + request(2))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 2
    process.send_signal(signal.SIGTERM)
    assert json.loads(process.stdout.readline())["result"]["isError"]
    assert process.wait(10) == 0
    process.stdin.close()
    process.stdout.close()


def test_cancels_in_silence(gateway):
    with gateway.client("--connect-wait-ms=60000") as client:
        waiting = client.begin("tools/call", {"name": "validate_code", "arguments": {"code": "1"}})
        client.notify("notifications/cancelled", {"requestId": waiting.id})
        client.request("server/discover")
        assert waiting.reply.empty()


def test_bounds_calls_in_flight(gateway):
    with gateway.client("--connect-wait-ms=60000", "--max-in-flight=3") as client:
        flying = [client.begin("tools/call", {"name": "validate_code", "arguments": {"code": "1"}}) for _ in range(4)]
        error = json.loads(flying[3].result()["content"][0]["text"])["error"]
        assert error["code"] == "queue_full" and error["retry_ms"] > 0
        for waiting in flying[:3]:
            client.notify("notifications/cancelled", {"requestId": waiting.id})


def test_refuses_what_no_setting_allows(gateway):
    for flag in ("--toolsets=none", "--transport=telex", "--max-in-flight=0", "--lease=999", "--nonsense=1"):
        process = gateway.start(flag, stderr=subprocess.PIPE)
        out, err = process.communicate(b"", timeout=10)
        assert process.returncode in (1, 2) and out == b"" and err.count(b"\n") == 1, (flag, err)


def test_holds_a_lease_until_its_end(gateway):
    ours, theirs = socket.socketpair()
    process = gateway.start("--lease=3", "--keep-fds=1", pass_fds=(3,), preexec_fn=lambda: os.dup2(theirs.fileno(), 3))
    theirs.close()
    process.stdin.write(request(1))
    process.stdin.flush()
    process.stdout.readline()
    assert not select.select([ours], [], [], 0.2)[0]
    process.communicate(timeout=10)
    assert select.select([ours], [], [], 1)[0] and ours.recv(1) == b""


def test_describes_the_tools(gateway):
    out, _ = gateway.start("--describe").communicate(timeout=10)
    assert out.startswith(b"| tool | title | daemon |") and b"| `execute_code` | Run code | executor | core" in out


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    cases.run(sys.modules[__name__], Gateway(os.path.join(sys.argv[1], "cloister-gateway")))
