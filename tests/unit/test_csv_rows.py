#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The CSV parser reads any text as Python's csv does, in pieces of any size.

    test_csv_rows.py PROGRAM         csv_rows
"""

import csv
import io
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402

ALPHABET = ["a", "bc", "é", " ", "1", "\n", "\r", "\r\n", ",", ";", '"', '""', "\t", "'", "|"]
# What the world sends: RFC 4180's examples, line ends, quotes within, blank lines, no end.
KNOWN = ["", "a", "a,b\n", "a,b\r\n1,2\r\n", "a,b\r1,2\r", "\n\n", "a\n\nb\n", '"a""b",c\n', '"a,b\nc",d\n', '"a\r\nb"\r\n', 'a"b,c\n',
         '"a"b,c\n', '"a" ,b\n', '""\n', '"",""\n', ",\n", ",,\n,,\n", 'a,"', 'a,"b', '"a"', '"', '"\r', "a,b,", "\r\n\r\na\r\n"]


def texts():
    source = random.Random(4180)
    made = ["".join(source.choice(ALPHABET) for _ in range(source.randrange(1, 40))) for _ in range(3000)]
    return KNOWN + made


def by_python(text, delimiter):
    """The rows, without blank lines."""
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]


def parsed(line):
    cells, count, _ = line.rsplit(":", 2)
    row = [bytes.fromhex(cell).decode() for cell in cells.split(",")[:-1]]
    assert len(row) == int(count), line
    return row


def read(program, all_texts, delimiter, piece, *escape):
    sent = b"".join(text.encode() + b"\0" for text in all_texts)
    end = subprocess.run([program, delimiter, str(piece), *escape], input=sent, capture_output=True, check=True, timeout=60)
    texts_read, rows = [], []
    for line in end.stdout.decode().split("\n")[:-1]:
        if line:
            rows.append(parsed(line))
        else:
            texts_read.append(rows)
            rows = []
    return texts_read


def test_as_python_reads(program):
    """Random and known texts, by two delimiters."""
    for delimiter in ",;":
        every = texts()
        for text, rows in zip(every, read(program, every, delimiter, 1 << 20), strict=True):
            assert rows == by_python(text, delimiter), (text, delimiter, rows, by_python(text, delimiter))


def test_escape(program):
    """A backslash before any character; at the end of a text, Python makes a line feed of it."""
    source = random.Random(92)
    every = ["".join(source.choice([*ALPHABET, "\\", "\\", "\\\""]) for _ in range(source.randrange(1, 30))) + "x" for _ in range(3000)]
    for piece in (1, 3, 1 << 20):
        for text, rows in zip(every, read(program, every, ",", piece, "\\"), strict=True):
            expected = [row for row in csv.reader(io.StringIO(text, newline=""), escapechar="\\") if row]
            assert rows == expected, (text, rows, expected)


def test_pieces(program):
    """The same rows and lines, however the text arrives."""
    every = texts()
    whole = read(program, every, ",", 1 << 20)
    for piece in (1, 2, 3, 7):
        assert read(program, every, ",", piece) == whole, piece


if __name__ == "__main__":
    cases.end(cases.play(sys.modules[__name__], sys.argv[1]))
