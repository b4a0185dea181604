#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of strict and basic: no known program passes them and reaches what they refuse, and ordinary programs pass.

    test_rules.py PROGRAM DIRECTORY        rule_findings; of bypasses.txt and ordinary.txt
    test_rules.py PROGRAM DIRECTORY --show prints what each profile finds

A line with a percent sign separates the statements of a session, which are checked one by one.
"""

import builtins
import os
import re
import subprocess
import sys
import types

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import cases  # noqa: E402

POWERS = (eval, exec, open, compile, __import__)
REACHED, DONE, RAISED = range(3)
INNER = (types.FrameType, types.CodeType, types.TracebackType, types.FunctionType)


def programs(directory, name):
    with open(os.path.join(directory, name), encoding="utf-8") as file:
        return [text.strip("\n") + "\n" for text in file.read().split("\n%%\n")]


def statements(text):
    return text.split("\n%\n")


def findings(program, texts, profile):
    """Of each text, those of all its statements."""
    sent = b"".join(part.encode() + b"\0" for text in texts for part in statements(text))
    end = subprocess.run([program, profile], input=sent, capture_output=True, check=True, timeout=60)
    lines = iter(end.stdout.decode().split("\n"))
    return [", ".join(filter(None, [next(lines) for _ in statements(text)])) for text in texts]


def table(name):
    with open(os.path.join(ROOT, "common", "profile", name), encoding="utf-8") as file:
        return file.read()


def guard():
    """That of imports.py with what executor/run/check/policy.c sends it under strict and basic."""
    scope = {"__name__": "imports.py"}
    with open(os.path.join(ROOT, "executor", "guest", "python", "imports.py"), encoding="utf-8") as file:
        exec(compile(file.read(), "imports.py", "exec"), scope)
    modules = re.findall(r'^MODULE\(basic, "([\w.]+)"\)', table("profiles.def"), re.M)
    withheld = re.findall(r"^MEMBER\(([\w.]+), *(\w+)", table("members.def"), re.M)
    only = re.findall(r"^ONLY\(([\w.]+), (\w+)", table("members.def"), re.M)
    payload = "".join(f"{line}\n" for line in ["profile strict", *modules, *("-" + ".".join(each) for each in withheld), *("=" + ".".join(each) for each in only)])
    return scope["Guard"](), payload.encode(), scope["concealed"]


def is_reached(value):
    """Is it a module, the class tree, a frame or code, the built-in functions, or text that shows these?"""
    if isinstance(value, str):
        return any(word in value for word in ("REACHED", "<class", "<code", "<frame", "builtins"))
    if isinstance(value, dict):
        return "__builtins__" in value or "eval" in value
    if isinstance(value, (list, tuple)) and value:
        return int in value
    return value is object or value is type or isinstance(value, (types.ModuleType, *INNER)) or any(value is one for one in (*POWERS, builtins.vars))


def outcome(text, guarded=False):
    """Run in a child, as programs change what they reach."""
    child = os.fork()
    if child == 0:
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        main.__builtins__ = builtins
        scope, status = main.__dict__, RAISED
        try:
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.dup2(1, 2)
            holder, payload, views = guard() if guarded else (None, None, ())
            for part in statements(text):
                if guarded:
                    holder.hold(scope, payload)
                exec(compile(part, "<program>", "exec"), scope)
            status = REACHED if id(scope.get("r")) not in views and is_reached(scope.get("r")) or callable(scope.get("r")) and scope["r"].__name__ in ("open", "open_code", "eval", "exec") else DONE
        except BaseException:  # pylint: disable=broad-except
            status = RAISED
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def reaches(text, guarded=False):
    return outcome(text, guarded) == REACHED


def test_known_programs(program, directory):
    """Each is refused, or reaches nothing; enough of them do reach it in a plain interpreter."""
    texts = programs(directory, "bypasses.txt")
    reach = [text for text in texts if reaches(text)]
    assert len(reach) >= 370, f"{len(reach)} of {len(texts)} reach anything"
    for profile in ("strict", "basic"):
        passed = [text for text, found in zip(texts, findings(program, texts, profile), strict=True) if not found and text in reach]
        through = [text for text in passed if reaches(text, guarded=True)]
        assert not through, (profile, through)
        print(f"  {profile}: {len(reach)} of {len(texts)} programs reach what is refused; {len(reach) - len(passed)} are found, "
              f"{len(passed)} are refused at run time")


def test_sessions(program, directory):
    """Statements of ordinary sessions pass, whatever module has the name of a variable, and run under the guard."""
    texts = programs(directory, "sessions.txt")
    for profile in ("strict", "basic", "basic,filesystem", "data_science"):
        refused = [(text, found) for text, found in zip(texts, findings(program, texts, profile), strict=True) if found]
        assert not refused, (profile, refused)
    failed = [text for text in texts if outcome(text, guarded=True) == RAISED]
    assert not failed, failed
    print(f"  {len(texts)} sessions")


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
