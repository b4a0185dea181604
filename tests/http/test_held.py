#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that held.py finds invalid messages, however they are transferred."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import held  # noqa: E402
from gateway import modern  # noqa: E402

JSON, EVENTS = {"Content-Type": "application/json"}, {"Content-Type": "text/event-stream"}
GOOD = {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "content": []}}
BAD = {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "content": [{"type": "smell"}]}}
CALL = modern("tools/call", {"name": "x"})
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
WELCOME = {"jsonrpc": "2.0", "id": 0, "result": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "t", "version": "1"}}}


def told(value):
    return json.dumps(value).encode()


def exchange(message=CALL, wrong=False, path="/mcp", **headers):
    return held.Exchange(path, {name.replace("_", "-"): value for name, value in headers.items()}, told(message), wrong)


class Held(unittest.TestCase):
    def good(self):
        held.check()

    def bad(self):
        with self.assertRaises(AssertionError):
            held.check()
        held.check()  # once is enough

    def test_an_answer(self):
        exchange().received(200, JSON, told(GOOD))
        self.good()
        for body in (told(BAD), told({**GOOD, "jsonrpc": "1.0"}), b"", b"{", b"7", told([BAD])):
            exchange().received(200, JSON, body)
            self.bad()

    def test_events(self):
        for message, look in ((GOOD, self.good), (BAD, self.bad)):
            exchange().received(200, EVENTS, b"id: 1\ndata:\n\nevent: message\ndata: " + told(message) + b"\n\n")
            look()
            exchange().event("message", json.dumps(message))
            look()

    def test_all_bytes_of_a_connection(self):
        for message, look in ((GOOD, self.good), (BAD, self.bad)):
            body = told(message)
            got = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            sent = b"POST /mcp HTTP/1.1\r\nContent-Length: 1\r\n\r\n" + told(CALL)
            held.raw(sent, got)
            look()
            held.raw(sent, b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n" + got)
            look()
            held.raw(sent, got[:-3])
            self.good()

    def test_what_is_sent(self):
        for message in (modern("tools/call", {"name": 7}), {"jsonrpc": "2.0", "method": "tools/list", "id": {}}, 7, [CALL, 7],
                        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}}):
            exchange(message)
            self.bad()
            exchange(message, wrong=True)
            self.good()

    def test_what_is_wrong_must_be_refused(self):
        message = modern("tools/call", {"name": 7})
        exchange(message, wrong=True).received(400, JSON, told({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}))
        self.good()
        exchange(message, wrong=True).received(200, JSON, told(GOOD))
        self.bad()

    def test_a_session_is_of_its_revision(self):
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        tools = {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
        exchange(HELLO).received(200, {**JSON, "Mcp-Session-Id": "s"}, told(WELCOME))
        exchange(listing, Mcp_Session_Id="s").received(200, JSON, told(tools))
        self.good()
        exchange(modern("tools/list"), Mcp_Session_Id="s").received(200, JSON, told(tools))
        self.bad()  # no resultType
        exchange(listing, Mcp_Session_Id="s")
        held.Exchange("/mcp", {"Mcp-Session-Id": "s"}).event("message", json.dumps({**tools, "result": {"tools": [{}]}}))
        self.bad()

    def test_a_session_of_the_first_revision(self):
        stream = held.Exchange("/sse", {})
        stream.event("endpoint", "/messages?session_id=old")
        exchange(HELLO, path="/messages?session_id=old").received(202, {}, b"")
        stream.event("message", json.dumps(WELCOME))
        self.good()
        exchange(HELLO, path="/messages?session_id=old").received(202, {}, b"")
        stream.event("message", json.dumps({**WELCOME, "result": {}}))
        self.bad()

    def test_an_error_of_no_request(self):
        error = {"jsonrpc": "2.0", "error": {"code": -32600, "message": "no"}}
        exchange(HELLO).received(200, {**JSON, "Mcp-Session-Id": "t"}, told(WELCOME))
        exchange([], Mcp_Session_Id="t").received(400, JSON, told(error))
        self.good()
        exchange([], Mcp_Session_Id="t").received(200, JSON, told(error))
        self.bad()

    def test_a_page_that_is_no_message(self):
        held.Exchange("/metrics", {}).received(200, JSON, b"{}")
        self.good()

    def test_claims_that_are_odd(self):
        for params in ({"_meta": 7}, [], {"protocolVersion": {}}):
            exchange({**HELLO, "params": params}, wrong=True).received(400, JSON, told(
                {"jsonrpc": "2.0", "id": 0, "error": {"code": -32602, "message": "no"}}))
            self.good()


if __name__ == "__main__":
    if held.absent():
        print("skipped: npm is needed")
        sys.exit(77)
    unittest.main()
