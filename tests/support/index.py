# SPDX-License-Identifier: Apache-2.0
"""A package index (PEP 503) over plain HTTP on a loopback address of this machine, with a resolver that knows its name
and one more, and tiny wheels for it, good and bad.

    index = Index(); index.add(wheel("x", "1.0", {"x.py": ""})); index.serve()     # http://index.test:PORT/simple
    with index.holds("/simple/x/") as held:      # whoever asks for it waits until the end of the block, or held.release()
        assert held.wait(20)
"""

import contextlib
import hashlib
import http.server
import io
import re
import socket
import socketserver
import stat
import tarfile
import threading
import time
import warnings
import zipfile

HOST = "127.77.54.1"
NAMES = {"index.test", "elsewhere.test"}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def wheel(name, version, files, requires=(), scripts=None, links=(), modes=None, packed=True):
    """(file name, bytes); files: by name, or pairs of name and content, where a name may come twice.
    The name has no '-'."""
    files = list(files.items()) if isinstance(files, dict) else list(files)
    info = f"{name}-{version}.dist-info"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {one}\n" for one in requires)
    files += [(info + "/METADATA", about), (info + "/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n")]
    if scripts:
        files.append((info + "/entry_points.txt", "[console_scripts]\n" + "".join(f"{key} = {value}\n" for key, value in scripts.items())))
    quoted = ('"' + path.replace('"', '""') + '"' for path, _ in files)
    files.append((info + "/RECORD", "".join(f"{path},,\n" for path in quoted) + info + "/RECORD,,\n"))
    to = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        warnings.simplefilter("ignore")  # of names that come twice
        for path, content in files:
            entry = zipfile.ZipInfo(path)
            entry.compress_type = archive.compression
            entry.external_attr = ((stat.S_IFLNK | 0o777) if path in links else (modes or {}).get(path, stat.S_IFREG | 0o644)) << 16
            archive.writestr(entry, content)
    return f"{name}-{version}-py3-none-any.whl", to.getvalue()


class Held:
    def __init__(self):
        self.came, self.over = threading.Semaphore(0), threading.Event()

    def wait(self, seconds):
        """Until one more has come; False: none has."""
        return self.came.acquire(timeout=seconds)

    def release(self):
        self.over.set()


class Dns(socketserver.BaseRequestHandler):
    def handle(self):
        data, sock = self.request
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode())
            at += 1 + data[at]
        name, kind, question = ".".join(labels), data[at + 2], data[12:at + 5]
        self.server.index.questions.append((name, kind))
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(HOST) if kind == 1 and name in NAMES else b""
        sock.sendto(data[:2] + b"\x81\x80\0\1\0" + bytes([1 if answer else 0]) + b"\0\0\0\0" + question + answer, self.client_address)


class Page(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass

    def do_GET(self):
        index = self.server.index
        index.hosts.add(self.headers["Host"])
        index.asked.append(self.path)
        held = index.held.get(self.path)
        if held is not None:
            held.came.release()
            held.over.wait(30)
        if self.path in index.redirects:
            self.send_response(302)
            self.send_header("Location", index.redirects[self.path])
            self.end_headers()
        elif self.path in index.drips:
            self.drip()
        else:
            self.send(index.pages.get(self.path) or index.files.get(self.path.rpartition("/")[2]) or index.page(self.path))

    def send(self, body):
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Type", "application/octet-stream" if self.path.startswith("/files/") else "text/html")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def drip(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        while True:
            self.wfile.write(b" ")
            time.sleep(0.5)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


class Index:
    def __init__(self):
        self.files, self.links = {}, {}  # bytes by file name; by project: links of its page
        self.pages, self.redirects, self.drips, self.held = {}, {}, set(), {}
        self.asked, self.hosts, self.questions = [], set(), []
        self.http, self.dns = Server((HOST, 0), Page), socketserver.ThreadingUDPServer((HOST, 0), Dns)
        self.http.index = self.dns.index = self
        self.port, self.dns_port = self.http.server_address[1], self.dns.server_address[1]

    def serve(self):
        for server in self.http, self.dns:
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def add(self, made, digest=None, host=None, shown=None):
        """shown: the name of the file in the index, if it is another one; host: where it is, if elsewhere."""
        self.add_bytes((shown or made[0]).split("-")[0], shown or made[0], made[1], digest, host)

    def add_bytes(self, project, name, content, digest=None, host=None):
        self.files[name] = content
        digest = digest or hashlib.sha256(content).hexdigest()
        where = f"http://{host}:{self.port}" if host else ""
        self.links.setdefault(normal(project), []).append(f'<a href="{where}/files/{name}#sha256={digest}">{name}</a>\n')

    def add_source(self, name, version, setup, **more):
        """more: files besides setup.py, as pyproject_toml="..."."""
        to = io.BytesIO()
        with tarfile.open(fileobj=to, mode="w:gz") as archive:
            files = {"setup.py": setup, "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"}
            for path, text in (files | {path.replace("_", "."): text for path, text in more.items()}).items():
                entry = tarfile.TarInfo(f"{name}-{version}/{path}")
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
        self.add_bytes(name, f"{name}-{version}.tar.gz", to.getvalue())

    def page(self, path):
        links = self.links.get(path[len("/simple/"):].strip("/")) if path.startswith("/simple/") else None
        return None if links is None else b"<!DOCTYPE html><html><body>\n" + "".join(links).encode() + b"</body></html>"

    def content(self, project, version):
        return next(content for name, content in self.files.items() if [normal(part) for part in name.split("-")[:2]] == [normal(project), normal(version)])

    def sha256(self, project, version):
        return hashlib.sha256(self.content(project, version)).hexdigest()

    @contextlib.contextmanager
    def holds(self, path):
        held = self.held[path] = Held()
        try:
            yield held
        finally:
            del self.held[path]
            held.release()
