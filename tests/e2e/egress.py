#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs reach other machines by name, and only the names that they may: DNS, HTTP and TLS servers of this test on its
loopback, which the operator's settings permit.

    egress.py BIN
"""

import base64
import hashlib
import json
import os
import re
import signal
import socket
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
from gateway import Gateway, call  # noqa: E402

HOST = "127.77.53.1"
PAYLOAD = os.urandom(1 << 20) * 3
# The addresses of each name; each question takes the next one, and the last one stays.
NAMES = {"web.test": [HOST], "other.test": [HOST], "a.wild.test": [HOST], "xn--bcher-kva.test": [HOST], "index.test": [HOST], "far.test": ["169.254.169.254"], "private.test": ["10.0.0.1"],
         "mapped.test": ["0.0.0.0"], "rebind.test": [HOST, "169.254.169.254"]}
ALLOWED = "web.test,*.wild.test,far.test,private.test,mapped.test,rebind.test,web.test:8080,web.test:8081,fronted.test,b\u00fccher.test,pypi"


class Dns(socketserver.BaseRequestHandler):
    asked = []

    def handle(self):
        data, sock = self.request
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode())
            at += 1 + data[at]
        name, kind, question = ".".join(labels), data[at + 2], data[12:at + 5]
        addresses = NAMES.get(name, [])
        Dns.asked.append((name, kind))
        answer = b""
        if kind == 1 and addresses:
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(addresses[0])
            if len(addresses) > 1:
                addresses.pop(0)
        sock.sendto(data[:2] + b"\x81\x80\0\1\0" + bytes([1 if answer else 0]) + b"\0\0\0\0" + question + answer, self.client_address)


class Web(socketserver.BaseRequestHandler):
    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head and (more := self.request.recv(4096)):
            head += more
        body = PAYLOAD if b" /big " in head else b"hello over " + str(self.server.server_address[1]).encode()
        self.request.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


class Deaf(socketserver.BaseRequestHandler):
    """Closes its side and reads nothing."""

    def handle(self):
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.request.shutdown(socket.SHUT_WR)
        time.sleep(20)


class Tls(Web):
    context = None

    def setup(self):
        self.request = Tls.context.wrap_socket(self.request, server_side=True)

    def finish(self):
        self.request.close()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


def serve(directory):
    key = os.path.join(directory, "key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", key + ".crt",
                    "-subj", "/CN=web.test", "-days", "1"], check=True, capture_output=True)
    Tls.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    Tls.context.load_cert_chain(key + ".crt", key)
    servers = [socketserver.ThreadingUDPServer((HOST, 5353), Dns), Server((HOST, 80), Web), Server((HOST, 443), Tls), Server((HOST, 8080), Web)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()


GET = """
import hashlib, ssl, urllib.request, socket
context = ssl._create_unverified_context()
def get(url, **headers):
    body = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10, context=context if url[4] == "s" else None).read()
    return body.decode() if len(body) < 99 else hashlib.sha256(body).hexdigest()
"""


def run(cluster, code, *domains, **more):
    if domains:
        more["allowed_domains"] = list(domains)
    return cluster.call("execute_code", {"code": GET + code, **more})["structuredContent"]


def token_of(cluster, name):
    """The header of a new principal."""
    made = subprocess.run([os.path.join(cluster.bin, "cloister"), "token", "add", name, "--state=" + cluster.state], check=True, capture_output=True, text=True)
    return {"Authorization": "Bearer " + made.stdout.strip()}


def test_names_are_reached(cluster):
    end = run(cluster, "print(get('http://web.test/'), get('https://web.test/'), get('http://web.test:8080/'), get('http://a.wild.test/'))",
              "web.test", "web.test:8080", "*.wild.test")
    assert end["stdout"] == "hello over 80 hello over 443 hello over 8080 hello over 80\n", end
    assert end["usage"]["network"]["connections"] == 4 and end["usage"]["network"]["bytes_in"] > 0, end["usage"]


def test_all_that_the_operator_allows(cluster):
    end = run(cluster, "print(get('http://web.test/big'))", enable_network=True)
    assert end["stdout"].strip() == hashlib.sha256(PAYLOAD).hexdigest(), end
    assert end["usage"]["network"]["bytes_in"] > len(PAYLOAD), end["usage"]


def test_without_the_argument_there_is_none(cluster):
    end = run(cluster, "get('http://web.test/')")
    assert "name resolution" in end["stderr"] and "network" not in end["usage"], end


def test_other_names_do_not_exist(cluster):
    before = len(Dns.asked)
    end = run(cluster, "get('http://other.test/')", "web.test")
    assert "not known" in end["stderr"] and "other.test is not among the domains" in end["error"]["hint"], end
    assert len(Dns.asked) == before, "a refused name left this machine"
    for asked in ["other.test"], ["*.web.test"], ["wild.test"], ["web.test:9"]:
        refused = cluster.call("execute_code", {"code": "1", "allowed_domains": asked})
        assert refused["isError"] and "egress_denied" in refused["content"][0]["text"], refused
    for wrong in "127.0.0.1", "[::1]", "http://web.test", "*.test", "*":
        refused = cluster.call("execute_code", {"code": "1", "allowed_domains": [wrong]})
        assert refused["isError"] and "invalid_argument" in refused["content"][0]["text"], (wrong, refused)


def test_addresses_that_are_not_public(cluster):
    for name in "far.test", "private.test", "mapped.test":
        end = run(cluster, f"get('http://{name}/')", name)
        assert not end["success"] and f"refused {name}:80: its address is not public" in end["error"]["hint"], end
    end = run(cluster, "socket.create_connection(('169.254.169.254', 80), 5)", "web.test")
    assert "Network is unreachable" in end["stderr"], end
    end = run(cluster, "socket.create_connection(('198.18.0.9', 80), 5).recv(1) == b'' and print('closed')", "web.test")
    assert end["stdout"] == "closed\n" or "reset" in end["stderr"], end


def test_an_answer_that_changes(cluster):
    end = run(cluster, "print(get('http://rebind.test/'))\nget('http://rebind.test/')", "rebind.test")
    assert end["stdout"] == "hello over 80\n" and "its address is not public" in end["error"]["hint"], end
    assert Dns.asked.count(("rebind.test", 1)) == 2, "one question for each connection"


def test_fronting(cluster):
    end = run(cluster, "get('http://web.test/', Host='fronted.test')", "web.test", "fronted.test")
    assert not end["success"] and "Host of the request is another one" in end["error"]["hint"], end
    end = run(cluster, "context.wrap_socket(socket.create_connection(('web.test', 443)), server_hostname='fronted.test')", "web.test", "fronted.test")
    assert not end["success"] and "TLS server name is another one" in end["error"]["hint"], end
    end = run(cluster, "socket.create_connection(('web.test', 443)).sendall(b'GET / HTTP/1.1\\r\\n\\r\\n'); raise SystemExit(1)", "web.test")
    assert end["usage"]["network"]["connections"] == 0, end


def test_a_session(cluster):
    session = cluster.call("create_session")["structuredContent"]["session_id"]
    for _ in range(2):
        end = run(cluster, "print(get('http://web.test/'))", "web.test", session_id=session)
        assert end["stdout"] == "hello over 80\n", end
    end = run(cluster, "get('http://web.test/')", session_id=session)
    assert not end["success"] and "network" not in end["usage"], end


def test_the_list_of_a_session(cluster):
    session = cluster.call("create_session", {"allowed_domains": ["WEB.test", "b\u00fccher.test"]})["structuredContent"]["session_id"]
    end = run(cluster, "print(get('http://web.test/'), get('http://xn--bcher-kva.test/'))", session_id=session)
    assert end["stdout"] == "hello over 80 hello over 80\n", end
    end = run(cluster, "get('http://xn--bcher-kva.test/')", "web.test", session_id=session)
    assert not end["success"] and "is not among the domains" in end["error"]["hint"], end
    refused = cluster.call("execute_code", {"code": "1", "session_id": session, "allowed_domains": ["a.wild.test"]})
    assert refused["isError"] and "not among the allowed_domains of the session" in refused["content"][0]["text"], refused
    # A person may allow the name while the session lives, so its runs are refused, and not the session.
    session = cluster.call("create_session", {"allowed_domains": ["other.test"]})["structuredContent"]["session_id"]
    refused = cluster.call("execute_code", {"code": "1", "session_id": session})
    assert refused["isError"] and "egress_denied" in refused["content"][0]["text"], refused
    session = cluster.call("create_session", {"enable_network": True})["structuredContent"]["session_id"]
    assert run(cluster, "print(get('http://a.wild.test/'))", session_id=session)["stdout"] == "hello over 80\n"


def test_groups(cluster):
    end = run(cluster, "get('http://other.test/')", "pypi")
    assert "is not among the domains" in end["error"]["hint"], end
    end = run(cluster, "print(get('http://index.test/'))", "pypi")
    assert end["stdout"] == "hello over 80\n", end
    refused = cluster.call("execute_code", {"code": "1", "allowed_domains": ["github"]})
    assert refused["isError"] and "egress_denied" in refused["content"][0]["text"], refused


def test_attempts_are_in_the_log(cluster):
    end = run(cluster, "get('http://web.test/')\nget('http://other.test/')", "web.test")
    wanted, seen, until = {("network.used", "web.test:80"), ("network.refused", "other.test:0")}, set(), time.monotonic() + 10
    while seen != wanted and time.monotonic() < until:  # the log is written later
        entries = cluster.call("audit_execution", {"limit": 50})["structuredContent"]["entries"]
        events = [entry["event"] for entry in entries if entry["event"].get("execution_id") == end["execution_id"]]
        seen = {(event["event"], event["detail"].split(" ")[0].rstrip(":")) for event in events if event["event"].startswith("network.")}
    assert seen == wanted, events


def events_of(cluster, end, wanted, more=lambda events: True):
    """(event, name and port) of a run, once they hold all that is wanted: the log is written later."""
    until = time.monotonic() + 10
    while True:
        entries = cluster.call("audit_execution", {"limit": 1000})["structuredContent"]["entries"]
        events = [entry["event"] for entry in entries if entry["event"].get("execution_id") == end]
        events = [(event["event"], event["detail"]) for event in events if event["event"].startswith("network.")]
        if wanted <= {(event, detail.split(" ")[0].rstrip(":")) for event, detail in events} and more(events):
            return events
        assert time.monotonic() < until, (wanted, events)
        time.sleep(0.05)


def test_runs_beside_each_other_keep_their_networks(cluster):
    """240 runs of three principals, 24 at once: a lost one would not resolve its name."""
    code = GET + "print(socket.gethostbyname('web.test') != '', get('http://web.test/'))"
    ends = []

    def worker(gateway, token):
        for _ in range(10):
            reply = gateway.post(call("execute_code", {"code": code, "allowed_domains": ["web.test"], "timeout": 60}), token, timeout=120)
            ends.append(reply.json["result"]["structuredContent"] if "result" in reply.json else reply.json)

    tokens = [token_of(cluster, name) for name in ("ann", "bob", "cyd")]
    with Gateway(cluster.bin, cluster=cluster, anonymous=False) as gateway:
        threads = [threading.Thread(target=worker, args=(gateway, tokens[i % 3])) for i in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    wrong = [end for end in ends if end.get("stdout") != "True hello over 80\n"]
    assert len(ends) == 240 and not wrong, (len(ends), len(wrong), wrong[:2])
    assert "no sockets were passed" not in cluster.log("egress") + cluster.log("executor")


def test_names_that_are_used_cannot_be_hidden(cluster):
    end = run(cluster, "for i in range(80):\n    try: socket.gethostbyname(f'n{i}.invalid')\n    except OSError: pass\nprint(get('http://web.test/'))", "web.test")
    events = events_of(cluster, end["execution_id"], {("network.used", "web.test:80"), ("network.refused", "others:0")},
                       lambda events: "16 more refusals" in str(events))
    assert sum(event == "network.refused" for event, _ in events) == 65, events
    assert any("n0.invalid" in note for note in end["notes"]), end


def test_a_refusal_does_not_hide_a_use(cluster):
    end = run(cluster, "get('http://web.test/')\ntry: get('http://web.test/', Host='other.test')\nexcept OSError: pass", "web.test")
    events_of(cluster, end["execution_id"], {("network.used", "web.test:80"), ("network.refused", "web.test:80")},
              lambda events: any(event == "network.used" and "connections 1," in detail for event, detail in events))


def test_an_error_of_its_own_has_its_own_hint(cluster):
    end = run(cluster, "try: socket.gethostbyname('other.test')\nexcept OSError: pass\n1/0", "web.test")
    assert "domains" not in str(end["error"].get("hint")) and any("other.test (not allowed)" in note for note in end["notes"]), end


def test_what_was_used_is_recorded_at_once(cluster):
    """Neither a cancelled call nor the end of egress loses it."""
    client = cluster.client()
    for ending in "cancel", "kill":
        waiting = client.begin("tools/call", {"name": "execute_code", "arguments": {
            "code": GET + "print(get('http://web.test/'), flush=True)\nimport time\ntime.sleep(3)", "allowed_domains": ["web.test"]}}, progress=True)
        waiting.shows("hello over")
        if ending == "cancel":
            client.notify("notifications/cancelled", {"requestId": waiting.id})
        else:
            cluster.kill("egress")
            cluster.restart("egress")
            end = waiting.result()["structuredContent"]
            assert end["success"] and any("network was lost" in note for note in end["notes"]), end
        entries, until = [], time.monotonic() + 10
        while not entries:
            assert time.monotonic() < until
            newest = [entry["event"] for entry in cluster.call("audit_execution", {"limit": 30})["structuredContent"]["entries"]]
            last = next(event["execution_id"] for event in newest if event["event"] == "execution.started")
            entries = [event for event in newest if event["event"] == "network.used" and event["execution_id"] == last]


def processor_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_server_that_does_not_read_costs_nothing(cluster):
    """It has closed its side; bytes of the program wait for it, and so does the program's end."""
    server = Server((HOST, 8080 + 1), Deaf)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    code = """
import time
s = socket.create_connection(('web.test', 8081))
s.settimeout(1)
try: s.sendall(bytes(30 << 20))  # more than all buffers on the way, and less than max_bytes
except TimeoutError: print('waits', flush=True)
s.shutdown(socket.SHUT_WR)
time.sleep(3)
"""
    client = cluster.client()
    waiting = client.begin("tools/call", {"name": "execute_code", "arguments": {"code": GET + code, "allowed_domains": ["web.test:8081"], "timeout": 30}}, progress=True)
    waiting.shows("waits")
    before = processor_s(cluster.pid("egress"))
    time.sleep(2)
    used = processor_s(cluster.pid("egress")) - before
    waiting.result()
    server.shutdown()
    server.server_close()
    assert used < 0.5, used


def may_open(pid, descriptors):
    """Changes that limit of a process, as its user."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        user, group = (re.search(rf"^{kind}:\t(\d+)", text, re.M)[1] for text in [file.read()] for kind in ("Uid", "Gid"))
    subprocess.run(["setpriv", "--reuid=" + user, "--regid=" + group, "--clear-groups", "prlimit", f"--pid={pid}", f"--nofile={descriptors}:"], check=True)


def test_connections_wait_for_a_descriptor(cluster):
    """A connection that egress cannot accept is neither lost nor asked for again and again."""
    code = """
import time
host = socket.gethostbyname('web.test')
print('resolved', flush=True)
time.sleep(1)
s = socket.create_connection((host, 80))
s.sendall(b'GET / HTTP/1.1\\r\\nHost: web.test\\r\\n\\r\\n')
print('connected', flush=True)
print(s.recv(4096).decode()[-13:])
"""
    waiting = cluster.client().begin("tools/call", {"name": "execute_code", "arguments": {"code": GET + code, "allowed_domains": ["web.test"]}}, progress=True)
    waiting.shows("resolved")
    egress = cluster.pid("egress")
    may_open(egress, min(set(range(1024)) - set(map(int, os.listdir(f"/proc/{egress}/fd")))))
    try:
        waiting.shows("connected")
        used = processor_s(egress)
        time.sleep(1)
        used = processor_s(egress) - used
        assert waiting.reply.empty(), waiting.result()
    finally:
        may_open(egress, 1024)
    end = waiting.result()["structuredContent"]
    assert end["stdout"].endswith("hello over 80\n") and used < 0.2, (used, end)


def test_half_a_head_has_a_deadline(cluster):
    """connect_ms is 3 s here; the bytes that came do not move it."""
    code = """
import time
socks = [socket.create_connection(('web.test', 80)) for _ in range(8)]
for s in socks: s.sendall(b'GET /' + b'a' * 9000)
began = time.monotonic()
for s in socks:
    s.settimeout(20)
    try: s.recv(1)
    except ConnectionResetError: pass
print(2 < time.monotonic() - began < 12)
"""
    end = run(cluster, code, "web.test", timeout=40)
    assert end["stdout"] == "True\n" and any("no answer in time" in note for note in end["notes"]), end


def test_the_toolset_of_sandboxmcp(cluster):
    """A name that is not allowed is left out and named; those that are allowed are reached."""
    client = cluster.client(flags=["--toolsets=sandboxmcp"])
    end = json.loads(client.call("execute_code", {"code": GET + "print(get('http://web.test/'))", "allowed_domains": ["web.test", "other.test"]})["content"][0]["text"])
    assert end["success"] and end["stdout"].strip() == "hello over 80" and "other.test" in end["metadata"]["network"], end


def test_egress_that_ends_before_it_serves(cluster):
    """It has the sockets, or hangs with them: the program does not start without its network."""
    for ending in "kill", "hang":
        os.kill(cluster.pid("egress"), signal.SIGSTOP)
        try:
            waiting = cluster.client().begin("tools/call", {"name": "execute_code", "arguments": {"code": "print('started')", "allowed_domains": ["web.test"]}})
            time.sleep(0.5)
            if ending == "kill":
                cluster.kill("egress")
            result = waiting.result(timeout=30)
        finally:
            if ending == "kill":
                cluster.restart("egress")
            else:
                os.kill(cluster.pid("egress"), signal.SIGCONT)
        assert result["isError"] and "unavailable" in result["content"][0]["text"] and "started" not in json.dumps(result), (ending, result)
        wait_for_network(cluster)


def test_a_run_waits_until_egress_is_there(cluster):
    """It starts beside the executor, and again after its end."""
    cluster.kill("egress")
    time.sleep(0.5)  # until the executor has noticed
    waiting = cluster.client().begin("tools/call", {"name": "execute_code", "arguments": {"code": GET + "print(get('http://web.test/'))", "allowed_domains": ["web.test"]}})
    time.sleep(0.2)
    assert waiting.reply.empty(), waiting.result()
    cluster.restart("egress")
    end = waiting.result()
    assert end["structuredContent"]["stdout"] == "hello over 80\n", end


def test_connections_are_bounded(cluster):
    """max_connections is 40 here, and max_connections_each 60: the second run of a principal has what the first one left."""
    code = GET + "import time\nsocks = [socket.create_connection(('web.test', 8080)) for _ in range(50)]\nprint('connected', flush=True)\ntime.sleep(3)"
    waiting = []
    for _ in range(2):
        waiting.append(cluster.client().begin("tools/call", {"name": "execute_code", "arguments": {"code": code, "allowed_domains": ["web.test:8080"], "timeout": 30}}, progress=True))
        waiting[-1].shows("connected")
        time.sleep(0.3)  # until egress has accepted all of them
    first, second = (one.result()["structuredContent"] for one in waiting)
    assert first["usage"]["network"]["connections"] == 40 and "too many connections at once" in str(first["notes"]), first
    assert second["usage"]["network"]["connections"] == 20 and "too many connections of all your runs" in str(second["notes"]), second


def test_bytes_are_bounded(cluster):
    """max_bytes is 32 MB here."""
    end = run(cluster, "try:\n    for i in range(30): get('http://web.test/big')\nexcept Exception: pass\nprint(5 < i < 11)", "web.test", timeout=40)
    assert end["stdout"] == "True\n" and "the run's limit of bytes is reached" in str(end["notes"]), end


def test_a_connection_without_traffic_is_closed(cluster):
    """idle_ms is 5 s here."""
    end = run(cluster, "import time\ns = socket.create_connection(('web.test', 8080))\nbegan = time.monotonic()\ns.settimeout(20)\nprint(s.recv(1), 4 < time.monotonic() - began < 15)", "web.test:8080", timeout=40)
    assert end["stdout"] == "b'' True\n", end


def test_secrets_in_names_are_not_recorded(cluster):
    secret = "Tk3AbcDefgh12345678"
    cluster.client().request("cloister/vault/add", {"name": "DNSKEY", "value": base64.b64encode(secret.encode()).decode()})
    end = run(cluster, "import os\nget('http://' + os.environ['DNSKEY'] + '.example.org/')", "web.test", env_secrets=["DNSKEY"])
    assert secret.lower() not in json.dumps(end).lower() and "***REDACTED***.example.org is not among" in end["error"]["hint"], end
    until = time.monotonic() + 10
    while "network.refused" not in (seen := json.dumps(cluster.call("audit_execution", {"limit": 20}))):
        assert time.monotonic() < until, seen
    assert secret.lower() not in seen.lower()
    assert secret.lower() not in cluster.log("executor").lower() and secret.lower() not in cluster.log("egress").lower()


def wait_for_network(cluster):
    """The executor connects to a new egress again."""
    until = time.monotonic() + 10
    while (result := cluster.call("execute_code", {"code": GET + "print(get('http://web.test/'))", "allowed_domains": ["web.test"]}))["isError"]:
        assert time.monotonic() < until, result
    assert result["structuredContent"]["stdout"] == "hello over 80\n", result


def test_without_egress(cluster):
    cluster.kill("egress")
    assert cluster.call("execute_code", {"code": "print(1)"})["structuredContent"]["stdout"] == "1\n"
    refused = cluster.call("execute_code", {"code": "1", "allowed_domains": ["web.test"]})
    assert refused["isError"] and "egress is not running" in refused["content"][0]["text"], refused
    cluster.restart("egress")
    wait_for_network(cluster)


if __name__ == "__main__":
    if os.geteuid() != 0:
        daemons.skip("servers at ports 80 and 443 need root")
    with tempfile.TemporaryDirectory() as keys:
        serve(keys)
        env = {"PIP_INDEX_URL": "http://user:secret@index.test/simple"}  # of the group pypi
        flags = {"executor": ["--egress-domains=" + ALLOWED],
                 "egress": [f"--resolver={HOST}:5353", f"--allowed-networks={HOST}/32", "--connect-ms=3000", "--max-connections=40", "--max-connections-each=60",
                            "--max-bytes=32000000", "--idle-ms=5000"]}
        with daemons.Cluster(sys.argv[1], env=env, flags=flags) as cluster:
            counts = cases.play(sys.modules[__name__], cluster)
    cases.end(counts)
