#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Where the fuzzers start: seeds.py GOLDEN FOLDER writes a folder of inputs for each, and a dictionary of the table's words.

The samples of golden.txt stand in the order of the table, so the n-th message is number n of enum msg_id.
"""
import json
import pathlib
import sys

LINES = [
    '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{}}}',
    '{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"x","version":"1"}}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"\\u20ac"}}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"1"}}}',
    '[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"}]',
    '{"jsonrpc":"2.0","id":9223372036854775807,"result":{}}',
]
PATHS = ["data/a.csv", "/workspace/a%25.csv", "/mnt/data/x", "%FF%0A/b", "a/../b", "a//b", "\u202e\u00e9/\U0001f40d"]
# A steward's and a driver's word for it: see protocol.h.
FRAMES = [(b"R", b'{"a":[1,2.5,null]}'), (b"V", b"x\ny\n"), (b"E", b"ValueError\n3\nno\n"), (b"R", b"")]


def samples(golden):
    """(number, body, frames, JSON) of each."""
    names = []
    for block in golden.read_text().split("\n\t"):
        for line in block.split("\n"):
            what, _, rest = line.partition(" ")
            if what == "body":
                body, frames = bytes.fromhex(rest), []
            elif what == "frame":
                frames.append(bytes.fromhex(rest))
            elif what == "json":
                yield len(names), body, frames, rest
            elif what and what not in names:
                names.append(what)


def words(value):
    """All keys of a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words(inner)


def main(golden, folder):
    inputs = {"wire": [], "json": [], "lines": [], "path": [], "guest": []}
    known = set()
    for number, body, frames, text in samples(pathlib.Path(golden)):
        head = bytes([number - 1, len(frames)])
        inputs["wire"].append(head + b"".join(len(f).to_bytes(2, "little") + f for f in frames) + body)
        inputs["json"].append(bytes([number - 1]) + text.encode())
        known.update(words(json.loads(text)))
    inputs["lines"] = [bytes([255, 63]) + line.encode() + b"\n" for line in LINES]
    inputs["lines"].append(bytes([255, 7]) + "\r\n".join(LINES).encode())
    inputs["path"] = [path.encode() for path in PATHS]
    inputs["guest"] = [kind + len(data).to_bytes(4, "little") + data for kind, data in FRAMES]
    inputs["guest"].append(b"".join(inputs["guest"]))
    for name, seeds in inputs.items():
        where = pathlib.Path(folder, name)
        where.mkdir(parents=True, exist_ok=True)
        for i, seed in enumerate(seeds):
            where.joinpath(f"seed-{i:03}").write_bytes(seed)
    dictionary = "".join(f'"{word}"\n' for word in sorted(known) if word.isidentifier())
    pathlib.Path(folder, "words.dict").write_text(dictionary)


if __name__ == "__main__":
    main(*sys.argv[1:])
