# SPDX-License-Identifier: Apache-2.0
"""Transcripts: what a client sends, what it must receive, and what the audit log must contain.

    # a comment
    @ flags executor --max-concurrent=1      a setting, before the first step; run.py lists them
    = program                                a text: the lines that follow
    | print(1)
    > tools/call execute_code {"code": "$program"}
    < {"isError": false, "structuredContent": {"stdout": "1\\n", "execution_id": "$run"}}
    ~ execution.completed {"execution_id": "$run"}

A line that begins with blanks continues the line before.  With a label, [slow], the runner does not wait for the
reply, which is then expected by the same label.  `% [slow] {...}` expects a progress notification of that request.
`* method {...}` expects a notification of that method, or a request to the client, which `> answer {...}` then answers.
`> notifications/...` is sent without an id; `> wrong` before it, or before an answer, skips the check against its schema.
`> raw b"..."` sends these bytes; its reply has no id.  `! ...` is an action on the daemons or their files, see run.py.

In a message to send, "$name" is a variable and "...$(expression)..." is the value of a Python expression.
An expectation is a part of the message: an object may have more members; an array must have exactly these items.
    "/.../"            a text that this regular expression matches somewhere
    "$name"            the variable; an unset variable is set to the received value
    null               absent, or null
    {"$any": x}        an array with an item like x          {"$none": x}   one without
    {"$from": 1, "$to": 2}   a number within these bounds; either may be omitted
    {"$length": n}     a text or an array of this length
"""

import ast
import base64
import json
import re
import shlex
from dataclasses import dataclass, field

STEP = re.compile(r"([>%<*])\s*(?:\[(\w+)\]\s*)?(.*)", re.S)
VARIABLE = re.compile(r"\$([a-zA-Z_]\w*)")


class Mismatch(Exception):
    pass


@dataclass
class Step:
    kind: str  # > < % ~ ! raw
    line: int
    label: str = None
    words: list = field(default_factory=list)  # of the method, the event or the action
    value: object = None
    wrong: bool = False


@dataclass
class Transcript:
    title: str = ""
    settings: list = field(default_factory=list)  # [key, word...]
    texts: dict = field(default_factory=dict)
    steps: list = field(default_factory=list)


def parse(text):
    transcript, name = Transcript(), None
    for number, line in _joined(text):
        kind, rest = line[0], line[1:].strip()
        try:
            if kind == "#":
                transcript.title = transcript.title or rest
            elif kind == "@":
                key, _, words = rest.partition(" ")
                transcript.settings.append([key, json.loads(words)] if key == "capabilities" else shlex.split(rest))
            elif kind == "=":
                name, transcript.texts[rest] = rest, ""
            elif kind == "|":
                transcript.texts[name] += line[2:] + "\n"
            else:
                transcript.steps.append(_step(number, line))
        except (ValueError, KeyError, SyntaxError) as error:
            raise ValueError(f"line {number}: {error}") from error
    return transcript


# Lines with their numbers, each joined with its continuation lines.
def _joined(text):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line[:1] in (" ", "\t") and line.strip():
            found[-1][1] += " " + line.strip()
        elif line.strip():
            found.append([number, line])
    return found


def _step(number, line):
    if line[0] == "!":
        return Step("!", number, words=line[1:].split())
    if line[0] == "~":
        event, _, rest = line[1:].strip().partition(" ")
        return Step("~", number, words=[event], value=json.loads(rest or "{}"))
    match = STEP.fullmatch(line)
    if match is None:
        raise ValueError(f"no kind of line begins with {line[0]!r}")
    kind, label, rest = match.groups()
    if kind not in ">*":
        return Step(kind, number, label, value=json.loads(rest))
    if rest.startswith("raw "):
        return Step("raw", number, label, value=ast.literal_eval(rest[4:]))
    head, brace, body = rest.partition("{")
    words = head.split()
    wrong = words[0] == "wrong"
    return Step(kind, number, label, words=words[wrong:], value=json.loads(brace + body) if brace else {}, wrong=wrong)


def fill(value, names):
    """Returns the value with variables and expressions replaced."""
    if isinstance(value, dict):
        return {key: fill(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, names) for item in value]
    if not isinstance(value, str):
        return value
    if VARIABLE.fullmatch(value):
        return names[value[1:]]
    begin, end = _expression(value)
    if begin == 0 and end == len(value):
        return _evaluate(value[2:-1], names)
    if begin is not None:
        return fill(value[:begin], names) + str(_evaluate(value[begin + 2:end - 1], names)) + fill(value[end:], names)
    return VARIABLE.sub(lambda match: str(names.get(match[1], match[0])), value)


# Start and end of the first $(...), including nested parentheses.
def _expression(value):
    begin, depth = value.find("$("), 0
    if begin < 0:
        return None, None
    for at in range(begin + 1, len(value)):
        depth += (value[at] == "(") - (value[at] == ")")
        if depth == 0:
            return begin, at + 1
    raise ValueError(f"no end of $( in {value[:80]}")


def _evaluate(expression, names):
    # Transcripts are part of the tests, so they are trusted.
    return eval(expression, {"b64": lambda data: base64.b64encode(  # pylint: disable=eval-used
        data.encode() if isinstance(data, str) else data).decode()}, dict(names))


def match(expected, got, names, path=""):
    """Raises Mismatch if got is not as expected; sets variables in names."""
    if isinstance(expected, dict) and any(key.startswith("$") for key in expected):
        for key, value in expected.items():
            _SPECIAL[key](value, got, names, path)
    elif isinstance(expected, dict):
        _expect(isinstance(got, dict), path, "an object", got)
        for key, value in expected.items():
            match(value, got.get(key), names, f"{path}.{key}")
    elif isinstance(expected, list):
        _expect(isinstance(got, list) and len(got) == len(expected), path, f"{len(expected)} items", got)
        for index, value in enumerate(expected):
            match(value, got[index], names, f"{path}[{index}]")
    elif isinstance(expected, str):
        _match_text(expected, got, names, path)
    else:
        _expect(type(expected) is type(got) and expected == got or _same_number(expected, got), path, expected, got)


def _match_text(expected, got, names, path):
    if VARIABLE.fullmatch(expected):
        _expect(got is not None, path, "something", got)
        _expect(names.setdefault(expected[1:], got) == got, path, names.get(expected[1:]), got)
    elif len(expected) > 1 and expected[0] == expected[-1] == "/":
        pattern = fill(expected[1:-1], {key: re.escape(str(value)) for key, value in names.items()})
        _expect(isinstance(got, str) and re.search(pattern, got, re.S), path, expected, got)
    else:
        wanted = fill(expected, names)
        _expect(wanted == got, path, wanted, got)


def _same_number(expected, got):
    return all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in (expected, got)) and expected == got


def _expect(condition, path, expected, got):
    if not condition:
        raise Mismatch(f"{path or 'the reply'}: expected {_short(expected)}, got {_short(got)}")


def _short(value):
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else repr(value)
    return text if len(text) < 600 else text[:400] + " ... " + text[-150:]


def _fits(expected, got, names):
    try:
        trial = dict(names)
        match(expected, got, trial)
        names.update(trial)
        return True
    except Mismatch:
        return False


def _any(expected, got, names, path):
    _expect(isinstance(got, list) and any(_fits(expected, item, names) for item in got), path,
            f"an item like {_short(expected)}", got)


def _none(expected, got, names, path):
    _expect(isinstance(got, list) and not any(_fits(expected, item, names) for item in got), path,
            f"no item like {_short(expected)}", got)


def _number(got):
    return isinstance(got, (int, float)) and not isinstance(got, bool)


_SPECIAL = {
    "$any": _any,
    "$none": _none,
    "$from": lambda low, got, _, path: _expect(_number(got) and got >= low, path, f"at least {low}", got),
    "$to": lambda high, got, _, path: _expect(_number(got) and got <= high, path, f"at most {high}", got),
    "$length": lambda size, got, _, path: _expect(
        isinstance(got, (str, list)) and len(got) == size, path, f"length {size}", got),
}
