#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of strict and basic: no known program passes them and reaches what they refuse, and ordinary programs pass.

    test_rules.py PROGRAM DIRECTORY        rule_findings; of bypasses.txt and ordinary.txt
    test_rules.py PROGRAM DIRECTORY --show prints what each profile finds
"""

import builtins
import os
import subprocess
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402

POWERS = (eval, exec, open, compile, __import__)
INNER = (types.FrameType, types.CodeType, types.TracebackType, types.FunctionType)


def programs(directory, name):
    with open(os.path.join(directory, name), encoding="utf-8") as file:
        return [text.strip("\n") + "\n" for text in file.read().split("\n%%\n")]


def findings(program, texts, profile):
    sent = b"".join(text.encode() + b"\0" for text in texts)
    end = subprocess.run([program, profile], input=sent, capture_output=True, check=True, timeout=60)
    return end.stdout.decode().split("\n")[:-1]


def is_reached(value):
    """Is it a module, the class tree, a frame or code, the built-in functions, or text that shows these?"""
    if isinstance(value, str):
        return any(word in value for word in ("REACHED", "<class", "<code", "<frame", "builtins"))
    if isinstance(value, dict):
        return "__builtins__" in value or "eval" in value
    if isinstance(value, (list, tuple)) and value:
        return int in value
    return value is object or value is type or isinstance(value, (types.ModuleType, *INNER)) or any(value is one for one in (*POWERS, builtins.vars))


def reaches(text):
    """Run in a child, as programs change what they reach."""
    child = os.fork()
    if child == 0:
        scope, status = {"__name__": "__main__", "__builtins__": builtins}, 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.dup2(1, 2)
            exec(compile(text, "<program>", "exec"), scope)
            status = 0 if is_reached(scope.get("r")) or callable(scope.get("r")) and scope["r"].__name__ in ("open", "open_code", "eval", "exec") else 1
        except BaseException:  # pylint: disable=broad-except
            status = 2
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_known_programs(program, directory):
    """Each is refused, or reaches nothing; enough of them do reach it in a plain interpreter."""
    texts = programs(directory, "bypasses.txt")
    reach = [text for text in texts if reaches(text)]
    assert len(reach) >= 120, f"{len(reach)} of {len(texts)} reach anything"
    for profile in ("strict", "basic"):
        passed = [text for text, found in zip(texts, findings(program, texts, profile), strict=True) if not found]
        assert not [text for text in passed if text in reach], (profile, passed)
    print(f"  {len(reach)} of {len(texts)} programs reach what is refused; all of these are found")


def test_ordinary_programs(program, directory):
    texts = programs(directory, "ordinary.txt")
    for profile in ("strict", "basic,filesystem"):
        refused = [(text, found) for text, found in zip(texts, findings(program, texts, profile), strict=True) if found]
        assert not refused, (profile, refused)


if __name__ == "__main__":
    if "--show" in sys.argv:
        for shown in ("bypasses.txt", "ordinary.txt"):
            every = programs(sys.argv[2], shown)
            for one, *found_by in zip(every, *(findings(sys.argv[1], every, profile) for profile in ("strict", "basic"))):
                print(shown, "reaches" if shown[0] == "b" and reaches(one) else "", found_by, repr(one)[:150])
    else:
        cases.end(cases.play(sys.modules[__name__], *sys.argv[1:3]))
