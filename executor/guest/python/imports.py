# SPDX-License-Identifier: Apache-2.0
"""imports.py - refuses, while a program runs, imports that its profile does not allow and that a check of the source
cannot find: of a computed name, in text that is executed, through importlib.

This is a courtesy and not a security boundary: the guard is in the program's own process, and a program can bypass it
(sys.modules, the real builtins behind print.__self__, a function of a library that imports a given name). The box
confines a program. So the guard costs libraries nothing and does not restrict them: pandas imports os, subprocess and
socket whatever the profile. Only imports of the program's own code are checked. That code is recognized by its
builtins: code of the program, and code that it executes, has a copy of them in which __import__ is the guard's; code of
libraries has the real ones.

driver.py loads this file if there is a PROFILE frame (guest/protocol.h).
"""

import builtins
import sys

import _frozen_importlib as machinery

IMPORTLIB = frozenset(("importlib", "importlib._bootstrap", "_frozen_importlib"))


class Guard:
    """One for the life of a process: what a statement defined keeps its builtins in later statements."""

    def __init__(self):
        self.payload = None  # of a PROFILE frame; None: any module is allowed
        self.view = type(sys)("builtins")
        vars(self.view).update(vars(builtins), __import__=self.load)
        self.get = machinery._gcd_import

    def hold(self, scope, payload):
        """Applies the payload of a PROFILE frame to code that runs in scope from now on."""
        self.payload = payload  # kept as received: a search in it costs less than parsing it
        machinery._gcd_import = self.get_for
        scope["__builtins__"] = self.view

    def release(self, scope):
        self.payload = None
        scope["__builtins__"] = builtins

    def lists(self, name, end="\n"):
        """True if the payload has a name of this form.  The phrase before the first name also ends in a line feed."""
        return f"\n{name}{end}".encode("utf-8", "replace") in self.payload

    def allows(self, name):
        """os.path.join is within os.path, os.pathx is not."""
        while name and not self.lists(name):
            name = name.rpartition(".")[0]
        return bool(name)

    # `from package import name` requests the name: of os, only os.path may be allowed.
    def refused(self, name, fromlist=None):
        """Returns the name that is not allowed, or None."""
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

    # PyImport_Import() also calls this, when a C function (such as datetime's strptime) imports what it needs while the
    # program's frame is the innermost. It is recognized by its empty list; an import statement passes None or a tuple.
    def load(self, name, globals=None, locals=None, fromlist=(), level=0):
        """__import__() of the program."""
        in_c = type(fromlist) is list and not fromlist
        if self.payload is not None and isinstance(name, str) and level == 0 and not in_c:
            if bad := self.refused(name, fromlist):
                raise self.error(bad)
        return builtins.__import__(name, globals, locals, fromlist, level)

    def get_for(self, name, package=None, level=0):
        """Called by importlib.import_module() and importlib.__import__(), for any caller of these."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") in IMPORTLIB:
            frame = frame.f_back
        if self.payload is not None and frame is not None and frame.f_builtins is vars(self.view):
            if bad := self.refused(machinery._resolve_name(name, package, level) if level > 0 else name):
                raise self.error(bad)
        return self.get(name, package, level)
