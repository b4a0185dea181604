#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""HTTPS, and renewed certificates while the gateway serves. certificates.py BIN"""

import contextlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import held  # noqa: E402
from gateway import Gateway, modern, soon  # noqa: E402

DISCOVER = modern("server/discover")
KEPT = "new TLS certificate not accepted, the previous one stays in use"


# Paths of a key and its certificate; make() returns the texts of new ones.
class Pair:
    def __init__(self, directory, mode=0o644):
        self.directory, self.mode = directory, mode
        self.key, self.certificate = os.path.join(directory, "tls.key"), os.path.join(directory, "tls.crt")

    @staticmethod
    def make(*kind):
        with tempfile.TemporaryDirectory() as directory:
            key, certificate = (os.path.join(directory, name) for name in ("key", "certificate"))
            subprocess.run(["openssl", "req", "-x509", "-newkey", *(kind or ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")),
                            "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                            "-keyout", key, "-out", certificate], check=True, capture_output=True)
            with open(key, encoding="ascii") as k, open(certificate, encoding="ascii") as c:
                return k.read(), c.read()

    # Like a renewal tool: writes a new file beside the old one and renames it over the old one.
    def put(self, path, text):
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path + ".new", self.mode)
        os.rename(path + ".new", path)

    def put_both(self, pair):
        self.put(self.key, pair[0])
        self.put(self.certificate, pair[1])

    def flags(self):
        return ["--tls-key=" + self.key, "--tls-certificate=" + self.certificate]


@contextlib.contextmanager
def directory_of_pair():
    if shutil.which("openssl") is None:
        raise cases.Skip("no openssl to make a certificate with")
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)  # for the user that root's gateway becomes
        yield Pair(directory)


def whoever():
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    return trust


# Does a new connection get that pair's certificate?
def serves(gateway, pair):
    with gateway.raw(trust=whoever()) as raw:
        return raw.socket.getpeercert(True) == ssl.PEM_cert_to_DER_cert(pair[1])


# Each check is a new connection, upon which the gateway checks the files too.
def soon_serves(gateway, pair):
    soon(lambda: serves(gateway, pair), "the renewed certificate is served")


def soon_says(gateway, pair, *texts):
    soon(lambda: serves(gateway, pair) and any(
        KEPT in line and all(text in line for text in texts) for line in gateway.log().splitlines()),
         f"the log says why the old certificate stays: {texts}")


def ask(gateway, raw, message=DISCOVER):
    body = json.dumps(message).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in gateway.post_headers(message).items())
    raw.send(f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    assert b'"_meta"' in raw.read(b'"_meta"')


# ---- at the start ----

def test_requests_and_streams_over_https(bin_):
    with directory_of_pair() as files:
        files.put_both(Pair.make("rsa:2048"))
        with Gateway(bin_, files.flags()) as gateway:
            assert gateway.url.startswith("https://")
            trust = ssl.create_default_context(cafile=files.certificate)
            with gateway.raw(trust=trust) as raw:
                for method in ("server/discover", "tools/list", "server/discover"):
                    ask(gateway, raw, modern(method))
            with gateway.raw(trust=trust) as stream:
                body = json.dumps(DISCOVER).encode()
                head = {**gateway.post_headers(DISCOVER), "Accept": "text/event-stream", "Content-Length": len(body)}
                lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
                stream.send(f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode() + body)
                assert b"event: message" in stream.read(b"\r\n0\r\n\r\n")
            with gateway.raw() as plain:
                plain.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert b"200 OK" not in plain.read()
            assert KEPT not in gateway.log()


def test_files_that_are_no_pair_do_not_start(bin_):
    with directory_of_pair() as files:
        (key, certificate), (other, _) = Pair.make(), Pair.make()
        for key, certificate, why in ((other, certificate, "is not the key of"), (key, "", "tls_certificate"),
                                      ("", certificate, "tls_key"), (key[:90], certificate, "tls_key")):
            files.put_both((key, certificate))
            try:
                with Gateway(bin_, files.flags()):
                    raise AssertionError(f"it started: {why}")
            except RuntimeError as e:
                assert why in str(e), (why, e)


# ---- renewal ----

def test_a_renewed_certificate_is_served_and_no_connection_ends(bin_):
    with directory_of_pair() as files:
        old, new = Pair.make(), Pair.make("rsa:2048")
        files.put_both(old)
        with Gateway(bin_, [*files.flags(), "--log-level=debug"]) as gateway, gateway.raw(trust=whoever()) as open_:
            ask(gateway, open_)
            assert serves(gateway, old)
            files.put_both(new)
            soon_serves(gateway, new)
            ask(gateway, open_)
            with gateway.raw(trust=ssl.create_default_context(cafile=files.certificate)) as raw:
                ask(gateway, raw)
            files.put_both(old)
            soon_serves(gateway, old)
            ask(gateway, open_)
            soon(lambda: gateway.log().count("replaced TLS key wiped") == 3, "old keys are wiped")
            ask(gateway, open_)


def test_one_file_after_the_other(bin_):
    with directory_of_pair() as files:
        old, new = Pair.make(), Pair.make()
        files.put_both(old)
        with Gateway(bin_, files.flags()) as gateway:
            files.put(files.certificate, new[1])
            soon_says(gateway, old, "tls_key is not the key of tls_certificate")
            assert serves(gateway, old)
            files.put(files.key, new[0])
            soon_serves(gateway, new)


def test_a_broken_replacement_keeps_the_old_one(bin_):
    with directory_of_pair() as files:
        old, new = Pair.make(), Pair.make()
        files.put_both(old)
        with Gateway(bin_, files.flags()) as gateway:
            files.put(files.certificate, new[1][:200])
            soon_says(gateway, old, "tls_certificate is broken")
            os.unlink(files.key)
            files.put(files.certificate, old[1])
            soon_says(gateway, old, "tls_key: ", "No such file")
            files.put(files.key, "")
            soon_says(gateway, old, "tls_key is broken")
            said = gateway.log().count(KEPT)
            files.put_both(new)
            soon_serves(gateway, new)
            assert said <= gateway.log().count(KEPT) <= said + 1  # once each, unless a check falls between the two files
            assert "PRIVATE" not in gateway.log()


def test_a_mounted_secret(bin_):
    """The files are symlinks into ..data, which is itself a symlink that is replaced."""
    with directory_of_pair() as files:
        pairs = [Pair.make() for _ in range(3)]

        def mount(number):
            there = os.path.join(files.directory, f"..{number}")
            os.mkdir(there)
            os.chmod(there, 0o755)
            Pair(there).put_both(pairs[number])
            os.symlink(f"..{number}", os.path.join(files.directory, "..data_tmp"))
            os.rename(os.path.join(files.directory, "..data_tmp"), os.path.join(files.directory, "..data"))
            if number > 0:
                shutil.rmtree(os.path.join(files.directory, f"..{number - 1}"))

        mount(0)
        for path in (files.key, files.certificate):
            os.symlink(os.path.join("..data", os.path.basename(path)), path)
        with Gateway(bin_, files.flags()) as gateway:
            for number in (1, 2):
                assert serves(gateway, pairs[number - 1])
                mount(number)
                soon_serves(gateway, pairs[number])
            assert KEPT not in gateway.log()


def test_a_handshake_under_way_ends_with_the_key_it_began_with(bin_):
    """With RSA key exchange the client encrypts a secret to the server's key, so the server needs the key after it sent
    the certificate."""
    with directory_of_pair() as files:
        old, new = Pair.make("rsa:2048"), Pair.make("rsa:2048")
        files.put_both(old)
        trust = whoever()
        trust.maximum_version = ssl.TLSVersion.TLSv1_2
        trust.set_ciphers("AES256-GCM-SHA384")
        with Gateway(bin_, files.flags()) as gateway, socket.create_connection(gateway.address, 20) as slow:
            come, go = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = trust.wrap_bio(come, go)

            # Handshakes until the client needs nothing more from the gateway.
            def step(ready=lambda: False):
                with contextlib.suppress(ssl.SSLWantReadError):
                    tls.do_handshake()
                    return
                if not ready():
                    slow.sendall(go.read())
                    assert (data := slow.recv(65536)), "the gateway has closed the connection"
                    come.write(data)
                    step(ready)

            sent = []
            step(lambda: sent.append(go.pending) or len(sent) > 1 and go.pending)
            files.put_both(new)
            soon_serves(gateway, new)
            files.put_both(old)
            soon_serves(gateway, old)
            step()
            assert tls.cipher()[0] == "AES256-GCM-SHA384"


def test_files_that_only_root_can_read_are_told_at_the_start(bin_):
    if os.geteuid() != 0:
        raise cases.Skip("only a gateway of root's becomes another user")
    with directory_of_pair() as files:
        pair, files.mode = Pair.make(), 0o600
        files.put_both(pair)
        with Gateway(bin_, files.flags()) as gateway:
            soon_says(gateway, pair, "Permission denied")


def test_copies_of_systemd_are_read_once(bin_):
    """Only root can read them, and they do not change while the unit runs."""
    with directory_of_pair() as files:
        old, files.mode = Pair.make(), 0o400
        files.put_both(old)
        with mock.patch.dict(os.environ, CREDENTIALS_DIRECTORY=files.directory), Gateway(bin_, files.flags()) as gateway:
            assert serves(gateway, old)
            files.put_both(Pair.make())
            time.sleep(1.2)
            assert serves(gateway, old)
            assert KEPT not in gateway.log()


def main():
    counts = cases.play(sys.modules[__name__], named={"bin_": os.path.abspath(sys.argv[1])}, after=held.check)
    cases.end(counts)


if __name__ == "__main__":
    main()
