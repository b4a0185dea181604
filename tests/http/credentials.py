#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Authentication and scopes over HTTP, and the errors of rejected requests.  credentials.py BIN

Keys and tokens are created for each run; the issuer is a server on loopback.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import held  # noqa: E402
from gateway import Gateway, call, modern, soon  # noqa: E402

RESOURCE = "http://127.0.0.1/mcp"
METADATA = "http://127.0.0.1/.well-known/oauth-protected-resource/mcp"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*words, text=b""):
    return subprocess.run(["openssl", *words], input=text, check=True, capture_output=True).stdout


# Both integers of an ECDSA signature, from DER (a sequence of the two) to the form of JWS.
def plain_signature(der, size):
    at, parts = 3 if der[1] & 0x80 else 2, b""
    for _ in range(2):
        parts += der[at + 2:at + 2 + der[at + 1]].lstrip(b"\0").rjust(size, b"\0")
        at += 2 + der[at + 1]
    return parts


class CurveKey:
    """A key on an elliptic curve: its JWK, and signatures with it."""

    def __init__(self, directory, alg, curve, name, size, hash_):
        self.path, self.size, self.hash = os.path.join(directory, alg), size, hash_
        openssl("ecparam", "-name", name, "-genkey", "-noout", "-out", self.path)
        point = openssl("ec", "-in", self.path, "-pubout", "-outform", "DER")[-2 * size:]
        self.jwk = {"kty": "EC", "crv": curve, "kid": alg, "x": base64url(point[:size]), "y": base64url(point[size:])}

    def sign(self, text):
        return plain_signature(openssl("dgst", "-" + self.hash, "-sign", self.path, text=text), self.size)


class Issuer:
    """An authorization server, as far as a resource server uses it: metadata and keys."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="cloister-issuer-")
        self.documents, self.curves = {}, []
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                document = issuer.documents.get(self.path)
                self.send_response(200 if document is not None else 404)
                self.end_headers()
                self.wfile.write(document or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/tenant"
        self.new_key("first")
        self.publish()

    def publish(self, **changed):
        keys = f"http://127.0.0.1:{self.server.server_port}/keys?v=1"
        document = {"issuer": self.url, "jwks_uri": keys, **changed}
        self.documents["/.well-known/oauth-authorization-server/tenant"] = json.dumps(document).encode()
        self.documents["/keys?v=1"] = json.dumps({"keys": [self.jwk, *(key.jwk for key in self.curves)]}).encode()

    def new_key(self, kid):
        self.kid, self.path = kid, os.path.join(self.directory.name, kid)
        subprocess.run(["openssl", "genrsa", "-out", self.path, "2048"], check=True, capture_output=True)
        text = subprocess.run(["openssl", "rsa", "-in", self.path, "-noout", "-modulus"], check=True, capture_output=True)
        self.modulus = bytes.fromhex(text.stdout.decode().strip().partition("=")[2])
        self.jwk = {"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "e": "AQAB", "n": base64url(self.modulus)}

    def token(self, header=None, sign=None, **claims):
        header = {"alg": "RS256", "kid": self.kid, "typ": "at+jwt", **(header or {})}
        claims = {"iss": self.url, "aud": RESOURCE, "sub": "ann", "exp": int(time.time()) + 300,
                  "scope": "cloister:read cloister:run", **claims}
        text = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
        if sign is None:
            made = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.path], input=text.encode(), check=True,
                                  capture_output=True).stdout
        else:
            made = sign(text.encode())
        return text + "." + base64url(made)


class Door:
    """A gateway, its credentials directory, and the command that writes there."""

    def __init__(self, bin, *flags):
        self.bin = bin
        self.directory = tempfile.TemporaryDirectory(prefix="cloister-credentials-")
        os.chmod(self.directory.name, 0o755)
        self.credentials = os.path.join(self.directory.name, "credentials")
        self.gateway = Gateway(bin, [f"--credentials={self.credentials}", *flags], anonymous=False)
        self.tokens = []

    def __enter__(self):
        self.gateway.__enter__()
        return self

    def __exit__(self, *why):
        self.gateway.end()
        log = self.gateway.log()
        self.gateway.__exit__(*why)
        for token in self.tokens:
            assert token not in log, "a token is in the log"

    def command(self, *words, status=0):
        done = subprocess.run([os.path.join(self.bin, "cloister"), *words, f"--credentials={self.credentials}"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == status, (words, done)
        return done

    def add(self, name, *flags):
        token = self.command("token", "add", name, *flags).stdout.strip()
        assert re.fullmatch(r"cl_[A-Za-z0-9_-]{43}", token), token
        self.tokens.append(token)
        return token

    def post(self, message, token=None, **headers):
        given = {"Authorization": "Bearer " + token} if token else {}
        return self.gateway.post(message, {**given, **headers})

    # A change in the directory takes effect within a second. Repeated requests in between may hit the rate limit.
    def becomes(self, status, token):
        time.sleep(1.1)
        reply = self.post(DISCOVER, token)
        assert reply.status == status, reply


DISCOVER = modern("server/discover")
COMPLETE = {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "x", "value": ""}}


def names(reply):
    return {tool["name"] for tool in reply.json["result"]["tools"]}


# ---- tokens ----

def test_nobody_comes_in_without(door, _):
    for header in (None, "", "Basic YTpi", "Bearer"):
        reply = door.gateway.post(DISCOVER, {"Authorization": header} if header is not None else {})
        assert reply.status == (400 if header == "Bearer" else 401), reply
        assert reply.headers["WWW-Authenticate"].startswith('Bearer realm="cloister"'), reply.headers
    reply = door.post(DISCOVER)
    assert "error=" not in reply.headers["WWW-Authenticate"]
    assert f'resource_metadata="{METADATA}"' in reply.headers["WWW-Authenticate"]
    assert "error" in reply.json
    reply = door.gateway.ask("GET", f"/mcp?access_token={door.tokens[0] if door.tokens else 'x'}")
    assert reply.status == 401, "a token in the query counts for nothing"


def test_a_token_comes_and_goes(door, _):
    token = door.add("visitor")
    door.becomes(200, token)
    assert "visitor\ttoken:visitor\t-\t" in door.command("token", "list").stdout
    with open(os.path.join(door.credentials, "tokens"), encoding="utf-8") as file:
        text = file.read()
    assert token not in text and hashlib.sha256(token.encode()).hexdigest() in text
    assert os.stat(os.path.join(door.credentials, "tokens")).st_mode & 0o007 == 0
    reply = door.gateway.post(DISCOVER, {"Authorization": f"bearer  {token}"})
    assert reply.status == 200, "the scheme has no case"
    door.command("token", "remove", "visitor")
    door.becomes(401, token)
    reply = door.post(DISCOVER, token)
    assert 'error="invalid_token"' in reply.headers["WWW-Authenticate"]
    door.command("token", "remove", "visitor", status=1)


def test_a_stream_ends_with_its_token(door, _):
    token = door.add("listener")
    door.becomes(200, token)
    listen = modern("subscriptions/listen", {"notifications": {"resourcesListChanged": True}})
    stream = door.gateway.post_open(listen, {"Authorization": "Bearer " + token}, timeout=40)
    assert stream.status == 200 and stream.message() is not None
    door.command("token", "remove", "listener")
    began = time.monotonic()
    while stream.event() is not None:
        pass
    assert time.monotonic() - began < 30
    stream.close()


def test_a_token_expires(door, _):
    ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 4))
    token = door.add("brief", "--expires=" + ends)
    door.becomes(200, token)
    soon(lambda: door.post(DISCOVER, token).status == 401, "expired", 8)
    assert "the token has expired" in door.post(DISCOVER, token).headers["WWW-Authenticate"]


# Like the kubelet mounts a Secret: name is a symlink to ..data/name, and each change points ..data to a new directory.
def test_a_mounted_secret(door, _):
    path, data = (os.path.join(door.credentials, name) for name in ("tokens", "..data"))
    before = door.add("before")
    with open(path, "rb") as file:
        kept = file.read()

    def mount(directory, text, mode=0o640):
        os.mkdir(os.path.join(door.credentials, directory), 0o755)
        file = os.path.join(door.credentials, directory, "tokens")
        with open(file, "wb") as target:
            target.write(text)
        os.chown(file, -1, os.stat(path).st_gid)
        os.chmod(file, mode)
        os.symlink(directory, data + "_tmp")
        os.rename(data + "_tmp", data)

    try:
        mount("..1", kept)
        os.symlink("..data/tokens", path + "_tmp")
        os.rename(path + "_tmp", path)
        door.becomes(200, before)
        assert "before" in door.command("token", "list").stdout
        # The next update of the Secret would undo a change, so the command refuses it and prints the alternative.
        for words in (("add", "after"), ("remove", "before")):
            refused = door.command("token", *words, status=1)
            assert not refused.stdout and "is a symlink" in refused.stderr and "--credentials=DIRECTORY" in refused.stderr, refused
        assert os.readlink(path) == "..data/tokens" and not [n for n in os.listdir(door.credentials) if n.startswith(".draft")]
        with open(path, "rb") as file:
            assert file.read() == kept
        # The alternative: a copy in a separate directory.
        with tempfile.TemporaryDirectory(prefix="cloister-credentials-") as own:
            with open(os.path.join(own, "tokens"), "wb") as copy:
                copy.write(kept)
            after = subprocess.run([os.path.join(door.bin, "cloister"), "token", "add", "after", "--credentials=" + own],
                                   capture_output=True, text=True, check=True).stdout.strip()
            door.tokens.append(after)
            with open(os.path.join(own, "tokens"), "rb") as file:
                mount("..2", file.read())
        door.becomes(200, after)
        assert door.post(DISCOVER, before).status == 200
        # A file that other users can read is refused, symlink or not; the previous content stays in use.
        mount("..3", kept, 0o644)
        door.becomes(200, after)
        assert "mode 644 permits access by others" in door.gateway.log()
    finally:
        for name in ("tokens", "..data"):
            if os.path.islink(os.path.join(door.credentials, name)):
                os.unlink(os.path.join(door.credentials, name))


def test_a_header_twice(door, _):
    token = door.add("twice")
    door.becomes(200, token)
    body = json.dumps(DISCOVER).encode()
    with door.gateway.raw() as raw:
        raw.send(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
                 b"Accept: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n"
                 + 2 * (b"Authorization: Bearer %s\r\n" % token.encode())
                 + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert raw.read().startswith(b"HTTP/1.1 400 ")


def test_a_name_twice(door, _):
    door.add("once")
    refused = door.command("token", "add", "once", status=1)
    assert not refused.stdout and "once exists; choose another name" in refused.stderr, refused


def columns(door, name):
    """Of `cloister token list`: expiry and last use."""
    rows = [line.split("\t") for line in door.command("token", "list", f"--state={door.gateway.own}/state").stdout.splitlines()]
    return next(row[4:] for row in rows if row[0] == name)


def test_a_token_that_ends_in_some_days(door, _):
    """The value of a flag may follow a blank."""
    token = door.add("days", "--expires", "30d", "--scopes", "read")
    until = time.strftime("%Y-%m-%dT", time.gmtime(time.time() + 30 * 86400))
    assert columns(door, "days")[0].startswith(until), columns(door, "days")
    door.becomes(200, token)
    short = door.add("short", "--expires=3s")
    door.becomes(200, short)
    time.sleep(2.5)
    assert door.post(DISCOVER, short).status == 401
    for wrong in "30", "0d", "d", "-1d", "3x", "9999999y", "30d ":
        assert "30d or 12h" in door.command("token", "add", "wrong", "--expires=" + wrong, status=1).stderr, wrong


def test_last_use(door, _):
    token, unused = door.add("used"), door.add("unused")
    door.becomes(200, token)
    until = time.monotonic() + 90
    while columns(door, "used")[1] == "-" and time.monotonic() < until:
        time.sleep(0.5)
    used = columns(door, "used")[1]
    assert used.startswith(time.strftime("%Y-", time.gmtime())) and used.endswith("Z"), used
    assert columns(door, "unused")[1] == "-" and unused


def test_rotation(door, _):
    """The old token ends at once, or after some time, in which both are the same principal."""
    first = door.add("rotated", "--expires=1h", "--scopes=read,run")
    door.becomes(200, first)
    second = door.command("token", "rotate", "rotated").stdout.strip()
    door.tokens.append(second)
    door.becomes(200, second)
    assert door.post(DISCOVER, first).status == 401
    third = door.command("token", "rotate", "rotated", "--grace", "4s", "--expires", "2d").stdout.strip()
    door.tokens.append(third)
    door.becomes(200, third)
    assert door.post(DISCOVER, second).status == 200
    assert "rotated.before, the token of an earlier rotation" in door.command("token", "rotate", "rotated", "--grace=1h", status=1).stderr
    assert columns(door, "rotated")[0] > columns(door, "rotated.before")[0]
    time.sleep(4)
    assert door.post(DISCOVER, second).status == 401 and door.post(DISCOVER, third).status == 200
    assert "no token has the name" in door.command("token", "rotate", "nobody", status=1).stderr


# ---- scopes ----

def test_scopes_of_tools(door, _):
    reader, runner = door.add("reader", "--scopes=read"), door.add("runner", "--scopes=run")
    both = door.add("both", "--scopes=read,run,monitor")
    door.becomes(200, both)
    listed = {token: door.post(modern("tools/list"), token) for token in (reader, runner, both)}
    assert "execute_code" in names(listed[runner]) and "execute_code" not in names(listed[reader])
    assert "validate_code" in names(listed[reader]) and "validate_code" not in names(listed[runner])
    assert names(listed[reader]) | names(listed[runner]) < names(listed[both])
    assert "audit_execution" in names(listed[both]) and "audit_execution" not in names(listed[reader])
    for reply in listed.values():
        assert reply.json["result"]["cacheScope"] == "private"
        for tool in names(reply):
            assert tool in names(listed[both])
    for tool in names(listed[both]) - names(listed[reader]):
        reply = door.post(call(tool), reader)
        assert reply.status == 403, (tool, reply)
        challenge = reply.headers["WWW-Authenticate"]
        assert 'error="insufficient_scope"' in challenge and re.search(r'scope="cloister:(run|monitor)"', challenge)


def test_scopes_of_resources_and_methods(door, _):
    reader, runner = door.add("reader2", "--scopes=read"), door.add("runner2", "--scopes=run")
    door.becomes(200, runner)
    for method, params in (("resources/list", {}), ("resources/templates/list", {}), ("resources/read", {"uri": "sandbox://schemas"}),
                           ("completion/complete", COMPLETE), ("tasks/get", {"taskId": "x"})):
        reply = door.post(modern(method, params), runner)
        assert reply.status == 403 and 'scope="cloister:read"' in reply.headers["WWW-Authenticate"], (method, reply)
    assert door.post(modern("resources/read", {"uri": "sandbox://schemas"}), reader).status == 200
    for uri in ("sandbox://logs", "sandbox://status", "sandbox://audit/exec_1", "sandbox://sessions/sess_1"):
        reply = door.post(modern("resources/read", {"uri": uri}), reader)
        assert reply.status == 403, (uri, reply)
        assert 'scope="cloister:monitor cloister:read"' in reply.headers["WWW-Authenticate"], reply.headers
    for token, status in ((reader, 403), (runner, 403), (door.add("watcher", "--scopes=monitor"), 403), (door.add("usual"), 403),
                          (door.add("prometheus", "--scopes=metrics"), 200)):
        door.becomes(200, token)
        assert door.gateway.ask("GET", "/metrics", None, {"Authorization": "Bearer " + token}).status == status
    assert door.gateway.ask("GET", "/metrics").status == 401
    for uri, known in (("sandbox://audit/{execution_id}", False), ("sandbox://sessions/{session_id}", False),
                       ("sandbox://artifacts/{session_id}", True)):
        of = {"ref": {"type": "ref/resource", "uri": uri}, "argument": {"name": re.findall(r"\{(\w+)", uri)[0], "value": ""}}
        assert ("result" in door.post(modern("completion/complete", of), reader).json) is known, uri
    listed = door.post(modern("resources/list"), reader).json["result"]["resources"]
    assert "sandbox://logs" not in {one["uri"] for one in listed}


def test_scopes_in_sessions_and_batches(door, _):
    reader = door.add("reader3", "--scopes=read")
    door.becomes(200, reader)
    bearer = {"Authorization": "Bearer " + reader}
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    reply = door.gateway.post(hello, bearer)
    session = {**bearer, "Mcp-Session-Id": reply.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-03-26"}
    run = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "execute_code", "arguments": {}}}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert door.gateway.post(run, session).status == 403
    assert door.gateway.post([ping, run], session).status == 403
    assert door.gateway.post([ping], session).status == 200
    other = door.add("other3")
    door.becomes(200, other)
    assert door.gateway.post(ping, {**session, "Authorization": "Bearer " + other}).status == 404, "another's session"
    assert door.gateway.post(ping, {k: v for k, v in session.items() if k != "Authorization"}).status == 401


# ---- OAuth ----

def test_metadata_for_everybody(door, issuer):
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        reply = door.gateway.ask("GET", path)
        assert reply.status == 200 and reply.headers["Content-Type"] == "application/json", reply
        assert reply.json["resource"] == RESOURCE
        assert reply.json["authorization_servers"] == [issuer.url]
        assert "cloister:run" in reply.json["scopes_supported"]
        assert reply.json["bearer_methods_supported"] == ["header"]


def test_keys_are_fetched(door, issuer):
    reply = door.post(DISCOVER, issuer.token())
    assert reply.status == 503, reply
    done = door.command("issuer", "fetch", issuer.url)
    assert done.stdout == f"1 keys of {issuer.url}\n", done
    door.becomes(200, issuer.token())


def test_the_issuers_authority_may_be_named(door, issuer):
    key, before = os.path.join(issuer.directory.name, "tls"), issuer.url
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", key + ".pem", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(key + ".pem", key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), issuer.server.RequestHandlerClass)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        root = f"https://127.0.0.1:{server.server_port}"
        issuer.url = root + "/tenant"
        issuer.publish(jwks_uri=root + "/keys?v=1")
        assert "certificate" in door.command("issuer", "fetch", issuer.url, status=1).stderr
        done = door.command("issuer", "fetch", issuer.url, "--ca=" + key + ".pem")
        assert done.stdout == f"1 keys of {issuer.url}\n", done
    finally:
        issuer.url = before
        issuer.publish()
        server.shutdown()
        server.server_close()


def test_keys_are_the_issuers_own(door, issuer):
    issuer.publish(issuer="https://evil.example")
    done = door.command("issuer", "fetch", issuer.url, status=1)
    assert "is from issuer 'https://evil.example'" in done.stderr, done
    issuer.publish(jwks_uri="http://198.51.100.1/keys")
    done = door.command("issuer", "fetch", issuer.url, status=1)
    assert "jwks_uri" in done.stderr, done
    issuer.publish()
    issuer.documents["/keys?v=1"] = b'{"keys":[' + b" " * (257 << 10) + b"]}"
    done = door.command("issuer", "fetch", issuer.url, status=1)
    assert "over the limit of 262144 bytes" in done.stderr, done
    issuer.publish()


def test_access_tokens(door, issuer):
    key = issuer.modulus
    bad = {
        "none": issuer.token({"alg": "none"}, lambda _: b""),
        "confused": issuer.token({"alg": "HS256"}, lambda text: hmac.new(key, text, "sha256").digest()),
        "audience": issuer.token(aud="https://other.example/mcp"),
        "no audience": issuer.token(aud=None),
        "issuer": issuer.token(iss="https://evil.example"),
        "expired": issuer.token(exp=int(time.time()) - 60),
        "not yet": issuer.token(nbf=int(time.time()) + 600),
        "key": issuer.token({"kid": "../first"}),
        "embedded": issuer.token({"jwk": issuer.jwk}),
        "critical": issuer.token({"crit": ["exp"]}),
        "subject": issuer.token(sub=""),
        "signature": issuer.token()[:-8] + "AAAAAAAA",
    }
    for what, token in bad.items():
        reply = door.post(DISCOVER, token)
        assert reply.status == 401, (what, reply)
        assert 'error="invalid_token"' in reply.headers["WWW-Authenticate"], (what, reply.headers)
    reply = door.post(DISCOVER, issuer.token() + "A" * 9000)
    assert reply.status in (400, 431), reply
    assert door.post(DISCOVER, issuer.token()).status == 200


# In the jail, where an unexpected system call of a library ends the gateway.
def test_each_algorithm(door, issuer):
    issuer.curves = [CurveKey(issuer.directory.name, *row) for row in (
        ("ES256", "P-256", "prime256v1", 32, "sha256"), ("ES384", "P-384", "secp384r1", 48, "sha384"),
        ("ES512", "P-521", "secp521r1", 66, "sha512"))]
    del issuer.jwk["alg"]
    issuer.publish()
    assert door.command("issuer", "fetch", issuer.url).stdout.startswith("4 keys ")
    door.becomes(200, issuer.token())
    for bits in ("256", "384", "512"):
        for family, options in (("RS", []), ("PS", ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:-1"])):
            words = ["dgst", "-sha" + bits, "-sign", issuer.path, *options]
            token = issuer.token({"alg": family + bits}, lambda text, words=words: openssl(*words, text=text))
            assert door.post(DISCOVER, token).status == 200, family + bits
    for key in issuer.curves:
        header = {"alg": key.jwk["kid"], "kid": key.jwk["kid"]}
        for _ in range(8):  # so that integers with leading zeros occur
            assert door.post(DISCOVER, issuer.token(header, key.sign, jti=os.urandom(4).hex())).status == 200, header


def test_scopes_of_access_tokens(door, issuer):
    token = issuer.token(scope="openid cloister:read", jti="scopes")
    assert door.post(DISCOVER, token).status == 200
    reply = door.post(call("execute_code", {"code": "1"}), token)
    assert reply.status == 403
    challenge = reply.headers["WWW-Authenticate"]
    assert 'error="insufficient_scope"' in challenge and 'scope="cloister:run"' in challenge
    assert f'resource_metadata="{METADATA}"' in challenge


def test_keys_are_rotated(door, issuer):
    old = issuer.token(jti="old")
    assert door.post(DISCOVER, old).status == 200
    issuer.new_key("second")
    issuer.publish()
    door.command("issuer", "fetch", issuer.url)
    door.becomes(200, issuer.token())
    assert door.post(DISCOVER, old).status == 401


def test_addresses_that_fail_too_often(door, _):
    token = door.add("patient")
    door.becomes(200, token)
    statuses = [door.post(DISCOVER, "cl_guess").status for _ in range(30)]
    assert statuses[0] in (401, 429) and statuses[-1] == 429 and set(statuses) <= {401, 429}, statuses
    reply = door.post(DISCOVER, "cl_guess")
    assert 1 <= int(reply.headers["Retry-After"]) <= 60
    assert door.post(DISCOVER, token).status == 200, "who is known comes in from there all the same"


def main():
    bin, issuer = os.path.abspath(sys.argv[1]), Issuer()
    with Door(bin, "--toolsets=all", f"--issuer={issuer.url}", f"--resource={RESOURCE}") as door:
        counts = cases.play(sys.modules[__name__], door, issuer, after=held.check)
    cases.end(counts)


if __name__ == "__main__":
    main()
