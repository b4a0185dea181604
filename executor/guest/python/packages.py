# SPDX-License-Identifier: Apache-2.0
"""packages.py - finds packages that were mounted after the interpreter was started, and those that the program installs
itself; loaded by driver.py then."""

import os
import sys

DIRECTORY = "/usr/local/lib/python{}.{}/dist-packages".format(*sys.version_info)
USER = "/user/base/lib/python{}.{}/site-packages".format(*sys.version_info)  # of the program's own pip


def place():
    """After the standard library and before the system's packages, where a new interpreter has it."""
    for at, path in enumerate(sys.path):
        if path.endswith(("/dist-packages", "/site-packages")):
            return at
    return len(sys.path)


def used(scope):
    """The libraries whose modules the program has names for: it keeps those."""
    kind = type(sys)
    return {value.__name__.partition(".")[0] for value in list(scope.values()) if isinstance(value, kind)}


def add(path):
    if path not in sys.path:
        sys.path.insert(place(), path)


def entries(path):
    return {entry.partition(".")[0] for entry in os.listdir(path)} if os.path.isdir(path) else set()


def look_again():
    for path in [path for path in sys.path_importer_cache if path.startswith(("/usr/local/", "/user/base/"))]:
        del sys.path_importer_cache[path]


def is_of_a_pth(name):
    """A package that a .pth of the system made at the start and nobody has run or used: Debian's mpl_toolkits."""
    module = sys.modules.get(name)
    made = isinstance(getattr(module, "__path__", None), list) and "__builtins__" not in vars(module)
    return made and not any(other.startswith(name + ".") for other in sys.modules)


def replace(names, shadows, scope):
    for name in names - used(scope):
        if is_of_a_pth(name):
            del sys.modules[name]
    if shadows is None or not names & shadows.ahead:
        return
    # A library that is imported already may hold another one that the packages replace.
    libraries = {name.partition(".")[0] for name in shadows.ahead} - sys.stdlib_module_names
    for name in (libraries | names & shadows.ahead) - used(scope):
        shadows.forget(name)


def look(shadows, scope):
    """Returns whether the program can install packages itself."""
    add(DIRECTORY)
    try:
        os.makedirs(USER, exist_ok=True)  # the import system remembers a missing directory until its caches are dropped
        add(USER)  # before the other, as in the interpreters that the program starts
    except OSError:
        pass
    look_again()
    replace(entries(DIRECTORY) | entries(USER), shadows, scope)
    return USER in sys.path


def expect(source, shadows, scope):
    """Before code that can install packages. What it installs must not find another version imported already."""
    look_again()
    installs = shadows is not None and "install" in source
    replace(shadows.ahead - sys.stdlib_module_names if installs else entries(USER), shadows, scope)
