#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks on egress: on its resolver, its listeners, its limits, and what a network leaves to the next run (N-13..N-22).

    network.py BIN TESTS root|rootless

All daemons run.  The DNS and web servers of this test are hostile as well; they have addresses of the host's loopback, which
egress's settings permit.  Rows of the README's table that are not here name their case.
"""

import collections
import contextlib
import json
import os
import pwd
import shutil
import socket
import socketserver
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "e2e")]
import box as boxes  # noqa: E402
import cases  # noqa: E402
import daemons  # noqa: E402
from egress import Server, events_of  # noqa: E402
from session import READ_NETWORK  # noqa: E402

# Both modes may run at once.
HOST, OTHER = ("127.77.56.1", "127.77.56.2") if sys.argv[3:] == ["rootless"] else ("127.77.55.1", "127.77.55.2")
DNS, PORT = 5353, 8085
# None of these is an address of another machine on the internet: they lead to this host, to its network, or to IPv4 addresses
# within.
NOT_PUBLIC = ("::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe",
              "2002:a9fe:a9fe::1", "2001:0:a9fe:a9fe::1", "fd00::1", "fe80::1", "fec0::1", "ff02::1", "2001:db8::1")
NAMES = {"web.test": HOST, "forged.test": HOST, "other.test": OTHER, **{f"six{i}.test": address for i, address in enumerate(NOT_PUBLIC)}}
DOMAINS = ["web.test", f"web.test:{PORT}", "other.test", f"other.test:{PORT}", "forged.test", "silent.test", "*.wild.test", *(f"six{i}.test" for i in range(len(NOT_PUBLIC)))]
NO_NAME, NO_RESOLVER = "-2", "-3"  # EAI_NONAME, EAI_AGAIN
CONNECTIONS, EACH, CONNECT_MS, IDLE_MS, BYTES = 40, 60, 3000, 5000, 32000000

PRELUDE = boxes.PRELUDE + f"""
import hashlib, json, socket, threading, time, urllib.error, urllib.request
PORT = {PORT}
def get(url):
    return urllib.request.urlopen(url, timeout=20).read(99).decode()
def ask(name, kind=1, id=b"id"):
    return id + b"\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0" + b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\\0\\0" + bytes([kind]) + b"\\0\\1"
def heard(sock, wait):
    sock.settimeout(wait)
    return sock.recv(65535)
"""


# ---- hostile servers ----

def answer(data, question, address, id_=None, flags=b"\x81\x80"):
    packed = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
    record = b"\xc0\x0c\0" + bytes([28 if len(packed) == 16 else 1]) + b"\0\1\0\0\0\0\0" + bytes([len(packed)]) + packed
    return (id_ or data[:2]) + flags + b"\0\1\0\1\0\0\0\0" + question + record


class Dns(socketserver.BaseRequestHandler):
    asked = []

    def handle(self):
        data, sock = self.request
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode())
            at += 1 + data[at]
        name, kind, question = ".".join(labels), data[at + 2], data[12:at + 5]
        Dns.asked.append(name)
        address = HOST if name.endswith(".wild.test") else NAMES.get(name)
        if name == "silent.test":
            return
        if name == "forged.test":
            self.forge(data, question)
        if address is not None and kind == (28 if ":" in address else 1):
            sock.sendto(answer(data, question, address), self.client_address)
        else:
            sock.sendto(data[:2] + b"\x81\x80\0\1\0\0\0\0\0\0" + question, self.client_address)

    def forge(self, data, question):
        """What reaches egress before the answer: from the server itself, from its other ports, and from another address."""
        sock, to = self.request[1], self.client_address
        for changed in range(1, 9):
            sock.sendto(answer(data, question, OTHER, id_=bytes([data[0], data[1] ^ changed])), to)
        sock.sendto(answer(data, b"\3web\4test\0\0\1\0\1", OTHER), to)
        sock.sendto(answer(data, question[:-4] + b"\0\x1c\0\1", OTHER), to)
        sock.sendto(answer(data, question, OTHER, flags=b"\1\0"), to)
        for source in (HOST, 0), (OTHER, 0), (OTHER, DNS):
            with socket.socket(type=socket.SOCK_DGRAM) as spoofer:
                spoofer.bind(source)
                spoofer.sendto(answer(data, question, OTHER), to)
        time.sleep(0.2)


class Web(socketserver.BaseRequestHandler):
    connections = collections.Counter()
    ended = threading.Event()

    def handle(self):
        Web.connections[self.server.server_address] += 1
        head = b""
        while b"\r\n\r\n" not in head:
            more = self.request.recv(4096)
            if not more:
                return
            head += more
        path = head.split(b" ")[1]
        if path.startswith(b"/to/"):
            self.request.sendall(b"HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: " + path[4:] + b"\r\n\r\n")
        elif path in (b"/slow", b"/endless"):
            self.feed(path)
        else:
            body = f"at {self.server.server_address[0]}".encode()
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            while self.request.recv(4096):  # until the program, or egress, closes it
                pass

    def feed(self, path):
        """Bytes without end, as long as somebody takes them."""
        try:
            self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                self.request.sendall(b"x" if path == b"/slow" else bytes(1 << 20))
                time.sleep(0.2 if path == b"/slow" else 0)
        except OSError:
            Web.ended.set()


class Gone(socketserver.BaseRequestHandler):
    """What only a box that was broken out of reaches."""

    def handle(self):
        Web.connections["host"] += 1


def serve():
    Dns.asked = []
    servers = [socketserver.ThreadingUDPServer((HOST, DNS), Dns), Server((HOST, 53), Gone)]
    servers += [Server((host, port), Web) for host in (HOST, OTHER) for port in (80, PORT)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()


# ---- runs ----

def run(cluster, code, *domains, **more):
    if domains:
        more["allowed_domains"] = list(domains)
    return cluster.call("execute_code", {"code": PRELUDE + code, "timeout": 60, **more}, timeout=120)["structuredContent"]


def tries(cluster, code, *domains, **more):
    """What attempt() and tell() printed, by name."""
    end = run(cluster, code, *domains, **more)
    assert end["success"], end
    return dict(line.split(" ", 1) for line in end["stdout"].splitlines())


def session_of(cluster):
    return cluster.call("create_session")["structuredContent"]["session_id"]


@contextlib.contextmanager
def beside(cluster, code, *domains, shows):
    """A run that is under way, and its end afterwards."""
    waiting = cluster.client().begin("tools/call", {"name": "execute_code", "arguments": {
        "code": PRELUDE + code, "allowed_domains": list(domains), "timeout": 60}}, progress=True)
    waiting.shows(shows)
    yield waiting


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def resident_kb(pid):
    return int(boxes.status(pid)["VmRSS"].split()[0])


# ---- the resolver ----

def test_N13_tunnels_of_names(cluster):
    """N-13 (I3): what a program looks up leaves this host in no question, also below a wildcard, and it can look up 256 names."""
    before = len(Dns.asked)
    got = tries(cluster, """
found = 0
for i in range(400):
    try: found += socket.gethostbyname(f"{hashlib.sha256(b'%d' % i).hexdigest()[:60]}.wild.test") != ""
    except OSError: pass
tell("found", found)
for name in "secret.other.test", "secret.web.test", "a.b.invalid": attempt(name, socket.gethostbyname, name)
for kind in 2, 5, 12, 15, 16, 28, 33, 65, 251, 252, 255:
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect(("127.0.0.1", 53)); s.send(ask("key.wild.test", kind))
        reply = heard(s, 5)
        tell(f"kind{kind}", (reply[3] & 15, reply[6:8]))
""", "*.wild.test")
    assert got.pop("found") == "256" and len(Dns.asked) == before, (got, Dns.asked[before:before + 9])
    assert {value for name, value in got.items() if name.startswith("kind")} == {"(0, b'\\x00\\x00')"}, got
    assert {value for name, value in got.items() if not name.startswith("kind")} == {NO_NAME}, got


def test_N14_forged_answers(cluster):
    """N-14 (I3): an answer counts only if the server that was asked sends it, with the id and the question."""
    before = Dns.asked.count("forged.test")
    for _ in range(5):
        assert run(cluster, "print(get('http://forged.test/'))", "forged.test")["stdout"] == f"at {HOST}\n"
    assert Dns.asked.count("forged.test") == before + 5


def test_N14_a_server_that_never_answers(cluster):
    """N-14, R-19: a look-up without an answer ends at connect_ms, its reason is told, and others are served meanwhile."""
    code = """
print("begun", flush=True)
socks = [socket.create_connection(("silent.test", 80)) for _ in range(30)]
for s in socks: s.sendall(b"GET / HTTP/1.1\\r\\nHost: silent.test\\r\\n\\r\\n")
began = time.monotonic()
for s in socks: attempt("silent", heard, s, 20)
print(time.monotonic() - began < 15)
"""
    with beside(cluster, code, "silent.test", shows="begun") as waiting:
        for _ in range(5):
            began = time.monotonic()
            assert run(cluster, "print(get('http://web.test/'))", "web.test")["stdout"] == f"at {HOST}\n"
            assert time.monotonic() - began < 2
    end = waiting.result()["structuredContent"]
    assert end["stdout"] == "begun\n" + "silent ECONNRESET\n" * 30 + "True\n" and "the name has no address" in str(end["notes"]), end


def test_N15_the_port_of_the_resolver(cluster):
    """N-15 (I3, I5): no program takes the port at which egress answers the questions of the box."""
    got = tries(cluster, """
import itertools
def take(family, address, options):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        for option in options: s.setsockopt(socket.SOL_SOCKET, option, 1)
        s.bind((address, 53))
options = [(), (socket.SO_REUSEADDR,), (socket.SO_REUSEPORT,), (socket.SO_REUSEADDR, socket.SO_REUSEPORT)]
addresses = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"), (socket.AF_INET6, "::ffff:127.0.0.1")]
for (family, address), chosen in itertools.product(addresses, options):
    attempt(f"{address}+{len(chosen)}{socket.SO_REUSEPORT in chosen}", take, family, address, chosen)
tell("still", socket.gethostbyname("web.test"))
""", "web.test")
    assert got.pop("still") == "198.18.0.1" and set(got.values()) == {"EADDRINUSE"} and len(got) == 16, got


def test_N15_a_server_that_was_there_before(cluster):
    """N-15: a statement leaves a resolver of its own to the next one of its session, which is refused and not deceived."""
    session = session_of(cluster)
    run(cluster, """
def lie():
    while not ended.is_set():
        data, asker = fake.recvfrom(600)
        fake.sendto(data[:2] + b"\\x81\\x80\\0\\1\\0\\1\\0\\0\\0\\0" + data[12:] + b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\0\\0\\4\\x7f\\0\\0\\7", asker)
fake, ended = socket.socket(type=socket.SOCK_DGRAM), threading.Event()
fake.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
fake.bind(("127.0.0.1", 53))
threading.Thread(target=lie, daemon=True).start()
""", session_id=session)
    arguments = {"code": "print(socket.gethostbyname('web.test'))", "session_id": session, "allowed_domains": ["web.test"]}
    refused = cluster.call("execute_code", arguments)
    assert refused["isError"] and "listen on port 53 of the box: Address already in use" in refused["content"][0]["text"], refused
    run(cluster, "ended.set(); socket.socket(type=socket.SOCK_DGRAM).sendto(b'x' * 20, ('127.0.0.1', 53)); time.sleep(0.2); fake.close()", session_id=session)
    assert cluster.call("execute_code", arguments)["structuredContent"]["stdout"] == "198.18.0.1\n"


def test_N16_other_than_questions(cluster):
    """N-16 (I3): at the resolver's port and addresses there is nothing but DNS by UDP, and no packet stops it."""
    before = len(Dns.asked), Web.connections["host"]
    got = tries(cluster, f"""
import random
for address in "127.0.0.1", "127.0.0.53", "198.18.0.1", "198.19.0.1", "{HOST}":
    attempt("tcp:" + address, socket.create_connection, (address, 53), 5)
for address in "198.18.0.1", "198.18.1.255", "198.19.0.1", "{HOST}":
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((address, 53)); s.send(ask("web.test"))
        attempt("udp:" + address, heard, s, 5)
for address in "8.8.8.8", "169.254.169.254", "198.19.0.2", "255.255.255.255":
    attempt("far:" + address, socket.socket(type=socket.SOCK_DGRAM).sendto, ask("web.test"), (address, 53))
for name, words in dict(raw=(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP), raw6=(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_UDP),
                        any=(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW), packet=(socket.AF_PACKET, socket.SOCK_RAW, 8), ping=(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)).items():
    attempt("socket:" + name, socket.socket, *words)
question, dice = ask("web.test"), random.Random(1)
packets = [b"", b"x", question[:11], question[:-1], question[:2] + b"\\x81\\x80" + question[4:], question[:4] + b"\\0\\2" + question[6:], question[:4] + b"\\xff\\xff" + question[6:],
           question[:12] + b"\\xc0\\x0c\\0\\1\\0\\1", question[:12] + b"\\x3f" * 500, question + bytes(60000), bytes(65507), question[:2] + b"\\x28\\0" + question[4:]]
packets += [bytes(dice.randrange(256) for _ in range(dice.randrange(600))) for _ in range(2000)]
with socket.socket(type=socket.SOCK_DGRAM) as s:
    s.connect(("127.0.0.1", 53))
    for packet in packets: s.send(packet)
with socket.socket(type=socket.SOCK_DGRAM) as s:
    s.connect(("127.0.0.1", 53))
    for i in range(20):  # what comes while its queue is full is lost
        s.send(ask("web.test", id=b"ok"))
        try: reply = heard(s, 0.5)
        except TimeoutError: continue
        tell("still", reply[:2])
        break
attempt("get", get, "http://web.test/")
""", "web.test")
    assert got.pop("still") == "b'ok'" and got.pop("get") == "done", got
    assert {value for name, value in got.items() if name.startswith(("tcp", "udp"))} == {"ECONNREFUSED"}, got
    assert {value for name, value in got.items() if name.startswith("socket")} <= {"EPERM", "EACCES", "EPROTONOSUPPORT"}, got
    assert {value for name, value in got.items() if name.startswith("far")} <= {"ENETUNREACH", "EACCES"} and len(got) == 18, got
    assert (len(Dns.asked), Web.connections["host"]) == (before[0] + 1, before[1]), "a question left this host"


# ---- addresses ----

def test_N17_addresses_without_a_name(cluster):
    """N-17 (I3): an address that was not given for a name leads nowhere, in any way of writing it."""
    got = tries(cluster, f"""
for address in "169.254.169.254", "0xA9FEA9FE", "2852039166", "0251.0376.0251.0376", "10.0.0.1", "93.184.216.34":
    attempt("four:" + address, socket.create_connection, (address, 80), 5)
for address in "::ffff:169.254.169.254", "::ffff:93.184.216.34", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "2606:4700::1111", "fd00::1", "fe80::1%2":
    attempt("six:" + address, socket.create_connection, (address, 80), 5)
for address in "{HOST}", "::ffff:{HOST}", "127.0.0.1", "::1", "0.0.0.0", "::":
    attempt("own:" + address, socket.create_connection, (address, 80), 5)
""", "web.test")
    assert {value for name, value in got.items() if name.startswith(("four", "six"))} <= {"ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "ENODEV", "EINVAL"}, got
    assert {value for name, value in got.items() if name.startswith("own")} == {"ECONNREFUSED"} and len(got) == 19, got
    for wrong in "[::1]", "[2606:4700::1111]", "::1", "169.254.169.254", "0xA9FEA9FE", "2852039166", "169.254.169.254:80":
        refused = cluster.call("execute_code", {"code": "1", "allowed_domains": [wrong]})
        assert refused["isError"] and "invalid_argument" in refused["content"][0]["text"], (wrong, refused)


def test_N17_names_of_addresses_that_are_not_public(cluster):
    """N-17 (I3): AAAA records of this host, of its network, and of IPv4 addresses in disguise are refused."""
    end = run(cluster, f"for i in range({len(NOT_PUBLIC)}): attempt(f'six{{i}}', get, f'http://six{{i}}.test/')", *(f"six{i}.test" for i in range(len(NOT_PUBLIC))))
    assert end["stdout"] == "".join(f"six{i} ECONNRESET\n" for i in range(len(NOT_PUBLIC))), end
    events = events_of(cluster, end["execution_id"], {("network.refused", f"six{i}.test:80") for i in range(len(NOT_PUBLIC))})
    assert all("its address is not public" in detail for _, detail in events) and len(events) == len(NOT_PUBLIC), events


def test_N17_redirects(cluster):
    """N-17 (I3): a server that sends a program elsewhere gives it no more than it has."""
    end = run(cluster, f"""
for to in "http://169.254.169.254/latest/meta-data/", "http://[::ffff:169.254.169.254]/", "http://metadata.invalid/", "http://other.test/", "http://{HOST}:{PORT}/", "http://198.18.0.2/", "http://web.test:{PORT}/":
    try: print(get("http://web.test/to/" + to))
    except urllib.error.URLError as error: print(type(error.reason).__name__, getattr(error.reason, "errno", 0))
    except OSError as error: print(type(error).__name__, error.errno)
""", "web.test")
    assert end["stdout"].splitlines() == ["OSError 101", "OSError 101", "gaierror -2", "gaierror -2", "ConnectionRefusedError 111", "ConnectionResetError 104", "ConnectionRefusedError 111"], end


# ---- limits ----

def test_N18_answers_that_never_end(cluster):
    """N-18, R-19: a server that feeds a program ends with the run's time or its limit of bytes, and egress holds nothing of it."""
    before = descriptors(cluster.pid("egress"))
    for path, timeout, says in ("/slow", 4, "timed_out"), ("/endless", 40, "the run's limit of bytes is reached"):
        Web.ended.clear()
        end = run(cluster, f"s = urllib.request.urlopen('http://web.test{path}', timeout=20)\nwhile s.read(65536): pass", "web.test", timeout=timeout)
        assert not end["success"] or says != "timed_out", end
        assert (end["timed_out"] if says == "timed_out" else says in str(end["notes"])), end
        assert end["usage"]["network"]["bytes_in"] < BYTES * 1.1, end["usage"]
        assert Web.ended.wait(10), "egress still takes it"
    boxes.until(lambda: descriptors(cluster.pid("egress")) <= before, 10)


# Most connections name no server, so none leaves the host, and its own ports are spared.
FLOOD = """
host, kept, ends = socket.gethostbyname("web.test"), [], {}
print("resolved", flush=True)
for i in range(10000):
    s = socket.socket()
    s.settimeout(20)
    try:
        s.connect((host, 80))
        kept.append(s)
        ends["connected"] = ends.get("connected", 0) + 1
    except OSError as error:
        ends[str(error)] = ends.get(str(error), 0) + 1
        s.close()
    if len(kept) == 200: kept.pop(0).close()
print(json.dumps(ends))
"""


def test_N19_ten_thousand_connections(cluster):
    """N-19, R-19 (I4, I5): a run that opens 10,000 connections is limited and told so; other runs and egress do not notice."""
    egress, before = cluster.pid("egress"), sum(Web.connections.values())
    calm, memory, most, served, slowest = descriptors(egress), resident_kb(egress), 0, 0, 0
    with beside(cluster, FLOOD, "web.test", shows="resolved") as waiting:
        while waiting.reply.empty():
            began = time.monotonic()
            assert run(cluster, "print(get('http://web.test/'))", "web.test")["stdout"] == f"at {HOST}\n"
            served, slowest, most = served + 1, max(slowest, time.monotonic() - began), max(most, descriptors(egress))
            time.sleep(0.2)
    end = waiting.result()["structuredContent"]
    assert end["success"] and sum(json.loads(end["stdout"].splitlines()[-1]).values()) == 10000, end
    print(f"{end['stdout'].splitlines()[-1]}, {served} other runs, {slowest:.2f} s at most; {calm} descriptors, {most} at most")
    assert [note for note in end["notes"] if "web.test:80 (too many connections at once)" in note] and len(str(end["notes"])) < 500, end["notes"]
    assert end["usage"]["network"]["connections"] == 0 and sum(Web.connections.values()) == before + served, (end["usage"], Web.connections)
    assert served >= 3 and slowest < 3, (served, slowest)
    assert cluster.pid("egress") == egress and most < calm + CONNECTIONS + 20 and resident_kb(egress) < memory + 8192, (calm, most, memory, resident_kb(egress))
    boxes.until(lambda: descriptors(egress) <= calm, 10)
    events = events_of(cluster, end["execution_id"], {("network.refused", "web.test:80")})
    assert len(events) < 4, events


# ---- what is left to the next run ----

# Connections, questions, names and, without any packet, the link itself.
LEFT = ("print(1)", "print(get('http://web.test/'))", "kept = [socket.create_connection(('web.test', PORT)) for _ in range(9)]",
        "for i in range(50): attempt('no', socket.gethostbyname, f'n{i}.wild.test')",
        "s = socket.create_server(('0.0.0.0', 0)); c = socket.create_connection(s.getsockname()); d = socket.create_connection(('web.test', PORT))")
# All that it can read, and where it gets to.
LOOK = READ_NETWORK + """
for address in "198.18.0.1", "198.18.1.255", "198.19.0.1": attempt("tcp:" + address, socket.create_connection, (address, PORT), 5)
attempt("name", socket.gethostbyname, "web.test")
tell("devices", [line.split(":")[0].strip() for line in open("/proc/self/net/dev") if ":" in line])
"""


def leaves_nothing(cluster):
    fresh = tries(cluster, LOOK)
    assert fresh["devices"] == "['lo']" and fresh["name"] == NO_RESOLVER, fresh
    assert {fresh["tcp:" + address] for address in ("198.18.0.1", "198.18.1.255", "198.19.0.1")} == {"ENETUNREACH"}, fresh
    for left in LEFT * 3:
        end = run(cluster, left, f"web.test:{PORT}", "web.test", "*.wild.test")
        assert end["success"], (left, end)
        for _ in range(4):  # boxes are made ahead of their runs
            again = tries(cluster, LOOK)
            assert fresh == again, (left, {name: (fresh.get(name), again.get(name)) for name in fresh.keys() | again.keys() if fresh.get(name) != again.get(name)})


def test_N20_networks_that_were_used(cluster):
    """N-20, X-13 (I5): a later run finds no link, route, neighbour, socket, connection, name or counter of an earlier one."""
    leaves_nothing(cluster)


def test_N20_on_a_kernel_without_veth(cluster, bin_, tests):
    """N-20, X-13 (I5): nor there, where the addresses that stand for names are the box's own."""
    with tempfile.TemporaryDirectory(prefix="cloister-escape-") as directory:
        copy = shutil.copytree(bin_, os.path.join(directory, "bin"))
        shutil.copy(os.path.join(tests, "cloister-builder-without"), os.path.join(copy, "cloister-builder"))
        with open(os.path.join(copy, "without"), "w", encoding="ascii") as file:
            file.write("veth")
        os.chmod(directory, 0o755)
        with daemons.Cluster(copy, flags=cluster.flags, user=cluster.user) as other:
            leaves_nothing(other)
            assert "no veth" in other.log("executor"), "it has a link"


def test_N21_names_of_an_earlier_run(cluster):
    """N-21 (I3, I5): in a session, addresses, connections and sockets of one network are worth nothing in the next one."""
    session = session_of(cluster)
    run(cluster, """
host = socket.gethostbyname("web.test")
kept = socket.create_connection((host, PORT))
question = socket.socket(type=socket.SOCK_DGRAM); question.connect(("127.0.0.1", 53))
""", f"web.test:{PORT}", session_id=session)
    before = Web.connections[HOST, PORT]
    got = tries(cluster, """
attempt("kept", lambda: kept.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n") or heard(kept, 5) or kept.sendall(b"x") or kept.sendall(b"x"))
attempt("address", lambda: heard(socket.create_connection((host, PORT), 5), 5))
attempt("name", socket.gethostbyname, "web.test")
question.send(ask("web.test")); tell("question", heard(question, 5)[3] & 15)
tell("same", socket.gethostbyname("other.test") == host)
s = socket.create_connection((host, PORT)); s.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n"); tell("other", heard(s, 5)[-16:].split(b" ")[-1].decode())
""", f"other.test:{PORT}", session_id=session)
    assert got.pop("kept") in ("ECONNRESET", "EPIPE") and got == {"address": "ECONNRESET", "name": NO_NAME, "question": "3", "same": "True", "other": OTHER}, got
    got = tries(cluster, """
attempt("address", socket.create_connection, (host, PORT), 5)
attempt("question", lambda: question.send(ask("web.test")) and heard(question, 5))
attempt("other", lambda: heard(s, 5) or s.sendall(b"x") or s.sendall(b"x"))
""", session_id=session)
    assert got.pop("other") in ("ECONNRESET", "EPIPE") and got == {"address": "ECONNREFUSED", "question": "ECONNREFUSED"}, got
    assert Web.connections[HOST, PORT] == before


def test_N22_networks_of_others(cluster):
    """N-22 (I3, I5): two runs at once have the same addresses for their names, and each gets to its own."""
    code = f"host = socket.gethostbyname(NAME)\nprint('up', flush=True)\ntime.sleep(2)\nprint(host, get('http://' + NAME + ':{PORT}/'))\nattempt('other', socket.gethostbyname, OTHER)\n" \
           f"attempt('next', lambda: heard(socket.create_connection(('198.18.0.2', {PORT}), 5), 5))"
    first, second = (code.replace("NAME", f"'{name}'").replace("OTHER", f"'{other}'") for name, other in (("web.test", "other.test"), ("other.test", "web.test")))
    with beside(cluster, first, f"web.test:{PORT}", shows="up") as one, beside(cluster, second, f"other.test:{PORT}", shows="up") as two:
        ends = [waiting.result()["structuredContent"]["stdout"] for waiting in (one, two)]
    assert ends == [f"up\n198.18.0.1 at {host}\nother {NO_NAME}\nnext ECONNRESET\n" for host in (HOST, OTHER)], ends


def main():
    bin_, tests, mode = sys.argv[1:4]
    if os.geteuid() != 0:
        daemons.skip("a server at port 80 needs root")
    serve()
    flags = {"executor": ["--egress-domains=" + ",".join(DOMAINS)],
             "egress": [f"--resolver={HOST}:{DNS}", f"--allowed-networks={HOST}/32,{OTHER}/32", f"--connect-ms={CONNECT_MS}", f"--idle-ms={IDLE_MS}",
                        f"--max-connections={CONNECTIONS}", f"--max-connections-each={EACH}", f"--max-bytes={BYTES}"]}
    with daemons.Cluster(bin_, flags=flags, user=pwd.getpwnam("nobody").pw_uid if mode == "rootless" else None) as cluster:
        cases.end(cases.play(sys.modules[__name__], named={"cluster": cluster, "bin_": bin_, "tests": tests}))


if __name__ == "__main__":
    main()
