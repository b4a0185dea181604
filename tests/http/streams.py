#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Event streams of real calls: progress, resumption, disconnects, files.  streams.py BIN"""

import hashlib
import json
import os
import re
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import held  # noqa: E402
from daemons import Cluster  # noqa: E402
from gateway import MODERN, Gateway, call, modern, soon  # noqa: E402

# Prints a line every tenth of a second.
TICKS = "import time\nfor i in range(%d):\n    print('tick', i, flush=True); time.sleep(.1)\n"


def run(code, id_=1, token=None, **arguments):
    return call("execute_code", {"code": code, **arguments}, id_, {"progressToken": token} if token else None)


def metric(gateway, name):
    lines = gateway.ask("GET", "/metrics").body.decode().splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if re.split("[ {]", line)[0] == name)


def test_ready(gateway):
    soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")


def test_json_where_nothing_is_said_before(gateway):
    reply = gateway.post(run("print(6 * 7)"))
    assert reply.headers["Content-Type"] == "application/json", reply
    assert reply.json["result"]["structuredContent"]["stdout"] == "42\n", reply


def test_a_stream_where_there_is_progress(gateway):
    reply = gateway.post(run(TICKS % 5, token="t"))
    assert reply.headers["Content-Type"] == "text/event-stream", reply
    *progress, answer = reply.messages
    assert progress and all(m["method"] == "notifications/progress" for m in progress)
    values = [m["params"]["progress"] for m in progress]
    assert values == sorted(set(values)) and progress[0]["params"]["progressToken"] == "t"
    assert answer["id"] == 1 and "tick 4" in answer["result"]["structuredContent"]["stdout"]
    assert all(id_ is None for id_, _, _ in reply.events), "events of 2026-07-28 have no id"


def test_progress_comes_while_it_runs(gateway):
    stream = gateway.post_open(run(TICKS % 20, token=1))
    began = time.monotonic()
    assert stream.message()["method"] == "notifications/progress"
    assert time.monotonic() - began < 1.5
    stream.close()


def test_no_stream_for_who_does_not_take_one(gateway):
    reply = gateway.post(run(TICKS % 3, token=1), {"Accept": "application/json"})
    assert reply.headers["Content-Type"] == "application/json" and reply.json["id"] == 1


def test_many_at_once_each_on_its_own(gateway):
    replies = {}

    def one(i):
        replies[i] = gateway.post(run(f"print({i})", id_=i, token=f"t{i}"))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, reply in replies.items():
        messages = reply.messages if "event-stream" in reply.headers["Content-Type"] else [reply.json]
        assert messages[-1]["id"] == i and messages[-1]["result"]["structuredContent"]["stdout"] == f"{i}\n"
        assert all(m["params"]["progressToken"] == f"t{i}" for m in messages[:-1])


def cancelled(gateway):
    lines = gateway.ask("GET", "/metrics").body.decode().splitlines()
    return sum(int(line.rsplit(" ", 1)[1]) for line in lines
               if "duration_seconds_count" in line and 'error_type="cancelled"' in line)


# The bytes of a complete POST.
def whole(gateway, message, headers=None):
    body = json.dumps(message).encode()
    head = "".join(f"{k}: {v}\r\n" for k, v in gateway.post_headers(message, headers).items())
    return f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def test_leaving_cancels(gateway):
    for token in (None, "t"):
        before = cancelled(gateway)
        with gateway.raw() as raw:
            raw.send(whole(gateway, run("import time; time.sleep(60)" if token is None else TICKS % 600, token=token)))
            time.sleep(0.7)
            assert cancelled(gateway) == before
        soon(lambda: cancelled(gateway) == before + 1, "the call is cancelled", 5)


def test_half_closed_is_answered(gateway):
    session = gateway.session()
    before = cancelled(gateway)
    code = "import time; time.sleep(1); print(6 * 7)"
    asks = session.message("tools/call", {"name": "execute_code", "arguments": {"code": code}})
    for message, headers in ((run(code), {}), (run(TICKS % 10 + "print(6 * 7)", token="t"), {}), (asks, session.headers),
                             (asks, {**session.headers, "Accept": "application/json"}), (modern("tools/list"), {})):
        for delay in (0, 0.3):
            with gateway.raw() as raw:
                raw.send(whole(gateway, message, headers))
                time.sleep(delay)
                raw.socket.shutdown(socket.SHUT_WR)
                reply = raw.read(timeout=15)
            assert b" 200 OK" in reply and b'"id":1' in reply, (headers, reply)
            assert b"42\\n" in reply or b"tools" in reply, (headers, reply)
    assert cancelled(gateway) == before


def test_half_closed_and_then_gone(bin_, cluster):
    with Gateway(bin_, ["--keep-alive-ms=300"], cluster) as gateway:
        soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
        with gateway.raw() as raw:
            raw.send(whole(gateway, run("import time; time.sleep(60)")))
            raw.socket.shutdown(socket.SHUT_WR)
            assert b"text/event-stream" in raw.read(until=b"alive")
            time.sleep(0.7)
            assert cancelled(gateway) == 0
        soon(lambda: cancelled(gateway) == 1, "the call is cancelled", 5)


# Nothing can be sent to it before its reply that would show whether it is still connected.
def test_half_closed_without_a_stream_is_gone(gateway):
    before = cancelled(gateway)
    with gateway.raw() as raw:
        raw.send(whole(gateway, run("import time; time.sleep(60)"), {"Accept": "application/json"}))
        time.sleep(0.3)
        raw.socket.shutdown(socket.SHUT_WR)
        assert raw.read(timeout=5) == b""
        assert cancelled(gateway) == before + 1


def test_leaving_a_session_does_not_cancel(gateway):
    session = gateway.session()
    stream = session.post_open(session.message("tools/call", {
        "name": "execute_code", "arguments": {"code": TICKS % 8}, "_meta": {"progressToken": 1}}, id_="a"))
    first = stream.event()
    assert first[0] and not first[2], f"a 2025-11-25 stream begins with an event to come back to, not {first}"
    id_, _, data = stream.event()
    assert json.loads(data)["method"] == "notifications/progress"
    stream.close()
    time.sleep(0.4)
    again = session.get(id_)
    assert again.status == 200
    messages, seen = [], set()
    while (event := again.event()) is not None:
        assert event[0] not in seen and event[0] != id_
        seen.add(event[0])
        messages.append(json.loads(event[2]))
    assert messages[-1]["id"] == "a" and "tick 7" in messages[-1]["result"]["structuredContent"]["stdout"]
    assert messages[0]["method"] == "notifications/progress"
    # Again, after all of it was sent.
    replayed = session.get(id_)
    assert [replayed.message() for _ in messages] == messages and replayed.event() is None


def test_events_that_nobody_kept(gateway):
    session, other = gateway.session(), gateway.session()
    for event in ("99-1", "1-99", "x", "", "1", "-1", "1-", "1-1-1", "9" * 200 + "-1"):
        assert session.get(event).status == 400, event
    stream = session.post_open(session.message("tools/call", {
        "name": "execute_code", "arguments": {"code": TICKS % 2}, "_meta": {"progressToken": 1}}))
    id_ = stream.event()[0]
    assert other.get(id_).status == 400, "an event of another session"
    assert stream.message() and stream.message()


def test_cancelling_in_a_session(gateway):
    session = gateway.session()
    stream = session.post_open(session.message("tools/call", {
        "name": "execute_code", "arguments": {"code": TICKS % 300}, "_meta": {"progressToken": 1}}, id_=5))
    assert stream.message()["method"] == "notifications/progress"
    other = gateway.session()
    for one, ends in ((other, False), (session, True)):
        reply = one.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
        assert reply.status == 202
        if not ends:
            assert stream.message()["method"] == "notifications/progress"
    left = []
    while (message := stream.message()) is not None:
        left.append(message)
    assert all("method" in message for message in left), "a cancelled request is not answered"


# The reply that creates a task is sent when the task is on the disk: a lost client then loses no state.
def test_leaving_sse_while_a_task_begins(bin_, cluster):
    with Gateway(bin_, ["--task-after-ms=0"], cluster, transport="sse") as old:
        tasks = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}
        for i in range(24):
            stream = old.open("GET", "/sse", None, {"Accept": "text/event-stream"})
            message = call("execute_code", {"code": "import time; time.sleep(.2)"}, meta=tasks)
            assert old.post(message, path=stream.event()[2]).status == 202
            time.sleep(0.0005 * (i % 6))
            stream.close()
        soon(lambda: metric(old, "cloister_http_sessions") == 0, "all are gone")


def test_the_second_general_stream_takes_over(gateway):
    session = gateway.session()
    first, second = session.get(), session.get()
    assert first.event() is None
    assert second.status == 200
    second.close()


def test_comments_keep_it_alive(bin_):
    with Gateway(bin_, ["--keep-alive-ms=300"]) as gateway:
        stream = gateway.session().get()
        assert [stream.event()[1] for _ in range(2)] == ["comment", "comment"]
        stream.close()


def test_what_takes_long_becomes_a_stream(bin_, cluster):
    with Gateway(bin_, ["--keep-alive-ms=300"], cluster) as gateway:
        soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
        stream = gateway.post_open(run("import time; time.sleep(2)"))
        assert stream.headers["Content-Type"] == "text/event-stream"
        assert stream.event()[1] == "comment"
        assert stream.message()["id"] == 1


# ---- files ----

def made_file(gateway, size):
    code = f"open('a b%.bin', 'wb').write(bytes(i * 7 % 251 for i in range({size})))"
    session = gateway.post(call("create_session")).json["result"]["structuredContent"]["session_id"]
    reply = gateway.post(run(code, session_id=session))
    content = reply.json["result"]["structuredContent"]
    return content["artifacts"][0]["download_url"], bytes(i * 7 % 251 for i in range(size))


def path_of(gateway, url):
    assert url.startswith(gateway.url + "/files/"), url
    return url[len(gateway.url):]


def test_files(gateway):
    url, content = made_file(gateway, 1_000_003)
    path = path_of(gateway, url)
    reply = gateway.ask("GET", path)
    assert reply.status == 200, reply
    assert hashlib.sha256(reply.body).digest() == hashlib.sha256(content).digest()
    assert reply.headers["Content-Disposition"] == "attachment; filename*=UTF-8''a%20b%25.bin", reply.headers
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in reply.headers["Content-Security-Policy"]
    assert reply.headers["Accept-Ranges"] == "bytes" and reply.headers["Content-Length"] == "1000003"
    head = gateway.ask("HEAD", path)
    assert head.status == 200 and head.headers["Content-Length"] == "1000003" and head.body == b""
    with gateway.raw() as raw:
        raw.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        raw.socket.shutdown(socket.SHUT_WR)
        assert raw.read().endswith(content), "a half-closed client is sent its file"


def test_ranges(gateway):
    url, content = made_file(gateway, 600_000)
    path = path_of(gateway, url)
    for given, part in (("bytes=0-0", content[:1]), ("bytes=10-19", content[10:20]), ("bytes=599990-", content[599990:]),
                        ("bytes=-7", content[-7:]), ("bytes=100000-500000", content[100000:500001]),
                        ("bytes=599999-9999999", content[-1:]), ("bytes=-9999999", content)):
        reply = gateway.ask("GET", path, None, {"Range": given})
        assert reply.status == 206 and reply.body == part, (given, reply)
        first = len(content) - len(part) if given.startswith("bytes=-") else int(given[6:].split("-")[0])
        assert reply.headers["Content-Range"] == f"bytes {first}-{first + len(part) - 1}/600000", (given, reply)
    for given in ("bytes=600000-", "bytes=700000-800000", "bytes=-0"):
        assert gateway.ask("GET", path, None, {"Range": given}).status == 416, given
    for given in ("bytes=5-1", "lines=0-1", "bytes=0-1,3-4", "bytes=", "x", "bytes=1-x"):
        reply = gateway.ask("GET", path, None, {"Range": given})
        assert reply.status == 200 and reply.body == content, (given, reply)
    assert gateway.ask("GET", path, None, {"Range": "BYTES=1-2"}).body == content[1:3]
    for validator in ('"x"', "Sat, 21 Nov 2026 21:00:00 GMT"):
        reply = gateway.ask("GET", path, None, {"Range": "bytes=10-19", "If-Range": validator})
        assert reply.status == 200 and reply.body == content, "what a client has a part of may be another file"
    head = gateway.ask("HEAD", path, None, {"Range": "bytes=10-19"})
    assert head.status == 200 and head.headers["Content-Length"] == "600000", head


def test_downloads_that_nobody_reads(bin_, cluster):
    with Gateway(bin_, ["--max-output-bytes=4194304"], cluster) as gateway:
        soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
        url, content = made_file(gateway, 8_000_000)
        path, before, kept = path_of(gateway, url), gateway.rss(), []
        for _ in range(100):
            kept.append(gateway.raw())
            kept[-1].socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            kept[-1].send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        soon(lambda: metric(gateway, "cloister_http_waiting_bytes") > 2_000_000, "they are counted")
        time.sleep(1)
        assert metric(gateway, "cloister_http_waiting_bytes") < 4_194_304, "there is room for answers"
        assert gateway.holds(before + 12_000_000), gateway.rss() - before
        assert gateway.post(run("print(1)")).json["result"]["structuredContent"]["stdout"] == "1\n"
        assert gateway.ask("GET", path).body == content, "in small pieces"
        for raw in kept:
            raw.close()
        soon(lambda: metric(gateway, "cloister_http_waiting_bytes") == 0, "all is given back")


def test_links_open_one_file(gateway):
    url, _ = made_file(gateway, 10)
    path = path_of(gateway, url)
    where, _, seal = path.partition("?t=")
    for bad in (where + "?t=", where + "?t=x", path[:-1], path + "A", where + "x?t=" + seal,
                where.replace("/files/sess", "/files/sesT") + "?t=" + seal, "/files/", "/files/a?t=" + seal):
        assert gateway.ask("GET", bad).status == 403, bad
    flipped = seal[:-5] + ("A" if seal[-5] != "A" else "B") + seal[-4:]
    assert gateway.ask("GET", where + "?t=" + flipped).status == 403


def test_own_files_need_no_link(bin_, cluster):
    with Gateway(bin_, ["--toolsets=mcp-code-sandbox"], cluster) as gateway:
        soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
        done = gateway.post(call("sandbox_run_python", {"code": "open('/mnt/data/a.csv', 'w').write('1,2')", "session_id": "work"}))
        link = done.json["result"]["structuredContent"]["result"]["artifacts"][0]["download_url"]
        for where in ("/files/work/a.csv", path_of(gateway, link).partition("?")[0]):
            assert gateway.ask("GET", where).body == b"1,2", where
        for absent in ("/files/work/b.csv", "/files/other/a.csv", "/files/work/../a.csv", "/files/" + "n" * 200 + "/a.csv"):
            reply = gateway.ask("GET", absent)
            assert reply.status in (400, 404) and b"1,2" not in reply.body, (absent, reply)


def test_links_end(bin_, cluster):
    with Gateway(bin_, ["--link-ttl-s=1"], cluster) as gateway:
        soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
        url, content = made_file(gateway, 10)
        assert gateway.ask("GET", path_of(gateway, url)).body == content
        time.sleep(2.1)
        reply = gateway.ask("GET", path_of(gateway, url))
        assert reply.status == 403 and b"expired" in reply.body, reply


def test_links_have_the_url_of_the_operator(bin_, cluster):
    with Gateway(bin_, ["--public-url=https://box.example.com/there"], cluster) as gateway:
        soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
        session = gateway.post(call("create_session")).json["result"]["structuredContent"]["session_id"]
        made = gateway.post(run("open('f', 'w').write('x')", session_id=session)).json["result"]["structuredContent"]
        assert made["artifacts"][0]["download_url"].startswith("https://box.example.com/there/files/"), made


def test_links_of_a_kept_key(bin_, cluster):
    key = os.path.join(cluster.directory, "key")
    with open(key, "wb") as file:
        file.write(os.urandom(32))
    with Gateway(bin_, ["--link-key=" + key], cluster) as gateway:
        soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
        url, content = made_file(gateway, 10)
        path = path_of(gateway, url)
    with Gateway(bin_, ["--link-key=" + key], cluster) as gateway:
        soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
        assert gateway.ask("GET", path).body == content
    with Gateway(bin_, (), cluster) as gateway:
        assert gateway.ask("GET", path).status == 403


def test_links_of_gateways_behind_a_balancer(bin_, cluster):
    with open(os.path.join(cluster.directory, "key"), "wb") as file:
        file.write(os.urandom(32))
    flags = ["--link-key=" + file.name]
    with Gateway(bin_, flags, cluster) as a, Gateway(bin_, flags, cluster) as b, Gateway(bin_, (), cluster) as other:
        for gateway in a, b, other:
            soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")  # pylint: disable=cell-var-from-loop
        url, content = made_file(a, 10)
        assert b.ask("GET", path_of(a, url)).body == content
        assert other.ask("GET", path_of(a, url)).status == 403


# ---- the end ----

def test_a_daemon_that_is_lost(gateway, cluster):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(gateway.post(run("import time; time.sleep(30)"))))
    thread.start()
    time.sleep(0.5)
    cluster.kill("executor")
    thread.join(5)
    result = answers[0].json["result"]
    assert result["isError"] and json.loads(result["content"][0]["text"])["error"]["code"] == "unavailable", result
    soon(lambda: gateway.ask("GET", "/readyz").status == 503, "readyz says so")
    assert gateway.post(modern("tools/list")).status == 200
    cluster.restart("executor")
    soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
    assert gateway.post(run("print(1)")).json["result"]["structuredContent"]["stdout"] == "1\n"


def test_draining(bin_, cluster):
    with Gateway(bin_, (), cluster) as gateway:
        soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
        general = gateway.session().get()
        listening = gateway.post_open(modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "l"))
        assert listening.message()["method"] == "notifications/subscriptions/acknowledged"
        answers = []
        thread = threading.Thread(target=lambda: answers.append(gateway.post(run("import time; time.sleep(1.5); print(5)"))))
        thread.start()
        time.sleep(0.5)
        gateway.process.terminate()
        time.sleep(0.2)
        ready = gateway.ask("GET", "/readyz")
        assert ready.status == 503 and b"ending" in ready.body, ready
        assert gateway.post(modern("server/discover")).status == 503
        assert general.event() is None, "the general stream is ended"
        assert listening.message()["id"] == "l" and listening.event() is None, "it is answered, then ended"
        thread.join()
        assert answers[0].json["result"]["structuredContent"]["stdout"] == "5\n", answers
        assert gateway.process.wait(5) == 0


def test_draining_sse(bin_, cluster):
    with Gateway(bin_, (), cluster, transport="sse") as gateway:
        soon(lambda: gateway.ask("GET", "/readyz").status == 200, "readyz")
        idle, busy = (gateway.open("GET", "/sse", None, {"Accept": "text/event-stream"}) for _ in range(2))
        idle.event()
        assert gateway.post(run("import time; time.sleep(1.5); print(5)"), path=busy.event()[2]).status == 202
        time.sleep(0.3)
        gateway.process.terminate()
        assert idle.event() is None
        assert busy.message()["result"]["structuredContent"]["stdout"] == "5\n" and busy.event() is None
        assert gateway.process.wait(5) == 0


def main():
    bin_ = os.path.abspath(sys.argv[1])
    with Cluster(bin_) as cluster, Gateway(bin_, (), cluster) as gateway:
        given = {"bin_": bin_, "cluster": cluster, "gateway": gateway}
        counts = cases.play(sys.modules[__name__], named=given, after=held.check)
    cases.end(counts)


if __name__ == "__main__":
    main()
