# SPDX-License-Identifier: Apache-2.0
"""The part of YAML that a settings file of sandboxmcp needs: `key: value`, and lists of scalars.  All else is refused."""

from __future__ import annotations

import ast
import re
from typing import Any, Dict, List

WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "null": None, "~": None, "": None}
KEY = re.compile(r"([A-Za-z_]\w*)\s*:(?:\s+(.*))?$")


def _bare(text: str) -> str:
    """Without its comment; quoted text keeps a #."""
    quoted = re.match(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(#.*)?$""", text)
    return quoted.group(1) if quoted else re.sub(r"(^|\s)#.*$", "", text).strip()


def _scalar(text: str) -> Any:
    if text.startswith('"'):
        return ast.literal_eval(text)
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    if re.fullmatch(r"[-+]?(\d+\.\d*|\.\d+)([eE][-+]?\d+)?", text):
        return float(text)
    if text[0] in "{}[]&*!|>@`%" or ": " in text:
        raise ValueError("is not a scalar")
    return text


def _value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(_bare(one.strip())) for one in text[1:-1].split(",") if one.strip()]
    return _scalar(text)


def read(text: str, name: str = "the file") -> Dict[str, Any]:
    """The settings of a text.  Raises ValueError with the number of a line that it does not understand."""
    settings: Dict[str, Any] = {}
    items: List[Any] = []
    key = ""
    for number, line in enumerate(text.splitlines(), 1):
        bare = _bare(line.strip())
        if not bare or bare == "---":
            continue
        try:
            if bare.startswith("- ") and key and settings[key] in (None, items):
                items.append(_value(_bare(bare[2:].strip())))
                settings[key] = items
                continue
            match = KEY.match(line if not line.startswith(" ") else "")
            if match is None:
                raise ValueError("is not `key: value`")
            key, items = match.group(1), []
            settings[key] = _value(_bare((match.group(2) or "").strip()))
        except (ValueError, SyntaxError) as error:
            raise ValueError(f"{name}, line {number}: {bare[:60]!r} {error}") from error
    return settings
