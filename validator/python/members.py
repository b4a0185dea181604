#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the members that code may use of each allowed module of the standard library, while building.

    members.py PROFILES.DEF MEMBERS.DEF OUTPUT

A module's own public names are allowed: those of its __all__, otherwise those without an underscore. Modules within
modules are not, but a submodule is a module with a row of its own. Modules of other packages have no row. Of a module with
ONLY rows in MEMBERS.DEF these are allowed.
"""

import importlib
import pkgutil
import re
import sys
import types

PLAIN = (int, float, str, bytes, tuple, frozenset)  # a constant is public although __all__ lacks it
SCRIPTS = {"main", "test"}  # a module's own command line
POWERFUL = {"asyncio.base_subprocess", "asyncio.subprocess", "logging.config", "logging.handlers"}  # start programs, evaluate text


def listed(path):
    with open(path, encoding="utf-8") as file:
        names = re.findall(r'^MODULE\(\w+, "([\w.]+)"\)', file.read(), re.M)
    return [name for name in names if name.partition(".")[0] in sys.stdlib_module_names]


def only(path):
    """The names of ONLY rows, by module."""
    names = {}
    with open(path, encoding="utf-8") as file:
        for module, name in re.findall(r"^ONLY\(([\w.]+), (\w+)\)", file.read(), re.M):
            names.setdefault(module, []).append(name)
    return names


def load(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def with_submodules(name):
    module = None if name in POWERFUL else load(name)
    if module is None:
        return
    yield name, module
    if name == "collections":
        yield "collections.abc", importlib.import_module("collections.abc")
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not found.name.startswith("_"):
            yield from with_submodules(f"{name}.{found.name}")


def is_own(module, value):
    """Not imported from another public module."""
    owner = str(getattr(value, "__module__", None) or "_")
    return owner.startswith("_") or owner.partition(".")[0] == module.__name__.partition(".")[0]


def members(module):
    every = getattr(module, "__all__", None)
    for name, value in vars(module).items():
        public = not name.startswith("_") and name not in SCRIPTS
        if every is not None:
            public = name in every or public and isinstance(value, PLAIN)
        elif not is_own(module, value):
            public = module.__name__ == "posixpath"
        if public and not isinstance(value, types.ModuleType):
            yield name


def main():
    modules, few = {}, only(sys.argv[2])
    for entry in listed(sys.argv[1]):
        modules.update(with_submodules(entry))
    rows = [f'MEMBERS_OF("{name}")\n' for name in sorted(modules)]
    public = sorted(f"{name}.{member}" for name in modules for member in few.get(name) or members(modules[name]))
    rows += [f'PUBLIC("{row}")\n' for row in public]
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        file.writelines(rows)


main()
