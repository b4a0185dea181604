# SPDX-License-Identifier: Apache-2.0
"""notebook.py - what models write because notebooks take it: magics, and tasks started at the top of a cell.

driver.py loads this file when code cannot be read otherwise, or names what starts a task.
"""

import _ast

# Their work is done here anyway, or is of no use without a notebook.
WITHOUT_EFFECT = frozenset(("autoreload", "colors", "config", "load_ext", "matplotlib", "precision", "pylab", "reload_ext",
                            "unload_ext", "xmode"))
BEFORE_CODE = frozenset(("capture", "prun", "time"))  # what follows in the line, or for a cell in the lines below, is run
TASKS = frozenset(("create_task", "ensure_future", "get_running_loop"))


def _without_magic(line):
    """Returns the line as Python; None: it is another magic, or none."""
    text = line.lstrip(" \t")
    indent, cell = line[:len(line) - len(text)], text.startswith("%%")
    name, _, rest = text.lstrip("%").partition(" ")
    if not text.startswith("%"):
        return None
    if name in WITHOUT_EFFECT and not cell:
        return f"{indent}pass"
    if name in BEFORE_CODE:
        return f"{indent}pass" if cell or not rest.strip() else indent + rest.lstrip(" \t")
    return None


def without_magics(source):
    """Returns the source with as many lines, without the magics that need no notebook; None: there are none."""
    lines = source.replace("\r\n", "\n").split("\n")
    plain = [_without_magic(line) for line in lines]
    if not any(line is not None for line in plain):
        return None
    return "\n".join(line if new is None else new for line, new in zip(lines, plain))


def asks_for_loop(tree):
    """True if the code outside of functions calls what needs a running loop."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += node
        elif isinstance(node, _ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", None)) in TASKS:
            return True
        elif isinstance(node, _ast.AST) and not isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.Lambda)):
            nodes += [getattr(node, field, None) for field in node._fields]
    return False
