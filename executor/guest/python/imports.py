# SPDX-License-Identifier: Apache-2.0
"""imports.py - refuses, while a program runs, imports that its profile does not allow and that no reading of the code
could see: of a computed name, of text that is executed, through importlib.

A courtesy and not a wall: the guard lives in the program's own process, and a program that wants around it finds a way
(sys.modules, the real builtins behind print.__self__, a function of a library that imports what it is told). What
keeps a program in is the box. So nothing here costs libraries anything or gets between them and what they need: pandas
imports os, subprocess and socket whatever the profile. What is judged is what the program's own code asks for, and
that is told by its builtins: code of the program, and code that it executes, finds a copy of them in which __import__
is the guard's; code of libraries has the real ones.

Read by driver.py where there is a PROFILE frame (guest/protocol.h).
"""

import builtins
import sys

import _frozen_importlib as machinery

IMPORTLIB = frozenset(("importlib", "importlib._bootstrap", "_frozen_importlib"))


class Guard:
    """One for a process, for as long as that lives: what a statement defined keeps its builtins in those after it."""

    def __init__(self):
        self.payload = None  # a PROFILE frame's; None: any module
        self.view = type(sys)("builtins")
        vars(self.view).update(vars(builtins), __import__=self.load)
        self.get = machinery._gcd_import

    def hold(self, scope, payload):
        """Code that is run in scope from now on is held to the payload of a PROFILE frame."""
        self.payload = payload  # it stays as it came: a search in it costs less than to take it apart
        machinery._gcd_import = self.get_for
        scope["__builtins__"] = self.view

    def release(self, scope):
        self.payload = None
        scope["__builtins__"] = builtins

    def lists(self, name, end="\n"):
        """Is there a name that begins, and ends, so?  The phrase before the first one ends in a line feed, too."""
        return f"\n{name}{end}".encode("utf-8", "replace") in self.payload

    def allows(self, name):
        """os.path.join is within os.path, os.pathx is not."""
        while name and not self.lists(name):
            name = name.rpartition(".")[0]
        return bool(name)

    # What `from package import name` asks for is the name: of os, os.path alone may be allowed.
    def refused(self, name, fromlist=None):
        """The name that is not allowed, or None."""
        if self.allows(name):
            return None
        if not fromlist or not self.lists(name, "."):
            return name
        wanted = (name if part == "*" else f"{name}.{part}" for part in fromlist)
        return next((each for each in wanted if not self.allows(each)), None)

    def error(self, name):
        by = self.payload.partition(b"\n")[0].decode()
        return ImportError(f"Import '{name}' is not allowed by {by}: do without it, or run this with a profile "
                           "that allows it", name=name)

    # PyImport_Import() finds this too, when a function in C (as datetime's strptime) imports what it needs while the
    # program's frame is the innermost: it is known by its empty list, where a statement has None or a tuple.
    def load(self, name, globals=None, locals=None, fromlist=(), level=0):
        """__import__() of the program."""
        in_c = type(fromlist) is list and not fromlist
        if self.payload is not None and isinstance(name, str) and level == 0 and not in_c:
            if bad := self.refused(name, fromlist):
                raise self.error(bad)
        return builtins.__import__(name, globals, locals, fromlist, level)

    def get_for(self, name, package=None, level=0):
        """What importlib.import_module() and importlib.__import__() come by, whoever calls them."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") in IMPORTLIB:
            frame = frame.f_back
        if self.payload is not None and frame is not None and frame.f_builtins is vars(self.view):
            if bad := self.refused(machinery._resolve_name(name, package, level) if level > 0 else name):
                raise self.error(bad)
        return self.get(name, package, level)
