# SPDX-License-Identifier: Apache-2.0
"""Python code that prints its bare expressions, as sandboxmcp makes it: `x` on a line of its own becomes `print(x)`.

Calls, docstrings and expressions of several lines stay.  No line moves, so that tracebacks name the right ones.
"""

from __future__ import annotations

import ast
from typing import List, Tuple

# Values without a use of their own, or that need a function around them.
STAY = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)
QUOTES = (b'"""', b"'''")


def _is_text(line: bytes, start: int) -> bool:
    return line[start:].lstrip(b"rRbBuUfF").startswith(QUOTES)


def _places(code: str, lines: List[bytes]) -> List[Tuple[int, int, int]]:
    """Line, start and end of each, from the last to the first; in bytes, as ast counts."""
    found = []
    for node in ast.parse(code).body:
        value = getattr(node, "value", None)
        if not isinstance(node, ast.Expr) or isinstance(value, STAY) or node.end_lineno != node.lineno:
            continue
        start, end = node.col_offset, node.end_col_offset or 0
        if not _is_text(lines[node.lineno - 1], start):
            found.append((node.lineno - 1, start, end))
    return found[::-1]


def printing(code: str) -> str:
    """The code itself if it does not parse here: the server's interpreter judges it."""
    if "\r" in code.replace("\r\n", ""):
        return code  # Python ends a line there, and split() does not.
    lines = code.encode(errors="surrogatepass").split(b"\n")
    try:
        places = _places(code, lines)
    except (SyntaxError, ValueError, RecursionError, IndexError):
        return code
    for line, start, end in places:
        lines[line] = lines[line][:start] + b"print(" + lines[line][start:end] + b")" + lines[line][end:]
    return b"\n".join(lines).decode(errors="surrogatepass")
