# SPDX-License-Identifier: Apache-2.0
"""manners.py - what the replaced systems do with code, and a plain interpreter does not (enum guest_manner of
guest/protocol.h). driver.py loads this file if there is a MANNERS frame.

The fence is a courtesy, an early and clear error for the model. It is in the program's own process, and a program can bypass it.
The box confines a program.
"""

import _ast
import os
import sys

ECHO_EACH, ECHO_LAST, FENCE = 1, 2, 4
WORKSPACES = "/workspace", "/mnt/data", "/sandbox/workspace"
LIBRARIES = tuple({os.path.realpath(path) for path in (sys.prefix, sys.base_prefix)})
fenced = []


def apply(manners, source, flags):
    """Returns the source to run."""
    if manners & FENCE and not fenced:
        fenced.append(True)
        sys.addaudithook(fence)
    return echo(source, flags) if manners & ECHO_EACH else source


def show(manners, value):
    """Writes the value of the last expression."""
    if manners & ECHO_LAST and value is not None:
        sys.stdout.write(repr(value))


# ---- expressions that stand alone ----

def is_shown(node, lines):
    """A call has its effect; a text in three quotes is a comment."""
    if not isinstance(node, _ast.Expr) or node.lineno != node.end_lineno or isinstance(node.value, (_ast.Call, _ast.Await)):
        return False
    return not lines[node.lineno - 1][node.col_offset:].lstrip(b"rR").startswith((b'"""', b"'''"))


def echo(source, flags):
    """Prints each such expression, in its own line, so that tracebacks keep their line numbers."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")  # as the compiler counts lines
    try:
        tree = compile(source, "<code>", "exec", flags | _ast.PyCF_ONLY_AST, True)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return source  # the driver reports it
    lines = source.encode().split(b"\n")
    for node in reversed([node for node in tree.body if is_shown(node, lines)]):
        line = lines[node.lineno - 1]
        before, text, after = (line[:node.col_offset], line[node.col_offset:node.end_col_offset], line[node.end_col_offset:])
        lines[node.lineno - 1] = before + b"print(" + text + b")" + after
    return b"\n".join(lines).decode()


# ---- files outside of the workspace ----

def is_inside(path, directories):
    return any(path == directory or path.startswith(directory + "/") for directory in directories)


# An import opens files of the library, and libraries open their own: only their own frames may.
def is_of_library(frame):
    file = frame.f_code.co_filename
    return file.startswith("<frozen ") or is_inside(os.path.realpath(file), LIBRARIES)


def fence(event, arguments):
    if event != "open" or not isinstance(arguments[0], (str, bytes)):
        return
    path = os.path.realpath(os.path.join(os.getcwd(), os.fsdecode(arguments[0])))
    if is_inside(path, WORKSPACES):
        return
    frame = sys._getframe(1)
    if is_of_library(frame) and (is_inside(path, LIBRARIES) or is_inside(path, ("/usr", "/etc", "/dev", "/proc"))):
        return
    raise PermissionError(f"Access denied: {os.fsdecode(arguments[0])!r} is outside of the workspace")
