#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the runner itself: transcripts that must fail do fail."""

import unittest

from transcript import Mismatch, fill, match, parse


class Matching(unittest.TestCase):
    GOOD = [
        ({}, {"a": 1}), ({"a": 1}, {"a": 1, "b": 2}), ([1, {"a": 2}], [1, {"a": 2, "b": 3}]), ("x", "x"), (1, 1.0),
        ("/^a.c$/", "abc"), ({"a": None}, {}), ({"$any": {"a": 1}}, [0, {"a": 1}]), ({"$none": 3}, [1, 2]),
        ({"$from": 1, "$to": 3}, 2), ({"$length": 2}, "ab"), ({"$length": 0}, []), (True, True),
    ]
    BAD = [
        ({"a": 1}, {}), ({"a": 1}, {"a": 2}), ([1], [1, 2]), ([], [1]), ("x", "xy"), (1, True), (True, 1), (1, "1"),
        ("/^b/", "abc"), ("/x/", None), ({"a": None}, {"a": 0}), ({"$any": 1}, [2]), ({"$any": 1}, None),
        ({"$none": 1}, [1]), ({"$from": 3}, 2), ({"$to": 1}, 2), ({"$from": 0}, "2"), ({"$length": 1}, "ab"), ({}, []),
        ({"a": {}}, {"a": 1}), (False, None),
    ]

    def test_good(self):
        for expected, got in self.GOOD:
            match(expected, got, {})

    def test_bad(self):
        for expected, got in self.BAD:
            with self.subTest(expected=expected, got=got), self.assertRaises(Mismatch):
                match(expected, got, {})

    def test_variables(self):
        names = {}
        match({"a": "$x", "b": "$x"}, {"a": 7, "b": 7}, names)
        self.assertEqual(names, {"x": 7})
        with self.assertRaises(Mismatch):
            match({"a": "$x"}, {"a": 8}, names)
        with self.assertRaises(Mismatch):
            match({"a": "$y"}, {}, names)

    def test_a_failed_item_sets_nothing(self):
        names = {}
        match({"$any": {"id": "$x", "kind": "b"}}, [{"id": 1, "kind": "a"}, {"id": 2, "kind": "b"}], names)
        self.assertEqual(names, {"x": 2})


class Reading(unittest.TestCase):
    def test_all_kinds(self):
        got = parse('# title\n@ flags executor --a=1\n= p\n| x\n|  y\n> [s] tools/call t {"a":\n  "$p"}\n'
                    '% [s] {}\n< [s] {"b": 1}\n~ e.f {"g": 2}\n! wait 3\n> raw b"\\xff"\n> ping\n')
        self.assertEqual((got.title, got.settings, got.texts),
                         ("title", [["flags", "executor", "--a=1"]], {"p": "x\n y\n"}))
        self.assertEqual([(s.kind, s.label, s.words, s.value) for s in got.steps], [
            (">", "s", ["tools/call", "t"], {"a": "$p"}), ("%", "s", [], {}), ("<", "s", [], {"b": 1}),
            ("~", None, ["e.f"], {"g": 2}), ("!", None, ["wait", "3"], None), ("raw", None, [], b"\xff"),
            (">", None, ["ping"], {})])

    def test_nonsense(self):
        for text in ("? x", "< {", "> a {b}", "= p\n? x", "| x"):
            with self.subTest(text=text), self.assertRaises(ValueError):
                parse(text)

    def test_filling(self):
        names = {"n": 3, "s": "t"}
        self.assertEqual(fill({"a": ["$n", "x$s", "$('y' * n)", "1$(n + len('ab'))", "$$"]}, names),
                         {"a": [3, "xt", "yyy", "15", "$$"]})
        self.assertEqual(fill("$(b64('hi'))", {}), "aGk=")
        self.assertEqual(fill("$(b64(bytes(range(int('2')))))", {}), "AAE=")
        self.assertEqual(fill("$x $(1)$(2) $y", {"x": "$y"}), "$y 12 $y")
        with self.assertRaises(ValueError):
            fill("a$(b", {})
        with self.assertRaises(KeyError):
            fill("$unset", {})


if __name__ == "__main__":
    unittest.main(verbosity=0)
