# SPDX-License-Identifier: Apache-2.0
"""imports.py - refuses, while a program runs, what its profile does not allow and a check of the source cannot find:
imports of a computed name, in text that is executed, through importlib; members of a module that an earlier statement
of a session imported under another name; code in the names of a dataclass's fields.

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


PLAIN = int, float, str, bytes, tuple, frozenset  # a constant is public although __all__ lacks it
DESCRIBED = "__doc__", "__all__", "__version__"

concealed = {}  # by the id of a view: the view, its module, what forbids the other members


class View(type(sys)):
    """The public members of a module, for programs that know it by another name."""

    def __init__(self, module, by):
        super().__init__(module.__name__)
        concealed[id(self)] = self, module, by

    def __getattr__(self, attr):
        _, module, by = concealed[id(self)]
        if not hasattr(module, attr):
            raise AttributeError(f"module '{module.__name__}' has no attribute '{attr}'", name=attr)
        raise AttributeError(f"'{module.__name__}.{attr}' is not allowed by {by}", name=attr)


def guard_fields(dataclasses):
    """dataclass() executes a text made of its fields' names, so each must be an identifier from the start to the end."""
    process, field = dataclasses._process_class, dataclasses.Field

    def check(name):
        if type(name) is not str or not name.isidentifier():
            raise TypeError("the name of a field must be an identifier")

    def set_attribute(self, attr, value):
        if attr == "name" and value is not None:
            check(value)
        object.__setattr__(self, attr, value)

    def refuse(cls, **_):
        raise TypeError("a subclass of Field is not allowed")

    def process_class(cls, *args, **kwargs):
        for base in type.mro(cls)[1:]:
            fields = getattr(base, "__dataclass_fields__", {})
            if type(fields) is not dict or any(type(each) is not field for each in fields.values()):
                raise TypeError("the fields of a base must be those of a dataclass")
        return process(cls, *args, **kwargs)

    field.__setattr__, field.__init_subclass__ = set_attribute, classmethod(refuse)
    dataclasses._process_class = process_class


class Guard:
    """One for the life of a process: what a statement defined keeps its builtins in later statements."""

    def __init__(self):
        self.payload = None  # of a PROFILE frame; None: any module is allowed
        self.view = type(sys)("builtins")
        vars(self.view).update(vars(builtins), __import__=self.load)
        self.get = machinery._gcd_import
        self.fields = False  # are those of dataclasses guarded?

    def hold(self, scope, payload):
        """Applies the payload of a PROFILE frame to code that runs in scope from now on."""
        self.payload = payload  # kept as received: a search in it costs less than parsing it
        machinery._gcd_import = self.get_for
        self.reveal(scope)
        if self.has_rules():
            self.conceal(scope)
        scope["__builtins__"] = self.view

    def release(self, scope):
        self.payload = None
        self.reveal(scope)
        scope["__builtins__"] = builtins

    def has_rules(self):
        """True if the profile keeps members of modules from programs."""
        return b"\n-" in self.payload

    # A check of a statement knows a module by the name that the statement imports, and else by the module's own.
    def conceal(self, scope):
        for name, value in list(scope.items()):
            if name == "__builtins__":  # hold() replaces it
                continue
            if type(value) is type(sys) and value.__name__ != name and value.__name__.partition(".")[0] in sys.stdlib_module_names:
                scope[name] = self.view_of(value)

    @staticmethod
    def reveal(scope):
        if not concealed:
            return
        for name, value in list(scope.items()):
            if type(value) is View:
                scope[name] = concealed[id(value)][1]

    def view_of(self, module):
        every, view = getattr(module, "__all__", None), View(module, self.by())
        for name, value in vars(module).items():
            if isinstance(value, type(sys)):
                public = value.__name__ == f"{module.__name__}.{name}" and self.allows(value.__name__)
            else:
                public = every is None or name in every or isinstance(value, PLAIN)
            if name in DESCRIBED or public and name[:1] != "_" and not self.lists(f"-{module.__name__}.{name}"):
                vars(view)[name] = value
        return view

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

    def by(self):
        return self.payload.partition(b"\n")[0].decode()

    def error(self, name):
        return ImportError(f"Import '{name}' is not allowed by {self.by()}: do without it, or run this with a profile "
                           "that allows it", name=name)

    # PyImport_Import() also calls this, when a C function (such as datetime's strptime) imports what it needs while the
    # program's frame is the innermost. It is recognized by its empty list; an import statement passes None or a tuple.
    def load(self, name, globals=None, locals=None, fromlist=(), level=0):
        """__import__() of the program."""
        in_c = type(fromlist) is list and not fromlist
        if self.payload is not None and isinstance(name, str) and level == 0 and not in_c:
            if bad := self.refused(name, fromlist):
                raise self.error(bad)
        module = builtins.__import__(name, globals, locals, fromlist, level)
        if name == "dataclasses" and not self.fields and self.payload is not None and self.has_rules():
            guard_fields(module)
            self.fields = True
        return module

    def get_for(self, name, package=None, level=0):
        """Called by importlib.import_module() and importlib.__import__(), for any caller of these."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") in IMPORTLIB:
            frame = frame.f_back
        if self.payload is not None and frame is not None and frame.f_builtins is vars(self.view):
            if bad := self.refused(machinery._resolve_name(name, package, level) if level > 0 else name):
                raise self.error(bad)
        return self.get(name, package, level)
