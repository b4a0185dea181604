# SPDX-License-Identifier: Apache-2.0
"""imports.py - refuses, while a program runs, what its profile does not allow and a check of the source cannot find:
imports of a computed name, in text that is executed, through importlib; other than public members of the standard
library's modules, for which an import statement gives a view; attributes whose names a program gives to dataclasses,
enum, contextlib and functools.

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
DESCRIBED = "__doc__", "__version__", "__file__"
MODULE = type(sys)
PATHS = {"posixpath": "os.path"}  # its name in profiles
STANDARD = sys.stdlib_module_names

concealed = {}  # by the id of a view: the view and its module


class Live(MODULE):
    """A view of sys, whose streams are replaced while a program runs, by the program and by others."""

    def __setattr__(self, attr, value):
        getattr(self, attr)
        setattr(sys, attr, value)


def is_own(name, value):
    """False if a module without __all__ has the value from another public module."""
    owner = str(getattr(value, "__module__", None) or "_")
    return owner[:1] == "_" or owner.partition(".")[0] == name.partition(".")[0]


def check_name(name):
    """Of an attribute that a library reads or writes for a program."""
    if type(name) is not str or not name.isidentifier():
        raise TypeError("the name of a field must be an identifier")
    if name[:2] == "__" == name[-2:] or name == "mro":
        raise TypeError(f"{name!r} is not allowed as the name of a field")


def guard_name(cls, attr, get, put, guard):
    """A property in place of an attribute: object.__setattr__() cannot go around it."""

    def replace(self, value):
        if value is not None and guard.rules:
            check_name(value)
        put(self, value)

    setattr(cls, attr, property(get, replace))


# dataclass() executes a text made of its fields' names; replace(), asdict() and astuple() read the attributes of these names.
def guard_dataclasses(dataclasses, guard):
    process, fields, field = dataclasses._process_class, dataclasses.fields, dataclasses.Field

    def refuse(cls, **_):
        raise TypeError("a subclass of Field is not allowed")

    def checked(every):
        if guard.rules and any(type(each) is not field for each in every):
            raise TypeError("the fields must be those of a dataclass")
        return every

    def process_class(cls, *args, **kwargs):
        for base in type.mro(cls)[1:]:
            every = getattr(base, "__dataclass_fields__", {})
            if type(every) is not dict:
                raise TypeError("the fields of a base must be those of a dataclass")
            checked(every.values())
        return process(cls, *args, **kwargs)

    def replace(obj, /, **changes):
        if not dataclasses._is_dataclass_instance(obj):
            raise TypeError("replace() should be called on dataclass instances")
        for each in checked(tuple(obj.__dataclass_fields__.values())):
            kind, given = each._field_type, each.name in changes
            if kind is dataclasses._FIELD_CLASSVAR:
                continue
            if not each.init and given:
                raise ValueError(f"field {each.name} is declared with init=False, it cannot be specified with replace()")
            if not each.init or given:
                continue
            if kind is dataclasses._FIELD_INITVAR and each.default is dataclasses.MISSING:
                raise ValueError(f"InitVar {each.name!r} must be specified with replace()")
            changes[each.name] = getattr(obj, each.name)
        return obj.__class__(**changes)

    guard_name(field, "name", field.name.__get__, field.name.__set__, guard)
    field.__init_subclass__ = classmethod(refuse)
    dataclasses._process_class, dataclasses.replace = process_class, replace
    dataclasses.fields = lambda class_or_instance: checked(fields(class_or_instance))
    show_views(dataclasses, guard.shown)


def show_views(dataclasses, shown):
    """An annotation that is text names `typing` or `dataclasses`, and the program knows these as views."""
    is_type = dataclasses._is_type

    def check(annotation, cls, module, kind, predicate):
        return is_type(annotation, cls, module, kind, predicate) or is_type(
            annotation, cls, shown(module), kind, lambda value, _: predicate(value, module))

    dataclasses._is_type = check


def guard_enum(enum, guard):
    """Enum("Name", names) sets attributes of these names."""
    real = enum.EnumType._create_

    def create(cls, class_name, names, **how):
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        names = [name if isinstance(name, str) else tuple(name) for name in (names.items() if hasattr(names, "items") else names)]
        for name in names if guard.rules else ():
            check_name(name if isinstance(name, str) else name[0])
        if how.get("module") is None:
            how["module"] = sys._getframe(2).f_globals.get("__name__")
        return real(cls, class_name, names, **how)

    enum.EnumType._create_ = create


def guard_streams(contextlib, guard):
    """redirect_stdout() reads and writes the attribute of sys that its own attribute names."""

    def stream(self):
        name = self._stream
        if guard.rules and (type(name) is not str or name not in ("stdout", "stderr")):
            raise TypeError("only stdout and stderr can be redirected")
        return name

    def enter(self):
        name = stream(self)
        self._old_targets.append(getattr(sys, name))
        setattr(sys, name, self._new_target)
        return self._new_target

    contextlib._RedirectStream.__enter__ = enter
    contextlib._RedirectStream.__exit__ = lambda self, *_: setattr(sys, stream(self), self._old_targets.pop())


def guard_functools(functools, guard):
    """A cached property writes the attribute that its own attribute names."""
    guard_name(functools.cached_property, "attrname", lambda self: vars(self).get("attrname"),
               lambda self, value: vars(self).update(attrname=value), guard)


GUARDS = {"contextlib": guard_streams, "dataclasses": guard_dataclasses, "enum": guard_enum, "functools": guard_functools}
FORWARDS = type(list[int])  # an instance has the attributes of any object


def build_class(function, name, *bases, **how):
    if any(isinstance(base, type) and issubclass(base, FORWARDS) for base in bases):
        raise TypeError(f"'{name}' cannot inherit from {FORWARDS.__name__}")
    return builtins.__build_class__(function, name, *bases, **how)


def show_help(*objects):
    """Text given to help() imports the module of that name."""
    if any(isinstance(each, str) for each in objects) or not objects:
        raise TypeError("help() of a text is not allowed; give it the object")
    for each in objects:
        builtins.help(each)


# Printers of the interpreter's start, which read files of any name, are missing.
BUILTINS = {"__build_class__": build_class, "help": show_help}
PRINTERS = "copyright", "credits", "license"


class Guard:
    """One for the life of a process: what a statement defined keeps its builtins in later statements."""

    def __init__(self):
        self.payload = None  # of a PROFILE frame; None: any module is allowed
        self.view = type(sys)("builtins")
        vars(self.view).update(vars(builtins), __import__=self.load)
        self.get = machinery._gcd_import
        self.unguarded = dict(GUARDS)
        self.rules, self.views = False, {}  # by the id of a module

    def hold(self, scope, payload):
        """Applies the payload of a PROFILE frame to code that runs in scope from now on."""
        if payload != self.payload:
            self.reveal(scope)
            self.views = {}
        self.payload = payload  # kept as received: a search in it costs less than parsing it
        machinery._gcd_import = self.get_for
        self.rules = b"\n-" in payload  # the profile keeps members of modules from programs
        if self.rules:
            self.conceal(scope)
        self.offer_builtins()
        scope["__builtins__"] = self.view

    def offer_builtins(self):
        for name in (*BUILTINS, *PRINTERS):
            vars(self.view).pop(name, None)
            if self.rules and name in BUILTINS:
                vars(self.view)[name] = BUILTINS[name]
            elif not self.rules and hasattr(builtins, name):
                vars(self.view)[name] = getattr(builtins, name)

    def release(self, scope):
        self.payload, self.rules = None, False
        self.reveal(scope)
        scope["__builtins__"] = builtins

    # What an import statement binds is a view, too: a function of an earlier statement can use it at once.
    def conceal(self, scope):
        for name, value in list(scope.items()):
            if type(value) is MODULE and name != "__builtins__" and id(value) not in concealed:
                scope[name] = self.shown(value)

    @staticmethod
    def reveal(scope):
        for name, value in list(scope.items()) if concealed else ():
            if id(value) in concealed:
                scope[name] = concealed[id(value)][1]

    def shown(self, module):
        """Of the standard library, the public members of a module; others as they are."""
        if id(module) in concealed or type(module) is not MODULE or module.__name__.partition(".")[0] not in STANDARD:
            return module
        view = self.views.get(id(module))
        if view is None:
            view = self.views[id(module)] = self.view_of(module)
            concealed[id(view)] = view, module
        return view

    def view_of(self, module):
        """The public members of a module, looked up when they are read first. A built-in module such as math has no others;
        with all members and no __getattr__ CPython reads its view as fast as the module itself."""
        name, own = module.__name__, vars(module)
        view = (Live if module is sys else MODULE)(name, module.__doc__)
        if name in sys.builtin_module_names and self.allows(name) and not self.lists(f"-{name}", ".") and not self.lists(f"={name}", "."):
            vars(view).update((attr, value) for attr, value in own.items() if attr[:1] != "_" and type(value) is not MODULE)
            return view

        def find(attr):
            if attr == "__all__":
                every = own.get(attr)
                return [each for each in members() if each[:1] != "_" and (every is None or each in every)]
            value = getattr(module, attr, view)
            if value is view:
                raise AttributeError(f"module '{name}' has no attribute '{attr}'", name=attr)
            if not self.is_public(module, attr, value):
                raise AttributeError(f"'{name}.{attr}' is not allowed by {self.by()}", name=attr)
            value = self.shown(value)
            if module is not sys:
                vars(view)[attr] = value
            return value

        def members():
            return [attr for attr, value in own.items() if self.is_public(module, attr, value)]

        vars(view).update(__getattr__=find, __dir__=members)
        return view

    # As validator/python/members.py selects them.
    def is_public(self, module, attr, value):
        name, every = module.__name__, getattr(module, "__all__", None)
        if attr[:1] == "_":
            return attr in DESCRIBED
        if type(value) is MODULE:
            inner = f"{name}.{attr}"
            return sys.modules.get(inner) is value and (self.allows(inner) or self.lists(inner, "."))
        if not self.allows(PATHS.get(name, name)) or self.lists(f"-{name}.{attr}"):
            return False
        if self.lists(f"={name}", "."):
            return self.lists(f"={name}.{attr}")
        return is_own(name, value) if every is None else attr in every or isinstance(value, PLAIN)

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
        if not self.rules or in_c:
            return module
        for each in [each for each in self.unguarded if each in sys.modules]:
            self.unguarded.pop(each)(sys.modules[each], self)
        return self.shown(module)

    def get_for(self, name, package=None, level=0):
        """Called by importlib.import_module() and importlib.__import__(), for any caller of these."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") in IMPORTLIB:
            frame = frame.f_back
        if self.payload is not None and frame is not None and frame.f_builtins is vars(self.view):
            if bad := self.refused(machinery._resolve_name(name, package, level) if level > 0 else name):
                raise self.error(bad)
        return self.get(name, package, level)
