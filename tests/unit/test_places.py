#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How many places a new tool, setting or daemon costs: adds a row to a copy of the tree, and counts what the lints ask for.

    test_places.py ROOT

The compiler asks for what is left: the function of a tool's route.  hashes.txt and the rows of the files that deploy are generated.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402

ROOT = os.path.abspath(sys.argv[1])
LINTS = "check-defs", "check-effects", "check-places", "check-daemons", "check-denials", "check-moving"


def copy(to):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout.decode().split("\0")
    for path in filter(None, listed):
        if os.path.isfile(os.path.join(ROOT, path)):
            os.makedirs(os.path.dirname(os.path.join(to, path)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, path), os.path.join(to, path))
    for words in ["init", "-q"], ["add", "-A"]:
        subprocess.run(["git", "-C", to, *words], check=True)


def add(tree, path, before, row):
    with open(os.path.join(tree, path), encoding="utf-8") as file:
        text = file.read()
    at = text.index(before)
    with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
        file.write(text[:at] + row + text[at:])


def faults(tree):
    """The lines that the lints print."""
    said = []
    for lint in LINTS:
        done = subprocess.run([os.path.join(tree, ".ci", lint)], cwd=tree, capture_output=True, text=True, timeout=60, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        if done.returncode != 0:
            said += [line for line in done.stdout.splitlines() if not re.match(r"effects: |\d+ tables, ", line)]
    return said


def asked(tree, *patterns):
    """Each pattern is asked for, and nothing else is."""
    said = faults(tree)
    for pattern in patterns:
        assert any(re.search(pattern, line) for line in said), (pattern, said)
    assert not (more := [line for line in said if not any(re.search(pattern, line) for pattern in patterns)]), more


def test_a_tree_without_a_change(tree):
    assert faults(tree) == []


def test_a_tool(tree):
    """Its block, its handler and route, a transcript, a row for each argument."""
    add(tree, "common/table/schema.def", "MESSAGE(create_session,", """MESSAGE(touch_session, session_status, TOOL("Touch a session", executor, MONITOR, IDEMPOTENT), "Restart the expiry of a session.")
FIELD(touch_session, session_id, TEXT, NEED, 1, 64, "The session.")
END(touch_session)
""")
    asked(tree, "no file of executor has MSG_touch_session", "no transcript .* calls it", r"touch_session\(session_id\) has no row",
          "not in tests/wire/hashes.txt")


def test_a_setting(tree):
    """Its row, and the test of its effect."""
    add(tree, "executor/egress/options.def", "#undef SETTING", 'SETTING(new_setting, UINT, "1", 0, 9, NULL, "What it does.")\n')
    asked(tree, "egress.new_setting has no row")


def test_a_daemon(tree):
    """Its row and its edge, its directory, and its signs."""
    add(tree, "common/table/peers.def", "PEER(executor,", 'PEER(fetchd, executor/fetchd, RESIDENT, NO_STATE, 8192, 0, "fetches pages")\n')
    add(tree, "common/table/edges.def", "#undef EDGE", 'EDGE(executor, fetchd, "pages to fetch")\n')
    asked(tree, "no executor/fetchd/main.c", "no executor/fetchd/CMakeLists.txt", "fetchd/README.md: is missing", "the picture lacks fetchd",
          r"README.md: the table lacks this row", r"executor/README.md: the table lacks fetchd/")


def main():
    with tempfile.TemporaryDirectory(prefix="cloister-places-") as tree:
        copy(tree)

        def restore():
            subprocess.run(["git", "-C", tree, "checkout", "-q", "."], check=True)
        counts = cases.play(sys.modules[__name__], tree, after=restore)
    cases.end(counts)


main()
