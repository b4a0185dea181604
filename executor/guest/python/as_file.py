# SPDX-License-Identifier: Apache-2.0
"""as_file.py - the program as a file, code.py in the workspace, while somebody may read it: the code itself, by __file__,
or interpreters that it starts (multiprocessing's spawn, joblib), which run its main module again.

A sticky bit tells the executor that the file is none of the workspace (builder/files/walk.c). Most programs need no file,
and writing one would cost each run; so driver.py loads this when a program does.
"""

import os
import stat
import sys
import time

FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
MODE = stat.S_ISVTX | 0o444
MAX_TRIES = 100
START_SECONDS = 1


def definitions(text):
    """What a later statement of a session can refer to, without the effects of the code."""
    import ast
    kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom
    kept = []
    try:
        nodes = compile(text, "<definitions>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ""
    for node in nodes:
        if isinstance(node, kinds) or isinstance(node, ast.Assign) and is_literal(ast, node.value):
            kept.append(ast.unparse(node))
    return "\n".join(kept)


def is_literal(ast, node):
    try:
        ast.literal_eval(node)
        return True
    except ValueError:
        return False


class File:
    """path: what __file__ says. texts: the program, or the statements so far."""

    def __init__(self, path, texts):
        self.path, self.texts, self.there, self.owner = path, texts, None, os.getpid()
        self.written, self.old = 0, False

    def content(self, effects):
        *earlier, last = self.texts.values()
        if not effects and "__main__" not in last:  # code without a guard would start interpreters without end
            last = definitions(last)
        return "\n".join([*map(definitions, earlier), last])

    def free(self):
        """Returns a descriptor of a new file. A file of the workspace stays; ours is there only if its run was killed."""
        stem = self.path.removesuffix(".py")
        for path in [self.path] + [f"{stem}_{number}.py" for number in range(1, MAX_TRIES)]:
            try:
                if stat.S_ISREG(mode := os.lstat(path).st_mode) and mode & stat.S_ISVTX:
                    os.unlink(path)
            except OSError:
                pass
            try:
                return path, os.open(path, FLAGS, MODE)
            except FileExistsError:
                pass
        return None, -1

    def write(self, effects):
        if self.there is not None and not self.old or os.getpid() != self.owner:
            return
        self.remove()
        self.written, self.old = time.monotonic(), False
        try:
            self.there, number = self.free()
            if self.there is None:
                return
            with open(number, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(self.content(effects))
        except Exception:  # no room for it, or the program has broken what it needs
            return
        if self.there != self.path:
            self.rename()

    def rename(self):
        main = sys.modules["__main__"].__dict__
        if main.get("__file__") == self.path:
            main["__file__"] = self.there
        if sys.argv[:1] == [self.path]:
            sys.argv[0] = self.there
        self.path = self.there

    def grow_old(self):
        """At the next statement. An interpreter that the last one has just started may still have to read the file."""
        self.old = True
        if time.monotonic() > self.written + START_SECONDS:
            self.remove()

    def remove(self):
        if self.there is None or os.getpid() != self.owner:
            return
        try:
            os.unlink(self.there)
        except OSError:
            pass
        self.there = None

    def watch(self, module):
        """An interpreter that a library starts reads the file by the path that this function returns."""
        original = getattr(module, "get_preparation_data", None)

        def get_preparation_data(*arguments, **named):
            self.write(False)
            return original(*arguments, **named)

        if original is not None:
            module.get_preparation_data = get_preparation_data
