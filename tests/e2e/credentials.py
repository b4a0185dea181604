#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A private package index: programs install from it, and never see the credentials that secretd adds.

    credentials.py BIN

The index demands Basic credentials for one name, and serves another name without. Its authority is known from ca_file only.
"""

import base64
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import index  # noqa: E402
import registry  # noqa: E402
from shop import installed, out, refused, run, SESSIONS  # noqa: E402
import tls  # noqa: E402

NAME, OTHER, HOST = "index.test", "elsewhere.test", "127.77.55.3"
PASSWORD = "correct-horse-" + base64.b32encode(os.urandom(10)).decode().lower()
BASIC = "Basic " + base64.b64encode(f"reader:{PASSWORD}".encode()).decode()
REACH = ["pypi", "npm", OTHER]
INDEX = index.Index()
SEEN = []  # (Host, path, Authorization) of each request


class Page(index.Page):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        SEEN.append((self.headers["Host"], self.path, self.headers["Authorization"]))
        if self.path == "/echo":
            self.send("".join(f"{name}: {value}\n" for name, value in self.headers.items()).encode())
        elif self.headers["Host"] == NAME and self.headers["Authorization"] != BASIC:
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            super().do_GET()


def serve(directory):
    ca, made, key = tls.certificates(directory, NAME, OTHER)
    INDEX.add(index.wheel("base", "1.0", {"base.py": "version = '1.0'\n"}))
    INDEX.add(index.wheel("hello", "1.0", {"hello.py": "text = 'hello'\n"}, requires=["base"]))
    registry.Registry(INDEX).add("tiny", "1.0.0", {"index.js": "module.exports = 'tiny 1.0.0'\n"})
    for path, page in INDEX.pages.items():
        INDEX.pages[path] = page.replace(f"http://{NAME}:{INDEX.port}".encode(), f"https://{NAME}".encode())
    server = tls.Server((HOST, 443), Page, made, key)
    server.index = INDEX
    server.begin()
    INDEX.serve()
    return ca


@contextlib.contextmanager
def started(bin_, netrc, ca, secretd=()):
    index.HOST = HOST
    flags = {"executor": ["--package-mb=16", "--egress-domains=pypi,npm," + OTHER, "--ca-file=" + ca],
             "egress": [f"--resolver={INDEX.dns.server_address[0]}:{INDEX.dns_port}", f"--allowed-networks={HOST}/32"],
             "secretd": ["--credentials=" + netrc, *secretd]}
    env = {"PIP_INDEX_URL": f"https://someone:else@{NAME}/simple", "PIP_EXTRA_INDEX_URL": "", "npm_config_registry": f"https://{NAME}/npm/"}
    with daemons.Cluster(bin_, env=env, flags=flags) as cluster:
        yield cluster


def session_of(client, **more):
    SESSIONS.append(client.call("create_session", {"allowed_domains": REACH, **more})["structuredContent"]["session_id"])
    return SESSIONS[-1]


def alone(client, code, language="python", names=tuple(REACH)):
    result = client.call("execute_code", {"code": code, "language": language, "allowed_domains": list(names), "timeout": 60})
    assert "structuredContent" in result, result
    return result["structuredContent"]


def printed(end):
    assert end["success"], end
    return end["stdout"]


def has_npm(client):
    return client.call("execute_code", {"code": "command -v npm", "language": "shell"})["structuredContent"]["success"]


# ---- installations ----

def test_install_package(cluster, *_):
    SEEN.clear()
    session = session_of(cluster)
    assert sorted(installed(cluster, "hello", session=session)) == ["base", "hello"]
    assert out(cluster, "import hello; print(hello.text)", session) == "hello\n"
    assert SEEN and {row[2] for row in SEEN} == {BASIC}, SEEN


def test_install_package_of_node(cluster, *_):
    if not has_npm(cluster):
        raise cases.Skip("there is no npm")
    SEEN.clear()
    session = session_of(cluster)
    installed(cluster, "tiny", session=session, language="node")
    assert out(cluster, "console.log(require('tiny'))", session, language="node") == "tiny 1.0.0\n"
    assert SEEN and {row[2] for row in SEEN} == {BASIC}, SEEN


def test_plain_pip(cluster, *_):
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'install', '-q', 'hello'], check=True)\nimport hello; print(hello.text)"
    assert printed(alone(cluster, code)) == "hello\n"
    assert printed(alone(cluster, "pip install -q hello && python3 -c 'import hello; print(hello.text)'", "shell")) == "hello\n"
    end = alone(cluster, "set -e; python3 -m venv /tmp/v; /tmp/v/bin/pip install -q hello; /tmp/v/bin/python -c 'import hello; print(hello.text)'", "shell")
    assert printed(end) == "hello\n"


def test_plain_npm(cluster, *_):
    if not has_npm(cluster):
        raise cases.Skip("there is no npm")
    end = alone(cluster, "set -e; npm install --silent tiny >/dev/null; node -e 'console.log(require(\"tiny\"))'", "shell")
    assert printed(end) == "tiny 1.0.0\n"


# Each run of a session has an authority of its own, and the box that of the last one.
def test_runs_of_a_session(cluster, *_):
    session = session_of(cluster)
    code = f"""
import urllib.request
page = urllib.request.urlopen('https://{NAME}/simple/base/', timeout=10)
print(page.status, sum(' /etc/ssl/certs ' in line for line in open('/proc/self/mountinfo')))
"""
    for _ in range(3):
        assert out(cluster, code, session) == "200 1\n"
    assert out(cluster, "curl -sS https://%s/simple/base/ | grep -c href" % NAME, session, language="shell") == "1\n"


# ---- what is not authenticated ----

FETCH = "import urllib.request\nprint(urllib.request.urlopen('https://%s/echo', timeout=10).read().decode())"


def test_another_name_gets_no_header(cluster, *_):
    SEEN.clear()
    shown = printed(alone(cluster, FETCH % OTHER))
    assert "Authorization" not in shown and f"Host: {OTHER}" in shown, shown
    assert SEEN == [(OTHER, "/echo", None)], SEEN


def test_a_run_that_may_not_reach_it(cluster, *_):
    """It has no authority, either."""
    end = alone(cluster, "import os\nprint(os.stat('/etc/ssl/certs').st_dev == os.stat('/etc').st_dev)\n" + FETCH % NAME, names=[OTHER])
    assert not end["success"] and end["stdout"].startswith("True\n"), end


TALK = f"""
import re, socket, ssl
def talk(*requests):
    with ssl.create_default_context().wrap_socket(socket.create_connection(('{NAME}', 443), 10), server_hostname='{NAME}') as s:
        heard = b''
        for request in requests:
            s.sendall(request.encode())
            try:
                while b'\\r\\n\\r\\n' not in heard or len(heard.partition(b'\\r\\n\\r\\n')[2]) < int(re.search(b'Content-Length: (.*)\\r', heard)[1]):
                    more = s.recv(65536)
                    if not more: break
                    heard += more
            except OSError as error:
                heard += type(error).__name__.encode()
        return heard.decode()
"""


def test_a_request_for_another_host(cluster, *_):
    SEEN.clear()
    code = TALK + f"print(talk('GET /echo HTTP/1.1\\r\\nHost: {OTHER}\\r\\n\\r\\n'))"
    assert "400 Bad Request" in printed(alone(cluster, code)) and not SEEN, SEEN
    code = TALK + f"print(talk('GET /simple/base/ HTTP/1.1\\r\\nHost: {NAME}\\r\\n\\r\\n', 'GET /echo HTTP/1.1\\r\\nHost: {OTHER}\\r\\n\\r\\n'))"
    shown = printed(alone(cluster, code))
    assert "200 OK" in shown and "Host:" not in shown, shown
    assert SEEN == [(NAME, "/simple/base/", BASIC)], SEEN


def test_its_own_header_is_replaced(cluster, *_):
    SEEN.clear()
    code = TALK + f"print(talk('GET /echo HTTP/1.1\\r\\nHost: {NAME}\\r\\nAuthorization: Basic eDp5\\r\\nauthorization: Basic eDp5\\r\\n\\r\\n'))"
    shown = printed(alone(cluster, code))
    assert SEEN == [(NAME, "/echo", BASIC)], SEEN
    assert shown.lower().count("authorization:") == 1 and "*" * 20 in shown and "eDp5" not in shown, shown


# ---- the secret does not get in ----

DUMP = f"""
import os, re, subprocess, urllib.request
urllib.request.urlopen('https://{NAME}/echo', timeout=10).read()
subprocess.run(['pip', 'download', '-q', '--no-deps', '-d', '/tmp/x', 'base'], check=True)
with open('/workspace/dump', 'wb') as to:
    for line in open('/proc/self/maps'):
        begin, end = (int(at, 16) for at in line.split()[0].split('-'))
        if ' rw' in line and end - begin < 1 << 26:
            with open('/proc/self/mem', 'rb', 0) as memory:
                memory.seek(begin)
                try: to.write(memory.read(end - begin))
                except OSError: pass
    for process in filter(str.isdigit, os.listdir('/proc')):
        for name in 'environ', 'cmdline':
            try: to.write(open(f'/proc/{{process}}/{{name}}', 'rb').read())
            except OSError: pass
    for top in '/user', '/etc/ssl', '/tmp', '/run', '/packages':
        for at, _, names in os.walk(top):
            for name in names:
                try: to.write(open(os.path.join(at, name), 'rb').read())
                except OSError: pass
print('dumped')
"""


def test_the_box_does_not_hold_it(cluster, *_):
    session = session_of(cluster)
    end = run(cluster, DUMP, session)
    assert end["success"] and end["stdout"] == "dumped\n", end
    # The words are in this program, so it looks at what the one before has left.
    code = "import re\ndata = open('/workspace/dump', 'rb').read()\nprint(len(data) > 1 << 20, b'index.test' in data, b'PRIVATE KEY' in data, %r in data, %r in data)"
    got = out(cluster, code % (PASSWORD.encode(), BASIC.encode()[6:30]), session)
    assert got == "True True False False False\n", got


def test_the_log_says_where_credentials_went(cluster, *_):
    end = alone(cluster, "import urllib.request\nfor name in %r, %r: urllib.request.urlopen('https://' + name + '/simple/base/', timeout=10)" % (NAME, OTHER))
    wanted, seen, until = {(NAME + ":443", True), (OTHER + ":443", False)}, set(), time.monotonic() + 10
    while seen != wanted and time.monotonic() < until:  # the log is written later
        entries = cluster.call("audit_execution", {"limit": 50})["structuredContent"]["entries"]
        events = [entry["event"] for entry in entries if entry["event"].get("execution_id") == end["execution_id"]]
        seen = {(event["detail"].split(" ")[0], "with credentials" in event["detail"]) for event in events if event["event"] == "network.used"}
    assert end["success"] and seen == wanted, (end, events)


def test_no_log_and_no_event_has_it(cluster, *_):
    text = "".join(cluster.log(name) for name in daemons.SERVERS)
    assert PASSWORD not in text and BASIC[6:] not in text
    for name in os.listdir(os.path.join(cluster.state, "auditd")):
        with contextlib.suppress(IsADirectoryError), open(os.path.join(cluster.state, "auditd", name), "rb") as file:
            data = file.read()
            assert PASSWORD.encode() not in data and BASIC.encode() not in data, name


# ---- bounds ----

def keeper_of(cluster):
    return children(cluster.processes["secretd"].pid)[0]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return list(map(int, file.read().split()))


def filters_of(pid):
    """0 of a kernel that does not say."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int((re.search(r"^Seccomp_filters:\t(\d+)$", file.read(), re.M) or [0, 0])[1])


def test_a_process_of_a_connection(cluster, *_):
    """One filter more than its keeper, and it ends with its run."""
    keeper, seen = keeper_of(cluster), []
    runs = threading.Thread(target=lambda: seen.append(alone(cluster, TALK + f"""
import time
s = ssl.create_default_context().wrap_socket(socket.create_connection(('{NAME}', 443), 10), server_hostname='{NAME}')
time.sleep(2)
""")))
    runs.start()
    end = time.monotonic() + 10
    while not children(keeper):
        assert time.monotonic() < end
        time.sleep(0.01)
    wanted = filters_of(keeper) and filters_of(keeper) + 1  # 0: sanitizers cannot live under seccomp
    while wanted and filters_of(children(keeper)[0]) != wanted:
        assert time.monotonic() < end
        time.sleep(0.01)
    runs.join()
    assert seen[0]["success"], seen
    while children(keeper):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_connections_of_a_run_are_bounded(_, bin_, netrc, ca):
    code = TALK + f"""
open_ones = []
for i in range(3):
    s = socket.create_connection(('{NAME}', 443), 10)
    try:
        open_ones.append(ssl.create_default_context().wrap_socket(s, server_hostname='{NAME}'))
    except OSError as error:
        print(i, type(error).__name__)
"""
    with started(bin_, netrc, ca, ["--max-connections=2", "--ca-file=" + ca]) as cluster:
        shown = printed(alone(cluster, code))
        assert re.fullmatch(r"2 \w+\n", shown), (shown, cluster.log("secretd"))
        assert "too many connections at once" in cluster.log("secretd")


def test_a_server_that_is_not_verified_gets_nothing(_, bin_, netrc, ca):
    SEEN.clear()
    with started(bin_, netrc, ca) as cluster:
        shown = printed(alone(cluster, TALK + f"print(talk('GET /simple/base/ HTTP/1.1\\r\\nHost: {NAME}\\r\\n\\r\\n'))"))
        assert "502 Bad Gateway" in shown and "NOT trusted" in shown and not SEEN, (shown, SEEN)


def test_without_credentials_the_index_refuses(_, bin_, netrc, ca):
    del netrc
    with tempfile.NamedTemporaryFile() as other:
        other.write(b"machine unrelated.test login me password 12345678")
        other.flush()
        for flags in ("--credentials=" + other.name,), ("--credentials=",):
            with started(bin_, other.name, ca, flags) as cluster:
                code, text = refused(cluster, "hello", session=session_of(cluster))
                assert code == "install_failed", text
            SESSIONS.clear()


def test_a_file_that_others_may_read_is_refused(_, bin_, netrc, ca):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "netrc")
        with open(path, "w", encoding="ascii") as file:
            file.write("default login x password 12345678")
        for mode, why in (0o640, "0600"), (0o600, "line 1"):
            os.chmod(path, mode)
            done = subprocess.run([os.path.join(bin_, "cloister-secretd"), "--credentials=" + path, "--run=" + directory + "/run"],
                                  capture_output=True, text=True, timeout=20, check=False)
            assert done.returncode == 1 and why in done.stderr and "12345678" not in done.stderr, done
    del netrc, ca


# The program loses its index, and nothing else.
def test_when_secretd_ends(cluster, *_):
    session = session_of(cluster)
    cluster.kill("secretd")
    cluster.restart("secretd")
    assert out(cluster, f"import urllib.request\nprint(urllib.request.urlopen('https://{NAME}/simple/base/', timeout=10).status)", session) == "200\n"


def end_sessions(cluster):
    while SESSIONS:
        cluster.call("terminate_session", {"session_id": SESSIONS.pop()})


if __name__ == "__main__":
    if os.geteuid() != 0:
        daemons.skip("a server at port 443 needs root")
    with tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o755)
        authority = serve(where)
        secret = os.path.join(where, "netrc")
        with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as made_file:
            made_file.write(f"machine {NAME}\n  login reader\n  password {PASSWORD}\n")
        for variable in [name for name in os.environ if name.endswith(("_CERTS", "_CERT_FILE", "_CERT_DIR", "_CA_BUNDLE", "PIP_CERT"))]:
            del os.environ[variable]
        with started(sys.argv[1], secret, authority, ["--ca-file=" + authority]) as all_of_it:
            counts = cases.play(sys.modules[__name__], all_of_it, sys.argv[1], secret, authority, after=lambda: end_sessions(all_of_it))
    cases.end(counts)
