# SPDX-License-Identifier: Apache-2.0
"""Checks messages over HTTP against the official schema of their revision, with support/schemas.py.

    exchange = Exchange("/mcp", headers, body)     # of an outgoing request; wrong=True: invalid on purpose
    exchange.received(status, headers, body)       # the complete response
    exchange.event(name, data)                     # one event of a stream
    raw(sent, got)                                 # all bytes of one connection, both directions
    check()                                        # raises AssertionError if a message was invalid

All messages of the server are checked, and all messages of a test except those that are invalid on purpose; these must
be refused.  Nothing is checked before check(), so that a test's timing measures the gateway only.
"""

import atexit
import collections
import functools
import http.client
import io
import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import schemas  # noqa: E402

MODERN = "2026-07-28"
# The revision of a request that names none and is in no session.
UNSAID = "2025-11-25"
ENDPOINTS = ("/mcp", "/sse", "/messages")
VERSION = "io.modelcontextprotocol/protocolVersion"

_waiting, _watches, _sessions = collections.deque(), [], {}


# Server-sent events of a complete text, as (id, name, data).
def parse_events(text):
    events = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        fields = {}
        for line in block.split("\n"):
            name, _, value = line.partition(":")
            if name:
                fields[name] = value[1:] if value.startswith(" ") else value
        if fields:
            events.append((fields.get("id"), fields.get("event"), fields.get("data")))
    return events


@functools.cache
def _schemas():
    return schemas.load_if_npm()


def absent():
    """True if there are no schemas to check against."""
    return _schemas() is None


def _watch(revision):
    _watches.append(schemas.Watch(_schemas(), revision))
    return _watches[-1]


def _told():
    if _watches:
        print(f"{sum(watch.count for watch in _watches)} messages were held to the schemas of MCP")


atexit.register(_told)


# A message, or the messages of a batch.
def _listed(value):
    return value if isinstance(value, list) else [value]


def _is_request(message):
    return isinstance(message, dict) and isinstance(message.get("method"), str) and "id" in message


# The revision that a message declares, or requests for a new session.
def _claim(message):
    params = message.get("params") if _is_request(message) else None
    if not isinstance(params, dict):
        return None
    if isinstance(params.get("_meta"), dict) and VERSION in params["_meta"]:
        return MODERN
    return params.get("protocolVersion") if message["method"] == "initialize" else None


class Exchange:
    """A request and its response. The exchanges of one session form one conversation."""

    def __init__(self, path, headers, body=None, wrong=False):
        self.path, _, query = path.partition("?")
        self.session = urllib.parse.parse_qs(query).get("session_id", [headers.get("Mcp-Session-Id")])[0]
        self.version = headers.get("MCP-Protocol-Version")
        if self.path in ENDPOINTS:
            _waiting.append(lambda: self._sent(body, wrong))

    def received(self, status, headers, body):
        if self.path in ENDPOINTS:
            _waiting.append(lambda: self._received(status, headers, body))

    def event(self, name, data):
        if self.path in ENDPOINTS:
            _waiting.append(lambda: self._event(name, data))

    def _sent(self, body, wrong):
        try:
            messages, bad = _listed(json.loads(body)) if body else [], None
        except ValueError as error:
            messages, bad = [], error
        self.watch = self._conversation(messages)
        if bad is not None and not wrong:
            raise bad
        for message in messages:
            if not wrong:
                self.watch.sent(message, good=True)
            elif _is_request(message):
                self.watch.sent(message)

    def _conversation(self, messages):
        claims = [*map(_claim, messages)]
        if MODERN not in claims and self.session in _sessions:
            return _sessions[self.session]
        claims += [self.version, schemas.OLDEST if self.path == "/sse" else UNSAID]
        return _watch(next(claim for claim in claims if isinstance(claim, str) and claim in _schemas()))

    def _received(self, status, headers, body):
        kind = headers.get("Content-Type", "").partition(";")[0]
        if "Mcp-Session-Id" in headers:
            _sessions[headers["Mcp-Session-Id"]] = self.watch
        if kind == "application/json":
            for message in _listed(json.loads(body)):
                self._answered(status, message)
        elif kind == "text/event-stream":
            for _, name, data in parse_events(body.decode()):
                self._event(name, data)

    # "The HTTP response body MAY comprise a JSON-RPC error response that has no id": so the text of every revision (Sending
    # Messages to the Server), but only from 2025-11-25 on the schema as well.
    def _answered(self, status, message):
        watch = self.watch
        if status >= 400 and "id" not in message and watch.revision < UNSAID:
            watch = _watch(UNSAID)
        watch.received(message)

    def _event(self, name, data):
        if name == "endpoint":
            _sessions[data.partition("session_id=")[2]] = self.watch
        elif data:
            self.watch.received(json.loads(data))


class _Bytes(io.BytesIO):
    """Bytes that http.client reads like a connection."""

    def makefile(self, *_):
        return self

    def close(self):
        pass


# The complete responses, each as status, headers and body.
def _answers(got):
    file = _Bytes(got)
    try:
        while file.tell() < len(got):
            answer = http.client.HTTPResponse(file)
            answer.begin()
            yield answer.status, answer.headers, answer.read()
    except (http.client.HTTPException, ValueError):
        pass  # truncated, or not HTTP


# The requests in the sent bytes: the body after each valid head.
def _requests(sent):
    for part in sent.split(b"\r\n\r\n")[1:]:
        try:
            message, _ = json.JSONDecoder().raw_decode(part.decode())
        except ValueError:
            continue
        if _is_request(message):
            yield message


def raw(sent, got):
    def look():
        requests = list(_requests(sent))
        exchange = Exchange("", {})
        exchange.watch = exchange._conversation(requests)
        for message in requests:
            exchange.watch.sent(message)
        for answer in _answers(got):
            exchange._received(*answer)

    _waiting.append(look)


def check():
    breaches = []
    while _waiting:
        look = _waiting.popleft()
        if absent():
            continue
        try:
            look()
        except Exception as breach:  # pylint: disable=broad-except
            breaches.append(f"{type(breach).__name__}: {breach}")
    assert not breaches, f"{len(breaches)} messages break the schema of their revision:\n    " + "\n    ".join(breaches[:5])
