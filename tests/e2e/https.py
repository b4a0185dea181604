#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs verify the TLS servers that they reach: with the host's certificates, and with those of the setting ca_file.

    https.py BIN

The servers' authority is known from that setting only.  Each client that people use must accept it without an option:
Python's ssl and urllib, curl, git, pip in a venv, Node in a box that waited and as a child of a shell.
"""

import functools
import hashlib
import http.server
import os
import re
import socket
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import tls  # noqa: E402

HOST = "127.77.53.2"
NAME = "index.test"


class Dns(socketserver.BaseRequestHandler):
    """Every name has the address of the servers."""

    def handle(self):
        data, sock = self.request
        end = data.index(0, 12) + 5
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + bytes(map(int, HOST.split("."))) if data[end - 3] == 1 else b""
        sock.sendto(data[:2] + b"\x81\x80\0\1\0" + bytes([bool(answer)]) + b"\0\0\0\0" + data[12:end] + answer, self.client_address)


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


def fill(directory):
    """What the server serves: a text, a git repository, a package index with one wheel."""
    with open(os.path.join(directory, "hello"), "w", encoding="ascii") as file:
        file.write("hello over tls")
    source = os.path.join(directory, "source")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", source]
    subprocess.run(["git", "init", "-q", source], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "cloned over tls"], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", source, os.path.join(directory, "repository.git")], check=True)
    subprocess.run(["git", "-C", os.path.join(directory, "repository.git"), "update-server-info"], check=True)
    index = os.path.join(directory, "simple", "greeting")
    os.makedirs(index)
    wheel = os.path.join(index, "greeting-1.0-py3-none-any.whl")
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("greeting.py", "text = 'installed over tls'\n")
        archive.writestr("greeting-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        archive.writestr("greeting-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("greeting-1.0.dist-info/RECORD", "greeting.py,,\ngreeting-1.0.dist-info/METADATA,,\ngreeting-1.0.dist-info/WHEEL,,\n")
    with open(wheel, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    with open(os.path.join(index, "index.html"), "w", encoding="ascii") as file:
        file.write(f'<a href="{os.path.basename(wheel)}#sha256={digest}">{os.path.basename(wheel)}</a>')


def serve(directory):
    ca, made, key = tls.certificates(directory, NAME)
    served = os.path.join(directory, "served")
    os.mkdir(served)
    fill(served)
    tls.Server((HOST, 443), functools.partial(Files, directory=served), made, key).begin()
    threading.Thread(target=socketserver.ThreadingUDPServer((HOST, 5353), Dns).serve_forever, daemon=True).start()
    return ca


def run(cluster, code, language="python", names=(NAME,), **more):
    result = cluster.call("execute_code", {"code": code, "language": language, "allowed_domains": list(names), "timeout": 60, **more})
    assert "structuredContent" in result, result
    return result["structuredContent"]


URLLIB = f"import urllib.request\nprint(urllib.request.urlopen('https://{NAME}/hello', timeout=10).read().decode())"
PIP = f"""cd /workspace && python3 -m venv v && v/bin/python -m pip install -q --disable-pip-version-check --index-url https://{NAME}/simple greeting \\
    && v/bin/python -c 'import greeting; print(greeting.text)'"""
CLIENTS = {
    "python urllib": ("python", URLLIB, "hello over tls"),
    "python ssl": ("python", f"import socket, ssl\nwith ssl.create_default_context().wrap_socket(socket.create_connection(('{NAME}', 443)), server_hostname='{NAME}') as s:\n"
                   "    print(s.getpeercert()['subject'][0][0][1])", NAME),
    "node fetch": ("node", f"console.log(await (await fetch('https://{NAME}/hello')).text())", "hello over tls"),
    "node https": ("node", f"const https = require('https');\nhttps.get('https://{NAME}/hello', r => r.on('data', d => console.log(String(d))));", "hello over tls"),
    "curl": ("shell", f"curl -sS https://{NAME}/hello", "hello over tls"),
    "git": ("shell", f"cd /tmp && git clone -q https://{NAME}/repository.git r && git -C r log --format=%s", "cloned over tls"),
    "pip": ("shell", PIP, "installed over tls"),
    "node of a shell": ("shell", f"node -e \"fetch('https://{NAME}/hello').then(r => r.text()).then(console.log)\"", "hello over tls"),
}


def test_every_client_accepts_the_operators_authority(cluster, _):
    for name, (language, code, wanted) in CLIENTS.items():
        end = run(cluster, code, language)
        assert end["success"] and end["stdout"].strip() == wanted, (name, end["stdout"], end["stderr"][-800:], end.get("error"))


def test_a_session_too(cluster, _):
    session = cluster.call("create_session")["structuredContent"]["session_id"]
    for _ in range(2):
        assert run(cluster, URLLIB, session_id=session)["stdout"].strip() == "hello over tls"


def test_another_name_is_not_accepted(cluster, _):
    end = run(cluster, URLLIB.replace(NAME, "other.test"), names=["other.test"])
    assert "CERTIFICATE_VERIFY_FAILED" in end["stderr"] and "Hostname mismatch" in end["stderr"], end


def test_boxes_have_the_hosts_authorities_and_no_key(cluster, _):
    end = cluster.call("execute_code", {"code": "import os, ssl\nprint(len(ssl.create_default_context().get_ca_certs()))\n"
                                                "print(sorted(os.listdir('/etc/ssl')), [n for n in os.listdir('/etc/ssl/certs') if 'key' in n])"})
    count, names = end["structuredContent"]["stdout"].splitlines()
    assert int(count) > len(ssl.create_default_context().get_ca_certs()) > 20 and "private" not in names and names.endswith("[]"), (count, names)


def test_without_the_setting_the_authority_is_unknown(_, bin_):
    with daemons.Cluster(bin_, flags={"executor": ["--egress-domains=index.test"], "egress": EGRESS}) as cluster:
        for name in "python urllib", "node fetch", "curl", "git":
            language, code, _ = CLIENTS[name]
            end = run(cluster, code, language)
            assert not end["success"] and "certificate" in end["stderr"].lower(), (name, end["stderr"][-300:])


def pip_names():
    """The index of pip where nothing is configured, and what it leads to: the group's names, as the executor reads them."""
    import pip._internal.models.index as index
    return {index.PyPI.file_storage_domain, index.PyPI.netloc}


def test_the_index_of_this_host(_, bin_):
    """The operator's own index, by the host's certificates: the group pypi has its names."""
    index = subprocess.run(["/usr/bin/python3", "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False).stdout.strip()
    options = f"--index-url {index}" if index else ""
    code = f"cd /workspace && python3 -m pip install -q --disable-pip-version-check --no-deps {options} -t made six && PYTHONPATH=made python3 -c 'import six; print(six.__name__)'"
    # A mirror in the network of a site is not public, so its operator names the network.
    names = re.findall(r"//(?:[^/@]*@)?([^/:]+)", index) or DEFAULT_INDEX
    networks = {address[4][0] + "/32" for name in names for address in socket.getaddrinfo(name, 443, socket.AF_INET)}
    with daemons.Cluster(bin_, flags={"executor": ["--egress-domains=pypi"], "egress": ["--allowed-networks=" + ",".join(sorted(networks))]}) as cluster:
        end = run(cluster, code, "shell", ["pypi"])
        assert end["stdout"] == "six\n", end


def test_a_wrong_file_is_refused_at_the_start(_, bin_):
    with tempfile.TemporaryDirectory() as directory:
        for name, text, why in ("none", None, "ca_file: "), ("empty", "", "has no certificate in PEM"), ("key", "-----BEGIN PRIVATE KEY-----\n", "other than certificates"):
            path = os.path.join(directory, name)
            if text is not None:
                with open(path, "w", encoding="ascii") as file:
                    file.write(text)
            done = subprocess.run([os.path.join(bin_, "cloister-executor"), "--ca-file=" + path, "--run=" + directory + "/run", "--state=" + directory + "/state"],
                                  capture_output=True, text=True, timeout=20, check=False)
            assert done.returncode == 1 and why in done.stderr, (name, done)


# As pip's own source has it.
DEFAULT_INDEX = sorted(pip_names())
EGRESS = [f"--resolver={HOST}:5353", f"--allowed-networks={HOST}/32"]

if __name__ == "__main__":
    if os.geteuid() != 0:
        daemons.skip("a server at port 443 needs root")
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        ca = serve(directory)
        for name in [name for name in os.environ if name.endswith(("_CERTS", "_CERT_FILE", "_CERT_DIR", "_CA_BUNDLE", "PIP_CERT"))]:
            del os.environ[name]
        with daemons.Cluster(sys.argv[1], flags={"executor": ["--egress-domains=index.test,other.test", "--ca-file=" + ca], "egress": EGRESS}) as cluster:
            counts = cases.play(sys.modules[__name__], cluster, sys.argv[1])
    cases.end(counts)
