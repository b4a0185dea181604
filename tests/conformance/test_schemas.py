#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the checker of messages against the official schemas: valid messages pass, invalid ones fail, in every revision."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import schemas  # noqa: E402

SCHEMAS = schemas.load()
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


def message(**members):
    return {"jsonrpc": "2.0", **members}


def call(revision, **params):
    return message(id=1, method="tools/call", params={"name": "x", "arguments": {}, **({"_meta": META} if revision == MODERN else {}), **params})


def result(revision, **members):
    return message(id=1, result={"content": [{"type": "text", "text": "y"}], **({"resultType": "complete"} if revision == MODERN else {}), **members})


class Schemas(unittest.TestCase):
    def test_all_revisions_are_there(self):
        self.assertEqual(sorted(SCHEMAS), ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN])

    def each(self, asked, answers, breach):
        for revision in SCHEMAS:
            with self.subTest(revision=revision):
                watch = schemas.Watch(SCHEMAS, revision)
                watch.sent(asked(revision))
                if breach:
                    with self.assertRaises(schemas.Breach):
                        watch.received(answers(revision))
                else:
                    watch.received(answers(revision))
                    self.assertGreater(watch.count, 0)

    def test_a_good_call(self):
        self.each(call, result, False)

    def test_a_result_of_another_method(self):
        self.each(call, lambda _: message(id=1, result={"resultType": "complete", "tools": []}), True)

    def test_content_of_no_kind(self):
        self.each(call, lambda r: result(r, content=[{"type": "smell", "text": "y"}]), True)

    def test_an_error_without_a_message(self):
        self.each(call, lambda _: message(id=1, error={"code": -32602}), True)

    def test_a_request_that_was_taken_for_good(self):
        self.each(lambda r: call(r, name=7), result, True)

    def test_a_request_that_was_refused_may_be_bad(self):
        self.each(lambda r: call(r, name=7), lambda _: message(id=1, error={"code": -32602, "message": "no"}), False)

    def test_a_notification(self):
        for revision in SCHEMAS:
            watch = schemas.Watch(SCHEMAS, revision)
            watch.received(message(method="notifications/progress", params={"progressToken": "t", "progress": 1}))
            with self.assertRaises(schemas.Breach):
                watch.received(message(method="notifications/progress", params={"progressToken": "t", "progress": "1"}))

    def test_members_of_the_newest_revision(self):
        watch = schemas.Watch(SCHEMAS, MODERN)
        watch.sent(call(MODERN))
        with self.assertRaises(schemas.Breach):
            watch.received(message(id=1, result={"content": []}))
        with self.assertRaises(schemas.Breach):
            watch.received(message(id=2, error={"code": -32022, "message": "no", "data": {"supported": []}}))


unittest.main()
