#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Effects of the servers that cloister replaces, recorded once, against cloister in their toolsets.

    recorded.py BIN                            compare every list of recorded/ with cloister
    recorded.py --record FILE COMMAND [ARG...] run the calls of FILE through the original, and write its answers into FILE

Originals that no package index has cannot run in a test. So recorded/NAME.json has, for each call, what the original answered
("there"), or what its documentation says ("source": "text"), and "equal": the keys whose values cloister must give, too. A call
whose effect differs has "differs": the tool and the subject of a DIFFER row of common/table/compat.def, and "here": what cloister
gives instead, which is checked as well.
"""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from daemons import LEGACY, Client, Cluster

ROOT = os.path.dirname(os.path.dirname(HERE))
LISTS = os.path.join(HERE, "recorded")
REVISION = LEGACY[0]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def rows(system):
    with open(os.path.join(ROOT, "common/table/compat.def"), encoding="utf-8") as table:
        return {f"{tool}: {subject}" for tool, subject in re.findall(rf'^DIFFER\({system}, (\w+), "([^"]*)"', table.read(), re.M)}


# The value of a result: structured content as it is, else the text, parsed if it is JSON.
def value_of(result):
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    text = result["content"][0]["text"] if result.get("content") else ""
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}


# Answers carry names of earlier answers in "$name": {"keep": {"name": "path"}} of a call sets them.
def filled(value, names):
    if isinstance(value, dict):
        return {key: filled(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, names) for one in value]
    return names.get(value[1:], value) if isinstance(value, str) and value.startswith("$") else value


def at(value, path):
    for name in path.split("."):
        if isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return None
    return value


# A text "/.../" is a pattern.
def same(wanted, got):
    if isinstance(wanted, str) and len(wanted) > 1 and wanted[0] == wanted[-1] == "/":
        return isinstance(got, str) and re.search(wanted[1:-1], got, re.S) is not None
    return wanted == got


def ask(client, call, names):
    try:
        return value_of(client.call(call["tool"], filled(call["arguments"], names)))
    except Exception as error:  # an error of the protocol is an answer, too
        return {"refused": str(error)}


def faults_of(call, got, names):
    wanted = call["here"] if "differs" in call else {path: at(call["there"], path) for path in call["equal"]}
    for path, value in wanted.items():
        if not same(filled(value, names), at(got, path)):
            yield f"{path} must be {value!r}, and is {at(got, path)!r}"


def compare(call, got, known, names):
    faults = list(faults_of(call, got, names))
    if "differs" in call and call["differs"] not in known:
        faults.append(f"no DIFFER row {call['differs']}")
    if "differs" in call and not list(faults_of({**call, "here": {p: at(call["there"], p) for p in call["equal"]}}, got, names)):
        faults.append("it does not differ any more")
    print(f"{'not ok' if faults else 'ok'} {call['tool']} {json.dumps(call['arguments'])[:100]}", *faults, sep="\n    ", flush=True)
    return not faults


def play(client, calls, known):
    names, counts = {}, {"equal": 0, "differs": 0, "failed": 0}
    for call in calls:
        got = ask(client, call, names)
        good = compare(call, got, known, names)
        counts["failed" if not good else "differs" if "differs" in call else "equal"] += 1
        names.update({name: at(got, path) for name, path in call.get("keep", {}).items()})
    return counts


def record(path, command):
    wanted, names = load(path), {}
    with Client(command, REVISION) as client:
        for call in wanted["calls"]:
            call["there"] = {path: at(ask(client, call, names), path) for path in call["equal"]}
    with open(path, "w", encoding="utf-8") as file:
        write(wanted, file)


# One call in a line.
def write(wanted, file):
    calls = wanted.pop("calls")
    head = json.dumps(wanted, indent=1, ensure_ascii=False)
    lines = ",\n".join("  " + json.dumps(call, ensure_ascii=False) for call in calls)
    file.write(f'{head[:-2]},\n "calls": [\n{lines}\n ]\n}}\n')


def main(binaries):
    print("system | calls | equal | differ for a reason | failed")
    failed = passed = 0
    with Cluster(binaries) as cluster:
        for name in sorted(os.listdir(LISTS)):
            wanted = load(os.path.join(LISTS, name))
            with cluster.client(REVISION, [f"--toolsets={wanted['toolset']}"]) as client:
                counts = play(client, wanted["calls"], rows(wanted["toolset"].replace("-", "_")))
            print(f"{wanted['toolset']} | {len(wanted['calls'])} | {counts['equal']} | {counts['differs']} | {counts['failed']}")
            failed, passed = failed + counts["failed"], passed + counts["equal"] + counts["differs"]
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    if sys.argv[1] == "--record":
        record(sys.argv[2], sys.argv[3:])
    else:
        main(sys.argv[1])
